package project

import (
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
)

// MaxEntries is how many characters a setting of the installation may have whose entries allow something to projects. It is in the
// environment of functions, for which Lambda has 4 KB.
const MaxEntries = 1000

// An Entry of a setting allows something to projects. It is written PROJECT@ENVIRONMENT=THING, with a pattern of Grants, or, for all
// projects, as the thing alone.
type Entry struct {
	Projects Grants // nil is all
	Thing    string
}

// ParseEntry reads an entry. The error is of kind Invalid. An equals sign after a colon is part of the thing: no
// pattern of projects has a colon, and ARNs and URLs have one before it.
func ParseEntry(text string) (Entry, error) {
	projects, thing, limited := strings.Cut(text, "=")
	if !limited || strings.Contains(projects, ":") {
		return Entry{Thing: text}, nil
	}
	grants, err := ParseGrants(projects)
	if err == nil && len(grants) == 0 {
		err = fault.New(fault.Invalid, "there is no pattern of projects before the =")
	}
	return Entry{grants, thing}, err
}

// String returns the entry as ParseEntry reads it.
func (e Entry) String() string {
	if e.Projects == nil {
		return e.Thing
	}
	return e.Projects.String() + "=" + e.Thing
}

// About reports whether the entry allows something to the project of an ID, such as shop@prod.
func (e Entry) About(id string) bool { return e.Projects == nil || e.Projects.Allow(id) }

// Listed returns the entries of a list that is separated by commas, without empty ones.
func Listed(text string) []string {
	var all []string
	for one := range strings.SplitSeq(text, ",") {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
		}
	}
	return all
}

package remote

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// Allowed lists the addresses that projects may use. No entry means none.
type Allowed []Entry

// An Entry allows the addresses that begin with a prefix to some projects.
type Entry struct {
	Scheme, Host string
	Prefix       string         // of the path; it begins and ends with a slash. Of a key, it is "" or ends with a slash
	Projects     project.Grants // nil is all
}

// ParseAllowed reads entries that are separated by commas: https://HOST/PREFIX/ or s3://BUCKET/PREFIX/, and before it,
// if only some projects may use it, PROJECT@ENVIRONMENT with stars and an equals sign. The projects of a bucket must be given. The error is of kind
// Invalid and lists everything that is wrong.
func ParseAllowed(text string) (Allowed, error) {
	var all Allowed
	var wrong []string
	if len(text) > project.MaxEntries {
		wrong = append(wrong, fmt.Sprintf("the entries have more than %d characters: use shorter prefixes, and stars for projects", project.MaxEntries))
	}
	for _, one := range project.Listed(text) {
		e, why := parseEntry(one)
		if why != "" {
			wrong = append(wrong, `"`+one+`" `+why)
		}
		all = append(all, e)
	}
	if len(wrong) > 0 {
		return nil, fault.New(fault.Invalid, "remote files: %s", strings.Join(wrong, "; "))
	}
	return all, nil
}

func parseEntry(text string) (e Entry, why string) {
	const form = "is not https://HOST/PREFIX/ or PROJECT@ENVIRONMENT=s3://BUCKET/PREFIX/, such as https://templates.example.com/ or shop@*=s3://shop-templates/"
	allowed, wrong := project.ParseEntry(text)
	prefix := allowed.Thing
	scheme, rest, _ := strings.Cut(prefix, "://")
	name, below, slash := strings.Cut(rest, "/")
	if !slash || below != "" && !strings.HasSuffix(below, "/") {
		return e, form + ": it ends with a slash"
	}
	sample, err := Parse(prefix + "x")
	if err != nil || strings.ContainsAny(prefix, "?*") || sample.Host != name || sample.Scheme != scheme {
		return e, form
	}
	e.Projects = allowed.Projects
	if scheme == S3 && len(e.Projects) == 0 {
		return e, "does not say which projects may read the bucket: write PROJECT@ENVIRONMENT= before it, or *@*= for all"
	}
	if wrong != nil {
		return e, "says for which projects it is, and " + wrong.Error()
	}
	e.Scheme, e.Host, e.Prefix = scheme, name, strings.TrimSuffix(sample.Path, "x")
	return e, ""
}

// String returns the entries with commas, as ParseAllowed reads them.
func (a Allowed) String() string {
	var all []string
	for _, e := range a {
		all = append(all, e.String())
	}
	return strings.Join(all, ",")
}

func (e Entry) String() string {
	text := e.Scheme + "://" + e.Host + "/" + strings.TrimPrefix(e.Prefix, "/")
	return project.Entry{Projects: e.Projects, Thing: text}.String()
}

// Permits reports whether the project of an ID, such as shop@prod, may use an address.
func (a Allowed) Permits(id string, at Address) bool {
	return slices.ContainsFunc(a, func(e Entry) bool {
		return e.Scheme == at.Scheme && e.Host == at.Host && strings.HasPrefix(at.Path, e.Prefix) && (project.Entry{Projects: e.Projects}).About(id)
	})
}

// Permit returns an error if the project of an ID may not use an address. change says how to allow it: the entry takes the place of %s.
func (a Allowed) Permit(id string, at Address, change string) error {
	if a.Permits(id, at) {
		return nil
	}
	return fault.New(fault.Denied, "this installation does not let project %s use it: %s", id, strings.ReplaceAll(change, "%s", at.Entry(id)))
}

// Entry is the narrowest entry of the usual form that allows an address to the project of an ID.
func (a Address) Entry(id string) string {
	if a.Scheme == S3 {
		return id + "=" + S3 + "://" + a.Host + "/"
	}
	return HTTPS + "://" + a.Host + "/"
}

package access

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
)

// An Owner is patterns of ARNs. An owner of the installation is admin of all projects, whatever
// the access file says.
type Owner []string

// ParseOwner reads patterns that are separated by blanks or line ends, as names of sessions may
// contain commas. The error is of kind Invalid.
func ParseOwner(text string) (Owner, error) {
	var all Owner
	var wrong []string
	for p := range strings.FieldsSeq(text) {
		all = append(all, p)
		if w := checkARN(p); w != "" {
			wrong = append(wrong, w)
		}
	}
	if len(wrong) > 0 {
		return nil, fault.New(fault.Invalid, "owner: %s", strings.Join(wrong, "; "))
	}
	return all, nil
}

// String returns the patterns as ParseOwner reads them.
func (o Owner) String() string { return strings.Join(o, " ") }

// A Policy decides. The zero Policy is that of an installation without an access file and without
// an owner: it leaves IAM to decide, and denies tokens.
type Policy struct {
	owner  Owner
	file   *File
	broken error // why there is a file that nobody can use
}

// NewPolicy returns the policy of an installation: text is its access file, nil if it has none.
// A file that cannot be read, or that locks everybody out, denies all but the owner.
func NewPolicy(o Owner, text []byte) Policy {
	if text == nil {
		return Policy{owner: o}
	}
	f, err := Parse(Key, text)
	if err == nil {
		err = f.CheckOwner(o)
	}
	return Policy{owner: o, file: &f, broken: err}
}

// Broken returns why the access file denies all but the owner: an error, or nil if it does not.
func (p Policy) Broken() error { return p.broken }

// A Decision says whether a request is allowed, and for the owner of the installation why.
type Decision struct {
	Allowed bool
	Why     string // which line of the file decides, or which other rule
}

// What a role may be for besides one project.
const (
	Everywhere = "*@*" // all projects
	Somewhere  = ""    // any project
)

// Decide decides whether a principal has a role for a project and environment, such as
// "shop@prod", or Everywhere or Somewhere.
func (p Policy) Decide(by Principal, needed Role, id string) Decision {
	switch owns := func(pattern string) bool { return by.ARN != "" && matchARN(pattern, by.ARN) }; {
	case by.nobody():
		return Decision{false, "the request has no principal"}
	case slices.ContainsFunc(p.owner, owns):
		return Decision{true, "the principal is an owner of the installation"}
	case by.Schedule != "":
		return Decision{Deployer.Includes(needed), "a schedule may do what the deploy that made it was allowed to do: " + Deployer.String()}
	case p.broken != nil:
		return Decision{false, fmt.Sprintf("%s cannot be used, so all but the owner are denied: %v", Key, p.broken)}
	case p.file == nil:
		return Decision{by.Claims == nil, "there is no " + Key + ": IAM decides, and tokens are denied"}
	}
	return p.file.decide(by, needed, id)
}

// decide decides by the rules of the file: by the first that grants the role. For a denial, it
// names the rule that grants the most.
func (f File) decide(by Principal, needed Role, id string) Decision {
	var most *Rule
	for i, r := range f.rules {
		if !r.who.matches(by) || id != Somewhere && !r.Projects.Allow(id) {
			continue
		}
		if r.Role.Includes(needed) {
			return Decision{true, fmt.Sprintf("%s:%d grants %s", f.name, r.Line, r)}
		}
		if most == nil || r.Role > most.Role {
			most = &f.rules[i]
		}
	}
	if most != nil {
		return Decision{false, fmt.Sprintf("%s:%d grants only %s", f.name, most.Line, *most)}
	}
	return Decision{false, fmt.Sprintf("no line of %s grants %s a role for %s", f.name, by, id)}
}

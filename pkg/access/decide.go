package access

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
)

// An Owner is ARNs of roles and users. An owner of the installation is admin of all projects, whatever
// the access file says.
type Owner []string

// ParseOwner reads ARNs that are separated by blanks or line ends. The error is of kind Invalid.
//
// An owner is neither a pattern nor one session of a role: the policy of the bucket, which lets nobody
// else change the access file, could not say the same. IAM knows a session by its role, and a star
// in a policy also stands for slashes.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html#Conditions_ARN
func ParseOwner(text string) (Owner, error) {
	var all Owner
	var wrong []string
	for p := range strings.FieldsSeq(text) {
		all = append(all, p)
		switch w := CheckARN(p); {
		case w != "":
			wrong = append(wrong, w)
		case strings.Contains(p, "*"):
			wrong = append(wrong, fmt.Sprintf("%q has a star: name each role and user", p))
		case RoleOf(p) != p:
			wrong = append(wrong, fmt.Sprintf("%q is a session, whose name may be chosen by everybody who may assume the role: write %s, and let only owners assume it", p, RoleOf(p)))
		}
	}
	if len(wrong) > 0 {
		return nil, fault.New(fault.Invalid, "owner: %s", strings.Join(wrong, "; "))
	}
	return all, nil
}

// String returns the ARNs as ParseOwner reads them.
func (o Owner) String() string { return strings.Join(o, " ") }

// A Policy decides. An installation that has an owner denies what its access file does not grant, also
// if the file is missing. The zero Policy is that of an installation without an owner and without a
// file, as on a laptop: it leaves IAM to decide, and denies tokens.
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

// WithoutFile says for people who decides while the installation has no access file.
func (o Owner) WithoutFile() string {
	if len(o) > 0 {
		return "there is no " + Key + ", so all but the owner and schedules are denied: write the file, and put it with stackwright access put"
	}
	return "there is no " + Key + ", and the installation has no owner: IAM alone decides, and tokens are denied"
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
	switch owns := func(pattern string) bool { return by.ARN != "" && MatchARN(pattern, by.ARN) }; {
	case by.nobody():
		return Decision{false, "the request has no principal"}
	case slices.ContainsFunc(p.owner, owns):
		return Decision{true, "the principal is an owner of the installation"}
	case by.Schedule != "":
		return Decision{Deployer.Includes(needed), "a schedule may do what the deploy that made it was allowed to do: " + Deployer.String()}
	case p.broken != nil:
		return Decision{false, fmt.Sprintf("%s cannot be used, so all but the owner are denied: %v", Key, p.broken)}
	case p.file == nil:
		return Decision{len(p.owner) == 0 && by.Claims == nil, p.owner.WithoutFile()}
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

// RoleFor returns the greatest role that a principal has for a project and environment.
func (p Policy) RoleFor(by Principal, id string) Role {
	for r := Admin; r > None; r-- {
		if p.Decide(by, r, id).Allowed {
			return r
		}
	}
	return None
}

// A Grant says that principals have a role.
type Grant struct {
	Role Role
	To   string // the principals
	By   string // the place in the access file, or owner
}

// GrantsFor lists who has a role for a project and environment: the owners, and then the rules in the order of the file. A
// file that cannot be used grants nothing.
func (p Policy) GrantsFor(id string) []Grant {
	var all []Grant
	for _, arn := range p.owner {
		all = append(all, Grant{Role: Admin, To: arn, By: "owner"})
	}
	if p.file == nil || p.broken != nil {
		return all
	}
	for _, r := range p.file.rules {
		if r.Projects.Allow(id) {
			all = append(all, Grant{Role: r.Role, To: r.To(), By: fmt.Sprintf("%s:%d", p.file.name, r.Line)})
		}
	}
	return all
}

// Missing says for people who decides if there is no access file that can be used, "" if there is one.
func (p Policy) Missing() string {
	switch {
	case p.broken != nil:
		return Key + " cannot be used, so all but the owner are denied"
	case p.file == nil:
		return p.owner.WithoutFile()
	}
	return ""
}

package project

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
)

// Grants are the projects that may use a target: patterns of project and environment,
// such as "shop@prod" and "team-*@*". No pattern means no project.
type Grants []string

// grant is the form of a pattern. A star stands for any letters, digits and hyphens.
var grant = pattern.New(`^[-A-Za-z0-9*]{1,64}@[-A-Za-z0-9*]{1,64}$`)

// ParseGrants reads patterns that are separated by commas. The error is of kind Invalid
// and lists everything that is wrong.
func ParseGrants(text string) (Grants, error) {
	all := Grants(Listed(text))
	return all, all.check()
}

// String returns the patterns with commas, as ParseGrants reads them.
func (g Grants) String() string { return strings.Join(g, ",") }

// check returns everything that is wrong with the patterns.
func (g Grants) check() error {
	var wrong []string
	if n := len(g.String()); n > MaxEntries {
		wrong = append(wrong, fmt.Sprintf("the patterns have %d characters, and at most %d may be: use stars, such as shop@* for all environments of shop", n, MaxEntries))
	}
	for i, p := range g {
		switch {
		case !grant.MatchString(p):
			wrong = append(wrong, suggestGrant(p))
		case slices.Contains(g[:i], p):
			wrong = append(wrong, p+" is listed twice: remove one")
		}
	}
	if len(wrong) > 0 {
		return fault.New(fault.Invalid, "projects: %s", strings.Join(wrong, "; "))
	}
	return nil
}

// suggestGrant says what is wrong with a pattern.
func suggestGrant(p string) string {
	if Name.MatchString(p) {
		return p + " has no environment: write " + p + "@" + DefaultEnvironment + " for that environment, or " + p + "@* for all"
	}
	if len(p) > 80 {
		p = p[:80] + "…"
	}
	return `"` + p + `" is not a pattern: write PROJECT@ENVIRONMENT with letters, digits, hyphens and stars, such as shop@prod or team-*@*`
}

// Allow reports whether the project of an ID, such as "shop@prod", is among them.
func (g Grants) Allow(id string) bool {
	name, environment, _ := strings.Cut(id, "@")
	return slices.ContainsFunc(g, func(p string) bool {
		names, environments, _ := strings.Cut(p, "@")
		return pattern.Star(names, name) && pattern.Star(environments, environment)
	})
}

// Permit returns nil if the project of an ID may use the target, and otherwise an error
// of kind Denied that says what to do.
func (a Access) Permit(id string) error {
	if a.Projects.Allow(id) {
		return nil
	}
	change := "to its projects (stackwright targets add " + a.Name + " --projects)"
	if a.Name == DefaultTarget {
		change = "to the setting projects of the installation"
	}
	return fault.New(fault.Denied, "target %s is not for project %s: ask the owner of the installation to add %s %s", a.Name, id, id, change)
}

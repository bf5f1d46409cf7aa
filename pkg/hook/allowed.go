package hook

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
)

// Allowed lists what hooks may call, by ARN or URL. A star stands for any text. An entry such as team-*@prod=arn:… is about the
// hooks of some projects, with a pattern of project.Grants; one without is about those of all.
type Allowed []string

// arn is the form of a pattern: it names the service, and so no pattern allows everything.
var arn = pattern.New(`^arn:aws[a-z*-]*:(lambda|states|events|sns|ssm|secretsmanager|cloudwatch|autoscaling):[a-z0-9*-]+:([0-9]{12}|\*):[-A-Za-z0-9_/:*.]{1,256}$`)

// bucket is the form of a pattern of buckets. It begins with at least three characters of their names: hooks change and delete what is in
// them.
var bucket = pattern.New(`^arn:aws[a-z-]*:s3:::[a-z0-9][a-z0-9.-]{2}[a-z0-9.*-]{0,60}$`)

// site is the form of a pattern of URLs: it names the host, in which a star could stand for that of somebody else.
var site = pattern.New(`^https://([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?/[-A-Za-z0-9._~%/*]{0,256}$`)

// ParseAllowed reads patterns that are separated by commas. The error is of kind Invalid and lists everything that is
// wrong.
func ParseAllowed(text string) (Allowed, error) {
	var wrong []string
	if len(text) > project.MaxEntries {
		wrong = append(wrong, fmt.Sprintf("the patterns have more than %d characters: use stars", project.MaxEntries))
	}
	all := Allowed(project.Listed(text))
	for _, p := range all {
		e, err := project.ParseEntry(p)
		if err != nil {
			wrong = append(wrong, `"`+p+`" does not begin with a pattern of projects: write PROJECT@ENVIRONMENT, such as shop@prod or team-*@*, before the =, or no =`)
		}
		switch {
		case bucket.MatchString(e.Thing) && e.Projects == nil && err == nil:
			wrong = append(wrong, `"`+p+`" is about a bucket that hooks delete the objects of: write the projects whose hooks may, such as shop@prod=`+e.Thing)
		case !arn.MatchString(e.Thing) && !bucket.MatchString(e.Thing) && !site.MatchString(e.Thing):
			wrong = append(wrong, `"`+e.Thing+`" is not the ARN of a Lambda function, a state machine, an event bus, a topic, a parameter, a secret, an alarm or an Auto Scaling group, in which stars stand for any text, not that of a bucket, with no star among the first three characters of its name, and not https://HOST/* with a host without stars`)
		}
	}
	if len(wrong) > 0 {
		return nil, fault.New(fault.Invalid, "hooks: %s", strings.Join(wrong, "; "))
	}
	return all, nil
}

// String returns the patterns with commas, as ParseAllowed reads them.
func (a Allowed) String() string { return strings.Join(a, ",") }

// entries are the patterns, each with the projects that it is about.
func (a Allowed) entries() []project.Entry {
	var all []project.Entry
	for _, p := range a {
		if e, err := project.ParseEntry(p); err == nil { // ParseAllowed has checked it
			all = append(all, e)
		}
	}
	return all
}

// ARNs lists the ARNs of what some project may call, each pattern once.
func (a Allowed) ARNs() []string {
	var all []string
	for _, e := range a.entries() {
		if !site.MatchString(e.Thing) && !slices.Contains(all, e.Thing) {
			all = append(all, e.Thing)
		}
	}
	return all
}

// Permit returns an error of kind Denied if the hooks of a project, such as shop@prod, may not reach what an ARN or a
// URL names.
func (a Allowed) Permit(id, thing string) error {
	if slices.ContainsFunc(a.entries(), func(e project.Entry) bool { return e.About(id) && pattern.Star(e.Thing, thing) }) {
		return nil
	}
	return fault.New(fault.Denied, "hooks of %s may not reach %s: ask the owner of the installation to add it to the setting hooks", id, thing)
}

// PermitSome returns an error of kind Denied if the hooks of a project may reach nothing that values of the type name in a target.
func (a Allowed) PermitSome(id string, t Type, in project.Target) error {
	service := t.service(in)
	if slices.ContainsFunc(a.entries(), func(e project.Entry) bool {
		part := strings.SplitN(e.Thing, ":", 4)
		return e.About(id) && len(part) > 2 && pattern.Star(part[2], service)
	}) {
		return nil
	}
	return fault.New(fault.Denied, "hooks of %s may reach nothing of the service %s: ask the owner of the installation to add what the stacks have of it to the setting hooks", id, service)
}

// Spare returns an error of kind Denied if a thing is among a, the parts of the installation.
func (a Allowed) Spare(id, thing string) error {
	if a.Permit(id, thing) == nil {
		return fault.New(fault.Denied, "%s is a part of Stackwright, which no hook may reach: call something else", thing)
	}
	return nil
}

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/lib/shorten"
	"github.com/stackwright/stackwright/pkg/lib/suggest"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Skip is the arguments of the verb Continue: the resources that CloudFormation does not roll back, and marks as
// restored. They may differ from the template until somebody corrects them.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ContinueUpdateRollback.html (ResourcesToSkip)
type Skip struct {
	Resources []string `json:"resources"` // logical IDs, or NestedStackName.LogicalID; sorted
}

// SkipVersion is the version of Skip.
const SkipVersion = 1

// Skips returns the resources that s, which continues a rollback, skips; none for other steps.
func (s Step) Skips() ([]string, error) {
	if !s.does(Continue) || s.Arguments == nil {
		return nil, nil
	}
	var skip Skip
	err := s.Arguments.Read(SkipVersion, &skip)
	return skip.Resources, err
}

// skippable is the form of a resource to skip in AWS's model of CloudFormation.
var skippable = pattern.New(`^(?:[a-zA-Z0-9]+|[a-zA-Z][-a-zA-Z0-9]*\.[a-zA-Z0-9]+)$`)

// SkipProblems lists what is wrong with resources to skip, whatever stacks there are.
func SkipProblems(all []string) []Problem {
	var wrong []string
	for _, one := range all {
		if stack, resource, _ := strings.Cut(one, "."); stack == "" || len(one) > maxPattern || !skippable.MatchString(resource) {
			wrong = append(wrong, strconv.Quote(shorten.To(40, one)))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return []Problem{{OptionSkip, strings.Join(wrong, ", ") + ": write STACK.RESOURCE, with the logical ID of the resource, " +
		"such as data/db.Table, or STACK.NESTED-STACK-NAME.RESOURCE"}}
}

// skipped lists the resources of a node's stack that the request skips, sorted.
func (v View) skipped(name string) []string {
	var all []string
	for _, one := range v.Skip {
		if stack, resource, _ := strings.Cut(one, "."); Means(stack, name) {
			all = append(all, resource)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// continuation returns the step that continues the rollback of a node's stack, without what the request skips.
func (v View) continuation(name string, s Step) (Step, error) {
	skip := v.skipped(name)
	if len(skip) == 0 || !v.Live[name].Status.Stuck() {
		return s, nil
	}
	var err error
	s.Arguments, err = NewArguments(SkipVersion, Skip{skip})
	return s, err
}

// unskippable refuses what the request skips of other stacks than those whose rollback the plan continues.
func (v View) unskippable() []error {
	var all []error
	refuse := func(one, format string, args ...any) {
		all = append(all, fault.New(fault.Refused, "skip: "+one+": "+format, args...))
	}
	names := slices.Sorted(maps.Keys(v.Desired.Nodes))
	for _, one := range v.Skip {
		stack, _, _ := strings.Cut(one, ".")
		meant := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !Means(stack, name) })
		stuck := slices.ContainsFunc(meant, func(name string) bool { return v.managed(name) && v.Live[name].Status.Stuck() })
		stays := slices.ContainsFunc(meant, v.stays)
		others := v.othersUnrestored(meant, one)
		switch {
		case len(meant) == 0:
			hint := ""
			if closest := suggest.Closest(stack, names); closest != "" {
				hint = ": did you mean " + closest + "?"
			}
			refuse(one, "the project has no stack %s%s", stack, hint)
		case stays:
			refuse(one, "this plan leaves stack %s as it is: let the plan be about it too", stack)
		case !stuck:
			refuse(one, "stack %s is %s, and only a rollback that has failed (UPDATE_ROLLBACK_FAILED) is continued without "+
				"a resource: remove it", stack, v.Live[meant[0]].Status)
		case len(others) > 0:
			refuse(one, "the rollback of stack %s has failed because of %s, and CloudFormation skips no other resource", stack,
				listed(others))
		}
	}
	return all
}

// othersUnrestored lists the resources because of which the rollbacks of nodes have failed, as the records say, if one
// that the request skips is none of them.
func (v View) othersUnrestored(nodes []string, skip string) []string {
	_, resource, _ := strings.Cut(skip, ".")
	var all []string
	for _, name := range nodes {
		if u := v.Recorded[name].Unrestored; u != nil && v.Live[name].Status.Stuck() {
			all = append(all, u.Resources...)
		}
	}
	if slices.Contains(all, resource) {
		return nil
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Unrestored is what a record has of a stack whose update and rollback have failed, until an operation ends in another
// way.
type Unrestored struct {
	Resources []string  `json:"resources,omitempty"` // because of which the rollback has failed; see action.Operation
	Since     time.Time `json:"since"`               // when it failed because of these for the first time
	Times     int       `json:"times"`               // how often it has
}

// Again returns what is recorded after a rollback has failed because of resources. A rollback that is continued and
// fails because of the same ones is the same failure.
func (u *Unrestored) Again(resources []string, continued bool, now time.Time) *Unrestored {
	if u != nil && continued && slices.Equal(u.Resources, resources) {
		return &Unrestored{Resources: resources, Since: u.Since, Times: u.Times + 1}
	}
	return &Unrestored{Resources: resources, Since: now, Times: 1}
}

// String says since when the rollback fails, and because of what.
func (u *Unrestored) String() string {
	text := "the rollback has failed"
	if u.Times > 1 {
		text = fmt.Sprintf("the rollback has failed %d times in the same way", u.Times)
	}
	if len(u.Resources) > 0 {
		text += " because of " + listed(u.Resources)
	}
	return text + " since " + u.Since.UTC().Format(time.RFC3339)
}

// stuckMessages says of each stack whose rollback the plan continues as a whole how often that has failed before.
func (v View) stuckMessages(p Plan) []string {
	var all []string
	for _, s := range p.Steps {
		u := v.Recorded[s.Node].Unrestored
		if s.does(Continue) && s.Arguments == nil && u != nil && v.Live[s.Node].Status.Stuck() {
			all = append(all, fmt.Sprintf("stack %s: %s; this run tries it once more: %s", s.Node, u,
				v.Recorded[s.Node].Remedy(v.Desired.Environment)))
		}
	}
	return all
}

// skipsOf lists the resources that the steps of a stack skip.
func skipsOf(steps []Step) []string {
	for _, s := range steps {
		if skips, err := s.Skips(); err == nil && len(skips) > 0 {
			return skips
		}
	}
	return nil
}

// saySkipped says what it means that a rollback skips resources.
func saySkipped(skips []string) string {
	them := "it for restored, and it"
	if len(skips) > 1 {
		them = "them for restored, and they"
	}
	return fmt.Sprintf("%s: CloudFormation takes %s may differ from the template until you correct that", listed(skips), them)
}

// Remedy says what a person can do about a stack whose rollback has failed.
func (r Record) Remedy(environment string) string {
	if r.Unrestored == nil || len(r.Unrestored.Resources) == 0 {
		return "see the events of the stack in CloudFormation, repair the cause, and retry"
	}
	command := "stackwright deploy"
	if environment != "" && environment != project.DefaultEnvironment {
		command += " --env " + environment
	}
	for _, one := range r.Unrestored.Resources {
		command += " --skip " + r.Node + "." + one
	}
	them := listed(r.Unrestored.Resources)
	return fmt.Sprintf("repair what %s needs, and retry; or leave it as it is, and correct it afterwards: %s", them, command)
}

package draft

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/lib/loss"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
)

// mostDefaults is for how many parameters Export finds out whether their defaults were given.
const mostDefaults = 10

// Export makes the stacks of a recorded project, named as "shop@prod", from its live stacks, and the files of
// their templates. They have the names in the project, and the parameters of which the recorded
// digest shows that they were given; a value that is the output of a stack that the stack depends on
// becomes a reference to it. A stack in several targets must be the same in all: the error is of kind Refused.
func Export(id string, live []Live) (archive.Files, []Stack, error) {
	name, environment, _ := strings.Cut(id, "@")
	byNode := make(map[string]Live, len(live))
	byStack := make(map[string][]Live)
	for _, l := range live {
		byNode[l.Recorded.Node] = l
		stack, _, _ := strings.Cut(l.Recorded.Node, "@")
		byStack[stack] = append(byStack[stack], l)
	}
	files := archive.Files{}
	var all []Stack
	for _, stack := range slices.Sorted(maps.Keys(byStack)) {
		s, err := exported(stack, byStack[stack], byNode, files)
		if err != nil {
			return nil, nil, err
		}
		if project.StackName(name, environment, stack) == s.StackName {
			s.StackName = ""
		}
		all = append(all, s)
	}
	return files, all, nil
}

// exported is one stack of a project, which lives in one target or in several.
func exported(stack string, live []Live, byNode map[string]Live, files archive.Files) (Stack, error) {
	l := live[0]
	s := Stack{
		Name: stack, StackName: l.Name, Parameters: map[string]Value{}, Tags: map[string]Value{}, Capabilities: l.Capabilities, Protect: l.Protected, Notifications: l.Notifications, Triggers: l.Triggers,
	}
	for _, other := range live {
		if !alike(l, other) {
			return s, fault.New(fault.Refused, "stack %s differs between %s and %s, and one stack of a project cannot be written for both: write the project by hand", stack, l.Recorded.Node, other.Recorded.Node)
		}
		s.Targets = append(s.Targets, other.Recorded.Target.Name)
		if s.Approve.Weaker(other.Recorded.Approve) {
			s.Approve = other.Recorded.Approve
		}
	}
	slices.Sort(s.Targets)
	if slices.Equal(s.Targets, []string{project.DefaultTarget}) {
		s.Targets = nil
	}
	parsed := s.take(l, files)
	given := givenTo(l, ownTags(l), parsed)
	needs := make(map[string]bool)
	for _, node := range l.Recorded.Needs {
		needed, _, _ := strings.Cut(node, "@")
		needs[needed] = true
	}
	for key, value := range given {
		node, output := "", ""
		if len(live) == 1 && !parsed.Parameters[key].NoEcho {
			node, output = sourceOf(value, l.Recorded.Needs, byNode)
		}
		switch {
		case parsed.Parameters[key].NoEcho:
			s.Parameters[key] = secretOf(l, key)
		case node != "":
			s.Parameters[key] = Reference("${" + node + "." + output + "}")
			needed, _, _ := strings.Cut(node, "@")
			delete(needs, needed)
		default:
			s.Parameters[key] = Literal(loss.Doubt(value))
		}
	}
	s.Needs = slices.Sorted(maps.Keys(needs))
	return s, nil
}

// alike reports whether two live stacks can be one stack of a project in two targets.
func alike(a, b Live) bool {
	return a.Name == b.Name && string(a.Template) == string(b.Template) && maps.Equal(a.Parameters, b.Parameters) && maps.Equal(a.Tags, b.Tags) &&
		slices.Equal(a.Capabilities, b.Capabilities) && a.Protected == b.Protected && slices.Equal(a.Notifications, b.Notifications) && a.Triggers.String() == b.Triggers.String()
}

// sourceOf returns the node and the output that have a value, if exactly one of the needed nodes has one.
func sourceOf(value string, needs []string, byNode map[string]Live) (node, output string) {
	found := 0
	for _, need := range needs {
		outputs := byNode[need].Recorded.Outputs
		for _, key := range slices.Sorted(maps.Keys(outputs)) {
			if value != "" && loss.Same(value, outputs[key]) {
				node, output = need, key
				found++
			}
		}
	}
	if found != 1 {
		return "", ""
	}
	return node, output
}

// givenTo returns the parameters of a live stack that the project gives. CloudFormation reports defaults of the
// template like values that were given; the digest of what was deployed tells them apart. If it is unknown, the
// stack has other values by now, or a NoEcho parameter was given, those that are the default are left out.
func givenTo(l Live, tags map[string]string, t *template.Template) map[string]string {
	var open []string // parameters that may have been given or not
	certain := make(map[string]string)
	for key, value := range l.Parameters {
		p := t.Parameters[key]
		if p.Default != nil && (p.NoEcho || *p.Default == value) {
			open = append(open, key)
		} else {
			certain[key] = value
		}
	}
	slices.Sort(open)
	if len(open) > mostDefaults {
		open = nil
	}
	sum := sha256.Sum256(l.Template)
	n := project.Node{
		Stack: l.Name, Template: project.Template{Digest: hex.EncodeToString(sum[:])}, Target: l.Recorded.Target, Tags: asTexts(tags), Capabilities: l.Capabilities, Protect: l.Protected, Notifications: l.Notifications,
	}
	for chosen := range 1 << len(open) {
		given := maps.Clone(certain)
		for i, key := range open {
			if chosen&(1<<i) != 0 {
				given[key] = l.Parameters[key]
			}
		}
		n.Parameters = asTexts(given)
		if r, err := n.Resolve(nil); err == nil && r.Digest == l.Recorded.Digest {
			return given
		}
	}
	for key := range l.Parameters {
		if t.Parameters[key].NoEcho {
			certain[key] = l.Parameters[key]
		}
	}
	return certain
}

func asTexts(values map[string]string) map[string]project.Text {
	all := make(map[string]project.Text, len(values))
	for key, value := range values {
		all[key] = project.Literal(value)
	}
	return all
}

package draft

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/lib/loss"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
)

// Live is a stack that exists.
type Live struct {
	Name             string // in CloudFormation
	Template         []byte
	Parameters, Tags map[string]string
	Capabilities     []string
	Protected        bool
	Triggers         project.RollbackTriggers
	Notifications    []string // ARNs of topics, sorted
	Recorded         Recorded // by Stackwright; empty for From
}

// Recorded is what Stackwright has recorded about a live stack.
type Recorded struct {
	Node    string // in the project
	Target  project.Target
	Needs   []string // nodes
	Outputs map[string]string
	Digest  string                // of what was last deployed; empty if that is unknown
	Approve project.ApprovalLevel // which of its changes have to be approved
}

// From makes the stacks of a project from stacks that exist, and the files of their
// templates. A stack is named like the live one, without the prefix, if no other gets the
// same name. Its physical name stays. A parameter whose value nobody can read, because it is
// NoEcho, refers to a secret that has the name of the stack and the parameter: until there
// is one, CloudFormation refuses to change the stack.
func From(name, prefix string, live []Live) (archive.Files, []Stack) {
	live = slices.SortedFunc(slices.Values(live), func(a, b Live) int { return cmp.Compare(a.Name, b.Name) })
	short := func(l Live) string { return strings.Trim(strings.TrimPrefix(l.Name, prefix), "-") }
	count := map[string]int{}
	for _, l := range live {
		count[strings.ToLower(short(l))]++ // some disks ignore letter case
		count[strings.ToLower(l.Name)]++
	}
	files := archive.Files{}
	var all []Stack
	for _, l := range live {
		s := Stack{Name: short(l), StackName: l.Name, Parameters: map[string]Value{}, Tags: map[string]Value{}, Capabilities: l.Capabilities, Protect: l.Protected, Notifications: l.Notifications, Triggers: l.Triggers}
		if count[strings.ToLower(s.Name)] > 1 || !declared.StackName.MatchString(s.Name) {
			s.Name = l.Name
		}
		if project.StackName(name, project.DefaultEnvironment, s.Name) == l.Name {
			s.StackName = ""
		}
		parsed := s.take(l, files)
		for key, value := range l.Parameters {
			if parsed.Parameters[key].NoEcho { // the value is ****
				s.Parameters[key] = secretOf(l, key)
			} else {
				s.Parameters[key] = Literal(loss.Doubt(value))
			}
		}
		all = append(all, s)
	}
	return files, all
}

// take takes over the template and the tags of a live stack, and returns the template.
func (s *Stack) take(l Live, files archive.Files) *template.Template {
	s.Template = "templates/" + s.Name + ".yaml"
	if bytes.HasPrefix(bytes.TrimSpace(l.Template), []byte("{")) {
		s.Template = "templates/" + s.Name + ".json"
	}
	files[s.Template] = []byte(loss.Doubt(string(l.Template)))
	parsed, err := template.Parse(s.Template, l.Template)
	if err != nil { // reading the project reports it
		parsed = &template.Template{}
	}
	for key, value := range ownTags(l) {
		s.Tags[loss.Doubt(key)] = Literal(loss.Doubt(value))
	}
	return parsed
}

// ownTags are the tags of a live stack that neither AWS nor Stackwright has set.
func ownTags(l Live) map[string]string {
	tags := maps.Clone(l.Tags)
	maps.DeleteFunc(tags, func(key, _ string) bool {
		return strings.HasPrefix(key, "aws:") || strings.HasPrefix(key, "stackwright:")
	})
	return tags
}

// secretOf is the reference for a parameter of a live stack whose value nobody can read.
func secretOf(l Live, key string) Value { return Reference("${secret:" + l.Name + "/" + key + "}") }

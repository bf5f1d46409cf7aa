package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

const queueTemplate = "Parameters: {Size: {Type: String, Default: small}, Url: {Type: String, Default: none}}\nResources: {Queue: {Type: 'AWS::SQS::Queue', Properties: {QueueName: !Ref Size}}}\nOutputs: {Id: {Value: !Ref Queue}}\n"

// why explains what decides whether a stack is deployed, in one line.
func (s stacks) why(t *testing.T, name string) string {
	t.Helper()
	e, err := s.Why(name, func(digest string) (*template.Template, error) {
		text, ok := s.templates[digest]
		if !ok {
			return nil, fault.New(fault.Missing, "it is no longer stored")
		}
		return template.Parse("t.yaml", []byte(text))
	})
	if err != nil {
		return err.Error()
	}
	var inputs []string
	for _, i := range e.Inputs {
		inputs = append(inputs, fmt.Sprintf("%s %s%v %s", i.Kind, i.Name, i.References, i.Why))
	}
	all := []string{strings.TrimSpace(string(e.Outcome) + " " + string(e.Certainty)), strings.Join(e.Reasons, "; "), strings.Join(inputs, "; "), strings.Join(e.Refusals, "; ")}
	return strings.Join(all, " | ")
}

// deployed is a project of two stacks, a and b, that are deployed as they are desired: b uses an output of a.
func deployed(t *testing.T) stacks {
	t.Helper()
	s := newStacks()
	s.node("a", queueTemplate, "Size=small")
	s.node("b", queueTemplate, "Url=a.Id")
	s.live("a", queueTemplate, map[string]string{"Size": "small", "Url": "none"}, map[string]string{"Id": "1"})
	s.live("b", queueTemplate, map[string]string{"Size": "small", "Url": "1"}, nil)
	for _, name := range []string{"a", "b"} {
		r := s.Recorded[name]
		got, err := s.Desired.Nodes[name].Resolve(func(string, string) (string, error) { return "1", nil })
		if r.Digest = got.Digest; err != nil {
			t.Fatal(err)
		}
		s.Recorded[name] = r
	}
	return s
}

// What decides whether a stack is deployed is said by the names of what differs, and never by values.
func TestWhyAStackIsDeployed(t *testing.T) {
	change := func(s stacks, name string, f func(*project.Node)) {
		n := s.Desired.Nodes[name]
		f(&n)
		s.Desired.Nodes[name] = n
	}
	for _, c := range []struct {
		what, stack string
		change      func(*stacks)
		want        string
	}{
		{"nothing differs", "a", func(*stacks) {}, "unchanged |  |  | "},
		{"a parameter differs", "a", func(s *stacks) { s.node("a", queueTemplate, "Size=hidden-value") },
			"update certain | changed here: parameters | parameter Size[] it has another value | "},
		{"a dependency changes", "b", func(s *stacks) { s.node("a", queueTemplate, "Size=large") },
			"update possible | depends on a, which changes | parameter Url[${a.Id}] known when a is deployed; dependency a[${a.Id}] it changes: a/update | "},
		{"the template differs", "b", func(s *stacks) {
			s.templates["third"] = strings.NewReplacer("Queue:", "Line:", "!Ref Queue", "!Ref Line").Replace(queueTemplate)
			change(*s, "b", func(n *project.Node) { n.Template.Digest, n.Template.Path = "third", "templates/b.yaml" })
		}, "update certain | changed here: template | template templates/b.yaml[] it is another one than was last deployed: add Line, remove Queue | "},
		{"a tag and an option differ", "a", func(s *stacks) {
			change(*s, "a", func(n *project.Node) {
				n.Protect, n.Tags = true, map[string]project.Text{"team": project.Literal("x")}
			})
		}, "update certain | changed here: tags, options | tag team[] it is added; option protect[] it has another value | "},
		{"it was changed outside", "a", func(s *stacks) {
			l := s.Live["a"]
			l.LastUpdated = epoch.Add(1)
			s.Live["a"] = l
		}, "update certain | changed outside Stackwright since it was last deployed |  | "},
		{"it was never deployed", "c", func(s *stacks) { s.node("c", queueTemplate) }, "create certain | new in the project |  | "},
		{"it is no longer in the project", "b", func(s *stacks) { delete(s.Desired.Nodes, "b") }, "delete certain | no longer in the project |  | "},
		{"it is left alone", "b", func(s *stacks) { s.Desired.Ignored = []string{"b"} }, "left alone | the project's files say enabled: false |  | "},
		{"the deploy is about others", "b", func(s *stacks) { s.Only = []string{"a"} }, "not selected | the deploy is only about other stacks, and none of them depends on it |  | "},
		{"it has another dependency", "a", func(s *stacks) {
			s.node("c", queueTemplate)
			change(*s, "a", func(n *project.Node) { n.Needs = []string{"c"} })
		}, "update certain | depends on other stacks than before | dependency c[] it changes: c/create | "},
		{"the deploy is refused", "a", func(s *stacks) {
			s.node("a", queueTemplate, "Size=large")
			s.node("c", queueTemplate)
			s.Live["c"] = plan.Live{StackID: "other", Status: "CREATE_COMPLETE"}
		}, "refused certain | changed here: parameters | parameter Size[] it has another value | stack c: shop-c exists (CREATE_COMPLETE) and " + plan.NotManaged},
		{"there is no such stack", "c", func(*stacks) {}, "there is no stack c, neither in the project's files nor recorded: available: a, b"},
	} {
		s := deployed(t)
		if c.change(&s); s.why(t, c.stack) != c.want {
			t.Errorf("%s: %s\nwant %s", c.what, s.why(t, c.stack), c.want)
		}
		if strings.Contains(s.why(t, c.stack), "hidden-value") {
			t.Errorf("%s: a value is shown", c.what)
		}
	}
}

// A value from outside the project that nobody has read is that with which the stack was deployed, and this is said.
func TestWhyReadsNothingOutsideTheProject(t *testing.T) {
	s := deployed(t)
	n := s.Desired.Nodes["a"]
	n.Parameters["Size"] = project.Text{{Source: &project.Source{Parameter: "/size", Target: n.Target}}}
	e, err := s.Why("a", func(string) (*template.Template, error) { return nil, fault.New(fault.Missing, "none") })
	want := "parameter Size is not compared: it uses ${ssm-value:/size@default}, which only a plan reads"
	if err != nil || e.Outcome != plan.OutcomeUnchanged || len(e.Caveats) != 1 || e.Caveats[0] != want {
		t.Errorf("%+v, %v", e, err)
	}
}

package draft

import (
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/plain"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// Of lists the stacks that a folder of templates declares without a project file, in the
// order of their templates: a project file with them declares the same stacks. It adds
// what is wrong with the templates and the parameter files to the list.
func Of(f archive.Files, list *problem.List) []Stack {
	if !plain.Detect(f) {
		return nil
	}
	d, _ := plain.Read(f, list)
	var all []Stack
	for _, s := range d.Stacks {
		parsed, err := template.Parse(s.Template.Path, f[s.Template.Path])
		if err != nil {
			list.Join(s.Template.Path, err)
			continue
		}
		one := Stack{
			Name: s.Name, Template: s.Template.Path, Parameters: literals(s.Settings.Parameters), Tags: literals(s.Settings.Tags),
			Capabilities: parsed.Capabilities(),
		}
		if p := s.Settings.StackPolicy; p != nil {
			one.Policy = p.Body
		}
		one.Missing = Missing(parsed, one.Parameters)
		all = append(all, one)
	}
	return all
}

// Missing lists the parameters of a template that have neither a default nor a value.
func Missing(t *template.Template, given map[string]Value) []template.Parameter {
	var all []template.Parameter
	for _, name := range slices.Sorted(maps.Keys(t.Parameters)) {
		if _, ok := given[name]; !ok && t.Parameters[name].Default == nil {
			all = append(all, t.Parameters[name])
		}
	}
	return all
}

// literals are the values of entries, which have no references.
func literals(entries map[string]declared.Entry) map[string]Value {
	all := map[string]Value{}
	for name, e := range entries {
		text, _ := e.Value.Literal()
		all[name] = Literal(text)
	}
	return all
}

// Example is a small project: its files besides the project file, and its stacks.
func Example() (archive.Files, []Stack) {
	files := archive.Files{
		"templates/queue.yaml": []byte(`Resources:
  Queue:
    Type: AWS::SQS::Queue
Outputs:
  QueueArn: { Value: !GetAtt Queue.Arn }
`),
		"templates/topic.yaml": []byte(`Parameters:
  QueueArn: { Type: String }
Resources:
  Topic:
    Type: AWS::SNS::Topic
    Properties:
      Subscription:
        - { Protocol: sqs, Endpoint: !Ref QueueArn }
`),
	}
	return files, []Stack{
		{Name: "queue", Template: "templates/queue.yaml"},
		{Name: "topic", Template: "templates/topic.yaml", Parameters: map[string]Value{"QueueArn": Reference("${queue.QueueArn}")}},
	}
}

package plan_test

import (
	"fmt"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A stack that reads an output with Fn::GetStackOutput may change with it, and may lose data by that; and a value that
// has changed since it was read is read again, also if nothing else changes.
func TestReadsMayChange(t *testing.T) {
	const base = "Resources: {Topic: {Type: 'AWS::SNS::Topic', Properties: {TopicName: %s}}}\nOutputs: {Name: {Value: !Ref Topic}}\n"
	const reader = "Resources: {Files: {Type: 'AWS::S3::Bucket', Properties: {BucketName: !GetStackOutput {StackName: shop-base, OutputName: Name}}}}"
	s := newStacks()
	outputs := map[string]string{"Name": "a"}
	s.node("app", reader)
	n := s.Desired.Nodes["app"]
	n.Needs, n.Reads = []string{"base"}, []project.Read{{Node: "base", Output: "Name"}}
	s.Desired.Nodes["app"] = n
	s.live("app", reader, nil, nil)
	deployed := func(name string) string {
		// as an action records it
		got, err := s.Desired.Nodes[name].Resolve(func(_, output string) (string, error) {
			if value, ok := outputs[output]; ok {
				return value, nil
			}
			return "", fault.New(fault.Missing, "no output %s", output)
		})
		if err != nil {
			t.Fatal(err)
		}
		return got.Digest
	}
	record := func(name string) {
		r := s.Recorded[name]
		r.Digest, r.Target, r.Template = deployed(name), s.Desired.Nodes[name].Target, s.Desired.Nodes[name].Template.Digest
		s.Recorded[name] = r
	}

	s.node("base", fmt.Sprintf(base, "b"))
	s.live("base", fmt.Sprintf(base, "a"), nil, outputs)
	record("app")
	s.expect(t, `base update certain: changed here: template
  replace Topic
  output dynamic Name
app update possible POSSIBLE DATA LOSS: depends on base, which changes
  dynamic Files
`)

	s.live("base", fmt.Sprintf(base, "b"), nil, outputs)
	record("base")
	s.expect(t, "")

	s.live("base", fmt.Sprintf(base, "b"), nil, map[string]string{"Name": "b"}) // it was deployed without its reader
	record("base")
	s.expect(t, `app update certain POSSIBLE DATA LOSS: what its template reads may have changed since: base.Name
  dynamic Files
`)
}

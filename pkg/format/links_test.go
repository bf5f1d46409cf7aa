package format

import (
	"slices"
	"testing"

	"github.com/stackwright/stackwright/pkg/format/archive"
)

// An export whose condition only a deploy can decide is a possible one, and one whose condition is false is none.
func TestExportsOfConditions(t *testing.T) {
	loaded, err := Read(archive.Files{
		"stackwright.yaml": []byte("project: shop\nstacks:\n  a: {template: a.yaml}\n  b: {template: b.yaml, parameters: {Stage: \"${a.Stage}\"}}\n"),
		"a.yaml":           []byte("Resources: {T: {Type: AWS::SNS::Topic}}\nOutputs: {Stage: {Value: !Ref T}}\n"),
		"b.yaml": []byte(`Parameters: {Stage: {Type: String}}
Conditions: {IsProd: !Equals [!Ref Stage, prod], Never: !Equals [a, b]}
Resources: {T: {Type: AWS::SNS::Topic}}
Outputs:
  Sure: {Value: !Ref T, Export: {Name: sure}}
  Maybe: {Condition: IsProd, Value: !Ref T, Export: {Name: maybe}}
  Never: {Condition: Never, Value: !Ref T, Export: {Name: never}}
`),
	}, Options{Targets: here()})
	if err != nil {
		t.Fatal(err)
	}
	links := loaded.Project.Nodes["b"].Links
	if got := links.CertainExports(); !slices.Equal(got, []string{"sure"}) || !links.MayExport("Maybe", "maybe") {
		t.Errorf("certain are %q of %+v", got, links)
	}
}

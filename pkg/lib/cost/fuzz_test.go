package cost_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/cost"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// Whatever a template says, its estimate has no negative amount, each resource is listed for a reason, and it is the same twice.
func FuzzOf(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("Resources:\n  V: {Type: AWS::EC2::Volume, Properties: {Size: NaN, VolumeType: [a]}}\n  G: {Type: AWS::AutoScaling::AutoScalingGroup, Properties: {MinSize: {a: b}, LaunchTemplate: [1]}}\n  I: {Type: AWS::EC2::Instance, Properties: {InstanceType: 1, BlockDeviceMappings: {a: b}, LaunchTemplate: x, Placement: []}}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		read, err := template.Parse("t.yaml", text)
		if err != nil {
			return
		}
		e := cost.Of(read.In(template.Scope{Region: "eu-west-1", Parameters: read.Defaults()}), read, "eu-west-1", nil)
		for _, r := range e.Resources {
			if r.Monthly() < 0 || len(r.Parts)+len(r.Unknown) == 0 && r.Usage == "" {
				t.Errorf("%+v", r)
			}
		}
		if again := cost.Of(read.In(template.Scope{Region: "eu-west-1", Parameters: read.Defaults()}), read, "eu-west-1", nil); shown(again) != shown(e) {
			t.Errorf("once\n%sand then\n%s", shown(e), shown(again))
		}
	})
}

package format

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/project"
)

// An import whose name only a deploy can say makes an edge if an export has the same expression as its name. If none has, and
// the files do not say what the stack is deployed after, that is a warning; so is an import of what another region exports.
func TestImportsWithHiddenNames(t *testing.T) {
	const (
		names    = "Resources: {T: {Type: AWS::SNS::Topic}}\nOutputs: {Name: {Value: !Ref T}}\n"
		base     = "Parameters: {N: {Type: String}}\nResources: {T: {Type: AWS::SNS::Topic}}\nOutputs: {Arn: {Value: !Ref T, Export: {Name: !Sub '${N}-arn'}}}\n"
		user     = "Parameters: {N: {Type: %s}}\nResources: {P: {Type: AWS::SSM::Parameter, Properties: {Type: String, Value: !ImportValue {'Fn::Sub': '${N}-%s'}}}}\n"
		warns    = "user.yaml:2:78: stack user imports the export ${names.Name}-x, whose name is known only when it is deployed, so that Stackwright cannot find the stack that makes it: if it is a stack of this project, write needs: [NAME] under user"
		elsewere = "user.yaml:2:78: stack user imports the export x-arn, which only base makes, in another account or region (111111111111#eu-west-1): an import finds exports of its own account and region only: write ${base.Arn} as a parameter"
	)
	for _, c := range []struct{ name, base, user, kind, suffix, edge, warning string }{
		{"the same expression", "'${names.Name}'", "'${names.Name}'", "String", "arn", "user base", ""},
		{"another expression", "'${names.Name}'", "'${names.Name}'", "String", "x", "", warns},
		{"needs", "'${names.Name}'", "'${names.Name}'}, needs: [base", "String", "x", "user base", ""},
		{"the parameter store", "/a/b", "/a/b", "'AWS::SSM::Parameter::Value<String>'", "arn", "user base", ""},
		{"another region", "x}, targets: [eu", "x", "String", "arn", "", elsewere},
	} {
		t.Run(c.name, func(t *testing.T) {
			close := func(value string) string {
				if strings.Contains(value, "[") {
					return "N: " + value + "]"
				}
				return "N: " + value + "}"
			}
			base := base
			if strings.Contains(c.kind, "SSM") {
				base = strings.Replace(base, "Type: String", "Type: "+c.kind, 1)
			}
			all := archive.Files{
				"names.yaml": []byte(names), "base.yaml": []byte(base), "user.yaml": fmt.Appendf(nil, user, c.kind, c.suffix),
				"stackwright.yaml": []byte("project: p\nstacks:\n  names: {template: names.yaml}\n  base: {template: base.yaml, parameters: {" + close(c.base) +
					"}\n  user: {template: user.yaml, parameters: {" + close(c.user) + "}\n"),
			}
			targets := here()
			targets["eu"] = project.Target{Name: "eu", Account: "111111111111", Region: "eu-west-1"}
			l, err := Read(all, Options{Targets: targets})
			if err != nil {
				t.Fatalf("%v\n%s", err, all["stackwright.yaml"])
			}
			edge := ""
			for _, e := range l.Edges {
				if e.Node == "user" && e.Needs == "base" {
					edge = "user base"
				}
			}
			if got := strings.Join(l.Project.Warnings, "\n"); edge != c.edge || got != c.warning {
				t.Errorf("edge %q, want %q; it warns\n%s\nwant\n%s", edge, c.edge, got, c.warning)
			}
		})
	}
}

package draft_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/draft"
)

// A value that a project file can have is read from the written file as it was.
func FuzzFile(f *testing.F) {
	for _, seed := range []string{"", "a", "${x.y}", "$${x}", "$", "yes", "007", "1e3", "~", "# no", "a: b", "- a", "\"'\\", "\n\t ", "é\u2028\u0085\ufeff", "{{resolve:ssm:/x}}", "*a", "&a", "!x", "%", "@", "`"} {
		f.Add(seed)
	}
	template := []byte("Parameters: {P: {Type: String}}\nResources: {T: {Type: AWS::SNS::Topic}}\n")
	f.Fuzz(func(t *testing.T, value string) {
		if !utf8.ValidString(value) || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0x7f }) || len(value) > 2000 || strings.Contains(value, "{{resolve:") {
			return // YAML or CloudFormation has no such texts
		}
		file := draft.File(draft.Project{Name: "shop", Stacks: []draft.Stack{{Name: "a", Template: "a.yaml", Parameters: map[string]draft.Value{"P": draft.Literal(value)}}}})
		p, err := read(t, archive.Files{"stackwright.yaml": file, "a.yaml": template})
		if err != nil {
			t.Fatalf("%v\n%s", err, file)
		}
		got := ""
		for _, part := range p.Project.Nodes["a"].Parameters["P"] {
			if part.Node != "" {
				t.Fatalf("%q has a reference\n%s", value, file)
			}
			got += part.Literal
		}
		if got != value {
			t.Errorf("%q is read as %q\n%s", value, got, file)
		}
	})
}

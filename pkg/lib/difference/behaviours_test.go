package difference

import (
	"os"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/resource"
)

// What a change of a property means is what CloudFormation's documentation says. The
// expectations are made by hand, each from the page of its type.
func TestUpdateBehavioursOfTheDocumentation(t *testing.T) {
	text, err := os.ReadFile("testdata/behaviours.txt")
	if err != nil {
		t.Fatal(err)
	}
	page, typ, n, disagreements := "", "", 0, 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch rest, isPage := strings.CutPrefix(line, "page "); {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case isPage:
			page, typ, _ = strings.Cut(rest, " ")
			continue
		}
		line, remark, differs := strings.Cut(line, " // ")
		want, rest, _ := strings.Cut(line, " ")
		says := want
		if differs {
			says, _, _ = strings.Cut(remark, ":")
		}
		property, values, ok := strings.Cut(strings.TrimSpace(rest), ": ")
		before, after, both := strings.Cut(values, " → ")
		if !ok || !both || typ == "" {
			t.Fatalf("this line has another form: %s", line)
		}
		if n++; says != want {
			disagreements++
		}
		t.Run(typ+" "+property, func(t *testing.T) {
			d := Of(parse(t, withProperty(typ, property, before), nil), parse(t, withProperty(typ, property, after), nil), Uncertain{})
			if len(d.Resources) != 1 {
				t.Fatalf("%d resources differ", len(d.Resources))
			}
			r := d.Resources[0]
			if string(r.Replacement) != says || (r.Action == Replace) != (says == string(resource.Always)) {
				t.Errorf("%s → %s is %s, replacement %s, and %s says %s", before, after, r.Action, r.Replacement, page, want)
			}
		})
	}
	if t.Logf("%d expectations, %d known disagreements", n, disagreements); n < 30 || disagreements > 1 {
		t.Errorf("want at least 30, and one disagreement at most")
	}
}

// withProperty is a template of one resource that has one property.
func withProperty(typ, property, value string) string {
	properties := ""
	if value != "-" {
		properties = ", Properties: {" + property + ": " + value + "}"
	}
	return "Resources: {R: {Type: '" + typ + "'" + properties + "}}"
}

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
	page, typ, n := "", "", 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch rest, isPage := strings.CutPrefix(line, "page "); {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case isPage:
			page, typ, _ = strings.Cut(rest, " ")
			continue
		}
		want, rest, _ := strings.Cut(line, " ")
		property, values, ok := strings.Cut(strings.TrimSpace(rest), ": ")
		before, after, both := strings.Cut(values, " → ")
		if !ok || !both || typ == "" {
			t.Fatalf("this line has another form: %s", line)
		}
		n++
		t.Run(typ+" "+property, func(t *testing.T) {
			d := Of(parse(t, withProperty(typ, property, before), nil), parse(t, withProperty(typ, property, after), nil), Uncertain{})
			if len(d.Resources) != 1 {
				t.Fatalf("%d resources differ", len(d.Resources))
			}
			r := d.Resources[0]
			if string(r.Replacement) != want || (r.Action == Replace) != (want == string(resource.Always)) {
				t.Errorf("%s → %s is %s, replacement %s, and %s says %s", before, after, r.Action, r.Replacement, page, want)
			}
		})
	}
	if n < 30 {
		t.Errorf("%d expectations, want at least 30", n)
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

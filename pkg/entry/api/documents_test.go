package api_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/api"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/lib/golden"
)

// The table of the routes in the page stands behind the mark.
const mark = "<!-- routes: made by go test ./pkg/entry/api -run TestDocuments -update -->"

var table = regexp.MustCompile(`(?s)` + mark + `.*?Bodies and`)

// The documents name the routes that there are, and their examples are what is
// understood and what is answered.
func TestDocuments(t *testing.T) {
	const file = "../../../docs/api.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	written := table.ReplaceAllLiteralString(string(page), mark+"\n"+api.Table()+"\nBodies and")
	golden.Same(t, file, written)
	var examples []string
	for _, m := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		examples = append(examples, m[1])
	}
	if len(examples) != 8 {
		t.Fatalf("there are %d examples", len(examples))
	}
	begin, shown, page1, back, promoted, named, command, wrong := examples[0], examples[1], examples[2], examples[3], examples[4], examples[5], examples[6], examples[7]
	for _, body := range []string{begin, back, named} {
		if r, _ := newApp().ask(t, call(runs, body)); r.StatusCode != 202 {
			t.Errorf("%s is answered %d %s", body, r.StatusCode, r.Body)
		}
	}
	if r, _ := newApp().ask(t, call(runs, strings.Replace(promoted, `"staging"`, `"prod"`, 1), "environment=new")); r.StatusCode != 202 { // only prod has had a run
		t.Errorf("%s is answered %d %s", promoted, r.StatusCode, r.Body)
	}
	if r, _ := newApp().ask(t, call(to("cancel"), command)); r.StatusCode != 202 {
		t.Errorf("%s is answered %d %s", command, r.StatusCode, r.Body)
	}
	known(t, shown, &report.Run{})
	known(t, page1, &struct {
		Runs   []report.Run
		Before string
	}{})
	r, _ := newApp().ask(t, call(runs, `{"operation":"deploy"}`))
	var want, got any
	if err := json.Unmarshal([]byte(wrong), &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(r.Body), &got); err != nil {
		t.Fatal(err)
	}
	if text(t, want) != text(t, got) {
		t.Errorf("it is answered %s, not %s", text(t, got), text(t, want))
	}
}

// known reads an example that may hold nothing but what is answered.
func known(t *testing.T, example string, into any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(example))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Errorf("%s: %v", example, err)
	}
}

// text is v as JSON, with its keys in order.
func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

package cloudformation_test

import (
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// Exports are listed page by page, until all names are found.
func TestExports(t *testing.T) {
	w := newWire(t)
	member := func(stack, name, value string) string {
		return fmt.Sprintf("<member><ExportingStackId>arn:aws:cloudformation:us-east-1:000000000000:stack/%s/1</ExportingStackId><Name>%s</Name><Value>%s</Value></member>", stack, name, value)
	}
	w.answers["ListExports"] = func(form url.Values) (int, string) {
		pages := map[string]string{
			"":  "<Exports>" + member("legacy", "legacy:Zone", "z1") + member("other", "Other", "x") + "</Exports><NextToken>2</NextToken>",
			"2": "<Exports>" + member("net", "net-Vpc", "vpc-1") + "</Exports><NextToken>3</NextToken>",
			"3": "<Exports></Exports>",
		}
		return say(pages[form.Get("NextToken")])(form)
	}
	for _, c := range []struct {
		names []string
		want  map[string]plan.Export
		calls string
	}{
		{[]string{"legacy:Zone"}, map[string]plan.Export{"legacy:Zone": {Stack: "legacy", Value: "z1"}}, "ListExports"},
		{[]string{"net-Vpc", "legacy:Zone"}, map[string]plan.Export{"legacy:Zone": {Stack: "legacy", Value: "z1"}, "net-Vpc": {Stack: "net", Value: "vpc-1"}}, "ListExports ListExports"},
		{[]string{"none"}, map[string]plan.Export{}, "ListExports ListExports ListExports"},
	} {
		w.forms = nil
		counted := 0
		got, err := w.cloud().Exports(t.Context(), project.Target{}, c.names, func() { counted++ })
		if err != nil || !maps.Equal(got, c.want) || w.calls() != c.calls || counted != len(strings.Fields(c.calls)) {
			t.Errorf("%v: %v, %v, with %s, of which %d were counted", c.names, got, err, w.calls(), counted)
		}
	}
	w.answers["ListExports"] = refuse(403, "AccessDenied", "not allowed")
	if _, err := w.cloud().Exports(t.Context(), project.Target{}, []string{"net-Vpc"}, func() {}); !fault.Is(err, fault.Denied) {
		t.Error(err)
	}
}

package plan_test

import (
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// A stack is as Stackwright left it only if everything is that Stackwright has given it. Both the settings of its record
// and the digest with the files say so.
func TestAsLeft(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	text := "Parameters: {Size: {Type: String}, Image: {Type: String}, Free: {Type: String, Default: a}}\nResources: {Topic: {Type: 'AWS::SNS::Topic'}}\n"
	parsed, err := template.Parse("t.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change  func(*plan.Record, *plan.Live)
		digest  string
		is      bool
		byFiles bool // the settings do not say the same as the files
	}{
		"updated only":                    {func(*plan.Record, *plan.Live) {}, "t", true, false},
		"a parameter that is ignored":     {func(_ *plan.Record, l *plan.Live) { l.Parameters["Image"] = "2" }, "t", true, false},
		"a parameter":                     {func(_ *plan.Record, l *plan.Live) { l.Parameters["Size"] = "large" }, "t", false, false},
		"a parameter that is not given":   {func(_ *plan.Record, l *plan.Live) { l.Parameters["Free"] = "b" }, "t", false, false},
		"a parameter that nobody can see": {func(_ *plan.Record, l *plan.Live) { l.Parameters["Size"] = "****" }, "t", false, false},
		"the template":                    {func(*plan.Record, *plan.Live) {}, "other", false, false},
		"a tag":                           {func(_ *plan.Record, l *plan.Live) { l.Tags["team"] = "b" }, "t", false, false},
		"the tag of the project":          {func(_ *plan.Record, l *plan.Live) { l.Project = "" }, "t", false, false},
		"its protection":                  {func(_ *plan.Record, l *plan.Live) { l.Protected = true }, "t", false, false},
		"its topics":                      {func(_ *plan.Record, l *plan.Live) { l.Notifications = []string{"arn"} }, "t", false, false},
		"rolled back":                     {func(_ *plan.Record, l *plan.Live) { l.Status = "UPDATE_ROLLBACK_COMPLETE" }, "t", false, false},
		"another stack":                   {func(_ *plan.Record, l *plan.Live) { l.StackID = "new" }, "t", false, false},
		"nobody knows what was deployed":  {func(r *plan.Record, _ *plan.Live) { r.Digest = "" }, "t", false, false},
		"an old record":                   {func(r *plan.Record, _ *plan.Live) { r.Settings.Whole = false }, "t", false, true},
	} {
		n := project.Node{Name: "a", Stack: "p-a", Template: project.Template{Digest: "t"}, IgnoreChanges: []string{"Image"}, Tags: map[string]project.Text{"team": project.Literal("ä")}}
		n.Parameters = map[string]project.Text{"Size": project.Literal("small"), "Image": project.Literal("1")}
		got, err := n.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		live := plan.Live{StackID: "id", Status: "UPDATE_COMPLETE", LastUpdated: at, Project: "p@prod", Tags: map[string]string{"team": "?"}, Parameters: map[string]string{"Size": "small", "Image": "1", "Free": "a"}}
		r := plan.Record{Node: "a", Stack: "p-a", StackID: "id", Digest: got.Digest, Template: "t", LastUpdated: at.Add(-time.Hour), Settings: plan.NewSettings(live, n.IgnoreChanges)}
		c.change(&r, &live)
		v := plan.View{Desired: project.Project{Name: "p", Environment: "prod", Nodes: map[string]project.Node{"a": n}}, Recorded: map[string]plan.Record{"a": r}, Live: map[string]plan.Live{"a": live}}
		if r.Proves(live, c.digest) != c.is || v.Matches("a", c.digest, parsed) != (c.is || c.byFiles) {
			t.Errorf("%s: by its settings %t, by the files %t", name, r.Proves(live, c.digest), v.Matches("a", c.digest, parsed))
		}
	}
}

// An output of which CloudFormation may not have returned all characters is passed on if they are known, or if none is
// missing.
func TestOutputsWithLostCharacters(t *testing.T) {
	const text = "Parameters: {Size: {Type: String, Default: ü}}\nResources:\n  A: { Type: 'AWS::SNS::Topic' }\n" +
		"  B: { Type: 'AWS::SNS::Topic', Properties: { DisplayName: !Ref Size } }\n" +
		"Outputs:\n  Uses: { Value: !Ref B }\n  Street: { Value: Straße }\n  Sized: { Value: !Ref Size }\n  Url: { Value: !Sub \"${A}?x\" }\n  Mixed: { Value: !Sub \"${A}ß?\" }\n"
	r := plan.Record{Digest: "d", Settings: plan.NewSettings(plan.Live{}, nil)}
	r.Outputs = map[string]string{"Street": "Stra?e", "Sized": "K?ln", "Url": "arn?x", "Mixed": "arn??", "Made": "?"}
	whole := r.Whole(map[string]string{"Size": "Köln"}, []byte(text))
	for name, want := range map[string]plan.Output{
		"Street": {Value: "Straße", Certain: true}, "Sized": {Value: "Köln", Certain: true}, "Url": {Value: "arn?x", Certain: true}, "Mixed": {Value: "arn??"}, "Made": {Value: "?"},
	} {
		if got := r.Output(name, whole[name], []byte(text)); got != want || (got.Refuse("a", name) == nil) != want.Certain {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if got := r.Output("Street", "Stra?e", []byte(text)); !got.Certain || got.Value != "Straße" {
		t.Errorf("of an old record: %+v", got)
	}
	if got := r.Output("Url", "arn?x", nil); got.Certain {
		t.Errorf("without its template: %+v", got)
	}
	r.Settings = r.Settings.Given(map[string]string{"Size": "Köln"})
	if got := r.Output("Url", "arn?x", []byte(text)); !got.Certain {
		t.Errorf("with a parameter that is not ASCII, and that it does not use: %+v", got)
	}
	if got := r.Output("Uses", "arn?x", []byte(text)); got.Certain {
		t.Errorf("with a parameter that is not ASCII: %+v", got)
	}
	r.Settings.Others = nil // an older version has recorded it
	if got := r.Output("Uses", "arn?x", []byte(text)); got.Certain {
		t.Errorf("with a parameter that is not ASCII, by an old record: %+v", got)
	}
	if r.Digest = ""; r.Output("Street", "Stra?e", []byte(text)).Certain {
		t.Error("nobody knows what was deployed")
	}
}

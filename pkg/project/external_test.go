package project_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// The outputs of stacks outside a project are read once for a plan. One that does not exist is refused unless it has a
// default; one that may not be read is refused in any case.
func TestReadSources(t *testing.T) {
	eu := project.Target{Name: "eu", Account: "111122223333", Region: "eu-west-1"}
	source := func(output string) *project.Source {
		return &project.Source{Stack: "legacy", Output: output, Target: eu}
	}
	or := func(output string) *project.Expression {
		return &project.Expression{Function: "upper", Arguments: []project.Term{{Expression: &project.Expression{Function: "??", Arguments: []project.Term{{Source: source(output)}, {Known: "none"}}}}}}
	}
	read := func(s project.Source) (string, error) {
		switch s.Output {
		case "Nope", "No":
			return "", fault.New(fault.Missing, "stack %s has no output %s", s.Stack, s.Output)
		case "Secret":
			return "", fault.New(fault.Denied, "access denied")
		}
		return "of " + s.Output, nil
	}
	p := func(parameters map[string]project.Text) project.Project {
		return project.Project{Nodes: map[string]project.Node{"app": {Name: "app", Parameters: parameters, Tags: map[string]project.Text{"a": {{Source: source("A")}}}}}}
	}
	good := p(map[string]project.Text{"X": {{Literal: "x-"}, {Source: source("B")}}, "Y": {{Expression: or("Nope")}}, "Z": {{Expression: or("C")}}})
	before := fmt.Sprint(good)
	var names []string
	for _, s := range good.Sources() {
		names = append(names, s.String())
	}
	if want := []string{"external:legacy.A@eu", "external:legacy.B@eu", "external:legacy.C@eu", "external:legacy.Nope@eu"}; !slices.Equal(names, want) {
		t.Errorf("sources %v", names)
	}
	if _, err := good.Nodes["app"].Resolve(nil); err == nil {
		t.Error("a node is resolved before its sources are read")
	}
	with, err := good.ReadSources(read)
	if err != nil {
		t.Fatal(err)
	}
	got, err := with.Nodes["app"].Resolve(nil)
	want := map[string]string{"X": "x-of B", "Y": "NONE", "Z": "OF C"}
	if diff := cmp.Diff(want, got.Parameters); diff != "" || err != nil || got.Tags["a"] != "of A" {
		t.Errorf("%v %v\n%s", err, got.Tags, diff)
	}
	if fmt.Sprint(good) != before {
		t.Error("the project itself was changed")
	}
	_, err = p(map[string]project.Text{"X": {{Source: source("Nope")}}, "Y": {{Expression: or("Secret")}}, "Z": {{Expression: &project.Expression{Function: "??", Arguments: []project.Term{{Source: source("Nope")}, {Source: source("No")}}}}}}).ReadSources(read)
	wants := []string{
		"stack app: parameter X: ${external:legacy.Nope@eu}: stack legacy has no output Nope",
		"stack app: parameter Y: ${external:legacy.Secret@eu}: access denied",
		"stack app: parameter Z: ${external:legacy.No@eu}: stack legacy has no output No",
	}
	if got := fault.Messages(err); !slices.Equal(got, wants) {
		t.Errorf("got %q", got)
	}
}

func TestExternals(t *testing.T) {
	all, err := project.ParseExternals(" shop@*=legacy-*, *@prod=network,")
	if err != nil || all.String() != "shop@*=legacy-*,*@prod=network" {
		t.Fatalf("%v, %v", all, err)
	}
	for _, c := range []struct {
		id, stack string
		may       bool
	}{
		{"shop@prod", "legacy-vpc", true}, {"shop@dev", "legacy-", true}, {"shop@dev", "network", false}, {"web@prod", "network", true}, {"web@prod", "network-2", false}, {"shop2@prod", "legacy-vpc", false}, {"", "network", false},
	} {
		err := all.Permit(c.id, c.stack)
		if (err == nil) != c.may || err != nil && (!fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "setting external")) {
			t.Errorf("%s, %s: %v", c.id, c.stack, err)
		}
	}
	if project.Externals(nil).Permit("shop@prod", "network") == nil {
		t.Error("without a pattern a stack may be read")
	}
	for _, text := range []string{"legacy-*", "shop=legacy", "shop@*=/shop/*", "shop@*=ssm:", "shop@*=ssm:/a b", "shop@*=ssm:/a:1", "ssm:/shop/*", "shop@*=", "shop@*=a?b", "shop@*=a=b", "shop@*:a", strings.Repeat("shop@*=legacy-aaaaaaaaaaaaaaaaa,", 40)} {
		if _, err := project.ParseExternals(text); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Parameters are listed apart from stacks: no pattern of stacks is about parameters, and the other way round.
func TestExternalParameters(t *testing.T) {
	all, err := project.ParseExternals("shop@*=ssm:/shop/*, *@prod=ssm:region, web@*=*, all@*=ssm:*, shop@dev=ssm:/shop/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id, parameter string
		may           bool
	}{
		{"shop@prod", "/shop/size", true}, {"shop@prod", "/shop/a/b/c:3", true}, {"shop@prod", "/shop", false}, {"shop@prod", "/shops/a", false}, {"shop@dev", "region", false}, {"web@prod", "region", true},
		{"web@prod", "region/a", false}, {"web@prod", "/region", false}, {"web@dev", "/shop/size", false}, {"all@x", "/shop/size", true}, {"other@dev", "/shop/size", false},
	} {
		err := all.PermitParameter(c.id, c.parameter)
		if (err == nil) != c.may || err != nil && (!fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "=ssm:")) {
			t.Errorf("%s, %s: %v", c.id, c.parameter, err)
		}
	}
	if err := all.Permit("all@x", "network"); err == nil {
		t.Error("a pattern of parameters is one of stacks")
	}
	if got := all.Parameters(); !slices.Equal(got, []string{"/shop/*", "region", "*"}) {
		t.Errorf("the parameters are %q", got)
	}
}

// A value outside the project that begins a dynamic reference is refused: CloudFormation would resolve it for the stack of the project.
func TestSourcesHoldNoDynamicReferences(t *testing.T) {
	for value, refused := range map[string]bool{
		"{{resolve:ssm:/pw:1}}": true, "x{{resolve:secretsmanager:a}}y": true, "{resolve:ssm": true, "{{resolve": true,
		`{"a":{"b":1}}`: false, "resolve": false, "{{name}}": false,
	} {
		text := project.Text{{Source: &project.Source{Stack: "net", Output: "Zone"}}}
		_, err := text.ReadSources(func(project.Source) (string, error) { return value, nil })
		if fault.Is(err, fault.Refused) != refused {
			t.Errorf("%s: %v", value, err)
		}
		want := "${external:net.Zone@}: its value contains a dynamic reference ({{resolve:…}}), which CloudFormation would resolve with the permissions of this project: write the reference in the project's own files"
		if refused && err.Error() != want {
			t.Errorf("the message is %q", err)
		}
	}
}

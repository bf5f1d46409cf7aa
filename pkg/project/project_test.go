package project_test

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// node is a node with something in every field.
func node() project.Node {
	return project.Node{
		Name: "data/db", Stack: "shop-data-db",
		Target:   project.Target{Name: "eu", Account: "111122223333", Region: "eu-west-1"},
		Template: project.Template{Digest: "d1", Bytes: 12, Pinned: true},
		Parameters: map[string]project.Text{
			"Size":  project.Literal("large"),
			"VpcId": {{Literal: "id:"}, {Node: "network/vpc", Output: "VpcId"}},
		},
		Tags:         map[string]project.Text{"zone": {{Node: "dns", Output: "Zone"}}},
		Capabilities: []string{"CAPABILITY_IAM"},
		Protect:      true,
		Needs:        []string{"dns", "network/vpc"},
	}
}

func TestGraph(t *testing.T) {
	p := project.Project{Name: "shop", Environment: "prod", Nodes: map[string]project.Node{
		"a": {Needs: []string{"b", "x"}}, "b": {}, "c": {Needs: []string{"a", "y"}},
	}}
	_, err := p.Graph()
	want := []string{"stack a needs x, which is not in project shop", "stack c needs y, which is not in project shop"}
	if got := fault.Messages(err); !slices.Equal(got, want) || !fault.Is(err, fault.Invalid) {
		t.Errorf("got %q", got)
	}
	p.Nodes["a"], p.Nodes["c"] = project.Node{Needs: []string{"b"}}, project.Node{Needs: []string{"a", "b"}}
	g, err := p.Graph()
	if err != nil {
		t.Fatal(err)
	}
	order, err := g.Order()
	if err != nil || !slices.Equal(order, []string{"b", "a", "c"}) {
		t.Errorf("got %v, %v", order, err)
	}
	if p.ID() != "shop@prod" {
		t.Errorf("it is called %s", p.ID())
	}
}

func TestResolve(t *testing.T) {
	n := node()
	outputs := map[string]string{"network/vpc.VpcId": "vpc-1", "dns.Zone": "Z9"}
	lookup := func(node, output string) (string, error) {
		if v, ok := outputs[node+"."+output]; ok {
			return v, nil
		}
		return "", fault.New(fault.Missing, "stack %s has no output %s", node, output)
	}
	r, err := n.Resolve(lookup)
	if err != nil {
		t.Fatal(err)
	}
	if r.Parameters["VpcId"] != "id:vpc-1" || r.Parameters["Size"] != "large" || r.Tags["zone"] != "Z9" {
		t.Errorf("got %v %v", r.Parameters, r.Tags)
	}
	outputs["dns.Zone"] = "Z10"
	if again, err := n.Resolve(lookup); err != nil || again.Digest == r.Digest {
		t.Errorf("another output leaves the digest as it was (%v)", err)
	}
	for _, c := range []struct{ gone, want string }{
		{"dns.Zone", "tag zone: ${dns.Zone}: stack dns has no output Zone"},
		{"network/vpc.VpcId", "parameter VpcId: ${network/vpc.VpcId}: stack network/vpc has no output VpcId"},
	} {
		delete(outputs, c.gone)
		if _, err := n.Resolve(lookup); err == nil || err.Error() != c.want || !fault.Is(err, fault.Missing) {
			t.Errorf("without %s: %v", c.gone, err)
		}
	}
	if got := n.Sources(); !slices.Equal(got, []string{"dns", "network/vpc"}) {
		t.Errorf("its sources are %v", got)
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		text  project.Text
		shown string
		known bool
	}{
		{nil, "", true},
		{project.Literal(""), "", true},
		{project.Text{{Literal: "a"}, {Literal: "b"}}, "ab", true},
		{project.Text{{Literal: "x-"}, {Node: "vpc@eu", Output: "Id"}, {Literal: "-y"}}, "x-${vpc@eu.Id}-y", false},
	} {
		got, known := c.text.Known()
		if known != c.known || known && got != c.shown || c.text.String() != c.shown {
			t.Errorf("%v: known %t %q, shown %q", c.text, known, got, c.text.String())
		}
	}
}

// A call is evaluated with the outputs of that moment; a default takes the place only of what
// does not exist.
func TestExpressions(t *testing.T) {
	out := func(name string) project.Term { return project.Term{Node: "vpc@eu", Output: name} }
	call := func(name string, args ...project.Term) *project.Expression {
		return &project.Expression{Function: name, Arguments: args}
	}
	known := func(v any) project.Term { return project.Term{Known: v} }
	outputs := map[string]string{"Ids": "a,b", "Name": "Vpc", "Bad": "{"}
	lookup := func(_, output string) (string, error) {
		switch v, ok := outputs[output]; {
		case ok:
			return v, nil
		case output == "Later":
			return "", project.ErrUnknown
		}
		return "", fault.New(fault.Missing, "there is no output %s", output)
	}
	for _, c := range []struct {
		x           *project.Expression
		shown, want string // what it is, or the error
		kind        fault.Kind
	}{
		{call("lower", out("Name")), "${lower(vpc@eu.Name)}", "vpc", ""},
		{call("split", known(","), out("Ids")), "${split(',', vpc@eu.Ids)}", "a,b", ""},
		{call("join", known("'"), project.Term{List: []project.Term{out("Name"), known(true)}}), "${join('''', [vpc@eu.Name, true])}", "Vpc'true", ""},
		{call("json", project.Term{Map: map[string]project.Term{"b": out("Name"), "a": {}}}), "${json({'a': null, 'b': vpc@eu.Name})}", `{"a":null,"b":"Vpc"}`, ""},
		{call("??", out("Nope"), project.Term{Expression: call("upper", out("Nope"))}, known("x")), "${vpc@eu.Nope ?? upper(vpc@eu.Nope) ?? 'x'}", "x", ""},
		{call("??", out("Name"), out("Later")), "${vpc@eu.Name ?? vpc@eu.Later}", "Vpc", ""},
		{call("??", out("Later"), known("x")), "${vpc@eu.Later ?? 'x'}", "${vpc@eu.Later ?? 'x'}: vpc@eu.Later: it is not known yet", ""},
		{call("??", out("Nope"), out("Nope")), "${vpc@eu.Nope ?? vpc@eu.Nope}", "${vpc@eu.Nope ?? vpc@eu.Nope}: vpc@eu.Nope: there is no output Nope", fault.Missing},
		{call("select", known("7"), project.Term{Expression: call("split", known(","), out("Ids"))}), "${select('7', split(',', vpc@eu.Ids))}",
			"${select('7', split(',', vpc@eu.Ids))}: select: the list has 2 items, counted from 0, and no item 7", fault.Missing},
		{call("from_json", out("Bad")), "${from_json(vpc@eu.Bad)}", "${from_json(vpc@eu.Bad)}: from_json: the text is not JSON: unexpected EOF", fault.Invalid},
		{call("newer", out("Name")), "${newer(vpc@eu.Name)}", `${newer(vpc@eu.Name)}: there is no function "newer": a newer Stackwright wrote this`, fault.Broken},
	} {
		text := project.Text{{Expression: c.x}}
		if got := text.String(); got != c.shown {
			t.Errorf("shown as %s, want %s", got, c.shown)
		}
		if _, known := text.Known(); known {
			t.Errorf("%s is known", c.shown)
		}
		got, err := text.Resolve(lookup)
		if err != nil {
			got = err.Error()
		}
		if got != c.want || fault.KindOf(err) != c.kind {
			t.Errorf("%s is %s (%s), want %s", c.shown, got, fault.KindOf(err), c.want)
		}
		n := project.Node{Parameters: map[string]project.Text{"P": text}}
		if got := n.Sources(); !slices.Equal(got, []string{"vpc@eu"}) {
			t.Errorf("%s: sources %v", c.shown, got)
		}
	}
	certain := project.Text{{Expression: call("??", out("A"), project.Term{List: []project.Term{out("B")}})}, {Node: "dns", Output: "C"}}.Outputs()
	if want := []project.OutputOf{{Node: "vpc@eu", Output: "A"}, {Node: "vpc@eu", Output: "B", Certain: true}, {Node: "dns", Output: "C", Certain: true}}; !slices.Equal(certain, want) {
		t.Errorf("outputs %v", certain)
	}
}

// changes has one change of each field of a node.
var changes = map[string]func(*project.Node){
	"Name":             func(n *project.Node) { n.Name = "data/db2" },
	"Stack":            func(n *project.Node) { n.Stack = "other" },
	"Target.Name":      func(n *project.Node) { n.Target.Name = "us" },
	"Target.Account":   func(n *project.Node) { n.Target.Account = "000000000000" },
	"Target.Region":    func(n *project.Node) { n.Target.Region = "us-east-1" },
	"Template.Digest":  func(n *project.Node) { n.Template.Digest = "d2" },
	"Template.Bytes":   func(n *project.Node) { n.Template.Bytes++ },
	"Template.Pinned":  func(n *project.Node) { n.Template.Pinned = false },
	"Parameters":       func(n *project.Node) { n.Parameters["Size"] = project.Literal("small") },
	"Tags":             func(n *project.Node) { n.Tags["new"] = project.Literal("") },
	"Capabilities":     func(n *project.Node) { n.Capabilities = nil },
	"Protect":          func(n *project.Node) { n.Protect = false },
	"Needs":            func(n *project.Node) { n.Needs = n.Needs[:1] },
	"Reads":            func(n *project.Node) { n.Reads = []project.Read{{Node: "vpc", Output: "Id"}} },
	"Timeout":          func(n *project.Node) { n.Timeout = project.LeastTimeout },
	"Approve":          func(n *project.Node) { n.Approve = project.ApproveDeletions },
	"Deployment":       func(n *project.Node) { n.Deployment = project.Express },
	"Hooks":            func(n *project.Node) { n.Hooks = []project.Hook{{Name: "migrate"}} },
	"Notifications":    func(n *project.Node) { n.Notifications = []string{"arn:aws:sns:eu-west-1:111122223333:events"} },
	"RollbackTriggers": func(n *project.Node) { n.RollbackTriggers.Minutes = 1 },
	"StackPolicy":      func(n *project.Node) { n.StackPolicy = project.NewStackPolicy(project.AllowAll) },
	"ResourceTypes":    func(n *project.Node) { n.ResourceTypes = []string{"AWS::*"} },
	"Unchecked":        func(n *project.Node) { n.Unchecked = []string{"AWS::New::Type"} },
	"IgnoreChanges":    func(n *project.Node) { n.IgnoreChanges = []string{"Absent"} },
	"DuringUpdate":     func(n *project.Node) { n.DuringUpdate = project.AllowAll },
	"OnFailure":        func(n *project.Node) { n.OnFailure = project.DeleteFailed },
	"Group":            func(n *project.Node) { n.Group = "databases" },
	"Retain":           func(n *project.Node) { n.Retain = []string{"Bucket"} },
	"Restored":         func(n *project.Node) { n.Restored = map[string]project.Restored{"Database": {Parameter: "Size"}} },
	"Rollout":          func(n *project.Node) { n.Rollout = &project.Rollout{Stack: "net"} },
	"DisableRollback":  func(n *project.Node) { n.DisableRollback = true },
}

// notInStack are the changes that no stack has, so that they need no update. Capabilities belong to a request.
var notInStack = []string{"Name", "Template.Bytes", "Template.Pinned", "Needs", "Timeout", "Deployment", "Capabilities", "Approve", "Hooks", "RollbackTriggers", "OnFailure", "DisableRollback", "DuringUpdate", "ResourceTypes", "Unchecked", "IgnoreChanges", "Retain", "Group", "Rollout", "Restored"}

// Digests are the same for the same node, and change with each of its fields.
func TestDigests(t *testing.T) {
	known := func(string, string) (string, error) { return "v", nil }
	digests := func(n project.Node) (all, request string) {
		t.Helper()
		all, err := n.Digest()
		r, errReported := n.Resolve(known)
		if err := errors.Join(err, errReported); err != nil {
			t.Fatal(err)
		}
		return all, r.Digest
	}
	all, request := digests(node())
	if again, requestAgain := digests(node()); again != all || requestAgain != request || len(all) != 64 {
		t.Error("the same node has two digests")
	}
	for what, change := range changes {
		n := node()
		change(&n)
		gotAll, gotRequest := digests(n)
		if gotAll == all {
			t.Errorf("another %s leaves the node's digest as it was", what)
		}
		if (gotRequest == request) != slices.Contains(notInStack, what) {
			t.Errorf("another %s: the request to CloudFormation changes: %t", what, gotRequest != request)
		}
	}
	for field := range reflect.TypeFor[project.Node]().Fields() {
		if field.Tag.Get("json") == "-" { // only the plan uses it
			continue
		}
		some := func(what string) bool { return what == field.Name || strings.HasPrefix(what, field.Name+".") }
		if !slices.ContainsFunc(slices.Collect(maps.Keys(changes)), some) {
			t.Errorf("no change of %s is tested", field.Name)
		}
	}
}

// Another value of an output that the template reads is another request; one that does not exist is CloudFormation's
// matter.
func TestDigestOfReads(t *testing.T) {
	n := node()
	n.Reads = []project.Read{{Node: "base", Output: "Arn"}}
	digest := func(value string, err error) string {
		r, failed := n.Resolve(func(node, _ string) (string, error) {
			if node == "base" {
				return value, err
			}
			return "v", nil
		})
		if failed != nil {
			t.Fatal(failed)
		}
		return r.Digest
	}
	if digest("a", nil) == digest("b", nil) || digest("a", nil) == digest("", fault.New(fault.Missing, "none")) {
		t.Error("the digest does not depend on what the template reads")
	}
	if !slices.Contains(n.Sources(), "base") {
		t.Error("the stack that is read is not among the sources")
	}
}

// Another value of a parameter whose changes are ignored is no other request; that of another parameter is.
func TestDigestWithoutIgnoredChanges(t *testing.T) {
	digest := func(size string, ignored ...string) string {
		n := node()
		n.Parameters["Size"], n.IgnoreChanges = project.Literal(size), ignored
		r, err := n.Resolve(func(string, string) (string, error) { return "value", nil })
		if err != nil || r.Parameters["Size"] != size {
			t.Fatalf("%+v, %v", r, err)
		}
		return r.Digest
	}
	if digest("a", "Size") != digest("b", "Size") || digest("a") == digest("b") || digest("a", "Other") == digest("b", "Other") {
		t.Error("the digest depends on an ignored parameter, or not on another one")
	}
}

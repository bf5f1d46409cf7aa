package sceptre_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/hook"
	"github.com/stackwright/stackwright/pkg/lib/golden"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/remote"
)

var python = flag.String("sceptre", "", "a Python with Sceptre, which makes the golden files again and compares them")

// A made is what Sceptre makes of a stack, as testdata/oracle.py writes it.
type made struct {
	StackName  string            `json:"stack_name"`
	Parameters map[string]string `json:"parameters"`
	Tags       map[string]string `json:"tags"`
	Needs      []string          `json:"needs"`
	Account    []string          `json:"account"`
	Service    string            `json:"service_role"`
	Protect    bool              `json:"protect"`
	Timeout    int               `json:"timeout"`
	Template   string            `json:"template"`

	Notifications   []string `json:"notifications"` // sorted
	OnFailure       string   `json:"on_failure"`
	DisableRollback bool     `json:"disable_rollback"`
	Ignored         bool     `json:"ignored"`
	Obsolete        bool     `json:"obsolete"`

	Hooks map[string][]string `json:"hooks"` // what is called around a create, an update and a delete, with the operation itself
}

// called is what a node calls around an operation, as testdata/oracle.py writes it.
func called(n project.Node) map[string][]string {
	commands := map[string]string{"suspend_scaling": "suspend_processes", "resume_scaling": "resume_processes"}
	var all map[string][]string
	for operation, moments := range map[string][2]project.Moment{
		"create": {project.BeforeCreate, project.AfterCreate}, "update": {project.BeforeUpdate, project.AfterUpdate}, "delete": {project.BeforeDelete, project.AfterDelete},
	} {
		var calls [2][]string
		for i, m := range moments {
			for _, h := range project.At(n.Hooks, m) {
				calls[i] = append(calls[i], commands[h.Type]+" "+strings.Replace(h.Values[h.Type].String(), hook.OfStack, n.Stack, 1)+" "+h.Values["processes"].String())
			}
		}
		if len(calls[0])+len(calls[1]) > 0 {
			if all == nil {
				all = make(map[string][]string)
			}
			all[operation] = slices.Concat(calls[0], []string{operation}, calls[1])
		}
	}
	return all
}

var targets = map[string]project.Target{
	project.DefaultTarget: {Name: project.DefaultTarget, Account: "000000000000", Region: "us-east-1"},
	"prod":                {Name: "prod", Account: "222222222222", Region: "us-east-1"},
	"other":               {Name: "other", Account: "111111111111", Region: "us-east-1"},
	"team":                {Name: "team", Account: "000000000000", Region: "us-east-1"},
	"data":                {Name: "data", Account: "222222222222", Region: "us-east-1"},
}

// Each folder of testdata/trees is a Sceptre project, and want.json is what Sceptre itself
// makes of it: names, parameters, tags, dependencies and the bytes of the templates are the
// same. With -sceptre, Sceptre makes want.json again, and the two are compared.
func TestReadsAsSceptre(t *testing.T) {
	all, err := filepath.Glob("testdata/trees/*")
	if err != nil || len(all) < 25 {
		t.Fatalf("%d trees, %v", len(all), err)
	}
	for _, dir := range all {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			want := isGolden(t, dir, filepath.Join(dir, "want.json"))
			files, err := archive.Folder(dir)
			if err != nil {
				t.Fatal(err)
			}
			delete(files, "want.json")
			compare(t, files, want, project.DefaultEnvironment)
		})
	}
}

// isGolden returns a golden file, after it compared it with what Sceptre makes if there is
// a Sceptre.
func isGolden(t *testing.T, dir, path string) []byte {
	t.Helper()
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if *python == "" {
		return kept
	}
	made := oracle(t, dir)
	if golden.Updating() {
		if err := os.WriteFile(path, made, 0o644); err != nil {
			t.Fatal(err)
		}
		return made
	}
	if diff := cmp.Diff(string(made), string(kept)); diff != "" {
		t.Errorf("the golden file is not what Sceptre makes (- Sceptre, + golden):\n%s", diff)
	}
	return kept
}

// oracle is what Sceptre makes of a project.
func oracle(t *testing.T, dir string) []byte {
	t.Helper()
	c := exec.Command(*python, "testdata/oracle.py", dir)
	var wrong bytes.Buffer
	c.Stderr = &wrong
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v:\n%s", err, wrong.String())
	}
	return out
}

// An elsewhere is what is in the folder remote of a tree: the files of web servers and of buckets.
type elsewhere archive.Files

// divide takes the folder remote out of a tree.
func divide(files archive.Files) (project archive.Files, there elsewhere) {
	project, there = archive.Files{}, elsewhere{}
	for name, body := range files {
		if in, ok := strings.CutPrefix(name, "remote/"); ok {
			there[in] = body
			continue
		}
		project[name] = body
	}
	return project, there
}

func (e elsewhere) get(all []remote.Address) (map[string]remote.File, error) {
	got := map[string]remote.File{}
	for _, a := range all {
		name := a.Host + a.Path
		if a.Scheme == remote.S3 {
			name = "s3/" + a.Host + "/" + a.Path
		}
		body, ok := e[name]
		got[a.String()] = remote.File{Body: body, Wrong: map[bool]string{false: "not found"}[ok]}
	}
	return got, nil
}

// compare compares what is read with what Sceptre makes.
func compare(t *testing.T, files archive.Files, kept []byte, environment string) {
	t.Helper()
	files, elsewhere := divide(files)
	l, err := format.Fetch(files, format.Options{Environment: environment, Targets: targets}, elsewhere.get)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]made
	if err := json.Unmarshal(kept, &want); err != nil {
		t.Fatal(err)
	}
	for name := range want {
		if environment != project.DefaultEnvironment && !strings.HasPrefix(name, environment+"/") {
			delete(want, name)
		} else if want[name].OnFailure == "ROLLBACK" { // the default of CloudFormation
			one := want[name]
			one.OnFailure = ""
			want[name] = one
		}
	}
	got := map[string]made{}
	for name, n := range l.Project.Nodes {
		m := made{
			StackName: n.Stack, Parameters: map[string]string{}, Tags: map[string]string{}, Needs: append([]string{}, n.Needs...),
			Account: want[name].Account, Service: want[name].Service, Protect: n.Protect, Timeout: n.Timeout.Minutes(), Template: string(l.Templates[n.Template.Digest]),
			Notifications: append([]string{}, n.Notifications...), OnFailure: string(n.OnFailure), DisableRollback: n.DisableRollback, Ignored: slices.Contains(l.Project.Ignored, name), Obsolete: l.Project.IsObsolete(name),
			Hooks: called(n),
		}
		for key, text := range n.Parameters {
			m.Parameters[key] = text.String()
		}
		for key, text := range n.Tags {
			m.Tags[key] = text.String()
		}
		got[name] = m
		target := project.DefaultTarget
		switch account := m.Account; {
		case len(account) == 0:
		case m.Service != "":
			target = m.Service[strings.LastIndex(m.Service, "-")+1:] // as the side file of the tree says
		case account[0] != "":
			target = account[0]
		case account[2] != "":
			target = "other"
		}
		if n.Target != targets[target] {
			t.Errorf("%s: its target is %s, want %s", name, n.Target.Name, target)
		}
		if diff := cmp.Diff([]string{"CAPABILITY_AUTO_EXPAND", "CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"}, n.Capabilities); diff != "" {
			t.Errorf("%s: capabilities:\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(- Sceptre, + Stackwright):\n%s", diff)
	}
}

// The tree of BridgeDownstream, with 33 stacks in two environments, is read as by Sceptre.
// STACKWRIGHT_INPUTS is the folder of the templates of widdix, beside which the tree is. Templates that the tree gets by http, and
// from a handler that is no part of Sceptre, are replaced; the files that its users must
// write are in testdata/bridge.
func TestReadsBridgeDownstream(t *testing.T) {
	inputs := os.Getenv("STACKWRIGHT_INPUTS")
	if inputs == "" {
		t.Skip("STACKWRIGHT_INPUTS names no folder")
	}
	files, err := archive.Folder(filepath.Join(inputs, "../../sceptre-bridge"))
	if err != nil {
		t.Fatal(err)
	}
	ours, err := archive.Folder("testdata/bridge")
	if err != nil {
		t.Fatal(err)
	}
	delete(ours, "want.json")
	for name, body := range ours {
		files[name] = body
	}
	replace := func(handler string, want int) {
		t.Helper()
		elsewhere := regexp.MustCompile(`(?s)template:\n  type: ` + handler + `\n(  [^\n]*\n)+`)
		for name, body := range files {
			if strings.HasPrefix(name, "config/") && elsewhere.Match(body) {
				files[name] = elsewhere.ReplaceAll(body, []byte("template:\n  path: elsewhere.yaml\n"))
				want--
			}
		}
		if want != 0 {
			t.Errorf("%d more templates have the handler %s", want, handler)
		}
	}
	o := format.Options{Environment: "develop", Targets: targets}
	if _, err = format.Read(files, o); err == nil || strings.Count(err.Error(), "the handler ") != 1 {
		t.Errorf("the handler of a plug-in must be refused: %v", err)
	}
	replace("sam", 1)
	if l, err := format.Read(files, o); err != nil || len(l.Lacked) != 2 {
		t.Errorf("%v: %v: the templates of other servers must be fetched", l.Lacked, err)
	}
	replace("http", 4)
	dir := ""
	if *python != "" {
		dir = t.TempDir()
		for name, body := range files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, body, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := isGolden(t, dir, "testdata/bridge/want.json")
	for _, environment := range []string{"develop", "prod"} {
		compare(t, files, want, environment)
	}
}

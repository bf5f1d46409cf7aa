package sceptre_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/sceptre"
)

// Variables of the command line are those that Sceptre makes of the same arguments. Without files of its own,
// Sceptre's variables are only those; here they come on top of those of sceptre.yaml, as on top of a file before all others.
func TestVariablesAreThoseOfSceptre(t *testing.T) {
	for arguments, want := range map[string]string{
		"--var stage=beta --var stage=prod":                          `{"stage": "prod"}`,
		"--var a.b.c=1 --var a.b.d=x=y":                              `{"a": {"b": {"c": "1", "d": "x=y"}}}`,
		"--var n=3 --var b=yes --var empty=":                         `{"b": "yes", "empty": "", "n": "3"}`,
		"--var-file a.yaml":                                          `{"count": 3, "enabled": true, "mode": 420, "network": {"cidr": "10.0.0.0/16", "zones": ["a", "b"]}, "stage": "beta"}`,
		"--var-file a.yaml --var-file empty.yaml --var-file b.yaml":  `{"count": 3, "enabled": true, "mode": 420, "network": {"cidr": "10.1.0.0/16"}, "stage": "beta", "text": "3"}`,
		"--var-file a.yaml --var network.cidr=none --var stage=prod": `{"count": 3, "enabled": true, "mode": 420, "network": {"cidr": "none", "zones": ["a", "b"]}, "stage": "prod"}`,
	} {
		t.Run(arguments, func(t *testing.T) {
			words := strings.Fields(arguments)
			if *python != "" && !strings.Contains(arguments, "x=y") { // Sceptre refuses values with an equals sign
				path, err := filepath.Abs(*python)
				if err != nil {
					t.Fatal(err)
				}
				c := exec.Command(path, append([]string{"oracle.py"}, words...)...)
				c.Dir = "testdata/given"
				out, err := c.Output()
				if err != nil || strings.TrimSpace(string(out)) != want {
					t.Errorf("Sceptre makes %s, %v", out, err)
				}
			}
			var g sceptre.Given
			for i := 0; i < len(words); i += 2 {
				if words[i] == "--var" {
					g.Variables = append(g.Variables, words[i+1])
					continue
				}
				body, err := os.ReadFile(filepath.Join("testdata/given", words[i+1]))
				if err != nil {
					t.Fatal(err)
				}
				g.Files = append(g.Files, sceptre.VariableFile{Name: words[i+1], Body: body})
			}
			if got := variables(t, g, given()); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// given is a project whose template shows all variables.
func given() archive.Files {
	return archive.Files{
		"config/config.yaml":    []byte("project_code: shop\nregion: us-east-1\n"),
		"config/app.yaml":       []byte("template: {path: app.yaml.j2}\nsceptre_user_data: {all: {{ var | tojson }}}\n"),
		"templates/app.yaml.j2": []byte("Metadata: {{ sceptre_user_data.all | tojson }}\nResources: {Topic: {Type: 'AWS::SNS::Topic'}}\n"),
	}
}

// variables are those with which a project is read.
func variables(t *testing.T, g sceptre.Given, f archive.Files) string {
	t.Helper()
	f, err := g.Into(f)
	if err != nil {
		t.Fatal(err)
	}
	l, err := format.Read(f, format.Options{Targets: targets})
	if err != nil {
		t.Fatalf("%v\n%s", err, f["sceptre.yaml"])
	}
	_, text, _ := strings.Cut(string(l.Templates[l.Project.Nodes["app"].Template.Digest]), "Metadata: ")
	text, _, _ = strings.Cut(text, "\n")
	return text
}

// What is given comes on top of the side file, whose other keys and comments stay; the project's own files do not change.
func TestGivenComesOnTop(t *testing.T) {
	f := given()
	side := "# ours\nproject: letters\nvariables: {stage: beta, region: eu} # both\ntargets:\n  - {profile: prod, target: other}\n"
	f["sceptre.yaml"] = []byte(side)
	f["config/config.yaml"] = []byte("project_code: shop\nregion: us-east-1\nprofile: prod\n")
	g := sceptre.Given{Variables: []string{"stage=prod"}, Targets: []string{"prod=prod"}}
	if got, want := variables(t, g, f), `{"region": "eu", "stage": "prod"}`; got != want {
		t.Errorf("the variables are %s, want %s", got, want)
	}
	into, err := g.Into(f)
	if err != nil {
		t.Fatal(err)
	}
	l, err := format.Read(into, format.Options{Targets: targets})
	if err != nil || l.Project.Name != "letters" || l.Project.Nodes["app"].Target.Name != "prod" || string(f["sceptre.yaml"]) != side || !strings.Contains(string(into["sceptre.yaml"]), "# ours") {
		t.Errorf("%v, project %s, target %s, from\n%s", err, l.Project.Name, l.Project.Nodes["app"].Target.Name, into["sceptre.yaml"])
	}
	if same, err := (sceptre.Given{}).Into(f); err != nil || cmp.Diff(same, f) != "" {
		t.Errorf("nothing is given: %v, %v", same, err)
	}
	broken := given()
	broken["sceptre.yaml"] = []byte("variables: [a]\n")
	if same, err := g.Into(broken); err != nil || cmp.Diff(same, broken) != "" {
		t.Errorf("the side file is wrong: %v, %v", same, err)
	}
}

// A variable that no configuration uses, or a profile that none has, is refused, unless a name is computed.
func TestGivenNamesAreKnown(t *testing.T) {
	f := given()
	f["config/config.yaml"] = []byte("project_code: shop\nregion: {{ var.region | default('us-east-1') }}\nprofile: prod # ours\n# {{ var.old }} /var/log\n")
	f["config/app.yaml"] = []byte("template: {path: app.yaml.j2}\nsceptre_user_data: {all: {{ var['stage'] }}}\n")
	for want, g := range map[string]sceptre.Given{
		"": {Variables: []string{"stage=x", "region.a=y"}, Targets: []string{"prod=other"}},
		"--var stge=x: no configuration below config/ uses the variable stge: did you mean stage?": {Variables: []string{"stge=x"}},
		"--map prd=other: no configuration below config/ has the profile prd: did you mean prod?":  {Targets: []string{"prd=other"}},
	} {
		if _, err := g.Into(f); strings.Join(fault.Messages(err), "\n") != want {
			t.Errorf("got %q, want %q", fault.Messages(err), want)
		}
	}
	for _, all := range []string{"{{ var }}", "{{ var[name] }}", "{{ var.get('x') }}", "{% for k in var %}{% endfor %}"} {
		f["config/other.yaml"] = []byte(all)
		if _, err := (sceptre.Given{Variables: []string{"stge=x"}}).Into(f); err != nil {
			t.Errorf("%s: %v", all, err)
		}
	}
	f["config/config.yaml"] = []byte("profile: {{ environment_variable.PROFILE }}\n")
	if _, err := (sceptre.Given{Targets: []string{"prd=other"}}).Into(f); err != nil {
		t.Errorf("the profile is computed: %v", err)
	}
}

// What cannot be understood is refused before anything is read.
func TestGivenIsRefused(t *testing.T) {
	file := func(text string) sceptre.Given {
		return sceptre.Given{Files: []sceptre.VariableFile{{Name: "v.yaml", Body: []byte(text)}}}
	}
	for want, g := range map[string]sceptre.Given{
		"--var stage: write NAME=VALUE, or NAME.KEY=VALUE for a key of a mapping":                   {Variables: []string{"stage"}},
		"--var =x: write NAME=VALUE, or NAME.KEY=VALUE for a key of a mapping":                      {Variables: []string{"=x"}},
		"--var a..b=x: write NAME=VALUE, or NAME.KEY=VALUE for a key of a mapping":                  {Variables: []string{"a..b=x"}},
		"--var a.b=x: a is no mapping":                                                              {Variables: []string{"a=1", "a.b=x"}},
		"--map prod: write PROFILE=TARGET, a profile of the configurations and a registered target": {Targets: []string{"prod"}},
		"v.yaml: expected a mapping of variables, found a list":                                     file("[a]"),
		"v.yaml: anchors and aliases are not supported in files of variables: write the values out": file("a: &x 1\nb: *x\n"),
		"v.yaml:2:1: not YAML: while parsing a flow sequence: did not find expected ',' or ']'":     file("a: [b"),
	} {
		if _, err := g.Into(given()); !fault.Is(err, fault.Invalid) || strings.Join(fault.Messages(err), "\n") != want {
			t.Errorf("got %q, want %q", fault.Messages(err), want)
		}
	}
	_, err := sceptre.Given{Variables: []string{"a=b"}}.Into(archive.Files{"stackwright.yaml": nil})
	if want := "--var, --var-file and --map are for projects of Sceptre, and there is no config/config.yaml"; !fault.Is(err, fault.Invalid) || err.Error() != want {
		t.Errorf("a project of another kind: %v", err)
	}
	var any map[string]any
	if err := json.Unmarshal([]byte(variables(t, sceptre.Given{Variables: []string{"a='"}}, given())), &any); err != nil || any["a"] != "'" {
		t.Errorf("a quote is %v, %v", any, err)
	}
}

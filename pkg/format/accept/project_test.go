package accept_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/accept"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/packages"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/remote"
)

const topic = "Resources:\n  Topic:\n    Type: AWS::SNS::Topic\n    Properties:\n      DisplayName: shop # short\n"

// load reads a project in which no target but the default one is named.
func load(t *testing.T, files archive.Files, environment string) format.Loaded {
	t.Helper()
	o := format.Options{
		Name: "shop", Environment: environment, Targets: map[string]project.Target{project.DefaultTarget: {Name: project.DefaultTarget, Account: "111122223333", Region: "eu-west-1"}},
		Store:  packages.Store{Bucket: "stackwright", Region: "eu-west-1"},
		Remote: map[string]remote.File{"https://example.com/topic.yaml": {Body: []byte(topic)}},
	}
	l, err := format.Read(files, o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// renamed is the drift that somebody changed the name of a topic.
func renamed(actual string) accept.Detected {
	return accept.Detected{Findings: []plan.Finding{
		{Kind: plan.DriftModified, Resource: "Topic", Type: "AWS::SNS::Topic", Property: "DisplayName", Expected: "shop", Actual: actual},
		{Kind: plan.DriftUnchecked, Resource: "Other", Type: "AWS::SNS::Topic", Why: "no permission"},
	}}
}

// What is written into which file, and what is left and why, by the kinds of files in which templates are.
func TestProject(t *testing.T) {
	for name, c := range map[string]struct {
		files       map[string]string
		environment string
		detected    map[string]accept.Detected
		uncompared  []string
		written     string   // the files, and the environments that have them too
		left        []string // the beginnings of what is left
	}{
		"one stack": {
			files:    map[string]string{"stackwright.yaml": "project: shop\nstacks: {a: {template: ./topic.yaml}}\n", "topic.yaml": topic},
			detected: map[string]accept.Detected{"a": renamed("new")},
			written:  "topic.yaml",
		},
		"one environment of three": {
			files: map[string]string{
				"stackwright.yaml": "project: shop\nstacks: {a: {template: topic.yaml}}\nenvironments: {test: {}, prod: {}, own: {stacks: {a: {template: own.yaml}}}}\n", "topic.yaml": topic, "own.yaml": topic,
			},
			environment: "prod", detected: map[string]accept.Detected{"a": renamed("new")},
			written: "topic.yaml [test]",
		},
		"two stacks, and one has no drift": {
			files:    map[string]string{"stackwright.yaml": "project: shop\nstacks: {a: {template: topic.yaml}, b: {template: topic.yaml}}\n", "topic.yaml": topic},
			detected: map[string]accept.Detected{"a": renamed("new"), "b": {}},
			left:     []string{"topic.yaml:5:20: stack a: Topic DisplayName: stack b has this template too, and not this drift"},
		},
		"two stacks, and one was not compared": {
			files:    map[string]string{"stackwright.yaml": "project: shop\nstacks: {a: {template: topic.yaml}, b: {template: topic.yaml}}\n", "topic.yaml": topic},
			detected: map[string]accept.Detected{"a": renamed("new")}, uncompared: []string{"b"},
			left: []string{"topic.yaml:5:20: stack a: Topic DisplayName: stack b has this template too, and was not compared with it"},
		},
		"two stacks that agree": {
			files:    map[string]string{"stackwright.yaml": "project: shop\nstacks: {a: {template: topic.yaml}, b: {template: topic.yaml}}\n", "topic.yaml": topic},
			detected: map[string]accept.Detected{"a": renamed("new"), "b": renamed("new")},
			written:  "topic.yaml",
		},
		"not in the project, and too many findings": {
			files:    map[string]string{"stackwright.yaml": "project: shop\nstacks: {a: {template: topic.yaml}}\n", "topic.yaml": topic},
			detected: map[string]accept.Detected{"b": renamed("new"), "a": {More: 3}},
			left:     []string{"stack a: 3 further findings were not kept", "stack b: Topic DisplayName: the stack is not in the files of the project"},
		},
		"elsewhere": {
			files:    map[string]string{"stackwright.yaml": "project: shop\nstacks: {a: {template: \"https://example.com/topic.yaml\"}}\n"},
			detected: map[string]accept.Detected{"a": renamed("new")},
			left:     []string{"stack a: Topic DisplayName: the template is not in the project: change it at https://example.com/topic.yaml"},
		},
		"Sceptre": {
			files: map[string]string{
				"config/config.yaml": "project_code: shop\nregion: eu-west-1\n", "config/a.yaml": "template: {path: topic.yaml, type: file}\n",
				"config/b.yaml": "template: {path: other.yaml.j2, type: file}\nsceptre_user_data: {name: shop}\n", "templates/topic.yaml": topic, "templates/other.yaml.j2": strings.ReplaceAll(topic, "shop", "{{ sceptre_user_data.name }}"),
			},
			detected: map[string]accept.Detected{"a": renamed("new"), "b": renamed("new")},
			written:  "templates/topic.yaml",
			left:     []string{"stack b: Topic DisplayName: the template is rendered from templates/other.yaml.j2: change that file"},
		},
		"templates with a file that they name": {
			files: map[string]string{
				"topic.yaml": topic + "  F:\n    Type: AWS::Lambda::Function\n    Properties: { Code: src/a.py, Role: \"arn:aws:iam::111122223333:role/f\" }\n", "src/a.py": "a = 1\n",
			},
			detected: map[string]accept.Detected{"topic": renamed("new")},
			written:  "topic.yaml",
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := archive.Files{}
			for path, text := range c.files {
				files[path] = []byte(text)
			}
			before := maps.Clone(files)
			if c.environment == "" {
				c.environment = project.DefaultEnvironment
			}
			r := accept.Project(files, load(t, files, c.environment), c.detected, c.uncompared)
			var written []string
			for _, path := range r.Files.Paths() {
				written = append(written, path)
				if want := strings.Replace(string(files[path]), "shop", "new", 1); string(r.Files[path]) != want {
					t.Errorf("%s is\n%s", path, r.Files[path])
				}
			}
			for _, s := range r.Shared {
				written = append(written, fmt.Sprint(s.Environments))
			}
			if got := strings.Join(written, " "); got != c.written {
				t.Errorf("written: %q", got)
			}
			if len(r.Left) != len(c.left) || !slices.EqualFunc(r.Left, c.left, func(l accept.Left, want string) bool { return strings.HasPrefix(l.String(), want) }) {
				t.Errorf("left: %s", r.Left)
			}
			if !maps.EqualFunc(before, files, func(a, b []byte) bool { return string(a) == string(b) }) {
				t.Error("the files of the project were changed")
			}
		})
	}
}

// The templates of the CDK are not what its users write.
func TestCDK(t *testing.T) {
	l := load(t, archive.Files{"topic.yaml": []byte(topic)}, project.DefaultEnvironment)
	l.Project.Kind = project.CDK
	r := accept.Project(archive.Files{"topic.yaml": []byte(topic)}, l, map[string]accept.Detected{"topic": renamed("new")}, nil)
	if len(r.Files) > 0 || len(r.Left) != 1 || !strings.Contains(r.Left[0].Why, "the CDK writes the template topic.yaml: change the application") {
		t.Errorf("%v", r)
	}
}

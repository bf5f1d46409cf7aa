package report_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/project"
)

func digestOf(body string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(body))) }

// configured is a project of stacks. Each has a template, and a parameter that is secret.
func configured(secret string, templates map[string]string, more ...func(*project.Node)) report.Configuration {
	c := report.Configuration{Files: map[string][]byte{"stackwright.yaml": []byte(secret)}, Nodes: map[string]project.Node{}, Templates: map[string][]byte{}}
	for name, body := range templates {
		n := project.Node{Name: name, Stack: name, Template: project.Template{Digest: digestOf(body)}, Parameters: map[string]project.Text{"Password": {{Literal: secret}}, "Size": {{Literal: "1"}}}}
		for _, change := range more {
			change(&n)
		}
		c.Nodes[name], c.Templates[n.Template.Digest] = n, []byte(body)
	}
	return c
}

// A difference says what is different, and has no value: not of a parameter, not of a file, not the default of a NoEcho parameter.
func TestDifferenceHasNoSecrets(t *testing.T) {
	const plain = "Resources: {T: {Type: 'AWS::SNS::Topic'}}\n"
	secret := func(value string) string {
		return plain + "Parameters:\n  Password: {Type: String, NoEcho: true, Default: " + value + "}\n"
	}
	before := configured("hunter2", map[string]string{"db": secret("hunter2"), "vpc": plain, "dmz": plain, "old": plain})
	after := configured("hunter3", map[string]string{"db": secret("hunter3"), "vpc": plain + "Description: x\n", "dmz": plain + "Description: x\n", "new": plain}, func(n *project.Node) {
		n.Protect = true
		n.Tags = map[string]project.Text{"team": {{Literal: "hunter4"}}}
		delete(n.Parameters, "Size")
	})
	got := report.DifferenceOf(before, after)
	text, err := json.Marshal(got)
	if err != nil || strings.Contains(string(text), "hunter") {
		t.Errorf("%s %v", text, err)
	}
	changed := func(name string) report.StackDifference {
		return report.StackDifference{
			Stack: name, Change: report.Changed, Template: true, Parameters: []report.NamedChange{{Name: "Password", Change: report.Changed}, {Name: "Size", Change: report.Removed}},
			Tags: []report.NamedChange{{Name: "team", Change: report.Added}}, Other: []string{"protect"},
		}
	}
	if d := cmp.Diff([]report.StackDifference{changed("db"), changed("dmz"), {Stack: "new", Change: report.Added}, {Stack: "old", Change: report.Removed}, changed("vpc")}, got.Stacks); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]report.NamedChange{{Name: "stackwright.yaml", Change: report.Changed}}, got.Files); d != "" {
		t.Error(d)
	}
	if len(got.Templates) != 2 || got.Templates[0].Omitted != "parameter Password is NoEcho and has a default, which is secret" ||
		cmp.Diff([]string{"dmz", "vpc"}, got.Templates[1].Stacks) != "" || got.Templates[1].Text != "@@ -1,1 +1,2 @@\n "+plain+"+Description: x\n" {
		t.Errorf("%+v", got.Templates)
	}
}

// What cannot be read is not compared: the files are.
func TestDifferenceOfWhatCannotBeRead(t *testing.T) {
	before, after := configured("1", map[string]string{"a": "Resources: {}"}), configured("2", nil)
	after.Unread = "no such target"
	got := report.DifferenceOf(before, after)
	if len(got.Files) != 1 || len(got.Stacks) > 0 || len(got.Messages) != 1 {
		t.Errorf("%+v", got)
	}
	after.Unread = ""
	before.Templates[digestOf("Resources: {}")] = []byte("{")
	after.Nodes["a"] = project.Node{Template: project.Template{Digest: "x"}}
	if got := report.DifferenceOf(before, after); len(got.Templates) != 1 || got.Templates[0].Omitted == "" || got.Templates[0].Text != "" {
		t.Errorf("%+v", got)
	}
}

// The texts of an answer are limited together.
func TestDifferenceIsLimited(t *testing.T) {
	long := strings.Repeat("# "+strings.Repeat("x", 1000)+"\n", 900)
	body := "Resources: {T: {Type: 'AWS::SNS::Topic'}}\n"
	before := configured("", map[string]string{"a": body, "b": body + "#\n", "c": body + "##\n"})
	after := configured("", map[string]string{"a": body + long, "b": long + body, "c": body + "# c\n" + long})
	got := report.DifferenceOf(before, after).Templates
	if len(got) != 3 || got[0].Text == "" || got[1].Text == "" || got[2].Text != "" || !strings.Contains(got[2].Omitted, "too long together") {
		t.Errorf("%d, %s", len(got), got[2].Omitted)
	}
}

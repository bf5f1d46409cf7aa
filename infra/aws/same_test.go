package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// The same settings and functions give the same bytes.
func TestSame(t *testing.T) {
	first, second := files(t), files(t)
	if len(first) < 10 { // a template, its manifests and the functions
		t.Fatalf("only %d files were written", len(first))
	}
	for name, body := range first {
		if second[name] != body {
			t.Errorf("%s is not the same the second time", name)
		}
	}
	if len(second) != len(first) {
		t.Errorf("%d files were written, and then %d", len(first), len(second))
	}
}

// files is what CDK writes, by name.
func files(t *testing.T) map[string]string {
	t.Helper()
	folder, err := synthesized(map[string]any{"executionPolicies": "AdministratorAccess"})
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	root, all := filepath.Join(folder, "cdk.out"), make(map[string]string)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		all[name] = string(body)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Two installations in one account have no name in common.
func TestSideBySide(t *testing.T) {
	one, other := nameIn(the(t, plain)), nameIn(the(t, full))
	if len(one) < 40 {
		t.Fatalf("only %d names: %v", len(one), one)
	}
	for _, name := range one {
		if slices.Contains(other, name) {
			t.Errorf("both have %s", name)
		}
	}
}

var bearing = regexp.MustCompile(`^(.*Name|Name|StatementId)$`)

// nameIn lists the physical names that are given in a template. CloudFormation
// generates the others.
func nameIn(all template) []string {
	var names []string
	for id, r := range all.Resources {
		for property := range r.Properties {
			refers := property == "FunctionName" && r.Type != "AWS::Lambda::Function" || property == "StageName" || property == "MetricName"
			if bearing.MatchString(property) && !refers {
				names = append(names, r.Type+" "+all.at(id, property))
			}
		}
	}
	slices.Sort(names)
	return names
}

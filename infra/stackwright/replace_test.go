package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// replaceable is a laptop with a project whose stack data has a table, which it exports, and which app imports. The stack page uses an output of data.
func replaceable(t *testing.T) *laptop {
	l := newLaptop(t)
	for name, text := range map[string]string{
		"stackwright.yaml": "project: pair\nstacks:\n  data: { template: templates/data.yaml }\n  app: { template: templates/app.yaml, needs: [data] }\n" +
			"  page: { template: templates/page.yaml, parameters: { Table: \"${data.Table}\" } }\n  other: { template: templates/page.yaml, parameters: { Table: none } }\n",
		"templates/data.yaml": "Resources:\n  Table:\n    Type: AWS::DynamoDB::Table\n    DeletionPolicy: Retain\n    Properties:\n      TableName: orders\n      BillingMode: PAY_PER_REQUEST\n" +
			"      KeySchema: [{ AttributeName: id, KeyType: HASH }]\n      AttributeDefinitions: [{ AttributeName: id, AttributeType: S }]\n  Queue: { Type: AWS::SQS::Queue }\n" +
			"Outputs:\n  Table: { Value: !Ref Table, Export: { Name: pair-table } }\n",
		"templates/app.yaml":  "Resources:\n  Name: { Type: AWS::SSM::Parameter, Properties: { Type: String, Value: !ImportValue pair-table } }\n",
		"templates/page.yaml": "Parameters: { Table: { Type: String } }\nResources:\n  Name: { Type: AWS::SSM::Parameter, Properties: { Type: String, Value: !Ref Table } }\n",
	} {
		if err := os.WriteFile(filepath.Join(l.project, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l.must(cli.ExitOK, "deploy", l.project)
	return l
}

// ids returns the IDs of all stacks, by their names in the project.
func (l *laptop) ids() map[string]string {
	all := make(map[string]string)
	for line := range strings.Lines(l.must(cli.ExitOK, "stacks", "-o", "json")) {
		var s struct{ Stack, ID string }
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			l.Fatal(err)
		}
		all[s.Stack] = s.ID
	}
	return all
}

// A plan of a replace shows what is deleted, created again, updated and lost; a replace asks first, and keeps what it is to retain.
func TestReplace(t *testing.T) {
	t.Parallel()
	l := replaceable(t)
	r := l.run("replace", "data", "--files", l.project, "--max-deletions", "2", "--yes")
	if r.code != cli.ExitRefused {
		t.Errorf("a replace that leaves the table in AWS ended with %d", r.code)
	}
	l.has(r.out+r.err, "stack data: Table stays in AWS, because of its DeletionPolicy, and the new stack could not create Table with the same name: replace with --retain Table (options.retain of a request), which imports it")
	r = l.run("replace", "data", "--files", l.project, "--max-deletions", "0", "--retain", "Queue", "--retain", "Tabel", "--yes")
	l.has(r.out+r.err, "2 of the 4 recorded stacks would be deleted and created again (app, data), and at most 0 may be deleted",
		"retain: no stack that is replaced has a resource Tabel: did you mean Table?", "stack data: Queue cannot be retained: the template that is deployed has no DeletionPolicy: Retain for it")

	retain := []string{"replace", "data", "--files", l.project, "--max-deletions", "2", "--retain", "Table"}
	l.has(l.must(cli.ExitChanges, append(retain, "--plan", "--exit-code")...), "± data  replace  (after app/delete)", "it is to be replaced", "imports Table (orders)", "DATA LOSS: data Queue, deleted (messages)",
		"± app  replace", "it imports an export of data, which CloudFormation does not delete", "~? page  may change  (after data/update)", "added: page (it depends on data)", "left out: 1 stack (not selected)", "1 possible, 2 to replace")
	l.has(l.must(cli.ExitOK, append(retain, "--plan", "-o", "json")...), `"action":"replace"`, `"action":"import"`)
	r = l.run(retain...)
	if r.code != cli.ExitRefused {
		t.Errorf("a replace without a terminal and without --yes ended with %d", r.code)
	}
	l.has(r.err, "replace deletes the named stacks, and those that import from them, with their data, and there is no terminal on which to confirm it: confirm with --yes")
	l.answers = "no\n"
	r = l.run(retain...)
	l.has(r.err, "± data  replace", "DATA LOSS: data Queue, deleted (messages)", "replace does this to pair@default\non this laptop (emulators, ")
	before := l.ids()
	l.answers = "yes\n"
	l.has(l.must(cli.ExitOK, retain...), "replace of pair@default succeeded", "1 created", "1 created empty", "1 imported into", "2 deleted", "1 unchanged")
	l.answers = ""
	after := l.ids()
	for _, name := range []string{"data", "app", "page", "other"} {
		if is, want := after[name] != before[name], name == "data" || name == "app"; is != want {
			t.Errorf("%s is another stack: %t", name, is)
		}
	}
	if text := l.must(cli.ExitOK, "deploy", l.project); !strings.Contains(text, "4 unchanged") {
		t.Errorf("the deploy after it: %s", text)
	}
	l.edit("templates/data.yaml", "Queue: { Type: AWS::SQS::Queue }", "Queue: { Type: AWS::SQS::Queue, DeletionPolicy: Retain }")
	l.must(cli.ExitOK, "deploy", l.project)
	l.has(l.must(cli.ExitOK, append(retain, "--plan")...), "Queue stays in AWS, and no stack has it then: replace with", "--retain Queue (options.retain of a request), which imports it")
	if text := l.must(cli.ExitOK, append(retain, "--retain", "Queue", "--plan")...); strings.Contains(text, "no stack has it then") {
		t.Errorf("a plan that retains both resources: %s", text)
	}
}

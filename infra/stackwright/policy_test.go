package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/cli"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// Policies that the owner puts hold for the next plan, in every form and both ways: the plan shows them, and the deploy is
// refused before its first step. A file that does not compile is not put. If it is there nevertheless, every run is refused, and
// the user learns which file it is and not what it says, until the owner puts another.
func TestPoliciesOfTheInstallation(t *testing.T) {
	l, h := newInstallation(t)
	outputs := made()
	delete(outputs, "ExecutionRoleArn")
	outputs["TargetAccounts"], outputs["ApiUrl"], outputs["Projects"], l.env["STACKWRIGHT_INSTALLATION"] = "000000000000", h.URL(), "*@*", cli.Name
	l.install(h, cli.Name, outputs)
	file := filepath.Join(t.TempDir(), "company.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l.edit("stackwright.yaml", "project: pair\n", "project: pair\npolicies: { soon: { warn: 'plan.summary.create > 1', message: make them one by one } }\n")
	write(`policies: { owned: { deny: 'stack.action == "create" && !("Owner" in stack.desired.tags)', message: "write the tag <Owner>" } }`)
	l.has(l.must(cli.ExitOK, "policy", "put", file), "1 policy, 0 tests, 0 failed", "policies/company.yaml is version ", "it holds from the next plan on")

	const denied = "policy owned denies stack queue: write the tag <Owner> (policies/company.yaml:1:29)"
	const warned = "policy soon warns of the plan: make them one by one (stackwright.yaml:"
	for _, how := range [][]string{{}, {"--direct"}} {
		plans := func(words ...string) string {
			t.Helper()
			text := l.must(cli.ExitRefused, append(append([]string{"plan", l.project}, words...), how...)...)
			return strings.Join(strings.Fields(text), " ") // lines end at 80 columns
		}
		l.has(plans(), "DENIED: "+denied, "WARNING: "+warned)
		l.has(plans("-o", "markdown"), "> DENIED: policy owned denies stack queue: write the tag", "> WARNING: policy soon warns of the plan")
		var c plan.Changes
		if err := json.Unmarshal([]byte(plans("-o", "json")), &c); err != nil || len(c.Policies) != 4 || len(plan.Denials(c.Policies)) != 3 {
			t.Errorf("%+v, %v", c.Policies, err)
		} else if v := c.Policies[1]; v.Policy != "owned" || v.Level != project.Deny || v.Stack == "" || v.Source != "policies/company.yaml:1:29" {
			t.Errorf("%+v", v)
		}
		r := l.run(append([]string{"deploy", l.project}, how...)...)
		if l.has(r.out+r.err, denied); r.code != cli.ExitRefused {
			t.Errorf("the deploy ends with %d: %s%s", r.code, r.out, r.err)
		}
	}

	write(`policies: { owned: { deny: 'stack.aktion == "secret"', message: m } }`)
	if r := l.run("policy", "put", file); r.code != cli.ExitRefused || !strings.Contains(r.out, "company.yaml:1:34: policy owned: deny: Stack has no field aktion: did you mean action?") {
		t.Errorf("put ends with %d: %s%s", r.code, r.out, r.err)
	}
	body, err := os.ReadFile(file)
	if err == nil {
		_, err = objects(h).Put(t.Context(), "policies/company.yaml", body)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := l.run("deploy", l.project)
	if l.has(r.out+r.err, "every plan is refused until the owner of the installation has corrected its policies", "policies/company.yaml cannot be used"); r.code != cli.ExitRefused || strings.Contains(r.out+r.err, "aktion") {
		t.Errorf("the deploy ends with %d: %s%s", r.code, r.out, r.err)
	}
	write("tests: []\n")
	l.must(cli.ExitOK, "policy", "put", file)
	l.must(cli.ExitOK, "deploy", l.project)
}

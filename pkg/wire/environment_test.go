package wire_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/entry/notify"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/budget"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
	"github.com/stackwright/stackwright/pkg/wire"
)

const secretARN = "arn:aws:secretsmanager:us-east-1:000000000000:secret:ops-AbCdEf"

// complete returns an environment without faults.
func complete() map[string]string {
	return map[string]string{
		"STACKWRIGHT_TABLE":         "stackwright",
		"STACKWRIGHT_BUCKET":        "stackwright",
		"STACKWRIGHT_STATE_MACHINE": "arn:aws:states:us-east-1:000000000000:stateMachine:stackwright",
		"STACKWRIGHT_ACCOUNT":       "000000000000",
		"STACKWRIGHT_STACK":         "stackwright",

		"STACKWRIGHT_EXECUTION_ROLE":  "arn:aws:iam::000000000000:role/stackwright-execution",
		"STACKWRIGHT_PROJECTS":        "shop@prod,team-*@*",
		"STACKWRIGHT_TARGET_ACCOUNTS": "111111111111,222222222222",
		"AWS_REGION":                  "us-east-1",
	}
}

func TestFromEnvReadsAll(t *testing.T) {
	env := complete()
	env["STACKWRIGHT_OWNER"] = "arn:aws:iam::000000000000:role/boss"
	env["STACKWRIGHT_PAGE_ISSUER"], env["STACKWRIGHT_PAGE_CLIENT"] = "https://i.example/pool", "page"
	env["STACKWRIGHT_NOTIFY"], env["STACKWRIGHT_PAGE_URL"] = "ops;webhook=https://ops.example.com/;secret="+secretARN+";states=failed", "https://page.example.com/"
	got, err := wire.FromEnv(func(k string) string { return env[k] })
	if err != nil {
		t.Fatal(err)
	}
	want := wire.Environment{
		Table: "stackwright", Bucket: "stackwright", StateMachine: env["STACKWRIGHT_STATE_MACHINE"],
		Account: "000000000000", Region: "us-east-1", Bus: "default", Stack: "stackwright",
		Execution: "arn:aws:iam::000000000000:role/stackwright-execution",
		Limits:    budget.CloudFormation(),
		Projects:  project.Grants{"shop@prod", "team-*@*"},
		Owner:     access.Owner{"arn:aws:iam::000000000000:role/boss"},
		Accounts:  []string{"111111111111", "222222222222"},
		Issuer:    "https://i.example/pool", Client: "page",
		Notify: notify.Destinations{{Name: "ops", Format: "webhook", To: "https://ops.example.com/", Secret: secretARN, States: []run.State{run.StateFailed}}},
		Page:   "https://page.example.com/",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestFromEnvReportsAllFaultsAtOnce(t *testing.T) {
	env := complete()
	env["STACKWRIGHT_ACCOUNT"] = "12"
	env["STACKWRIGHT_PROJECTS"] = "shop"
	env["STACKWRIGHT_OWNER"] = "ann"
	env["STACKWRIGHT_PAGE_ISSUER"] = "http://i.example"
	env["STACKWRIGHT_NOTIFY"] = "ops"
	delete(env, "STACKWRIGHT_TABLE")
	delete(env, "AWS_REGION")
	_, err := wire.FromEnv(func(k string) string { return env[k] })
	if !fault.Is(err, fault.Invalid) {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"STACKWRIGHT_TABLE is missing", "AWS_REGION is missing", "STACKWRIGHT_ACCOUNT is not the twelve digits of the account: 12", "STACKWRIGHT_PROJECTS: projects: shop has no environment: ", `STACKWRIGHT_OWNER: owner: "ann" is not the ARN`, "STACKWRIGHT_PAGE_ISSUER is not the https URL", "STACKWRIGHT_NOTIFY: notify: destination 1, ops: it does not say where to", "STACKWRIGHT_PAGE_ISSUER, STACKWRIGHT_PAGE_CLIENT: set both or none"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

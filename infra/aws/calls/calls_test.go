package calls

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The module is read once by all tests.
var code = sync.OnceValues(func() (*Code, error) { return Read("../../..") })

// walked are the uses of all functions, which are found once.
var walked = sync.OnceValues(func() (map[string]Use, error) {
	c, err := code()
	if err != nil {
		return nil, err
	}
	all := make(map[string]Use)
	for _, f := range c.Functions() {
		if all[f], err = c.Of(f); err != nil {
			return nil, err
		}
	}
	return all, nil
})

// uses are those of all functions.
func uses(t *testing.T) map[string]Use {
	t.Helper()
	all, err := walked()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Each function calls the operations of its task, and none of the tasks of others.
func TestCalls(t *testing.T) {
	all := uses(t)
	for _, c := range []struct {
		function   string
		asks, nots []string
	}{
		{"start", []string{"sfn.StartExecution", "s3.GetObject", "s3.HeadObject"}, []string{"cloudformation.DescribeStacks", "sts.AssumeRole", "s3.PutObject"}},
		{"plan", []string{"cloudformation.DescribeStacks", "s3.PutObject"}, []string{"cloudformation.CreateStack", "cloudformation.DeleteStack"}},
		{"execute-step", []string{"cloudformation.CreateStack", "cloudformation.DeleteStack"}, []string{"scheduler.CreateSchedule", "s3.PutObject"}},
		{"wait-status", []string{"sfn.SendTaskSuccess", "cloudformation.DescribeStackEvents", "cloudformation.CreateStack", "cloudformation.DeleteStack", "cloudformation.DeleteChangeSet"}, []string{"scheduler.CreateSchedule", "s3.DeleteBucket"}},
		{"api", []string{"sfn.StartExecution", "dynamodb.Query", "s3.GetObject", "s3.PutObject", "cloudformation.ListStackResources", "sts.AssumeRole"}, []string{"cloudformation.UpdateStack", "cloudformation.DescribeStacks"}},
		{"stack-event", []string{"sfn.SendTaskSuccess", "dynamodb.TransactWriteItems"}, []string{"sts.AssumeRole", "s3.GetObject", "sfn.StartExecution"}},
	} {
		ops := all[c.function].Operations()
		t.Logf("%s: %s", c.function, strings.Join(ops, ", "))
		for _, op := range c.asks {
			if !slices.Contains(ops, op) {
				t.Errorf("%s asks for %s, which was not found", c.function, op)
			}
		}
		for _, op := range c.nots {
			if slices.Contains(ops, op) {
				t.Errorf("%s is said to ask for %s", c.function, op)
			}
		}
	}
	for _, op := range all["stack-event"].Operations() {
		if strings.HasPrefix(op, "cloudformation.") {
			t.Errorf("stack-event is said to ask for %s", op)
		}
	}
}

// What is handed a client asks in its turn: a provider of credentials, a
// paginator.
func TestCallsThroughOthers(t *testing.T) {
	for place, op := range map[string]string{
		"pkg/aws/sts/account.go":           "sts.AssumeRole",
		"pkg/aws/cloudformation/events.go": "cloudformation.DescribeStackEvents",
	} {
		found := func(c Call) bool { return c.Operation == op && strings.HasPrefix(c.Place, place+":") }
		if all := uses(t)["wait-status"].Calls; !slices.ContainsFunc(all, found) {
			t.Errorf("%s in %s is not found: %v", op, place, all)
		}
	}
}

// All that the adapters' clients can do is done by some function, so nothing is
// overlooked, and no client is wider than it needs to be; and of nothing else
// does the table say what it needs.
func TestNothingIsOverlooked(t *testing.T) {
	c, err := code()
	if err != nil {
		t.Fatal(err)
	}
	called, set := make(map[string]bool), make(map[string]bool)
	for _, u := range uses(t) {
		for _, op := range u.Operations() {
			called[op] = true
		}
		for _, f := range u.Fields {
			set[f] = true
		}
	}
	if len(c.Clients()) < 15 {
		t.Errorf("the clients have only %v", c.Clients())
	}
	called["cloudformation.EstimateTemplateCost"] = true // by the command cost, with the permissions of its user
	for _, op := range c.Clients() {
		if !called[op] {
			t.Errorf("a client has %s, which no function asks for", op)
		}
	}
	for op, needs := range table {
		if !called[op] {
			t.Errorf("the table says what %s needs, which no function asks for", op)
		}
		for _, n := range needs {
			if n.field != "" && !set[n.field] {
				t.Errorf("the table says that %s needs %s if %s is set, which it nowhere is", op, n.action, n.field)
			}
		}
	}
}

// Only the actions for the fields that a request sets are needed.
func TestActions(t *testing.T) {
	names := func(f string) (all []string) {
		got, err := uses(t)[f].Actions()
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range got {
			all = append(all, a.Name)
		}
		return all
	}
	if got := names("start"); !slices.Contains(got, "s3:GetObjectVersion") {
		t.Errorf("start reads versions, and needs only %v", got)
	}
	got := names("execute-step")
	for _, a := range []string{"iam:PassRole", "s3:GetObject", "sts:AssumeRole"} {
		if !slices.Contains(got, a) {
			t.Errorf("execute-step needs %s, and here are only %v", a, got)
		}
	}
	if slices.Contains(got, "s3:GetObjectVersion") {
		t.Errorf("execute-step reads no versions, and needs %v", got)
	}
	for f, finds := range map[string]bool{"plan": true, "wait-status": true, "start": false} {
		if got := names(f); slices.Contains(got, "cloudformation:ListStacks") != finds {
			t.Errorf("%s describes all stacks at once: %t; and needs %v", f, finds, got)
		}
	}
	if got := names("stack-event"); slices.Contains(got, "dynamodb:DeleteItem") || !slices.Contains(got, "dynamodb:UpdateItem") {
		t.Errorf("the transactions of stack-event change items and delete none: %v", got)
	}
	unknown := Use{Calls: []Call{{"s3.DeleteBucket", "pkg/x.go:1"}}}
	if _, err := unknown.Actions(); err == nil || !strings.Contains(err.Error(), "pkg/x.go:1 asks for s3.DeleteBucket") {
		t.Errorf("of an operation that is not in the table: %v", err)
	}
}

// Of a policy that is not as it should be the function, the action and the call
// are named.
func TestCompare(t *testing.T) {
	needed, err := uses(t)["stack-event"].Actions()
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{"logs:PutLogEvents": "Lambda writes logs"}
	sound := []string{"logs:PutLogEvents"}
	for _, a := range needed {
		sound = append(sound, a.Name, a.Name)
	}
	if got := Compare("stack-event", needed, listed, sound); got != nil {
		t.Errorf("of a sound policy: %v", got)
	}
	lacks := func(what string) []string {
		return slices.DeleteFunc(slices.Clone(sound), func(a string) bool { return a == what })
	}
	for _, c := range []struct {
		allowed []string
		says    string
	}{
		{lacks("states:SendTaskSuccess"), `^stack-event may not states:SendTaskSuccess, which SendTaskSuccess at pkg/aws/stepfunctions/machine\.go:\d+ needs$`},
		{lacks("dynamodb:UpdateItem"), `^stack-event may not dynamodb:UpdateItem, which TransactWriteItems at pkg/aws/dynamodb/write\.go:\d+ needs$`},
		{lacks("logs:PutLogEvents"), `^stack-event may not logs:PutLogEvents, which it needs: Lambda writes logs$`},
		{append(lacks(""), "cloudformation:CreateStack"), `^stack-event may cloudformation:CreateStack, which nothing in it calls for$`},
	} {
		got := Compare("stack-event", needed, listed, c.allowed)
		if len(got) != 1 || !regexp.MustCompile(c.says).MatchString(got[0]) {
			t.Errorf("it says %q, and should say %s", got, c.says)
		}
	}
	listed["dynamodb:GetItem"] = "?"
	if got := Compare("stack-event", needed, listed, sound); len(got) != 1 || !strings.Contains(got[0], "listed as not called") {
		t.Errorf("of what is listed and called: %v", got)
	}
}

// The error names what cannot be read.
func TestRead(t *testing.T) {
	if _, err := Read(t.TempDir()); err == nil {
		t.Error("an empty folder is read")
	}
	c, err := code()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Of("nobody"); err == nil || !strings.Contains(err.Error(), "function nobody") {
		t.Error(err)
	}
}

package main

import (
	"flag"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/infra/aws/calls"
)

var update = flag.Bool("update", false, "write the table in docs/permissions.md")

const (
	page  = "../../docs/permissions.md"
	above = "<!-- From here to the next heading go test -run TestPage -update in infra/aws writes. -->\n"
)

// The page of permissions shows the permissions of the roles.
func TestPage(t *testing.T) {
	body, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(body), above)
	_, after, ends := strings.Cut(rest, "\n## ")
	if !ok || !ends {
		t.Fatalf("%s has no place for the table: %s", page, above)
	}
	want := before + above + "\n" + rows(t) + "\n## " + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(want, string(body)); d != "" {
		t.Errorf("%s is of yesterday: go test -run TestPage -update writes it anew\n%s", page, d)
	}
}

// denials is the boundary in account.yaml, which allows nothing.
var denials = regexp.MustCompile(`(?s)\n  Boundary:\n    Type:.*\nOutputs:`)

// The page names whatever the roles of a target may do, and nothing else.
func TestPageOfTargets(t *testing.T) {
	body, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(body), "\n## In a target")
	section, _, _ = strings.Cut(section, "\n## ")
	action := regexp.MustCompile(`\b(cloudformation|events|iam|kms|lambda|s3|secretsmanager|sns|ssm|states|sts):[A-Z]\w+`)
	var may []string
	for _, file := range []string{"target/account.yaml", "target/execution.yaml", "target/region.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text = denials.ReplaceAll(text, []byte("\nOutputs:"))
		for line := range strings.Lines(string(text)) {
			if !strings.Contains(line, `"`+"cloudformation:RoleArn") && !strings.Contains(line, `"`+"cloudformation:ChangeSetName") && !strings.Contains(line, "ExternalId") && !strings.Contains(line, "iam:PassedToService") {
				may = append(may, action.FindAllString(line, -1)...)
			}
		}
	}
	sorted := func(all []string) []string { return slices.Compact(slices.Sorted(slices.Values(all))) }
	if d := cmp.Diff(sorted(may), sorted(action.FindAllString(section, -1))); d != "" {
		t.Errorf("%s does not say what roles in a target may do: %s", page, d)
	}
}

// A row says that some may do something.
type row struct {
	who []string
	permission
}

// rows are the rows of the table.
func rows(t *testing.T) string {
	t.Helper()
	s, err := read(map[string]any{"executionPolicies": "PowerUserAccess", "targetAccounts": "111111111111", "customerKey": true, "adoptable": "legacy-*", "suspend": "*@dev", "cdkAssets": "shop@*", "backups": "*@prod", "backupVault": "backups,backup", "organization": "o-a1b2c3d4e5", "notify": "reports;report=html,ops;webhook=https://ops.example.com/;secret=arn:aws:secretsmanager:us-east-1:222222222222:secret:ops-AbCdEf", "remoteFiles": "shop@*=s3://shop-templates/", "hooks": "arn:aws:lambda:us-east-1:222222222222:function:hook-*,arn:aws:states:us-east-1:222222222222:stateMachine:hook-*,arn:aws:events:us-east-1:222222222222:event-bus/hooks,arn:aws:sns:us-east-1:222222222222:hook-*,arn:aws:cloudwatch:us-east-1:222222222222:alarm:hook-*,shop@*=arn:aws:s3:::shop-*,arn:aws:autoscaling:us-east-1:222222222222:autoScalingGroup:*:autoScalingGroupName/hook-*,arn:aws:ssm:us-east-1:222222222222:parameter/hook/*,https://hooks.example.com/*,arn:aws:secretsmanager:us-east-1:222222222222:secret:hook/*"})
	if err != nil {
		t.Fatal(err)
	}
	of := permissions(s)
	who := append(slices.Sorted(maps.Keys(of)), "machine", "schedule")
	of["machine"], of["schedule"] = executing, scheduled
	var all []row
	for _, w := range who {
		for _, p := range of[w] {
			p = general(w, p)
			same := func(r row) bool { return cmp.Equal(r.permission, p) }
			if i := slices.IndexFunc(all, same); i >= 0 {
				all[i].who = append(all[i].who, w)
			} else {
				all = append(all, row{[]string{w}, p})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b row) int { return strings.Compare(a.Do[0], b.Do[0]) })
	users := packages(t)
	var out strings.Builder
	out.WriteString("| who | may | on | why |\n|---|---|---|---|\n")
	for _, r := range all {
		out.WriteString("| " + strings.Join([]string{r.names(len(sizes)), r.does(), r.to(), r.because(users)}, " | ") + " |\n")
	}
	return out.String()
}

// general is a permission in words that are the same for all functions.
func general(who string, p permission) permission {
	p.On = slices.Clone(p.On)
	for i, on := range p.On {
		on = strings.ReplaceAll(on, " "+who+"}", "}")
		p.On[i] = strings.ReplaceAll(on, "111111111111", "${Target}")
	}
	return p
}

// packages are those that call for an action, of each function.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	c, err := code()
	if err != nil {
		t.Fatal(err)
	}
	by := make(map[string][]string)
	for _, f := range c.Functions() {
		use, err := c.Of(f)
		if err != nil {
			t.Fatal(err)
		}
		actions, err := use.Actions()
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range actions {
			for _, call := range a.For {
				by[f+" "+a.Name] = append(by[f+" "+a.Name], folder(call))
			}
		}
	}
	return by
}

// folder is the package that a call is in.
func folder(c calls.Call) string { return c.Place[:strings.LastIndex(c.Place, "/")] }

func (r row) names(functions int) string {
	if len(r.who) == functions {
		return "all functions"
	}
	return strings.Join(r.who, ", ")
}

func (r row) does() string {
	not := ""
	if r.Deny {
		not = "**not** "
	}
	return not + quoted(r.Do)
}

// to is what it may be done to, and under which conditions.
func (r row) to() string {
	out := quoted(r.On)
	for _, operator := range slices.Sorted(maps.Keys(r.If)) {
		for _, key := range slices.Sorted(maps.Keys(r.If[operator])) {
			is := "` is "
			if strings.Contains(operator, "Not") {
				is = "` is not "
			}
			out += ", if `" + key + is + strings.ReplaceAll(quoted(texts(asJSON(r.If[operator][key]))), "` `", "` or `")
		}
	}
	return out
}

// asJSON is the value of a condition as JSON has it.
func asJSON(value any) any {
	if all, several := value.([]string); several {
		var list []any
		for _, one := range all {
			list = append(list, one)
		}
		return list
	}
	return value
}

// because is who calls for it, and why it is as it is.
func (r row) because(users map[string][]string) string {
	var all []string
	for _, w := range r.who {
		for _, a := range r.Do {
			all = append(all, users[w+" "+a]...)
		}
	}
	slices.Sort(all)
	out := quoted(slices.Compact(all))
	if out != "" && r.Why != "" && !r.Deny {
		return out + ": " + r.Why
	}
	if r.Why != "" {
		return r.Why
	}
	return out
}

// quoted lists texts as they are written in code.
func quoted(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return "`" + strings.Join(all, "` `") + "`"
}

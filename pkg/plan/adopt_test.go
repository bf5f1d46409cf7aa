package plan_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// adopting is a view with one node that adopts its live stack, which is as desired.
func adopting(t *testing.T) fixture {
	t.Helper()
	const text = "Parameters:\n  Size: { Type: String, Default: small }\n  Key: { Type: String, Default: none, NoEcho: true }\nResources:\n  T: { Type: 'AWS::SNS::Topic', Properties: { DisplayName: !Ref Size } }\n"
	parsed, err := template.Parse("t.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture()
	f.Desired.Nodes["db"] = project.Node{Name: "db", Stack: "shop-db", Adopt: true, Template: project.Template{Digest: "new", Pinned: true}}
	f.Live["db"] = plan.Live{StackID: "id-db", Status: "CREATE_COMPLETE", LastUpdated: epoch, Parameters: map[string]string{"Size": "small", "Key": "****"}}
	other := strings.Replace(text, "Resources:\n", "# a comment\nResources:\n", 1)
	again, err := template.Parse("t.yaml", []byte(other))
	if err != nil {
		t.Fatal(err)
	}
	f.Found = map[string]plan.Found{"db": {Template: again, Desired: parsed}}
	return f
}

// A stack that is as desired is only adopted. Any other one is updated afterwards, also if it
// is not known whether it is as desired.
func TestAdoptedStackIsUpdatedIfItDiffers(t *testing.T) {
	for name, c := range map[string]struct {
		change func(n *project.Node, l *plan.Live, f *plan.Found)
		want   string
	}{
		"the template is written differently": {func(*project.Node, *plan.Live, *plan.Found) {}, "adopt"},
		"capabilities, which no stack has":    {func(n *project.Node, _ *plan.Live, _ *plan.Found) { n.Capabilities = []string{"CAPABILITY_IAM"} }, "adopt"},
		"a parameter":                         {func(_ *project.Node, l *plan.Live, f *plan.Found) { l.Parameters["Size"] = "large" }, "update"},
		"a tag":                               {func(_ *project.Node, l *plan.Live, f *plan.Found) { l.Tags = map[string]string{"team": "a"} }, "update"},
		"protection":                          {func(n *project.Node, _ *plan.Live, _ *plan.Found) { n.Protect = true }, "update"},
		"a topic":                             {func(n *project.Node, _ *plan.Live, _ *plan.Found) { n.Notifications = []string{"arn"} }, "update"},
		"a topic that is not desired":         {func(_ *project.Node, l *plan.Live, _ *plan.Found) { l.Notifications = []string{"arn"} }, "update"},
		"a stack policy, which is not read":   {func(n *project.Node, _ *plan.Live, _ *plan.Found) { n.StackPolicy = project.NewStackPolicy("{}") }, "update"},
		"what a stack does if its creation fails": {func(n *project.Node, _ *plan.Live, _ *plan.Found) {
			n.OnFailure, n.DisableRollback = project.DeleteFailed, true
		}, "adopt"},
		"a secret whose live value is not known": {func(n *project.Node, _ *plan.Live, f *plan.Found) {
			n.Parameters = map[string]project.Text{"Key": project.Literal("****")}
			f.Identical = true
		}, "update"},
		"a parameter whose changes are ignored": {func(n *project.Node, l *plan.Live, _ *plan.Found) {
			l.Parameters["Size"], n.IgnoreChanges = "large", []string{"Size"}
		}, "adopt"},
		"a hidden parameter whose changes are ignored": {func(n *project.Node, _ *plan.Live, f *plan.Found) {
			n.Parameters, n.IgnoreChanges = map[string]project.Text{"Key": project.Literal("k")}, []string{"Key"}
			f.Identical = true
		}, "adopt"},
		"a template that cannot be understood": {func(_ *project.Node, _ *plan.Live, f *plan.Found) { f.Template = nil }, "update"},
		"a template with other resources":      {func(_ *project.Node, _ *plan.Live, f *plan.Found) { f.Template = &template.Template{} }, "update"},
		"a template that is not pinned":        {func(n *project.Node, _ *plan.Live, _ *plan.Found) { n.Template.Pinned = false }, "update"},
	} {
		f := adopting(t)
		n, l, found := f.Desired.Nodes["db"], f.Live["db"], f.Found["db"]
		l.Parameters = map[string]string{"Size": "small", "Key": "none"}
		if strings.Contains(name, "secret") {
			l.Parameters["Key"] = "****"
		}
		c.change(&n, &l, &found)
		f.Desired.Nodes["db"], f.Live["db"], f.Found["db"] = n, l, found
		p, err := plan.Deploy(f.View)
		if err != nil || len(p.Steps) == 0 {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if last := p.Steps[len(p.Steps)-1]; string(last.Verb) != c.want || p.Steps[0].Verb != plan.Adopt {
			t.Errorf("%s: the plan is\n%s", name, p)
		}
		if says := len(p.Messages) == 1 && strings.Contains(p.Messages[0], "NoEcho are not known (Key)"); says != strings.Contains(name, "secret") {
			t.Errorf("%s: %q", name, p.Messages)
		}
		if q, err := plan.AdoptStacks(f.View); err != nil || len(q.Steps) != 1 || q.Steps[0].Verb != plan.Adopt {
			t.Errorf("%s: an adopt plans\n%s%v", name, q, err)
		}
	}
}

// What cannot be adopted is refused, by a deploy and by an adopt, and the message says what to do.
func TestRefusedAdoptions(t *testing.T) {
	for want, change := range map[string]func(*plan.Live, *plan.Found){
		"project web@prod owns it: forget it there first; if that project no longer exists, remove the tag stackwright:project from the stack": func(_ *plan.Live, f *plan.Found) { f.Owner = "web@prod" },
		"it is nested in the stack outer: adopt that stack":                                                                func(l *plan.Live, _ *plan.Found) { l.Parent = "outer" },
		"it is UPDATE_IN_PROGRESS: wait until this operation has ended":                                                    func(l *plan.Live, _ *plan.Found) { l.Status = "UPDATE_IN_PROGRESS" },
		"it is UPDATE_COMPLETE_CLEANUP_IN_PROGRESS: wait until this operation has ended":                                   func(l *plan.Live, _ *plan.Found) { l.Status = "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS" },
		"it is UPDATE_ROLLBACK_FAILED: continue its rollback in CloudFormation first":                                      func(l *plan.Live, _ *plan.Found) { l.Status = "UPDATE_ROLLBACK_FAILED" },
		"it is ROLLBACK_COMPLETE, and can only be deleted: delete it in CloudFormation, and remove adopt: true or --adopt": func(l *plan.Live, _ *plan.Found) { l.Status = "ROLLBACK_COMPLETE" },
		"it was never created (REVIEW_IN_PROGRESS): remove adopt: true or --adopt, and a deploy creates it":                func(l *plan.Live, _ *plan.Found) { l.Status = "REVIEW_IN_PROGRESS" },
		"it is UPDATE_FAILED: update it in CloudFormation until an update succeeds":                                        func(l *plan.Live, _ *plan.Found) { l.Status = "UPDATE_FAILED" },
		"its template cannot be read: no access: allow cloudformation:GetTemplate: name the stack in the setting adoptable of the installation, or in the parameter Adoptable of account.yaml in another account": func(_ *plan.Live, f *plan.Found) { f.Unreadable = "no access" },
	} {
		for name, err := range refusalsOf(t, change) {
			if got := err.Error(); !fault.Is(err, fault.Refused) || got != "stack db: shop-db cannot be adopted: "+want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
	}
	for want, change := range map[string]func(*plan.Live, *plan.Found){
		"stack db: shop-db does not exist, so it cannot be adopted: ":             func(l *plan.Live, _ *plan.Found) { *l = plan.Live{} },
		"stack db: it cannot be read, so it cannot be adopted: no DescribeStacks": func(l *plan.Live, _ *plan.Found) { *l = plan.Live{AccessError: "no DescribeStacks"} },
	} {
		for name, err := range refusalsOf(t, change) {
			if !fault.Is(err, fault.Refused) || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
		}
	}
}

// refusalsOf returns the errors of a deploy and of an adopt, by their names.
func refusalsOf(t *testing.T, change func(*plan.Live, *plan.Found)) map[string]error {
	f := adopting(t)
	l, found := f.Live["db"], f.Found["db"]
	change(&l, &found)
	f.Live["db"], f.Found["db"] = l, found
	errs := make(map[string]error)
	for name, operation := range map[string]func(plan.View) (plan.Plan, error){"deploy": plan.Deploy, "adopt": plan.AdoptStacks} {
		if _, errs[name] = operation(f.View); errs[name] == nil {
			t.Fatalf("%s is not refused", name)
		}
	}
	return errs
}

// A recorded stack is not adopted again, and its dependents are compared with its live outputs
// while it is.
func TestAdoptedOutputs(t *testing.T) {
	f := adopting(t)
	l := f.Live["db"]
	l.Parameters, l.Outputs = map[string]string{"Size": "small", "Key": "none"}, map[string]string{"Id": "x"}
	f.Live["db"] = l
	web := project.Node{Name: "web", Stack: "shop-web", Adopt: true, Needs: []string{"db"}, Template: project.Template{Digest: "new", Pinned: true}, Parameters: map[string]project.Text{"Size": {{Node: "db", Output: "Id"}}}}
	f.Desired.Nodes["web"], f.Found["web"] = web, f.Found["db"]
	f.Live["web"] = plan.Live{StackID: "id-web", Status: "CREATE_COMPLETE", LastUpdated: epoch.Add(time.Hour), Parameters: map[string]string{"Size": "x", "Key": "none"}}
	p, err := plan.Deploy(f.View)
	if got := verbs(p); err != nil || got != "db/adopt web/adopt" {
		t.Errorf("%s, %v", got, err)
	}
	l.Outputs = map[string]string{"Id": "y"}
	f.Live["db"] = l
	if p, err = plan.Deploy(f.View); err != nil || verbs(p) != "db/adopt web/adopt web/update" {
		t.Errorf("%s, %v", verbs(p), err)
	}
}

// verbs lists the IDs of a plan's steps.
func verbs(p plan.Plan) string {
	var all []string
	for _, s := range p.Steps {
		all = append(all, s.ID)
	}
	return strings.Join(all, " ")
}

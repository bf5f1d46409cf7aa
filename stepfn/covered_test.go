package stepfn_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// Each operation, command, verb and option, and each refusal of what exists before a run, is in a scenario, so
// it is played on the state machine that is deployed.
func TestEachActionHasAScenario(t *testing.T) {
	words, verbs, given, texts := make(map[string]bool), make(map[string]bool), make(map[plan.Option]bool), ""
	for _, s := range scenarios(t) {
		for _, st := range s.read(t) {
			o := st.with
			words[st.word.name] = true
			for option, has := range map[plan.Option]bool{
				plan.OptionForce: o.force, plan.OptionRollback: o.rollback, plan.OptionRefuse: o.refuse, plan.OptionOnly: o.only != nil, plan.OptionExclude: o.exclude != nil, plan.OptionWithDependencies: o.apart || o.together, plan.OptionWithDependents: o.dependents, plan.OptionChangedSince: o.since != "", plan.OptionAdopt: o.adopt != nil,
				plan.OptionMaxDeletions: o.deletions != nil, plan.OptionExact: o.exact, plan.OptionWhileSuspended: o.whileSuspended, plan.OptionPlan: o.saved || o.savedFor,
				plan.OptionTo:        o.to != "",
				plan.OptionNoBackups: o.noBackups, plan.OptionKeepBackups: o.keepBackups,
				plan.OptionSnapshot: o.called != "", plan.OptionRetain: o.retain != nil, plan.OptionSkip: o.skip != nil,
				plan.OptionFromEnvironment: o.from != "", plan.OptionFromRevision: o.revision != "",
				plan.OptionFor:    st.word.name == "extend",
				plan.OptionUntil:  st.word.name == "extend-until",
				plan.OptionUpload: st.word.name == "deploy" && !o.given,                                   // a deploy without options is an upload
				plan.OptionReason: st.word.name == "unlock", plan.OptionDigest: st.word.name == "approve", // they have them
				plan.OptionStep: st.word.name == "approve" && slices.ContainsFunc(st.args, func(arg string) bool { return strings.Contains(arg, "/") }),
			} {
				given[option] = given[option] || has
			}
			switch st.word.name {
			case "steps", "step":
				for _, id := range st.args {
					verb, _, _ := strings.Cut(id[strings.LastIndex(id, "/")+1:], ":")
					verbs[verb] = true
				}
			}
			if st.word.name == "step" || st.word.name == "says" {
				texts += strings.Join(st.args, " ") + "\n"
			}
		}
	}
	for _, o := range plan.AllOperations() {
		if !words[o.Name] {
			t.Errorf("no scenario has the operation %s", o.Name)
		}
	}
	for _, name := range run.ControlNames() {
		if !words[name] {
			t.Errorf("no scenario has the command %s", name)
		}
	}
	for _, v := range action.All(nil, nil, nil, nil, nil) {
		if !verbs[string(v.Name)] {
			t.Errorf("no scenario has a step with the verb %s", v.Name)
		}
	}
	for _, o := range plan.Options() {
		if !given[o] {
			t.Errorf("no scenario has the option %s", o)
		}
	}
	for _, refusal := range refusals {
		if !strings.Contains(texts, refusal) {
			t.Errorf("no scenario says %q", refusal)
		}
	}
}

// refusals are the parts of messages that show why something was refused: approvals, saved plans, policies,
// adoptions, imports and what is forgotten.
var refusals = []string{
	"nobody has approved it within", "it was approved, but the plan is refused now", "rejected by", "the files change who has to approve plans",
	"out of date", "the files: those of the plan are revision", "the project says something else about it", "it has changed in AWS", "the plan does nothing with it, and now it would be changed too",
	"policy rule denies the plan: no way", "policy rule denies stack", "has no field actoin: did you mean action?", "its expression costs more than", "its expression cannot be evaluated",
	"every plan is refused until the owner of the installation has corrected its policies",
	"cannot be adopted: it is UPDATE_IN_PROGRESS", "cannot be adopted: it is UPDATE_ROLLBACK_FAILED", "does not exist, so it cannot be adopted", "owns it: forget it there first", "its template cannot be read",
	"adopt: there is no stack datab in the project's files", "is not managed by Stackwright",
	"other stacks depend on it", "it is UPDATE_IN_PROGRESS: wait until this operation has ended", "only: there is no stack nothing",
	"belongs to the stack shop-owner", "the stack has another Table", "somebody has deleted the change set of stack", "IMPORT_ROLLBACK_COMPLETE",
	"no longer exists, because somebody has changed the stack or deleted the change set", "still has it: remove it there", "does not exist: deploy it first, with another resource", "that has deployed no files", "there is no revision", "cannot be deployed again: provide what they need", "may have moved resources between stacks since",
	"deploy it without move_from: first", "CloudFormation refuses the move", "CloudFormation could not move the resources (rolled back)",
}

// badInput are bad inputs, and where a test compares the whole text of the message.
var badInput = []struct{ what, file, text string }{
	{"a plan of another project", "../pkg/plan/saved_test.go", "plan 0123456789ab is a plan of shop@prod, and this run is of mine@prod: make a plan of mine@prod, and use that one"},
	{"a plan that is out of date", "../pkg/plan/saved_test.go", "plan 0123456789ab is out of date, so nothing was done: plan again, and review that plan. This has changed since:"},
	{"an approval by the author", "../pkg/run/approval_test.go", " has requested run one, and so may not approve it: another person has to"},
	{"a second approval by one person", "../pkg/run/approval_test.go", "ann has approved the plan of run one already, and it needs 2 approvals: another person has to approve it too"},
	{"an approval too many", "../pkg/run/approval_test.go", "run one was answered by ann and bob already: it waits for no more approvals"},
	{"a policy that does not compile", "../pkg/policy/policy_test.go", "p.yaml:1:27: policy rule: deny: line 1, column 15 of the expression: the expression ends too early"},
	{"a policy that loops", "../pkg/policy/policy_test.go", "policy rule denies the plan: its expression costs more than 100000 steps: make it simpler (p.yaml:1:29)"},
	{"a policy that names an unknown field", "../pkg/policy/policy_test.go", "p.yaml:1:27: policy rule: deny: line 1, column 6 of the expression: Stack has no field actoin: did you mean action?"},
	{"adopting a stack of another project", "../pkg/plan/adopt_test.go", "project web@prod owns it: forget it there first; if that project no longer exists, remove the tag stackwright:project from the stack"},
	{"importing without an identifier", "../pkg/plan/import_test.go", "stack db: Unnamed cannot be imported: its BucketName is not written in the template, or not known before the deploy: write import: {Unnamed: {BucketName: VALUE}}"},
	{"a change set that somebody else deleted", "../pkg/action/propose_test.go", "the change set of stack shop-vpc no longer exists, because somebody has changed the stack or deleted the change set: retry the run (ChangeSet [set] does not exist)"},
	{"a change set that is obsolete", "../pkg/action/propose_test.go", "stack shop-vpc was changed after its change set was made: retry the run"},
	{"a change set of an import that somebody else deleted", "../pkg/action/import_test.go", "somebody has deleted the change set of stack shop-vpc: retry the run (gone)"},
	{"a change set of an import that has no changes", "../pkg/action/import_test.go", "the change set does not do exactly what the plan says (it has no changes): it was deleted; retry the run"},
	{"a change set of an import that fails to be created", "../pkg/action/import_test.go", "CloudFormation refuses the import: orders already exists in stack x"},
	{"a change set of an exact plan that fails to be created", "../pkg/plan/exact_test.go", "CloudFormation could not make a change set, so this is an estimate: no export named x"},
}

// Each bad input has a test that compares the whole text of its message.
func TestBadInputHasWholeMessages(t *testing.T) {
	for _, b := range badInput {
		body, err := os.ReadFile(b.file)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(strings.Split(string(body), "\n"), func(line string) bool { return strings.Contains(line, b.text) }) {
			t.Errorf("%s: %s has no text %q", b.what, b.file, b.text)
		}
	}
}

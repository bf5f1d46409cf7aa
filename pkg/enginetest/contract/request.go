package contract

import (
	"maps"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// requestLaws are what the options of requests rely on.
var requestLaws = map[string]func(fixture){
	// "Specify an empty list to remove all notification topics."
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_UpdateStack.html
	"a stack has the topics of its last update, and other topics alone are an update": func(s fixture) {
		create := s.task("vpc", plan.Create, "v1")
		create.Node.Notifications = topics("a", "b")
		s.ids["vpc"] = s.over(create, "CREATE_COMPLETE").Receipt.StackID
		s.notifies("vpc", "CREATE_COMPLETE", topics("a", "b"))
		for _, next := range [][]string{topics("b", "c"), nil} {
			update := s.task("vpc", plan.Update, "v1")
			update.Node.Notifications = next
			s.over(update, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
			s.notifies("vpc", "UPDATE_COMPLETE", next)
		}
		s.begin(s.task("vpc", plan.Update, "v1"), fault.Unchanged)
	},
	// "If you do specify rollback triggers for this parameter, those triggers replace any list of triggers previously specified for the stack."
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_RollbackConfiguration.html
	"a stack has the rollback triggers of its last update": func(s fixture) {
		one := project.RollbackTriggers{Alarms: []string{alarmARN + "a", alarmARN + "b"}, Minutes: 3}
		create := s.task("vpc", plan.Create, "v1")
		create.Node.RollbackTriggers = one
		create = s.begin(create, "")
		s.Pass(2 * time.Minute)
		s.received(create, true, false, "") // the alarms are watched
		s.Pass(2 * time.Minute)
		s.received(create, true, true, "CREATE_COMPLETE")
		s.ids["vpc"] = create.Receipt.StackID
		s.triggers("vpc", "CREATE_COMPLETE", one)
		for version, next := range map[string]project.RollbackTriggers{"v2": {Alarms: []string{alarmARN + "b"}, CompositeAlarms: []string{alarmARN + "c"}}, "v3": {}} {
			update := s.task("vpc", plan.Update, version)
			update.Node.RollbackTriggers = next
			s.over(update, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
			s.triggers("vpc", "UPDATE_COMPLETE", next)
		}
	},
	// "When you set a stack policy, all resources are protected by default." "A temporary policy applies only during an update."
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/protect-stack-resources.html
	"a stack policy denies updates, unless the request has another one for it": func(s fixture) {
		s.up("vpc", "v1")
		locked := s.task("vpc", plan.Update, "v2")
		locked.Node.StackPolicy = project.NewStackPolicy(denyAll)
		s.stackPolicy("vpc", project.StackPolicy{})
		s.policy(locked)
		s.stackPolicy("vpc", locked.Node.StackPolicy)
		update := s.begin(s.task("vpc", plan.Update, "v2"), "")
		s.Pass(2 * time.Minute)
		s.why(s.received(update, true, true, "UPDATE_ROLLBACK_COMPLETE"), "stack policy")
		update = s.task("vpc", plan.Update, "v2")
		update.Node.DuringUpdate = project.AllowAll
		s.over(update, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
		s.Pass(time.Minute)
		update = s.begin(s.task("vpc", plan.Update, "v3"), "")
		s.Pass(2 * time.Minute)
		s.received(update, true, true, "UPDATE_ROLLBACK_COMPLETE")
		s.policy(s.task("vpc", plan.Update, "v3")) // without a policy: the one that allows everything
		s.stackPolicy("vpc", project.NewStackPolicy(project.AllowAll))
		s.over(s.task("vpc", plan.Update, "v3"), "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
		s.Pass(time.Minute)
		s.over(s.task("vpc", plan.Delete, "v3"), "DELETE_COMPLETE")
	},
	// "If the list of resource types doesn't include a resource that you're creating, the stack creation fails."
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
	"a request with a resource that is not of its resource types is refused": func(s fixture) {
		refused := func(v plan.Verb) {
			wrong := s.task("vpc", v, "v2")
			wrong.Node.ResourceTypes = []string{"AWS::SQS::*"}
			s.begin(wrong, fault.Refused)
		}
		refused(plan.Create)
		create := s.task("vpc", plan.Create, "v1")
		create.Node.ResourceTypes = []string{"AWS::SNS::*"}
		s.ids["vpc"] = s.over(create, "CREATE_COMPLETE").Receipt.StackID
		refused(plan.Update)
		refused(plan.Propose)
		update := s.task("vpc", plan.Update, "v2")
		update.Node.ResourceTypes = []string{"AWS::SNS::Topic"}
		s.over(update, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
	},
	// "During a stack update, use the existing parameter value that the stack is using for a given parameter key."
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_Parameter.html (UsePreviousValue)
	"an update keeps the values that the stack has of parameters whose changes it ignores": func(s fixture) {
		with := func(v plan.Verb, parameters string, values map[string]string, ignored ...string) action.Task {
			t := s.task("vpc", v, "v1")
			t.Node.Template = templateOf(topicText + parameters)
			t.Node.IgnoreChanges, t.Want.Parameters = ignored, values
			if s.ids["vpc"] != "" {
				t.Kept = t.Node.Keeps(s.described(t).Parameters)
			}
			return t
		}
		has := func(want map[string]string) {
			s.Helper()
			if live := s.described(s.task("vpc", plan.Update, "v1")); !maps.Equal(live.Parameters, want) {
				s.Errorf("the parameters are %v, want %v", live.Parameters, want)
			}
		}
		const size = "    Properties: { DisplayName: !Ref Size }\nParameters:\n  Size: { Type: String }\n"
		const both = "    Properties: { DisplayName: !Sub '${Size} ${More}' }\nParameters:\n  Size: { Type: String }\n  More: { Type: String }\n"
		s.ids["vpc"] = s.over(with(plan.Create, size, map[string]string{"Size": "a"}, "Size"), "CREATE_COMPLETE").Receipt.StackID
		has(map[string]string{"Size": "a"})
		s.begin(with(plan.Update, size, map[string]string{"Size": "b"}, "Size"), fault.Unchanged)
		s.over(with(plan.Update, both, map[string]string{"Size": "b", "More": "c"}, "More", "Size"), "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
		s.Pass(time.Minute)
		has(map[string]string{"Size": "a", "More": "c"})
		s.over(with(plan.Update, both, map[string]string{"Size": "b", "More": "d"}, "More"), "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
		s.Pass(time.Minute)
		has(map[string]string{"Size": "b", "More": "c"})
	},
	// "For stacks in the DELETE_FAILED state, a list of resource logical IDs that are associated with the resources you want to retain."
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DeleteStack.html
	"resources are retained only after a deletion has failed because of them": func(s fixture) {
		retaining := func(t action.Task, names string) action.Task {
			t.Receipt = plan.Receipt{StackID: s.ids["vpc"], Retained: names}
			return t
		}
		left := func(op action.Operation, retained bool) {
			s.Helper()
			want := []action.Left{{ID: "Topic", Type: "AWS::SNS::Topic", Retained: retained}}
			for i := range op.Left { // the backends name it differently
				op.Left[i].PhysicalID = ""
			}
			if !slices.Equal(op.Left, want) {
				s.Errorf("it has left %+v, want %+v", op.Left, want)
			}
		}
		s.up("vpc", "v1")
		first := s.task("vpc", plan.Delete, "v1")
		s.begin(retaining(first, "Topic"), fault.Refused)
		s.Fail("vpc", plan.Delete)
		first = s.begin(s.task("vpc", plan.Delete, "v1"), "")
		s.Pass(40 * time.Second)
		left(s.received(first, true, true, "DELETE_FAILED"), false)
		s.begin(retaining(first, "Queue"), fault.Refused)
		again := retaining(first, "Topic")
		s.begin(again, "")
		s.begin(again, "") // CloudFormation knows the token
		s.Pass(40 * time.Second)
		s.status("vpc", "")
		left(s.received(again, true, true, "DELETE_COMPLETE"), true)
		left(s.received(first, true, true, "DELETE_FAILED"), false) // its events end with its failure
		s.begin(again, "")
	},
	// "Set to true to disable rollback of the stack if stack creation failed."
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
	// After that, only an update is accepted that is not rolled back either.
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/stack-failure-options.html
	"a creation that fails and is not rolled back can be updated": func(s fixture) {
		for _, set := range []func(*project.Node){
			func(n *project.Node) { n.OnFailure = project.KeepFailed },
			func(n *project.Node) { n.DisableRollback = true },
		} {
			create := s.task("vpc", plan.Create, "v1")
			set(&create.Node)
			s.Fail("vpc", plan.Create)
			create = s.over(create, "CREATE_FAILED")
			if live := s.status("vpc", "CREATE_FAILED"); !live.HasResources || !live.Updatable() {
				s.Errorf("live is %+v", live)
			}
			s.ids["vpc"] = create.Receipt.StackID
			s.begin(s.task("vpc", plan.Update, "v1"), fault.Refused)
			update := s.task("vpc", plan.Update, "v1")
			live := s.described(update)
			update.Seen = &live
			s.over(update, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
			s.Pass(time.Minute)
			s.over(s.task("vpc", plan.Delete, "v1"), "DELETE_COMPLETE")
			delete(s.ids, "vpc")
		}
	},
	// "Determines what action will be taken if stack creation fails."
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
	"a creation that fails deletes the stack, if the request says so": func(s fixture) {
		create := s.task("vpc", plan.Create, "v1")
		create.Node.OnFailure = project.DeleteFailed
		s.Fail("vpc", plan.Create)
		create = s.begin(create, "")
		s.Pass(40 * time.Second)
		s.why(s.received(create, true, true, "DELETE_COMPLETE"), "injected")
		s.status("vpc", "")
		s.up("vpc", "v1")
	},
	// "Preserve the state of previously provisioned resources when an operation fails."
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_UpdateStack.html (DisableRollback)
	"an update that fails is not rolled back, if the request says so, and the next one can succeed": func(s fixture) {
		s.up("vpc", "v1")
		s.Fail("vpc", plan.Update)
		update := s.task("vpc", plan.Update, "v2")
		update.Node.DisableRollback = true
		s.over(update, "UPDATE_FAILED")
		s.begin(s.task("vpc", plan.Update, "v2"), fault.Refused)
		again := s.task("vpc", plan.Update, "v2")
		again.Node.DisableRollback = true
		s.over(again, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
	},
}

const denyAll = `{"Statement":[{"Action":"Update:*","Effect":"Deny","Principal":"*","Resource":"*"}]}`

// policy sets the stack policy of t's stack.
func (s fixture) policy(t action.Task) {
	s.Helper()
	if err := s.SetStackPolicy(s.Context(), t); err != nil {
		s.Fatal(err)
	}
}

// stackPolicy checks the stack policy of a stack.
func (s fixture) stackPolicy(stack string, want project.StackPolicy) {
	s.Helper()
	if got, err := s.StackPolicy(s.Context(), s.task(stack, plan.Read, "v1").Location()); err != nil || got != want {
		s.Errorf("the stack policy is %+v, want %+v (%v)", got, want, err)
	}
}

const alarmARN = "arn:aws:cloudwatch:us-east-1:000000000000:alarm:"

// triggers checks the rollback triggers of the live stack of a name.
func (s fixture) triggers(stack string, status plan.Status, want project.RollbackTriggers) {
	s.Helper()
	if live := s.status(stack, status); live.Triggers.String() != want.String() || len(live.Triggers.CompositeAlarms) != len(want.CompositeAlarms) {
		s.Errorf("the rollback triggers are %+v, want %+v", live.Triggers, want)
	}
}

// topics are the ARNs of topics.
func topics(names ...string) []string {
	var all []string
	for _, name := range names {
		all = append(all, "arn:aws:sns:us-east-1:000000000000:"+name)
	}
	return all
}

// over begins t, and waits until its operation has ended with a status.
func (s fixture) over(t action.Task, status plan.Status) action.Task {
	s.Helper()
	t = s.begin(t, "")
	s.Pass(40 * time.Second)
	s.received(t, true, true, status)
	return t
}

// notifies checks the topics of the live stack of a name.
func (s fixture) notifies(stack string, status plan.Status, want []string) {
	s.Helper()
	if live := s.status(stack, status); !slices.Equal(live.Notifications, want) {
		s.Errorf("the topics are %q, want %q", live.Notifications, want)
	}
}

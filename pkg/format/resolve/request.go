package resolve

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/project"
)

// onFailures are what CloudFormation does with a stack whose creation fails, as it is written.
var onFailures = map[string]project.FailedCreation{"ROLLBACK": "", string(project.KeepFailed): project.KeepFailed, string(project.DeleteFailed): project.DeleteFailed}

// setNotifications sets the topics that get the events of the stack.
func (r *resolver) setNotifications(what string, s *Stack) {
	if s.Settings.Notifications == nil {
		return
	}
	for _, v := range *s.Settings.Notifications {
		arn, ok := r.option(what, s, v)
		form := project.TopicARN.FindStringSubmatch(arn)
		switch {
		case !ok:
		case form == nil:
			r.Add(v.At, "%s: %q is not the ARN of an SNS topic: write it as arn:aws:sns:${region}:${account}:NAME", what, problem.Short(arn))
		case form[1] != s.Node.Target.Region && !s.targetsUnknown: // https://github.com/aws/aws-cdk/issues/20603
			r.Add(v.At, "%s: %s is in %s, and the stack is deployed to %s: CloudFormation sends events only to topics of the region of the stack: write ${region}", what, problem.Short(arn), problem.Short(form[1]), s.Node.Target.Region)
		case slices.Contains(s.Node.Notifications, arn):
			r.Add(v.At, "%s: %s is listed twice: remove one", what, problem.Short(arn))
		default:
			s.Node.Notifications = append(s.Node.Notifications, arn)
		}
	}
	if n := len(*s.Settings.Notifications); n > project.MaxNotifications {
		r.Add((*s.Settings.Notifications)[project.MaxNotifications].At, "%s: %d topics: CloudFormation accepts at most %d", what, n, project.MaxNotifications)
	}
	slices.Sort(s.Node.Notifications)
}

// setTriggers sets which alarms make CloudFormation roll an operation on the stack back.
func (r *resolver) setTriggers(what string, s *Stack) {
	from := s.Settings.RollbackTriggers
	if from == nil {
		return
	}
	to := &s.Node.RollbackTriggers
	to.Alarms = r.alarms(what+": alarms", s, from.Alarms)
	to.CompositeAlarms = r.alarms(what+": composite_alarms", s, from.CompositeAlarms)
	if n := len(to.Alarms) + len(to.CompositeAlarms); n > project.MaxTriggers {
		r.Add(from.At, "%s: %d alarms: CloudFormation accepts at most %d", what, n, project.MaxTriggers)
	}
	if from.Minutes == nil {
		return
	}
	text, ok := r.option(what+": minutes", s, *from.Minutes)
	minutes, err := strconv.Atoi(text)
	if ok && (err != nil || minutes < 0 || minutes > project.MaxMonitoringMinutes || strconv.Itoa(minutes) != text) {
		r.Add(from.Minutes.At, "%s: minutes: %q: write a number of minutes, from 0 to %d", what, problem.Short(text), project.MaxMonitoringMinutes)
		return
	}
	to.Minutes = minutes
}

// setResourceTypes sets which types of resources a request may contain. CloudFormation accepts them only without capabilities.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
func (r *resolver) setResourceTypes(what string, s *Stack) {
	if s.Settings.ResourceTypes == nil {
		return
	}
	values := *s.Settings.ResourceTypes
	for _, v := range values {
		kind, ok := r.option(what, s, v)
		switch {
		case !ok:
		case !project.ResourceType.MatchString(kind):
			r.Add(v.At, "%s: %q is not a type of resources: write for example AWS::SNS::Topic, AWS::SNS::* or Custom::*", what, problem.Short(kind))
		case slices.Contains(s.Node.ResourceTypes, kind):
			r.Add(v.At, "%s: %s is listed twice: remove one", what, problem.Short(kind))
		default:
			s.Node.ResourceTypes = append(s.Node.ResourceTypes, kind)
		}
	}
	slices.Sort(s.Node.ResourceTypes)
	if len(values) > 0 && len(s.Node.Capabilities) > 0 {
		r.Add(values[0].At, "%s: the stack has capabilities: [%s], and CloudFormation accepts either capabilities or resource types: remove one of them", what, strings.Join(s.Node.Capabilities, ", "))
	}
}

// setIgnoreChanges sets which parameters keep the values that a stack has.
func (r *resolver) setIgnoreChanges(what string, s *Stack) {
	if s.Settings.IgnoreChanges == nil {
		return
	}
	for _, v := range *s.Settings.IgnoreChanges {
		name, ok := r.option(what, s, v)
		switch {
		case !ok:
		case s.Template != nil && !slices.Contains(s.Template.ParameterNames, name):
			r.Add(v.At, "%s: %s has no parameter %q%s", what, s.Template, problem.Short(name), r.Hint(name, s.Template.ParameterNames))
		case slices.Contains(s.Node.IgnoreChanges, name):
			r.Add(v.At, "%s: %s is listed twice: remove one", what, problem.Short(name))
		default:
			s.Node.IgnoreChanges = append(s.Node.IgnoreChanges, name)
		}
	}
	slices.Sort(s.Node.IgnoreChanges)
}

// setStackPolicy sets which resources an update may change. CloudFormation takes no policy with a change set.
func (r *resolver) setStackPolicy(what string, s *Stack) {
	if p := s.Settings.StackPolicy; p != nil && p.Body != "" {
		s.Node.StackPolicy = project.NewStackPolicy(p.Body)
	}
	p := s.Settings.DuringUpdate
	if p == nil || p.Body == "" {
		return
	}
	if s.Node.DuringUpdate = p.Body; s.Node.Approve != project.ApproveNever {
		r.Add(p.At, "%s: stack_policy_during_update: the stack has approve: %s, so its updates are change sets, and CloudFormation takes no policy with a change set: remove one of them", what, s.Node.Approve)
	}
}

// alarms resolves the ARNs of alarms, and sorts them.
func (r *resolver) alarms(what string, s *Stack, values *[]declared.Value) []string {
	if values == nil {
		return nil
	}
	var all []string
	for _, v := range *values {
		arn, ok := r.option(what, s, v)
		switch {
		case !ok:
		case !project.AlarmARN.MatchString(arn):
			r.Add(v.At, "%s: %q is not the ARN of an alarm: write it as arn:aws:cloudwatch:${region}:${account}:alarm:NAME", what, problem.Short(arn))
		case slices.Contains(all, arn):
			r.Add(v.At, "%s: %s is listed twice: remove one", what, problem.Short(arn))
		default:
			all = append(all, arn)
		}
	}
	slices.Sort(all)
	return all
}

// setFailure sets what CloudFormation does if an operation on the stack fails.
func (r *resolver) setFailure(what string, s *Stack) {
	s.Node.DisableRollback = r.truth(what+": disable_rollback", s, s.Settings.DisableRollback)
	v := s.Settings.OnFailure
	if v == nil {
		return
	}
	text, ok := r.option(what+": on_failure", s, *v)
	if !ok {
		return
	}
	does, known := onFailures[text]
	switch {
	case text == "keep" || text == "rollback":
		r.Add(v.At, "%s: on_failure: %s is what follows a deploy that fails: write it at the top level or under an environment; a stack has DO_NOTHING, ROLLBACK or DELETE, which say what CloudFormation does with it if its creation fails", what, text)
	case !known:
		r.Add(v.At, "%s: on_failure: expected DO_NOTHING, ROLLBACK or DELETE, found %q", what, problem.Short(text))
	case s.Node.DisableRollback:
		r.Add(v.At, "%s: on_failure: the stack has disable_rollback: true, too, and CloudFormation accepts only one of them: remove on_failure, or write disable_rollback: false", what)
	case does == project.DeleteFailed && s.Node.Deployment == project.Express:
		r.Add(v.At, "%s: on_failure: AWS does not say whether CloudFormation deletes a stack whose creation fails in express mode: write deployment: standard, or remove on_failure", what)
	}
	s.Node.OnFailure = does
}

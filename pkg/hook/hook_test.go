package hook_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/hook"
	"github.com/stackwright/stackwright/pkg/project"
)

// A services records what is called.
type services struct {
	called  []string
	objects int      // requests until a bucket is empty
	groups  []string // of a stack
	slow    int      // after how many calls Auto Scaling throttles; 0 for never, less for at once
}

func (s *services) PhysicalIDs(_ context.Context, _ project.Target, stack, kind string) ([]string, error) {
	s.called = append(s.called, "find "+kind+" of "+stack)
	return s.groups, nil
}

func (s *services) Invoke(_ context.Context, _ project.Target, function string, input []byte) error {
	s.called = append(s.called, "invoke "+function+" "+token(input))
	return nil
}

func (s *services) StartExecution(_ context.Context, _ project.Target, machine, name string, _ []byte) (string, error) {
	s.called = append(s.called, "start "+machine+" "+name)
	return "execution", nil
}

func (s *services) ExecutionEnded(context.Context, project.Target, string) (bool, error) {
	return false, nil
}

func (s *services) StopExecution(_ context.Context, _ project.Target, execution, _ string) error {
	s.called = append(s.called, "stop "+execution)
	return nil
}

func (s *services) PutEvent(_ context.Context, _ project.Target, bus, source, kind string, detail []byte) error {
	s.called = append(s.called, "put "+bus+" "+source+" "+kind+" "+token(detail))
	return nil
}

func (s *services) Publish(_ context.Context, _ project.Target, topic, group, key string, message []byte) error {
	s.called = append(s.called, "publish "+topic+" "+group+" "+key+" "+token(message))
	return nil
}

func (s *services) PutParameter(_ context.Context, _ project.Target, name, value string) error {
	s.called = append(s.called, "set "+name+" to "+value)
	return nil
}

func (s *services) SecretValue(_ context.Context, _ project.Target, arn string) ([]byte, error) {
	return []byte("0123456789abcdef"), nil
}

func (s *services) Post(_ context.Context, url string, header map[string]string, body []byte) (int, error) {
	s.called = append(s.called, "post "+url+" "+header["Idempotency-Key"]+" "+token(body))
	return 200, nil
}

func (s *services) States(_ context.Context, _ project.Target, names []string) ([]project.Alarm, error) {
	all := make([]project.Alarm, len(names))
	for i, name := range names {
		s.called = append(s.called, "describe "+name)
		all[i] = project.Alarm{Name: name, State: map[string]string{"hook-none": "", "hook-calm": "OK"}[name]}
		if name != "hook-none" && name != "hook-calm" {
			all[i].State = "ALARM"
		}
	}
	return all, nil
}

func (s *services) EmptyBucket(_ context.Context, _ project.Target, name string) (bool, error) {
	s.called = append(s.called, "empty "+name)
	s.objects--
	return s.objects < 0, nil
}

func (s *services) SuspendProcesses(_ context.Context, _ project.Target, group string, processes []string) error {
	if s.slow < 0 || s.slow > 0 && len(s.called) > s.slow {
		return fault.New(fault.Throttled, "slow down")
	}
	s.called = append(s.called, "suspend "+strings.Join(append([]string{group}, processes...), " "))
	return nil
}

func (s *services) ResumeProcesses(_ context.Context, _ project.Target, group string, processes []string) error {
	s.called = append(s.called, "resume "+strings.Join(append([]string{group}, processes...), " "))
	return nil
}

func token(message []byte) string {
	var m hook.Message
	if err := json.Unmarshal(message, &m); err != nil {
		return err.Error()
	}
	return m.Token
}

const (
	function  = "arn:aws:lambda:us-east-1:000000000000:function:hook-a"
	machine   = "arn:aws:states:us-east-1:000000000000:stateMachine:hook-a"
	bus       = "arn:aws:events:us-east-1:000000000000:event-bus/default"
	topic     = "arn:aws:sns:us-east-1:000000000000:hook-a"
	parameter = "arn:aws:ssm:us-east-1:000000000000:parameter/hook-a"
	secret    = "arn:aws:secretsmanager:us-east-1:000000000000:secret:hook-a-AbCdEf"
	site      = "https://hooks.example.com/a"
	group     = "arn:aws:autoscaling:us-east-1:000000000000:autoScalingGroup:0a-1b:autoScalingGroupName/hook-a"
	alarm     = "arn:aws:cloudwatch:us-east-1:000000000000:alarm:hook-a"
)

func call(kind, on string) hook.Call {
	return hook.Call{
		Token: "t", Type: kind, Values: map[string]string{kind: on, "value": "one", "secret": secret, "processes": "Launch,Terminate"}, Started: "execution",
		Target:  project.Target{Account: "000000000000", Region: "us-east-1"},
		Message: hook.Message{Token: "t", Hook: "h", Project: "shop", Environment: "prod", Moment: project.BeforeDelete},
	}
}

// Each type calls its service with the token, and only what the installation lists and is no part of it.
func TestCalls(t *testing.T) {
	for _, c := range []struct {
		name, kind, on, want string
		refused              fault.Kind
	}{
		{name: "a function", kind: "invoke", on: function, want: "invoke " + function + " t"},
		{name: "an alias", kind: "invoke", on: function + ":live", want: "invoke " + function + ":live t"},
		{name: "a state machine", kind: "start", on: machine, want: "start " + machine + " t"},
		{name: "a bus", kind: "event", on: bus, want: "put " + bus + " stackwright.hook h t"},
		{name: "a topic", kind: "publish", on: topic + ".fifo", want: "publish " + topic + ".fifo shop@prod t t"},
		{name: "a parameter", kind: "parameter", on: parameter, want: "set hook-a to one"},
		{name: "a parameter with levels", kind: "parameter", on: parameter + "/b", want: "set /hook-a/b to one"},
		{name: "a parameter elsewhere", kind: "parameter", on: strings.Replace(parameter, "us-east-1", "eu-west-1", 1), refused: fault.Invalid},
		{name: "a parameter of cdk bootstrap", kind: "parameter", on: "arn:aws:ssm:us-east-1:000000000000:parameter/cdk-bootstrap/hook-a", refused: fault.Denied},
		{name: "a web server", kind: "webhook", on: site, want: "post " + site + " t t"},
		{name: "a host that is not listed", kind: "webhook", on: "https://example.com/a", refused: fault.Denied},
		{name: "a host whose name begins so", kind: "webhook", on: "https://hooks.example.com.example.net/a", refused: fault.Denied},
		{name: "an alarm", kind: "wait_alarm", on: alarm, want: "describe hook-a"},
		{name: "an alarm with spaces", kind: "wait_alarm", on: alarm + ": 5xx, all", want: "describe hook-a: 5xx, all"},
		{name: "an alarm elsewhere", kind: "wait_alarm", on: strings.Replace(alarm, "us-east-1", "eu-west-1", 1), refused: fault.Invalid},
		{name: "an alarm that is not listed", kind: "wait_alarm", on: strings.Replace(alarm, "hook-a", "other", 1), refused: fault.Denied},
		{name: "a bucket", kind: "empty_bucket", on: "bucket-a", want: "empty bucket-a"},
		{name: "a bucket by its ARN", kind: "empty_bucket", on: "arn:aws:s3:::bucket-a", want: "empty bucket-a"},
		{name: "a bucket of another partition", kind: "empty_bucket", on: "arn:aws-cn:s3:::bucket-a", refused: fault.Denied},
		{name: "a bucket that is not listed", kind: "empty_bucket", on: "other", refused: fault.Denied},
		{name: "a bucket of others", kind: "empty_bucket", on: "bucket-test", refused: fault.Denied},
		{name: "the bucket of Stackwright", kind: "empty_bucket", on: "bucket-own", refused: fault.Denied},
		{name: "objects of a bucket", kind: "empty_bucket", on: "arn:aws:s3:::bucket-a/logs", refused: fault.Invalid},
		{name: "a group", kind: "suspend_scaling", on: "hook-a", want: "suspend hook-a Launch Terminate"},
		{name: "a group by its ARN", kind: "resume_scaling", on: group, want: "resume hook-a Launch Terminate"},
		{name: "a group with a slash", kind: "resume_scaling", on: "hook-a/b", want: "resume hook-a/b Launch Terminate"},
		{name: "a group that is not listed", kind: "suspend_scaling", on: "other", refused: fault.Denied},
		{name: "a group elsewhere", kind: "resume_scaling", on: strings.Replace(group, "us-east-1", "eu-west-1", 1), refused: fault.Invalid},
		{name: "a group with a space", kind: "resume_scaling", on: "hook a", refused: fault.Invalid},
		{name: "an ARN of another service", kind: "invoke", on: machine, refused: fault.Invalid},
		{name: "what is not listed", kind: "invoke", on: strings.Replace(function, "hook-a", "other", 1), refused: fault.Denied},
		{name: "what is listed for the project", kind: "event", on: bus + "-shop", want: "put " + bus + "-shop stackwright.hook h t"},
		{name: "what is listed for another environment", kind: "event", on: bus + "-test", refused: fault.Denied},
		{name: "another account", kind: "invoke", on: strings.Replace(function, "000000000000", "111111111111", 1), refused: fault.Denied},
		{name: "the installation", kind: "invoke", on: strings.Replace(function, "hook-a", "hook-own-plan", 1), refused: fault.Denied},
		{name: "an unknown type", kind: "fly", on: function, refused: fault.Broken},
	} {
		s := &services{}
		all := hook.Services{
			Functions: s, Machines: s, Buses: s, Topics: s, Parameters: s, Alarms: s, Buckets: s, Groups: s, Secrets: s, Webhooks: s,
			Own:     hook.Allowed{"arn:*:lambda:us-east-1:000000000000:function:hook-own-*", "arn:*:ssm:*:*:parameter/cdk-bootstrap/*", "arn:*:s3:::bucket-own"},
			Allowed: hook.Allowed{"arn:aws:*:us-east-1:000000000000:*hook-*", "arn:aws:ssm:eu-west-1:*", "arn:aws:cloudwatch:eu-west-1:*", "arn:aws:autoscaling:eu-west-1:*", bus, "shop@*=" + bus + "-shop", "https://hooks.example.com/*", "shop@test=" + bus + "-test", "shop@prod=arn:aws:s3:::bucket-a", "shop@prod=arn:aws:s3:::bucket-own", "shop@test=arn:aws:s3:::bucket-test"},
		}
		_, err := all.Call(t.Context(), call(c.kind, c.on))
		if got := strings.Join(s.called, "; "); got != c.want || fault.KindOf(err) != c.refused {
			t.Errorf("%s: got %q, %v", c.name, got, err)
		}
	}
}

// A parameter has 1 to 4096 bytes.
func TestValueOfAParameter(t *testing.T) {
	for value, want := range map[string]fault.Kind{"": fault.Invalid, strings.Repeat("x", 4096): "", strings.Repeat("x", 4097): fault.Invalid} {
		s := &services{}
		c := call("parameter", parameter)
		c.Values["value"] = value
		all := hook.Services{Parameters: s, Allowed: hook.Allowed{parameter}}
		if _, err := all.Call(t.Context(), c); fault.KindOf(err) != want || (len(s.called) == 1) != (want == "") {
			t.Errorf("%d bytes: called %d times, %v", len(value), len(s.called), err)
		}
	}
}

// The processes of a group are those of Auto Scaling, or all.
func TestProcessesOfAGroup(t *testing.T) {
	for processes, want := range map[string]string{"all": "suspend hook-a", "ScheduledActions": "suspend hook-a ScheduledActions", "": "", "Launch,": "", "Launch, Terminate": "", "launch": "", "all,Launch": ""} {
		s := &services{}
		c := call("suspend_scaling", "hook-a")
		c.Values["processes"] = processes
		all := hook.Services{Groups: s, Allowed: hook.Allowed{"arn:aws:autoscaling:us-east-1:000000000000:autoScalingGroup:*:autoScalingGroupName/hook-*"}}
		if _, err := all.Call(t.Context(), c); strings.Join(s.called, "; ") != want || fault.Is(err, fault.Invalid) != (want == "") {
			t.Errorf("%q: called %q, %v", processes, s.called, err)
		}
	}
}

// A hook about all groups of its stack calls for each, or for none if one may not be reached. What it has done for some is repeated.
func TestGroupsOfAStack(t *testing.T) {
	const find = "find AWS::AutoScaling::AutoScalingGroup of shop-web"
	for name, c := range map[string]struct {
		groups []string
		slow   int
		stack  string
		want   string
		err    fault.Kind
		says   string
	}{
		"two":           {groups: []string{"hook-a", "hook-b"}, stack: "shop-web", want: find + "; suspend hook-a Launch Terminate; suspend hook-b Launch Terminate"},
		"none":          {stack: "shop-web", want: find},
		"one elsewhere": {groups: []string{"hook-a", "other"}, stack: "shop-web", want: find, err: fault.Denied, says: "may not reach arn:aws:autoscaling:us-east-1:000000000000:autoScalingGroup:*:autoScalingGroupName/other"},
		"too many":      {groups: slices.Repeat([]string{"hook-a"}, hook.MaxOfStack+1), stack: "shop-web", want: find, err: fault.Invalid, says: "at most 50"},
		"of no stack":   {groups: []string{"hook-a"}, err: fault.Invalid, says: "this hook is of no stack"},
		"slow at once":  {groups: []string{"hook-a", "hook-b"}, slow: -1, stack: "shop-web", want: find, err: fault.Throttled},
		"slow later":    {groups: []string{"hook-a", "hook-b"}, slow: 1, stack: "shop-web", want: find + "; suspend hook-a Launch Terminate", err: fault.Unavailable},
	} {
		s := &services{groups: c.groups, slow: c.slow}
		one := call("suspend_scaling", hook.OfStack)
		one.Message.StackName = c.stack
		all := hook.Services{Groups: s, Stacks: s, Allowed: hook.Allowed{"arn:aws:autoscaling:us-east-1:000000000000:autoScalingGroup:*:autoScalingGroupName/hook-*"}}
		_, err := all.Call(t.Context(), one)
		if got := strings.Join(s.called, "; "); got != c.want || fault.KindOf(err) != c.err || c.says != "" && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

// A hook about all groups of its stack needs a moment at which the stack may have some, and a project whose hooks may reach some.
func TestGroupsOfAStackAreChecked(t *testing.T) {
	scaling, ok := hook.Named("suspend_scaling")
	if !ok {
		t.Fatal("there is no such type")
	}
	for _, m := range []project.Moment{project.BeforeCreate, project.AfterDelete} {
		if err := scaling.CheckFinds(hook.OfStack, []project.Moment{m}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", m, err)
		}
		if err := scaling.CheckFinds("hook-a", []project.Moment{m}); err != nil {
			t.Errorf("%s, with the name of a group: %v", m, err)
		}
		if err := scaling.CheckFinds(hook.OfStack, []project.Moment{m, project.BeforeUpdate}); err != nil {
			t.Errorf("%s and another: %v", m, err)
		}
	}
	in := project.Target{Account: "000000000000", Region: "us-east-1"}
	for entry, want := range map[string]fault.Kind{
		"arn:aws:autoscaling:*:000000000000:*": "", "shop@*=arn:aws:autoscaling:*:000000000000:*": "", "arn:aws:*:*:*:*": "",
		"arn:aws:lambda:*:000000000000:*": fault.Denied, "shop@test=arn:aws:autoscaling:*:000000000000:*": fault.Denied, "https://hooks.example.com/*": fault.Denied,
	} {
		if err := (hook.Allowed{entry}).PermitSome("shop@prod", scaling, in); fault.KindOf(err) != want {
			t.Errorf("%s: %v", entry, err)
		}
	}
}

// Only an execution outlasts its call and can be stopped.
func TestWhatOutlastsACall(t *testing.T) {
	for kind, want := range map[string]bool{"invoke": true, "event": true, "publish": true, "parameter": true, "webhook": true, "start": false} {
		s := &services{}
		all := hook.Services{Functions: s, Machines: s, Buses: s}
		ended, err := all.Ended(t.Context(), call(kind, "x"))
		if ended != want || err != nil {
			t.Errorf("%s: ended is %t, %v", kind, ended, err)
		}
		if err := all.Stop(t.Context(), call(kind, "x")); err != nil || (len(s.called) == 0) != want {
			t.Errorf("%s: stop called %v, %v", kind, s.called, err)
		}
	}
}

// A hook that waits for an alarm is over at once if the alarm is OK. Otherwise it is over when the alarm is, in the account and region
// of the target.
func TestWaitForAnAlarm(t *testing.T) {
	all := hook.Services{Alarms: &services{}, Allowed: hook.Allowed{"arn:aws:cloudwatch:*"}}
	calm := strings.Replace(alarm, "hook-a", "hook-calm", 1)
	for on, want := range map[string]string{calm: "", alarm: alarm} {
		started, err := all.Call(t.Context(), call("wait_alarm", on))
		if started != want || err != nil {
			t.Errorf("%s: started %q, %v", on, started, err)
		}
		c := call("wait_alarm", on)
		c.Started = on
		if ended, err := all.Ended(t.Context(), c); ended != (want == "") || err != nil {
			t.Errorf("%s: ended is %t, %v", on, ended, err)
		}
		if err := all.Stop(t.Context(), c); err != nil {
			t.Errorf("%s: stop: %v", on, err)
		}
	}
	if ended, err := all.Ended(t.Context(), call("wait_alarm", alarm)); ended || !fault.Is(err, fault.Invalid) {
		t.Errorf("what was started is no alarm: ended is %t, %v", ended, err)
	}
}

// A bucket with many objects is emptied by a call and by polls, each of which deletes some of them while the installation allows it.
// Once the hook is stopped, nothing is deleted. At moments at which the stack stays, nothing is.
func TestEmptyABucket(t *testing.T) {
	s := &services{objects: 25}
	all := hook.Services{Buckets: s, Allowed: hook.Allowed{"shop@prod=arn:aws:s3:::bucket-*"}}
	c := call("empty_bucket", "bucket-a")
	var err error
	if c.Started, err = all.Call(t.Context(), c); c.Started != "bucket-a" || err != nil || s.objects != 15 {
		t.Errorf("called: %q, %v; %d objects are left", c.Started, err, s.objects)
	}
	for _, left := range []int{5, -1} {
		if ended, err := all.Ended(t.Context(), c); ended != (left < 0) || err != nil || s.objects != left {
			t.Errorf("ended is %t, %v; %d objects are left, want %d", ended, err, s.objects, left)
		}
	}
	if err := all.Stop(t.Context(), c); err != nil || s.objects != -1 {
		t.Errorf("stopped: %v", err)
	}
	all.Allowed = nil
	if ended, err := all.Ended(t.Context(), c); ended || !fault.Is(err, fault.Denied) || s.objects != -1 {
		t.Errorf("no longer allowed: ended is %t, %v", ended, err)
	}
	all.Allowed = hook.Allowed{"shop@prod=arn:aws:s3:::bucket-*"}
	for _, m := range []project.Moment{project.AfterUpdate, project.BeforeUpdate, project.AfterDelete, project.BeforeDestroy, ""} {
		c.Message.Moment = m
		if _, err := all.Call(t.Context(), c); !fault.Is(err, fault.Invalid) || s.objects != -1 {
			t.Errorf("%s: %v", m, err)
		}
	}
}

// A star stands for any text, and a pattern names a service.
func TestAllowed(t *testing.T) {
	all, err := hook.ParseAllowed("arn:aws:lambda:*:000000000000:function:hook-*, " + bus)
	if err != nil {
		t.Fatal(err)
	}
	if all.String() != "arn:aws:lambda:*:000000000000:function:hook-*,"+bus {
		t.Errorf("got %s", all)
	}
	for on, want := range map[string]bool{
		function: true, function + ":live": true, bus: true, bus + "-2": false, strings.Replace(function, "hook-", "h-", 1): false,
		strings.Replace(function, "us-east-1", "eu-west-1", 1): true, machine: false, "": false, "arn:aws:lambda:": false,
	} {
		if err := all.Permit("shop@prod", on); (err == nil) != want {
			t.Errorf("%s: %v", on, err)
		}
	}
	if err := (hook.Allowed{}).Permit("shop@prod", function); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "setting hooks") {
		t.Errorf("nothing is listed: %v", err)
	}
	if got, err := hook.ParseAllowed("shop@prod=arn:aws:s3:::shop-prod-*"); err != nil || got.Permit("shop@prod", "arn:aws:s3:::shop-prod-a") != nil || got.Permit("shop@test", "arn:aws:s3:::shop-prod-a") == nil || len(got.ARNs()) != 1 {
		t.Errorf("buckets: %s, %v", got, err)
	}
	for id, want := range map[string]bool{"shop@prod": true, "shop@test": false, "other@prod": false} {
		if err := (hook.Allowed{"shop@prod=" + bus, "other@*=" + function}).Permit(id, bus); (err == nil) != want {
			t.Errorf("%s: %v", id, err)
		}
	}
	if _, err := hook.ParseAllowed("shop@*=https://hooks.example.com/shop/*," + secret); err != nil {
		t.Error(err)
	}
	if got := strings.Join(hook.Allowed{"a@*=" + bus, "b@*=" + bus, "https://hooks.example.com/*", topic}.ARNs(), " "); got != bus+" "+topic {
		t.Errorf("the ARNs are %s", got)
	}
	for _, wrong := range []string{"shop=" + bus, "=" + bus, "shop@prod=", "*", "arn:aws:*", "https://*", "https://*/", "https://*.example.com/*", "https://hooks.example.com", "http://hooks.example.com/*", "https://u@hooks.example.com/*", "https://hooks.example.com:8443/*", "https://localhost/*", "arn:aws:s3:::bucket", "shop@prod=arn:aws:s3:::*", "shop@prod=arn:aws:s3:::sh*", "shop@prod=arn:aws:s3:::bucket/logs", "arn:aws:iam::000000000000:role/x", "arn:aws:lambda:us-east-1:*:function:" + strings.Repeat("x", 1000)} {
		if _, err := hook.ParseAllowed(wrong); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s is accepted: %v", wrong, err)
		}
	}
}

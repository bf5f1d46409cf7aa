package hook_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/hook"
	"github.com/stackwright/stackwright/pkg/project"
)

// A services records what is called.
type services struct{ called []string }

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

func token(message []byte) string {
	var m hook.Message
	if err := json.Unmarshal(message, &m); err != nil {
		return err.Error()
	}
	return m.Token
}

const (
	function = "arn:aws:lambda:us-east-1:000000000000:function:hook-a"
	machine  = "arn:aws:states:us-east-1:000000000000:stateMachine:hook-a"
	bus      = "arn:aws:events:us-east-1:000000000000:event-bus/default"
)

func call(kind, on string) hook.Call {
	return hook.Call{Token: "t", Type: kind, Values: map[string]string{kind: on}, Started: "execution", Message: hook.Message{Token: "t", Hook: "h"}}
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
		{name: "an ARN of another service", kind: "invoke", on: machine, refused: fault.Invalid},
		{name: "what is not listed", kind: "invoke", on: strings.Replace(function, "hook-a", "other", 1), refused: fault.Denied},
		{name: "another account", kind: "invoke", on: strings.Replace(function, "000000000000", "111111111111", 1), refused: fault.Denied},
		{name: "the installation", kind: "invoke", on: strings.Replace(function, "hook-a", "hook-own-plan", 1), refused: fault.Denied},
		{name: "an unknown type", kind: "fly", on: function, refused: fault.Broken},
	} {
		s := &services{}
		all := hook.Services{
			Functions: s, Machines: s, Buses: s, Own: hook.Allowed{"arn:*:lambda:us-east-1:000000000000:function:hook-own-*"},
			Allowed: hook.Allowed{"arn:aws:*:us-east-1:000000000000:*hook-*", bus},
		}
		_, err := all.Call(t.Context(), call(c.kind, c.on))
		if got := strings.Join(s.called, "; "); got != c.want || fault.KindOf(err) != c.refused {
			t.Errorf("%s: got %q, %v", c.name, got, err)
		}
	}
}

// Only an execution outlasts its call and can be stopped.
func TestWhatOutlastsACall(t *testing.T) {
	for kind, want := range map[string]bool{"invoke": true, "event": true, "start": false} {
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
		if err := all.Permit(on); (err == nil) != want {
			t.Errorf("%s: %v", on, err)
		}
	}
	if err := (hook.Allowed{}).Permit(function); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "setting hooks") {
		t.Errorf("nothing is listed: %v", err)
	}
	for _, wrong := range []string{"*", "arn:aws:*", "arn:aws:s3:::bucket", "arn:aws:iam::000000000000:role/x", "arn:aws:lambda:us-east-1:*:function:" + strings.Repeat("x", 1000)} {
		if _, err := hook.ParseAllowed(wrong); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s is accepted: %v", wrong, err)
		}
	}
}

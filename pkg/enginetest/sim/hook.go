package sim

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/hook"
	"github.com/stackwright/stackwright/pkg/project"
)

// Hooks is what hooks call, in memory.
type Hooks struct {
	Calls     []HookCalled
	Fail      map[string]int               // how many of the next calls fail, by the name of the hook
	Seconds   map[string]float64           // how long the executions of state machines take, by the name of the hook; 0 if it is missing
	Alarms    map[string]string            // the states of alarms, by name, which SetAlarm sets
	Buckets   map[string]int               // how often something has to be deleted until a bucket is empty, by name
	Objects   map[string]map[string]string // what buckets have, by key; a bucket that is not in it does not exist
	Zips      map[string][]byte            // the files of projects, by digest
	Suspended map[string][]string          // the processes of Auto Scaling groups that are suspended, by the name of the group
	Called    func(HookCalled)             // called with each call; nil for none
	started   map[string]hookExecution     // by the name of the execution
	since     map[string]time.Time         // when alarms got their states, by name
	raised    map[string]time.Time         // when they last went off
	clock     *Clock
}

// A HookCalled is a call of a hook.
type HookCalled struct {
	At      time.Time
	On      string // what was called
	Message hook.Message
}

// A hookExecution is an execution of a state machine that a hook has started.
type hookExecution struct {
	ends    time.Time
	fails   bool
	stopped bool
}

// NewHooks returns what hooks call, before the first call.
func NewHooks(c *Clock) *Hooks {
	return &Hooks{Fail: make(map[string]int), Seconds: make(map[string]float64), Alarms: make(map[string]string), Buckets: make(map[string]int), Objects: make(map[string]map[string]string), Zips: make(map[string][]byte), Suspended: make(map[string][]string), started: make(map[string]hookExecution), since: make(map[string]time.Time), raised: make(map[string]time.Time), clock: c}
}

// call records a call, and reports whether it is to fail.
func (h *Hooks) call(on string, message []byte) (m hook.Message, fails bool, err error) {
	if err := json.Unmarshal(message, &m); err != nil {
		return m, false, fault.New(fault.Refused, "the message of a hook cannot be read: %w", err)
	}
	c := HookCalled{h.clock.Now(), on, m}
	h.Calls = append(h.Calls, c)
	if h.Called != nil {
		h.Called(c)
	}
	if fails = h.Fail[m.Hook] > 0; fails {
		h.Fail[m.Hook]--
	}
	return m, fails, nil
}

// Stopped reports whether an execution of the given name was stopped.
func (h *Hooks) Stopped(name string) bool { return h.started[name].stopped }

// seenHooks calls hooks, and passes the message on to what has none.
type seenHooks struct {
	*Backend
	hook.Services
}

// messageKey is the key of the message in the context of a call.
type messageKey struct{}

// Call implements action.Hooks. A hook whose call reaches nothing has arrived at once.
func (h seenHooks) Call(ctx context.Context, c hook.Call) (string, error) {
	ctx = context.WithValue(ctx, messageKey{}, c.Message)
	if t, known := hook.Named(c.Type); known && (t.Local || t.Files) {
		h.Hooks.arrived(ctx, c.On())
	}
	return h.Services.Call(ctx, c)
}

// Ended implements action.Hooks.
func (h seenHooks) Ended(ctx context.Context, c hook.Call) (bool, error) {
	return h.Services.Ended(ctx, c)
}

// InAlarm implements action.Hooks.
func (h seenHooks) InAlarm(ctx context.Context, id string, in project.Target, names []string) ([]string, error) {
	return h.Services.InAlarm(ctx, id, in, names)
}

// Stop implements action.Hooks.
func (h seenHooks) Stop(ctx context.Context, c hook.Call) error { return h.Services.Stop(ctx, c) }

// arrived tells of a call that passes no message on. A poll makes none.
func (h *Hooks) arrived(ctx context.Context, on string) {
	if m, calls := ctx.Value(messageKey{}).(hook.Message); calls && h.Called != nil {
		h.Called(HookCalled{h.clock.Now(), on, m})
	}
}

// reachable is what hooks may reach: everything but some Auto Scaling groups.
func reachable() hook.Allowed {
	all := hook.Allowed{"https://hooks.example.com/*", "arn:aws:autoscaling:*:autoScalingGroup:*:autoScalingGroupName/group-*"}
	for _, service := range []string{"cloudwatch", "events", "lambda", "s3", "secretsmanager", "states"} {
		all = append(all, "arn:aws:"+service+":*")
	}
	return all
}

// crashingHooks is what hooks call: each call takes time, and may fail or crash the function.
type crashingHooks struct{ *Backend }

// hookOf names the hook of a message, for faults.
func hookOf(message []byte) string {
	var m hook.Message
	if json.Unmarshal(message, &m) != nil {
		return ""
	}
	return m.Hook
}

// Invoke implements hook.Functions.
func (m crashingHooks) Invoke(ctx context.Context, _ project.Target, function string, input []byte) error {
	return m.do(ctx, "Hooks.Call", hookOf(input), func() error {
		_, fails, err := m.Hooks.call(function, input)
		if fails {
			return fault.New(fault.Refused, "function %s failed: it was to fail", function)
		}
		return err
	})
}

// PutEvent implements hook.Buses.
func (m crashingHooks) PutEvent(ctx context.Context, _ project.Target, bus, _, _ string, detail []byte) error {
	return m.do(ctx, "Hooks.Call", hookOf(detail), func() error {
		_, fails, err := m.Hooks.call(bus, detail)
		if fails {
			return fault.New(fault.Refused, "put an event on %s: it was to fail", bus)
		}
		return err
	})
}

// SecretValue implements hook.Secrets.
func (m crashingHooks) SecretValue(context.Context, project.Target, string) ([]byte, error) {
	return []byte("the secret of all hooks"), nil
}

// Post implements hook.Webhooks. A server that is to fail refuses the message.
func (m crashingHooks) Post(ctx context.Context, url string, _ map[string]string, body []byte) (int, error) {
	return got(m.Backend, ctx, "Hooks.Call", hookOf(body), func() (int, error) {
		_, fails, err := m.Hooks.call(url, body)
		if fails {
			return 400, err
		}
		return 200, err
	})
}

// StartExecution implements hook.Machines.
func (m crashingHooks) StartExecution(ctx context.Context, _ project.Target, machine, name string, input []byte) (string, error) {
	return got(m.Backend, ctx, "Hooks.Call", hookOf(input), func() (string, error) {
		execution := strings.Replace(machine, ":stateMachine:", ":execution:", 1) + ":" + name
		if _, again := m.Hooks.started[execution]; again {
			return execution, nil
		}
		message, fails, err := m.Hooks.call(machine, input)
		m.Hooks.started[execution] = hookExecution{ends: m.Now().Add(time.Duration(m.Hooks.Seconds[message.Hook] * float64(time.Second))), fails: fails}
		return execution, err
	})
}

// ExecutionEnded implements hook.Machines.
func (m crashingHooks) ExecutionEnded(ctx context.Context, _ project.Target, execution string) (bool, error) {
	return got(m.Backend, ctx, "Hooks.Ended", execution, func() (bool, error) {
		switch x, ok := m.Hooks.started[execution]; {
		case !ok, x.stopped:
			return true, fault.New(fault.Refused, "execution %s is ABORTED", execution)
		case m.Now().Before(x.ends):
			return false, nil
		case x.fails:
			return true, fault.New(fault.Refused, "execution %s is FAILED (it was to fail)", execution)
		}
		return true, nil
	})
}

// StopExecution implements hook.Machines.
func (m crashingHooks) StopExecution(ctx context.Context, _ project.Target, execution, _ string) error {
	return m.do(ctx, "Hooks.Stop", execution, func() error {
		x := m.Hooks.started[execution]
		x.stopped = true
		m.Hooks.started[execution] = x
		return nil
	})
}

// States implements hook.Alarms and revision.Alarms. An alarm has one state in all targets, unless it has another in one: "errors@eu".
func (m crashingHooks) States(ctx context.Context, in project.Target, names []string) ([]project.Alarm, error) {
	return got(m.Backend, ctx, "Alarms.States", strings.Join(names, " "), func() ([]project.Alarm, error) {
		all := make([]project.Alarm, len(names))
		for i, name := range names {
			m.Hooks.arrived(ctx, name)
			key := name
			if _, other := m.Hooks.Alarms[name+"@"+in.Name]; other {
				key = name + "@" + in.Name
			}
			all[i] = project.Alarm{Name: name, State: m.Hooks.Alarms[key], Since: m.Hooks.since[key]}
		}
		return all, nil
	})
}

// Raised implements revision.Alarms.
func (m crashingHooks) Raised(ctx context.Context, _ project.Target, name string, since time.Time) (time.Time, error) {
	return got(m.Backend, ctx, "Alarms.Raised", name, func() (time.Time, error) {
		if at := m.Hooks.raised[name]; !at.Before(since) {
			return at, nil
		}
		return time.Time{}, nil
	})
}

// SetAlarm gives an alarm a state from now on.
func (h *Hooks) SetAlarm(name, state string) {
	if h.Alarms[name] != state {
		h.Alarms[name], h.since[name] = state, h.clock.Now()
		if state == "ALARM" {
			h.raised[name] = h.clock.Now()
		}
	}
}

// EmptyBucket implements hook.Buckets.
func (m crashingHooks) EmptyBucket(ctx context.Context, _ project.Target, name string) (bool, error) {
	return got(m.Backend, ctx, "Hooks.Empty", name, func() (bool, error) {
		m.Hooks.arrived(ctx, name)
		if m.Hooks.Buckets[name] == 0 {
			return true, nil
		}
		m.Hooks.Buckets[name]--
		return false, nil
	})
}

// Zip implements hook.Files.
func (m crashingHooks) Zip(ctx context.Context, _, digest string) ([]byte, error) {
	return got(m.Backend, ctx, "Hooks.Zip", digest, func() ([]byte, error) {
		body, ok := m.Hooks.Zips[digest]
		if !ok {
			return nil, fault.New(fault.Missing, "there are no files %s", digest)
		}
		return body, nil
	})
}

// PutObjects implements hook.Objects. The function may crash after each object.
func (m crashingHooks) PutObjects(ctx context.Context, in project.Target, bucket string, all []project.Object) error {
	for _, one := range all {
		err := m.do(ctx, "Hooks.Upload", bucket, func() error {
			held, ok := m.Hooks.Objects[bucket]
			if !ok {
				return fault.New(fault.Missing, "there is no bucket %s in account %s", bucket, in.Account)
			}
			held[one.Key] = string(one.Body)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// DeleteOthers implements hook.Objects. It deletes one object.
func (m crashingHooks) DeleteOthers(ctx context.Context, _ project.Target, bucket, prefix string, keep []string) (bool, error) {
	return got(m.Backend, ctx, "Hooks.Upload", bucket, func() (bool, error) {
		for _, key := range slices.Sorted(maps.Keys(m.Hooks.Objects[bucket])) {
			if strings.HasPrefix(key, prefix) && !slices.Contains(keep, key) {
				delete(m.Hooks.Objects[bucket], key)
				return false, nil
			}
		}
		return true, nil
	})
}

// PhysicalIDs implements hook.Stacks. Stacks have Auto Scaling groups of which their versions decide.
func (m crashingHooks) PhysicalIDs(ctx context.Context, in project.Target, name, _ string) ([]string, error) {
	return got(m.Backend, ctx, "Hooks.Find", name, func() ([]string, error) {
		m.Hooks.arrived(ctx, name)
		return m.Cloud.Groups(in, name), nil
	})
}

// calledBy names the hook that a call is of; the given name if the call says none.
func calledBy(ctx context.Context, name string) string {
	if message, calls := ctx.Value(messageKey{}).(hook.Message); calls {
		return message.Hook
	}
	return name
}

// SuspendProcesses implements hook.ScalingGroups. The hooks of scenarios name the processes.
func (m crashingHooks) SuspendProcesses(ctx context.Context, _ project.Target, group string, processes []string) error {
	return m.do(ctx, "Hooks.Scaling", calledBy(ctx, group), func() error {
		m.Hooks.arrived(ctx, group)
		m.Hooks.Suspended[group] = slices.Compact(slices.Sorted(slices.Values(slices.Concat(m.Hooks.Suspended[group], processes))))
		return nil
	})
}

// ResumeProcesses implements hook.ScalingGroups.
func (m crashingHooks) ResumeProcesses(ctx context.Context, _ project.Target, group string, processes []string) error {
	return m.do(ctx, "Hooks.Scaling", calledBy(ctx, group), func() error {
		m.Hooks.arrived(ctx, group)
		m.Hooks.Suspended[group] = slices.DeleteFunc(m.Hooks.Suspended[group], func(p string) bool { return slices.Contains(processes, p) })
		return nil
	})
}

package suspend_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/suspend"
)

const groupType = "AWS::AutoScaling::AutoScalingGroup"

// services are a stack with groups. A request fails as fails says, by the name of the group.
type services struct {
	groups map[string]suspend.Group
	fails  map[string]error
	called []string
}

func (s *services) ResourcesByType(context.Context, project.Target, string) (map[string][]string, error) {
	var names []string
	for name := range s.groups {
		names = append(names, name)
	}
	slices.Sort(names)
	return map[string][]string{groupType: names, "AWS::SNS::Topic": {"topic"}}, s.fails["find"]
}

func (s *services) Groups(_ context.Context, _ project.Target, names []string) (map[string]suspend.Group, error) {
	all := make(map[string]suspend.Group)
	for _, name := range names {
		if g, exists := s.groups[name]; exists {
			all[name] = g
		}
	}
	return all, s.fails["see"]
}

func (s *services) Resize(_ context.Context, _ project.Target, name string, to suspend.Size) error {
	if err := s.fails[name]; err != nil {
		return err
	}
	s.called = append(s.called, fmt.Sprint(name, to))
	return nil
}

func (s *services) all() suspend.Services { return suspend.Services{Stacks: s, Groups: s} }

// rds are DB instances and clusters, by identifier.
type rds struct {
	all    map[string]suspend.Machine
	err    error
	called []string
}

// some are the instances, or the clusters.
type some struct {
	*rds
	what string
}

func (s some) Machines(context.Context, project.Target, []string) (map[string]suspend.Machine, error) {
	return s.all, s.err
}

func (s some) StopMachine(_ context.Context, _ project.Target, id string) error {
	return s.call("stop " + s.what + " " + id)
}

func (s some) StartMachine(_ context.Context, _ project.Target, id string) error {
	return s.call("start " + s.what + " " + id)
}

func (r *rds) call(what string) error {
	r.called = append(r.called, what)
	return nil
}

func (r *rds) ResourcesByType(context.Context, project.Target, string) (map[string][]string, error) {
	var ids []string
	for id := range r.all {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return map[string][]string{"AWS::RDS::DBInstance": ids, "AWS::RDS::DBCluster": ids}, nil
}

// A database is recorded if it runs or has an operation in progress, but for members of clusters. One that cannot be stopped is named. While
// an operation is in progress nothing of the stack is stopped or started.
func TestDatabases(t *testing.T) {
	r := &rds{all: map[string]suspend.Machine{
		"a": {Status: "available"}, "b": {Status: "backing-up"}, "c": {Status: "starting"}, "d": {Status: "stopped"}, "e": {Status: "stopping"},
		"member": {Status: "available", Member: true}, "replica": {Status: "available", Fixed: "it is a read replica"}, "off": {Status: "stopped", Fixed: "it is a read replica"},
	}}
	s := suspend.Services{Stacks: r, Databases: some{r, "db"}, Clusters: some{r, "cluster"}}
	running, fixed, err := s.Running(t.Context(), project.Target{}, "id")
	var names []string
	for _, one := range running {
		names = append(names, one.Type[10:]+" "+one.ID+one.Was)
	}
	want := "DBInstance a, DBInstance b, DBInstance c, DBCluster a, DBCluster b, DBCluster c"
	if strings.Join(names, ", ") != want || err != nil || strings.Join(fixed, ", ") != "DB instance replica keeps running: it is a read replica, DB cluster replica keeps running: it is a read replica" {
		t.Errorf("running are %q, fixed %q, %v", names, fixed, err)
	}
	of := func(ids ...string) (all []plan.Stopped) {
		for _, id := range ids {
			all = append(all, plan.Stopped{Type: "AWS::RDS::DBInstance", ID: id}, plan.Stopped{Type: "AWS::RDS::DBCluster", ID: id})
		}
		return all
	}
	for i, c := range []struct {
		do   func(context.Context, project.Target, []plan.Stopped) error
		ids  []string
		want string
		err  fault.Kind
	}{
		{s.Stop, []string{"a", "d", "e", "gone"}, "stop db a; stop cluster a", ""},
		{s.Start, []string{"a", "d", "replica", "gone"}, "start cluster d; start db d", ""},
		{s.Stop, []string{"a", "b"}, "", fault.Busy},
		{s.Start, []string{"d", "b"}, "", fault.Busy},
	} {
		r.called = nil
		if err := c.do(t.Context(), project.Target{}, of(c.ids...)); strings.Join(r.called, "; ") != c.want || fault.KindOf(err) != c.err {
			t.Errorf("%d: called %q, %v", i, r.called, err)
		}
	}
	for on, want := range map[bool]string{false: "a b c e", true: "b c d e off"} {
		waits, gone, err := s.Unsettled(t.Context(), project.Target{}, []plan.Stopped{of("a")[0], of("b")[0], of("c")[0], of("d")[0], of("e")[0], of("gone")[0], of("off")[0], of("replica")[0]}, on)
		var names []string
		for _, one := range waits {
			names = append(names, strings.Fields(one)[2])
		}
		if strings.Join(names, " ") != want || len(gone) != 1 || err != nil {
			t.Errorf("on %v: waits %q, gone %q, %v", on, waits, gone, err)
		}
	}
}

func group(least, most, desired, instances int) suspend.Group {
	return suspend.Group{Size: suspend.Size{Min: least, Max: most, Desired: desired}, Instances: instances, InService: instances}
}

// recorded are groups as a record lists them.
func recorded(names ...string) []plan.Stopped {
	var all []plan.Stopped
	for _, name := range names {
		all = append(all, plan.Stopped{Type: groupType, ID: name, Was: `{"min":1,"max":4,"desired":2}`})
	}
	return all
}

// What runs is recorded with its sizes: also a group without instances that may get some. What is off already, or is deleted, is not.
func TestRunning(t *testing.T) {
	s := &services{groups: map[string]suspend.Group{
		"a": group(1, 4, 2, 2), "scaled-to-zero": group(0, 4, 0, 0), "off": {}, "stopping": {Instances: 1}, "starting": group(1, 4, 2, 1),
		"deleted": {Size: suspend.Size{Max: 1}, Deleting: true},
	}}
	running, fixed, err := s.all().Running(t.Context(), project.Target{}, "id")
	want := []plan.Stopped{
		{Type: groupType, ID: "a", Was: `{"min":1,"max":4,"desired":2}`}, {Type: groupType, ID: "scaled-to-zero", Was: `{"min":0,"max":4,"desired":0}`},
		{Type: groupType, ID: "starting", Was: `{"min":1,"max":4,"desired":2}`},
	}
	if err != nil || !slices.Equal(running, want) || fixed != nil {
		t.Errorf("running are %v, %v, %v", running, fixed, err)
	}
	for _, what := range []string{"find", "see"} {
		s.fails = map[string]error{what: fault.New(fault.Throttled, "slow")}
		if _, _, err := s.all().Running(t.Context(), project.Target{}, "id"); !fault.Is(err, fault.Throttled) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A suspend stops what runs, and a resume starts what is not as it was, in the other order. What AWS refuses does not stop the rest. An
// error that can be repeated says that nothing was done only if nothing was.
func TestStopAndStart(t *testing.T) {
	busy, throttled, lost, refused, gone := fault.New(fault.Busy, "busy"), fault.New(fault.Throttled, "slow"), fault.New(fault.Unavailable, "lost"), fault.New(fault.Refused, "no"), fault.New(fault.Missing, "gone")
	for name, c := range map[string]struct {
		groups map[string]suspend.Group
		fails  map[string]error
		start  bool
		want   string
		err    fault.Kind
	}{
		"stop":                  {groups: map[string]suspend.Group{"a": group(1, 4, 2, 2), "b": group(1, 4, 2, 2)}, want: "a{0 0 0} b{0 0 0}"},
		"stop the rest":         {groups: map[string]suspend.Group{"a": {Instances: 2}, "b": group(1, 1, 1, 1)}, want: "b{0 0 0}"},
		"stop what is gone":     {groups: map[string]suspend.Group{"b": group(1, 1, 1, 1)}, want: "b{0 0 0}"},
		"start":                 {groups: map[string]suspend.Group{"a": {}, "b": {Instances: 1}}, start: true, want: "b{1 4 2} a{1 4 2}"},
		"start the rest":        {groups: map[string]suspend.Group{"a": group(1, 4, 2, 0), "b": {}}, start: true, want: "b{1 4 2}"},
		"start as it was":       {groups: map[string]suspend.Group{"a": group(3, 3, 3, 3), "b": group(1, 4, 2, 2)}, start: true, want: "a{1 4 2}"},
		"busy at once":          {groups: map[string]suspend.Group{"a": group(1, 4, 2, 2), "b": group(1, 4, 2, 2)}, fails: map[string]error{"a": busy}, err: fault.Busy},
		"throttled at once":     {groups: map[string]suspend.Group{"a": group(1, 4, 2, 2), "b": group(1, 4, 2, 2)}, fails: map[string]error{"a": throttled}, err: fault.Throttled},
		"throttled later":       {groups: map[string]suspend.Group{"a": group(1, 4, 2, 2), "b": group(1, 4, 2, 2)}, fails: map[string]error{"b": throttled}, want: "a{0 0 0}", err: fault.Unavailable},
		"busy later":            {groups: map[string]suspend.Group{"a": {}, "b": {}}, fails: map[string]error{"a": busy}, start: true, want: "b{1 4 2}", err: fault.Unavailable},
		"throttled after off":   {groups: map[string]suspend.Group{"a": {}, "b": group(1, 4, 2, 2)}, fails: map[string]error{"b": throttled}, err: fault.Throttled},
		"lost":                  {groups: map[string]suspend.Group{"a": group(1, 4, 2, 2), "b": group(1, 4, 2, 2)}, fails: map[string]error{"a": lost}, err: fault.Unavailable},
		"refused":               {groups: map[string]suspend.Group{"a": group(1, 4, 2, 2), "b": group(1, 4, 2, 2)}, fails: map[string]error{"a": refused}, want: "b{0 0 0}", err: fault.Refused},
		"deleted in the middle": {groups: map[string]suspend.Group{"a": group(1, 4, 2, 2), "b": group(1, 4, 2, 2)}, fails: map[string]error{"a": gone}, want: "b{0 0 0}"},
		"cannot be read":        {fails: map[string]error{"see": throttled}, err: fault.Throttled},
	} {
		s := &services{groups: c.groups, fails: c.fails}
		do := s.all().Stop
		if c.start {
			do = s.all().Start
		}
		err := do(t.Context(), project.Target{}, recorded("a", "b"))
		if got := strings.Join(s.called, " "); got != c.want || fault.KindOf(err) != c.err {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

// A suspend waits until nothing is left, and a resume until everything is in service. What is gone is neither.
func TestUnsettled(t *testing.T) {
	s := &services{groups: map[string]suspend.Group{"a": {}, "b": {Instances: 1}, "c": group(1, 4, 2, 1), "d": group(1, 4, 2, 2)}}
	for on, want := range map[bool]string{false: "b c d", true: "a b c"} {
		waits, gone, err := s.all().Unsettled(t.Context(), project.Target{}, recorded("a", "b", "c", "d", "e"), on)
		var names []string
		for _, one := range waits {
			names = append(names, strings.Fields(one)[3])
		}
		if strings.Join(names, " ") != want || strings.Join(gone, " ") != "Auto Scaling group e" || err != nil {
			t.Errorf("on %v: waits %q, gone %q, %v", on, waits, gone, err)
		}
	}
	s.fails = map[string]error{"see": fault.New(fault.Unavailable, "lost")}
	if _, _, err := s.all().Unsettled(t.Context(), project.Target{}, recorded("a"), true); !fault.Is(err, fault.Unavailable) {
		t.Error(err)
	}
}

// A record of a newer version, or one that is damaged, is not carried out.
func TestUnknownRecord(t *testing.T) {
	s := &services{groups: map[string]suspend.Group{"a": {}}}
	for _, r := range []plan.Stopped{{Type: "AWS::Fly::Fly", ID: "a"}, {Type: groupType, ID: "a", Was: "{"}} {
		if err := s.all().Start(t.Context(), project.Target{}, []plan.Stopped{r}); !fault.Is(err, fault.Broken) || s.called != nil {
			t.Errorf("%v: %v, %v", r, err, s.called)
		}
	}
}

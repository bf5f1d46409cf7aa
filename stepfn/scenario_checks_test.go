package stepfn_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

func (s *scenario) path(st statement) {
	got := pathOf(s.Path(s.id))
	pattern, err := pathPattern(st.args)
	if err != nil {
		s.Fatal(err)
	}
	if !pattern.MatchString(got + " ") {
		s.mismatchf("got %s", got)
	}
}

func (s *scenario) epoch(st statement) { s.expect(s.ExecutionStatus(s.id).Epoch, st.args[0]) }

func (s *scenario) steps(st statement) {
	var ids []string
	for _, step := range s.ExecutionStatus(s.id).Steps {
		ids = append(ids, step.ID)
	}
	s.expect(strings.Join(ids, " "), strings.Join(st.args, " "))
}

func (s *scenario) express(st statement) {
	var ids []string
	for _, step := range s.ExecutionStatus(s.id).Steps {
		if step.Deployment == project.Express {
			ids = append(ids, step.ID)
		}
	}
	s.expect(strings.Join(ids, " "), strings.Join(st.args, " "))
}

func (s *scenario) step(st statement) {
	step := s.stepOf(st.args[0])
	if got := string(step.Status); got != st.args[1] || !strings.HasPrefix(step.Why, strings.Join(st.args[2:], " ")) {
		s.mismatchf("got %s %s", got, step.Why)
	}
}

func (s *scenario) cause(st statement) {
	c := s.stepOf(st.args[0]).Cause
	s.expect(strings.TrimSpace(string(c.Kind)+" "+c.Step), strings.Join(st.args[1:], " "))
}

func (s *scenario) attempts(st statement) { s.expect(s.stepOf(st.args[0]).Attempt, st.args[1]) }

func (s *scenario) gap(st statement) {
	a, b := s.stepOf(st.args[0]), s.stepOf(st.args[1])
	if got := b.Claimed.Sub(a.Ended); b.Claimed.IsZero() || got < 0 || got > seconds(st.args[2]) && !s.realTime {
		s.mismatchf("got %s", got)
	}
}

// apart compares how long a step has waited after another at least.
func (s *scenario) apart(st statement) {
	a, b := s.stepOf(st.args[0]), s.stepOf(st.args[1])
	if got := b.Claimed.Sub(a.Ended); b.Claimed.IsZero() || got < seconds(st.args[2]) && !s.realTime {
		s.mismatchf("got %s", got)
	}
}

func (s *scenario) leftBroken(st statement) {
	r := s.ExecutionStatus(s.id)
	nodes, known := r.LeftBroken()
	if !known {
		s.mismatchf("the run was loaded without its steps")
	}
	s.expect(strings.Join(nodes, " "), strings.Join(st.args, " "))
	end := "Failed"
	if len(st.args) > 0 {
		end = "Failed dirty"
	}
	executions := s.Path(s.id)
	if last := executions[len(executions)-1]; !slices.Contains(last, end) {
		s.mismatchf("the last execution entered %v", last)
	}
}

func (s *scenario) unchanged(st statement) { s.expect(s.ExecutionStatus(s.id).Unchanged, st.args[0]) }

func (s *scenario) says(st statement) {
	got := strings.Join(s.ExecutionStatus(s.id).Messages, "\n")
	for name, id := range s.named {
		got = strings.ReplaceAll(got, id, name)
	}
	if !strings.Contains(got, strings.Join(st.args, " ")) {
		s.mismatchf("got %s", got)
	}
}

func (s *scenario) runState(st statement) {
	s.expect(s.ExecutionStatus(s.named[st.run]).State, st.args[1])
}

func (s *scenario) lock(st statement) {
	l := s.Lock()
	got := []string{s.nameOf(l.Owner.Run)}
	if l.Owner.Run == "" {
		got = []string{"free"}
	}
	for _, w := range l.Waiting {
		got = append(got, s.nameOf(w.Run))
	}
	s.expect(strings.Join(got, " "), strings.Join(st.args, " "))
}

func (s *scenario) requests(st statement) {
	got, want := s.Requests(), slices.Clone(st.args)
	if s.realTime {
		got, want = sorted(got), sorted(want)
	}
	s.expect(strings.Join(got, " "), strings.Join(want, " "))
}

func (s *scenario) stack(st statement) { s.expect(s.Status(s.at(st.args[0])).String(), st.args[1]) }

func (s *scenario) made(st statement) {
	version, _ := s.Deployed(s.at(st.args[0]))
	s.expect(version, st.args[1])
}

// passed compares a parameter of a stack with the output of another stack that the
// project passes to it.
func (s *scenario) passed(st statement) {
	if got, want, ok := s.given(st); ok && (got == "" || got != want) {
		s.mismatchf("got %q, the output is %q", got, want)
	}
}

// kept compares the same, which must differ.
func (s *scenario) kept(st statement) {
	if got, want, ok := s.given(st); ok && (got == "" || got == want) {
		s.mismatchf("got %q, the output is %q", got, want)
	}
}

// given returns a parameter of a stack, and the output of another stack that the project passes to it.
func (s *scenario) given(st statement) (got, want string, ok bool) {
	dependent, other := s.stacks.named(st.args[0]), st.args[1]
	i := slices.IndexFunc(dependent.needs, func(n need) bool { return n.name == other || s.stacks.named(n.name).name == s.stacks.named(other).name })
	if i < 0 {
		s.mismatchf("%s does not need %s", st.args[0], other)
		return "", "", false
	}
	_, params := s.Deployed(s.at(st.args[0]))
	return params[dependent.needs[i].param()], dependent.needs[i].of(s.OutputOf(s.at(other), "Value")), true
}

func (s *scenario) recorded(st statement) {
	s.expect(strings.Join(slices.Sorted(maps.Keys(s.Recorded())), " "), strings.Join(st.args, " "))
}

func (s *scenario) drifted(st statement) {
	var names []string
	for name, r := range s.Recorded() {
		if r.Drifted() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	s.expect(strings.Join(names, " "), strings.Join(st.args, " "))
}

func (s *scenario) scheduled(st statement) {
	s.expect(strings.Join(s.Scheduled(), " "), strings.Join(st.args, " "))
}

// stepOf returns a step of the current run.
func (s *scenario) stepOf(id string) run.Step {
	r := s.ExecutionStatus(s.id)
	if step := r.Step(id); step != nil {
		return *step
	}
	s.mismatchf("the run has no such step: ")
	return run.Step{}
}

// unused lists the faults that have not happened.
func (p *memoryBackend) unused() []string {
	var all []string
	for about := range p.faults {
		all = append(all, "the fault of "+about)
	}
	for about, n := range p.Cloud.Fail {
		if n > 0 {
			all = append(all, fmt.Sprintf("the failure of %s", about))
		}
	}
	return sorted(all)
}

func (s *scenario) listsSnapshots(st statement) {
	var names []string
	for _, one := range s.Lock().Snapshots {
		names = append(names, one.Name)
	}
	s.expect(strings.Join(names, " "), strings.Join(st.args, " "))
}

// listsBackups compares the backups that snapshots have, as in first=2, and those that exist.
func (s *scenario) listsBackups(st statement) {
	var recorded, counts []string
	for _, one := range s.Lock().Snapshots {
		left := plan.Left(one.Backups)
		for _, b := range left {
			recorded = append(recorded, b.ARN)
		}
		if len(left) > 0 {
			counts = append(counts, fmt.Sprintf("%s=%d", one.Name, len(left)))
		}
	}
	slices.Sort(recorded)
	s.expect(strings.Join(counts, " "), strings.Join(st.args, " "))
	s.expect(strings.Join(s.Backups(), " "), strings.Join(recorded, " "))
}

// restored compares what names the backup of a stack's database, or of another resource as in data.Warehouse, with those that snapshots have.
func (s *scenario) restored(st statement) {
	name, resource, other := strings.Cut(st.args[0], ".")
	if !other {
		resource = "Database"
	}
	_, params := s.Deployed(s.at(name))
	got := params[backupParameter+resource]
	for _, one := range s.Lock().Snapshots {
		for _, b := range one.Backups {
			if got != "" && (got == b.ARN && b.Naming == plan.ByARN || strings.EqualFold(got, b.Name())) {
				got = one.Name
			}
		}
	}
	s.expect(got, strings.Join(st.args[1:], " "))
}

// restoreOutside restores the database of a stack without Stackwright.
func (s *scenario) restoreOutside(st statement) {
	for _, one := range s.Lock().Snapshots {
		for _, b := range one.Backups {
			if one.Name == st.args[1] && b.Node == st.args[0] && b.Resource == "Database" {
				s.SetParameter(s.at(b.Node), backupParameter+b.Resource, b.ARN)
				return
			}
		}
	}
	if !s.unchecked {
		s.Fatalf("snapshot %s has no backup of %s.Database", st.args[1], st.args[0])
	}
}

// keepSnapshots sets the policy of project files.
func (s *scenario) keepSnapshots(st statement) {
	p := project.SnapshotPolicy{Keep: number(st.args[0])}
	if len(st.args) > 1 {
		p.For = project.TTL(time.Duration(number(st.args[1])) * time.Second)
	}
	s.KeepSnapshots(p)
}

func (s *scenario) holds(st statement) { s.expect(s.Holding(st.args[1]), st.args[0]) }

func (s *scenario) changeSets(st statement) {
	s.expect(strings.Join(s.ChangeSets(), " "), strings.Join(st.args, " "))
}

func (s *scenario) exact(st statement) {
	var exact []string
	for _, c := range s.Planned(s.ExecutionStatus(s.id)).Stacks {
		if c.Exact {
			exact = append(exact, c.Stack)
		}
	}
	s.expect(strings.Join(exact, " "), strings.Join(st.args, " "))
}

// suspension is what the plan says of a stack that a suspend or a resume is about.
func (s *scenario) suspension(stack string) plan.PlannedSuspension {
	for _, c := range s.Planned(s.ExecutionStatus(s.id)).Stacks {
		if c.Stack == stack && c.Suspension != nil {
			return *c.Suspension
		}
	}
	s.mismatchf("nothing is known of %s: %+v", stack, s.Planned(s.ExecutionStatus(s.id)).Stacks)
	return plan.PlannedSuspension{}
}

func (s *scenario) switches(st statement) {
	var ids []string
	for _, r := range s.suspension(st.args[0]).Resources {
		ids = append(ids, r.ID[strings.LastIndexByte(r.ID, '/')+1:])
	}
	s.expect(strings.Join(ids, " "), strings.Join(st.args[1:], " "))
}

func (s *scenario) stays(st statement) {
	var lines []string
	for _, r := range s.suspension(st.args[0]).Stay {
		lines = append(lines, r.Kind+" "+r.ID+": "+r.Why)
	}
	if want := strings.Join(st.args[1:], " "); !strings.Contains(strings.Join(lines, "\n"), want) {
		s.mismatchf("%q stay", lines)
	}
}

func (s *scenario) estimate(st statement) {
	for _, c := range s.Planned(s.ExecutionStatus(s.id)).Stacks {
		if c.Stack == st.args[0] && !c.Exact && strings.Contains(strings.Join(c.Caveats, "\n"), strings.Join(st.args[1:], " ")) {
			return
		}
	}
	s.mismatchf("got %+v", s.Planned(s.ExecutionStatus(s.id)).Stacks)
}

func (s *scenario) reason(st statement) {
	for _, c := range s.Planned(s.ExecutionStatus(s.id)).Stacks {
		if c.Stack == st.args[0] && strings.Contains(strings.Join(c.Reasons, "\n"), strings.Join(st.args[1:], " ")) {
			return
		}
	}
	s.mismatchf("got %+v", s.Planned(s.ExecutionStatus(s.id)).Stacks)
}

func (s *scenario) hint(st statement) {
	c := s.Planned(s.ExecutionStatus(s.id))
	all := c.Messages
	if c.Selection != nil {
		all = append(all, c.Selection.Lines()...)
	}
	if !strings.Contains(strings.Join(all, "\n"), strings.Join(st.args, " ")) {
		s.mismatchf("got %q", all)
	}
}

func (s *scenario) dataLoss(st statement) {
	var lose []string
	for _, c := range s.Planned(s.ExecutionStatus(s.id)).Stacks {
		if c.DataLoss || c.PossibleDataLoss || c.UnknownDataLoss {
			lose = append(lose, c.Stack)
		}
	}
	s.expect(strings.Join(lose, " "), strings.Join(st.args, " "))
}

func (s *scenario) loses(st statement) {
	change, _ := s.Planned(s.ExecutionStatus(s.id)).Named(st.args[0])
	var lost []string
	for _, r := range change.Resources {
		if r.DataLoss {
			lost = append(lost, r.ID)
		}
	}
	s.expect(strings.Join(lost, " "), strings.Join(st.args[1:], " "))
}

// deletesSnapshots compares the snapshots that the plan deletes, and those that stay.
func (s *scenario) deletesSnapshots(st statement) {
	var deleted, stay []string
	for _, one := range s.Planned(s.ExecutionStatus(s.id)).Snapshots {
		if !one.Deleted {
			stay = append(stay, "+"+one.Snapshot)
			continue
		}
		n := 0
		for _, b := range one.Backups {
			if b.Deleted {
				n++
			}
		}
		deleted = append(deleted, fmt.Sprintf("%s=%d", one.Snapshot, n))
	}
	s.expect(strings.Join(append(deleted, stay...), " "), strings.Join(st.args, " "))
}

package sim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// crashingCloud is the cloud that functions use: each call takes time, and may fail or
// crash the function.
type crashingCloud struct{ *Backend }

// got makes a call with Backend.do and returns its answer, or the zero T with an error.
func got[T any](b *Backend, ctx context.Context, call, about string, do func() (T, error)) (out T, err error) {
	err = b.do(ctx, call, about, func() error {
		v, err := do()
		if err == nil {
			out = v
		}
		return err
	})
	if err != nil {
		var none T
		return none, err
	}
	return out, nil
}

// Live implements action.Cloud.
func (m crashingCloud) Live(ctx context.Context, p plan.Location) (plan.Live, error) {
	return got(m.Backend, ctx, "Cloud.Live", p.Stack, func() (plan.Live, error) {
		if err := m.Cloud.admit(p.Target.Where(), 1, 0); err != nil {
			return plan.Live{}, err
		}
		m.Cloud.count("DescribeStacks", 1)
		return m.Cloud.Live(ctx, p)
	})
}

// Publish implements action.Publisher.
func (m crashingCloud) Publish(ctx context.Context, _ string, t project.Target, a project.Asset) (bool, error) {
	return got(m.Backend, ctx, "Publisher.Publish", a.Key, func() (bool, error) {
		place := t.Where() + " " + a.Bucket + "/" + a.Key
		there := m.Published[place] > 0
		m.Published[place]++
		return there, nil
	})
}

// Begin implements action.Cloud.
func (m crashingCloud) Begin(ctx context.Context, t action.Task) (plan.Receipt, error) {
	return got(m.Backend, ctx, "Cloud.Begin", about(t), func() (plan.Receipt, error) {
		reads := 0
		if t.Request != action.CreateStack && t.Location().StackID == "" {
			reads = 1 // the stack is found by its name
		}
		if err := m.Cloud.admit(t.Location().Target.Where(), reads, 1); err != nil {
			return plan.Receipt{}, err
		}
		m.Cloud.count("DescribeStacks", reads)
		m.Cloud.count(string(t.Request), 1)
		return m.Cloud.Begin(ctx, t)
	})
}

// Protect implements action.Cloud.
func (m crashingCloud) Protect(ctx context.Context, t action.Task) error {
	return m.do(ctx, "Cloud.Protect", about(t), func() error {
		if err := m.Cloud.admit(t.Location().Target.Where(), 0, 1); err != nil {
			return err
		}
		m.Cloud.count("UpdateTerminationProtection", 1)
		return m.Cloud.Protect(ctx, t)
	})
}

// StackPolicy implements action.Cloud.
func (m crashingCloud) StackPolicy(ctx context.Context, p plan.Location) (project.StackPolicy, error) {
	return got(m.Backend, ctx, "Cloud.StackPolicy", p.Stack, func() (project.StackPolicy, error) {
		if err := m.Cloud.admit(p.Target.Where(), 1, 0); err != nil {
			return project.StackPolicy{}, err
		}
		m.Cloud.count("GetStackPolicy", 1)
		return m.Cloud.StackPolicy(ctx, p)
	})
}

// SetStackPolicy implements action.Cloud.
func (m crashingCloud) SetStackPolicy(ctx context.Context, t action.Task) error {
	return m.do(ctx, "Cloud.SetStackPolicy", about(t), func() error {
		if err := m.Cloud.admit(t.Location().Target.Where(), 0, 1); err != nil {
			return err
		}
		m.Cloud.count("SetStackPolicy", 1)
		return m.Cloud.SetStackPolicy(ctx, t)
	})
}

// Cancel implements action.Cloud.
func (m crashingCloud) Cancel(ctx context.Context, t action.Task) error {
	return m.do(ctx, "Cloud.Cancel", about(t), func() error {
		if err := m.Cloud.admit(t.Location().Target.Where(), 0, 1); err != nil {
			return err
		}
		m.Cloud.count("CancelUpdateStack", 1)
		return m.Cloud.Cancel(ctx, t)
	})
}

// Proposal implements action.Cloud.
func (m crashingCloud) Proposal(ctx context.Context, t action.Task) (p plan.Proposal, ready bool, err error) {
	err = m.do(ctx, "Cloud.Proposal", about(t), func() error {
		if err := m.Cloud.admit(t.Location().Target.Where(), 1, 0); err != nil {
			return err
		}
		m.Cloud.count("DescribeChangeSet", 1)
		p, ready, err = m.Cloud.Proposal(ctx, t)
		return err
	})
	return p, ready, err
}

// Detection implements action.Cloud.
func (m crashingCloud) Detection(ctx context.Context, t action.Task) (d plan.Detection, ready bool, err error) {
	err = m.do(ctx, "Cloud.Detection", about(t), func() error {
		if err := m.Cloud.admit(t.Location().Target.Where(), 2, 0); err != nil {
			return err
		}
		m.Cloud.count("DescribeStackDriftDetectionStatus", 1)
		d, ready, err = m.Cloud.Detection(ctx, t)
		if ready {
			m.Cloud.count("DescribeStackResourceDrifts", 1)
		}
		return err
	})
	return d, ready, err
}

// Refactor implements action.Cloud.
func (m crashingCloud) Refactor(ctx context.Context, t action.Task) (action.Refactor, error) {
	return got(m.Backend, ctx, "Cloud.Refactor", about(t), func() (action.Refactor, error) {
		if err := m.Cloud.admit(t.Location().Target.Where(), 1, 0); err != nil {
			return action.Refactor{}, err
		}
		m.Cloud.count("DescribeStackRefactor", 1)
		return m.Cloud.Refactor(ctx, t)
	})
}

// Execute implements action.Cloud.
func (m crashingCloud) Execute(ctx context.Context, t action.Task) error {
	return m.do(ctx, "Cloud.Execute", about(t), func() error {
		if err := m.Cloud.admit(t.Location().Target.Where(), 0, 1); err != nil {
			return err
		}
		call := "ExecuteChangeSet"
		if t.Request == action.CreateStackRefactor {
			call = "ExecuteStackRefactor"
		}
		m.Cloud.count(call, 1)
		return m.Cloud.Execute(ctx, t)
	})
}

// Withdraw implements action.Cloud.
func (m crashingCloud) Withdraw(ctx context.Context, t action.Task) error {
	return m.do(ctx, "Cloud.Withdraw", about(t), func() error {
		if err := m.Cloud.admit(t.Location().Target.Where(), 0, 1); err != nil {
			return err
		}
		m.Cloud.count("DeleteChangeSet", 1)
		return m.Cloud.Withdraw(ctx, t)
	})
}

// Events implements action.Cloud.
func (m crashingCloud) Events(ctx context.Context, t action.Task) (action.Operation, error) {
	return got(m.Backend, ctx, "Cloud.Events", about(t), func() (action.Operation, error) {
		m.Cloud.count("DescribeStackEvents", 1)
		return m.Cloud.Events(ctx, t)
	})
}

// Observe implements engine.Clouds.
func (m crashingCloud) Observe(ctx context.Context, locations []plan.Location) (map[string]plan.Live, error) {
	return got(m.Backend, ctx, "Clouds.Observe", "", func() (map[string]plan.Live, error) {
		counted := make(map[string]bool)
		for _, p := range locations {
			where := p.Target.Where()
			if counted[where] {
				continue
			}
			counted[where] = true
			if err := m.Cloud.admit(where, 1, 0); err != nil {
				return nil, err
			}
		}
		m.Cloud.count("DescribeStacks of a plan", 1)
		return m.Cloud.Observe(ctx, locations)
	})
}

// DeployedTemplate implements engine.Clouds.
func (m crashingCloud) DeployedTemplate(ctx context.Context, p plan.Location) ([]byte, error) {
	return got(m.Backend, ctx, "Clouds.DeployedTemplate", p.Stack, func() ([]byte, error) {
		return m.Cloud.DeployedTemplate(ctx, p)
	})
}

// TemplateDigest implements action.Cloud.
func (m crashingCloud) TemplateDigest(ctx context.Context, p plan.Location, recorded string) (string, error) {
	return got(m.Backend, ctx, "Cloud.TemplateDigest", p.Stack, func() (string, error) {
		return m.Cloud.TemplateDigest(ctx, p, recorded)
	})
}

// Holder implements engine.Clouds.
func (m crashingCloud) Holder(ctx context.Context, t project.Target, physicalID string) (string, error) {
	return got(m.Backend, ctx, "Clouds.Holder", physicalID, func() (string, error) {
		m.Cloud.count("DescribeStackResources", 1)
		return m.Cloud.Holder(ctx, t, physicalID)
	})
}

// Exports implements engine.Clouds.
func (m crashingCloud) Exports(ctx context.Context, t project.Target, names []string, count func()) (map[string]plan.Export, error) {
	return got(m.Backend, ctx, "Clouds.Exports", t.Name, func() (map[string]plan.Export, error) {
		if err := m.Cloud.admit(t.Where(), 1, 0); err != nil {
			return nil, err
		}
		m.Cloud.count("ListExports", 1)
		return m.Cloud.Exports(ctx, t, names, count)
	})
}

// Resources implements engine.Clouds.
func (m crashingCloud) Resources(ctx context.Context, p plan.Location, count func()) (map[string]string, error) {
	return got(m.Backend, ctx, "Clouds.Resources", p.Stack, func() (map[string]string, error) {
		if err := m.Cloud.admit(p.Target.Where(), 1, 0); err != nil {
			return nil, err
		}
		m.Cloud.count("ListStackResources", 1)
		return m.Cloud.Resources(ctx, p, count)
	})
}

// Importers implements engine.Clouds.
func (m crashingCloud) Importers(
	ctx context.Context, t project.Target, exports []string, count func(),
) (map[string][]string, error) {
	return got(m.Backend, ctx, "Clouds.Importers", t.Name, func() (map[string][]string, error) {
		if err := m.Cloud.admit(t.Where(), 1, 0); err != nil {
			return nil, err
		}
		m.Cloud.count("ListImports", len(exports))
		return m.Cloud.Importers(ctx, t, exports, count)
	})
}

// Room implements engine.Clouds.
func (m crashingCloud) Room(ctx context.Context, t project.Target, count func()) (plan.Room, error) {
	return got(m.Backend, ctx, "Clouds.Room", t.Name, func() (plan.Room, error) {
		if err := m.Cloud.admit(t.Where(), 1, 0); err != nil {
			return plan.Room{}, err
		}
		m.Cloud.count("ListStacks", 1)
		return m.Cloud.Room(ctx, t, count)
	})
}

// ReadTemplate implements engine.Clouds.
func (m crashingCloud) ReadTemplate(ctx context.Context, t project.Target, digest string) error {
	return m.Backend.do(ctx, "Clouds.ReadTemplate", t.Name, func() error {
		if err := m.Cloud.admit(t.Where(), 1, 0); err != nil {
			return err
		}
		m.Cloud.count("ValidateTemplate", 1)
		return m.Cloud.ReadTemplate(ctx, t, digest)
	})
}

// StoredParameters implements fact.Parameters.
func (m crashingCloud) StoredParameters(ctx context.Context, t project.Target, names []string) (map[string]project.StoredParameter, error) {
	return got(m.Backend, ctx, "Parameters.StoredParameters", t.Name, func() (map[string]project.StoredParameter, error) {
		if err := m.Cloud.denied(t); err != nil {
			return nil, err
		}
		found := make(map[string]project.StoredParameter)
		for _, name := range names {
			if p, ok := m.Cloud.Stored[name]; ok {
				found[name] = p
			}
		}
		return found, nil
	})
}

// pageOf is how many stacks one page of descriptions has.
const pageOf = 100

// Describe implements engine.Clouds.
func (m crashingCloud) Describe(ctx context.Context, t project.Target, ids []string) (map[string]plan.Live, error) {
	return got(m.Backend, ctx, "Clouds.Describe", t.Name, func() (map[string]plan.Live, error) {
		pages := min(1+len(m.Cloud.live)/pageOf, 1+len(ids)/2)
		if err := m.Cloud.admit(t.Where(), pages, 0); err != nil {
			return nil, err
		}
		m.Cloud.count("DescribeStacks", pages)
		return m.Cloud.Describe(ctx, t, ids)
	})
}

// crashingStore is the store that functions use: each call takes time, and may fail or
// crash the function.
type crashingStore struct {
	backend *Backend
	store   engine.Store
}

// CreateRun implements engine.Runs.
func (m crashingStore) CreateRun(ctx context.Context, r run.Run) (stored run.Run, fresh bool, err error) {
	err = m.backend.do(ctx, "Store.CreateRun", r.ID, func() error {
		stored, fresh, err = m.store.CreateRun(ctx, r)
		return err
	})
	return stored, fresh, err
}

// Run implements engine.Runs.
func (m crashingStore) Run(ctx context.Context, id string) (run.Run, error) {
	return got(m.backend, ctx, "Store.Run", id, func() (run.Run, error) { return m.store.Run(ctx, id) })
}

// Load implements engine.Runs.
func (m crashingStore) Load(ctx context.Context, id string) (run.Run, error) {
	return got(m.backend, ctx, "Store.Load", id, func() (run.Run, error) { return m.store.Load(ctx, id) })
}

// Follow implements engine.Runs.
func (m crashingStore) Follow(ctx context.Context, id string) (run.Run, error) {
	return got(m.backend, ctx, "Store.Follow", id, func() (run.Run, error) { return m.store.Follow(ctx, id) })
}

// RaiseEpoch implements engine.Executions.
func (m crashingStore) RaiseEpoch(ctx context.Context, r run.Run) error {
	return m.backend.do(ctx, "Store.RaiseEpoch", r.ID, func() error { return m.store.RaiseEpoch(ctx, r) })
}

// Commit implements engine.Executions.
func (m crashingStore) Commit(ctx context.Context, r run.Run) error {
	return m.backend.do(ctx, "Store.Commit", r.ID, func() error { return m.store.Commit(ctx, r) })
}

// Lock implements engine.Locks.
func (m crashingStore) Lock(ctx context.Context, project string) (run.Lock, error) {
	return got(m.backend, ctx, "Store.Lock", project, func() (run.Lock, error) { return m.store.Lock(ctx, project) })
}

// Enter implements engine.Locks.
func (m crashingStore) Enter(ctx context.Context, r run.Run, e run.Entry, now time.Time) error {
	return m.backend.do(ctx, "Store.Enter", r.ID, func() error { return m.store.Enter(ctx, r, e, now) })
}

// MarkTidied implements engine.Executions.
func (m crashingStore) MarkTidied(ctx context.Context, r run.Run) error {
	return m.backend.do(ctx, "Store.MarkTidied", r.ID, func() error { return m.store.MarkTidied(ctx, r) })
}

// MarkWaiting implements engine.Executions.
func (m crashingStore) MarkWaiting(ctx context.Context, r run.Run) error {
	return m.backend.do(ctx, "Store.MarkWaiting", r.ID, func() error { return m.store.MarkWaiting(ctx, r) })
}

// End implements engine.Locks.
func (m crashingStore) End(ctx context.Context, r run.Run, x run.Exit) error {
	return m.backend.do(ctx, "Store.End", r.ID, func() error { return m.store.End(ctx, r, x) })
}

// Release implements engine.Locks.
func (m crashingStore) Release(ctx context.Context, project, id string, l run.Lock, c run.GivenCommand) error {
	return m.backend.do(ctx, "Store.Release", id, func() error { return m.store.Release(ctx, project, id, l, c) })
}

// Tidy implements engine.Runs.
func (m crashingStore) Tidy(ctx context.Context) error {
	return m.backend.do(ctx, "Store.Tidy", "", func() error { return m.store.Tidy(ctx) })
}

// Released implements engine.Locks.
func (m crashingStore) Released(ctx context.Context, id, request string) (bool, error) {
	return got(m.backend, ctx, "Store.Released", id, func() (bool, error) { return m.store.Released(ctx, id, request) })
}

// RecordCommand implements engine.Executions.
func (m crashingStore) RecordCommand(ctx context.Context, id string, c run.GivenCommand) (run.Run, error) {
	return got(m.backend, ctx, "Store.RecordCommand", id, func() (run.Run, error) { return m.store.RecordCommand(ctx, id, c) })
}

// Open implements engine.Runs.
func (m crashingStore) Open(ctx context.Context) ([]string, error) {
	return got(m.backend, ctx, "Store.Open", "", func() ([]string, error) { return m.store.Open(ctx) })
}

// Register implements engine.Executions.
func (m crashingStore) Register(ctx context.Context, id string, epoch int, in engine.PollInput, events int, until time.Time) (bool, error) {
	return got(m.backend, ctx, "Store.Register", id, func() (bool, error) { return m.store.Register(ctx, id, epoch, in, events, until) })
}

// EndPoll implements engine.Executions.
func (m crashingStore) EndPoll(ctx context.Context, r run.Run) error {
	return m.backend.do(ctx, "Store.EndPoll", r.ID, func() error { return m.store.EndPoll(ctx, r) })
}

// Select implements engine.Steps.
func (m crashingStore) Select(ctx context.Context, id string, epoch int, steps []int) error {
	return m.backend.do(ctx, "Store.Select", id, func() error { return m.store.Select(ctx, id, epoch, steps) })
}

// movedTogether is how many changes the crashing store writes in one call, so that
// functions also crash between them. The table writes more of them in a transaction.
const movedTogether = 3

// Move implements engine.Steps.
func (m crashingStore) Move(ctx context.Context, changes ...engine.Change) error {
	for some := range slices.Chunk(changes, movedTogether) {
		about := fmt.Sprintf("%s %s→%s", some[0].Step.ID, some[0].From, some[0].Step.Status)
		if err := m.backend.do(ctx, "Store.Move", about, func() error { return m.store.Move(ctx, some...) }); err != nil {
			return err
		}
	}
	return nil
}

// Postpone implements engine.Steps.
func (m crashingStore) Postpone(ctx context.Context, id string, epoch int, steps []run.Step) error {
	return m.backend.do(ctx, "Store.Postpone", id, func() error { return m.store.Postpone(ctx, id, epoch, steps) })
}

// MarkEvent implements engine.Steps.
func (m crashingStore) MarkEvent(ctx context.Context, id string, number, attempt int, s plan.Status) (bool, error) {
	return got(m.backend, ctx, "Store.MarkEvent", id, func() (bool, error) { return m.store.MarkEvent(ctx, id, number, attempt, s) })
}

// RecordAnswer implements engine.Answers.
func (m crashingStore) RecordAnswer(ctx context.Context, id string, number int, a run.Answer) (run.Run, error) {
	return got(m.backend, ctx, "Store.RecordAnswer", id, func() (run.Run, error) { return m.store.RecordAnswer(ctx, id, number, a) })
}

// Records implements engine.Records.
func (m crashingStore) Records(ctx context.Context, project string) (map[string]plan.Record, error) {
	return got(m.backend, ctx, "Store.Records", project, func() (map[string]plan.Record, error) { return m.store.Records(ctx, project) })
}

// RecordsOf implements engine.Records.
func (m crashingStore) RecordsOf(ctx context.Context, project string, nodes []string) (map[string]plan.Record, error) {
	return got(m.backend, ctx, "Store.RecordsOf", project, func() (map[string]plan.Record, error) { return m.store.RecordsOf(ctx, project, nodes) })
}

// Projects implements engine.Records.
func (m crashingStore) Projects(ctx context.Context) ([]string, error) {
	return got(m.backend, ctx, "Store.Projects", "", func() ([]string, error) { return m.store.Projects(ctx) })
}

// Rename implements engine.Records.
func (m crashingStore) Rename(ctx context.Context, r run.Run, records []plan.Record) error {
	return m.backend.do(ctx, "Store.Rename", r.ID, func() error { return m.store.Rename(ctx, r, records) })
}

// List implements engine.Runs.
func (m crashingStore) List(ctx context.Context, project string, most int) ([]run.Run, error) {
	return got(m.backend, ctx, "Store.List", project, func() ([]run.Run, error) { return m.store.List(ctx, project, most) })
}

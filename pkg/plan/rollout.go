package plan

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/lib/graph"
	"github.com/stackwright/stackwright/pkg/project"
)

// BakingVersion is the version of the arguments of a step that bakes.
const BakingVersion = 1

// A Baking is the arguments of a step that bakes a wave of a rollout, or a part of it: it waits, and fails if an alarm of a target goes
// off meanwhile.
type Baking struct {
	For     project.Timeout  `json:"for,omitempty"`     // how long, since the targets were changed
	Since   time.Time        `json:"since,omitzero"`    // when one of the targets was changed last, before this run; zero if that is not known
	Alarms  []string         `json:"alarms,omitempty"`  // their names
	Targets []project.Target `json:"targets,omitempty"` // that have these alarms; none if there are no alarms
}

// bakedAtOnce is the most targets whose alarms one step watches, so that its arguments are not too large and its polls not too slow.
const bakedAtOnce = 20

// A wave is the nodes of a rollout that are deployed before those of the next wave begin.
type wave struct {
	nodes   []string // sorted
	changed []string // those of them whose stacks the plan changes
}

// waves lists the waves of each rollout that the plan is about, in their order.
func (b *builder) waves() map[string][]wave {
	by := make(map[string]map[int]*wave)
	for _, name := range slices.Sorted(maps.Keys(b.view.Desired.Nodes)) {
		r := b.view.Desired.Nodes[name].Rollout
		if r == nil || b.view.stays(name) {
			continue
		}
		if by[r.Stack] == nil {
			by[r.Stack] = make(map[int]*wave)
		}
		w := by[r.Stack][r.Wave]
		if w == nil {
			w = &wave{}
			by[r.Stack][r.Wave] = w
		}
		w.nodes = append(w.nodes, name)
		if slices.ContainsFunc(b.deploys[name], func(s Step) bool { return !s.does(SetLevel, SetHooks, SetRetain) }) {
			w.changed = append(w.changed, name)
		}
	}
	all := make(map[string][]wave, len(by))
	for stack, waves := range by {
		for _, n := range slices.Sorted(maps.Keys(waves)) {
			all[stack] = append(all[stack], *waves[n])
		}
	}
	return all
}

// rollOut puts the waves of each rollout in order: a wave begins when the one before it has baked. A stack that must be deleted first is
// deleted then too, unless another waits for that.
func (b *builder) rollOut() error {
	var optional []graph.Edge[string]
	waves := b.waves()
	for _, stack := range slices.Sorted(maps.Keys(waves)) {
		var baked []string // the steps that the next wave waits for
		for i, w := range waves[stack] {
			for _, name := range w.changed {
				b.graph.Add(b.deploys.first(name), baked...)
				for _, before := range baked {
					if len(b.deletes[name]) > 0 {
						optional = append(optional, graph.Edge[string]{Later: b.deletes.first(name), Earlier: before})
					}
				}
			}
			later := slices.ContainsFunc(waves[stack][i+1:], func(next wave) bool { return len(next.changed) > 0 })
			if !later {
				break
			}
			next, err := b.bake(fmt.Sprintf("%s.%d", stack, i+1), w, baked)
			if err != nil {
				return err
			}
			baked = next
		}
	}
	b.graph.AddAcyclic(optional)
	return nil
}

// bake adds the steps that bake a wave, and returns what the next wave waits for. They come after the steps of the wave, also if some
// have failed, or after those that have baked the wave before. A wave that is not changed, and has neither a time to bake nor alarms,
// needs no step.
func (b *builder) bake(name string, w wave, before []string) ([]string, error) {
	about := *b.view.Desired.Nodes[w.nodes[0]].Rollout
	baking := Baking{For: about.Bake, Alarms: about.Alarms}
	if len(w.changed) == 0 && baking.For == 0 && len(baking.Alarms) == 0 {
		return before, nil
	}
	var targets []project.Target
	for _, node := range w.nodes {
		if at := b.view.Recorded[node].LastUpdated; about.Bake > 0 && at.After(baking.Since) {
			baking.Since = at
		}
		if len(baking.Alarms) > 0 {
			targets = append(targets, b.view.Desired.Nodes[node].Target)
		}
	}
	step := Step{Verb: Bake, Rollout: about.Stack, Idle: true}
	after := before
	if len(w.changed) > 0 {
		step.Tolerant, step.Expected, after = true, SecondsOf(time.Duration(baking.For)), b.deploys.last(w.changed...)
	}
	var ids []string
	for n := 0; n == 0 || n < len(targets); n += bakedAtOnce {
		baking.Targets = targets[min(n, len(targets)):min(n+bakedAtOnce, len(targets))]
		arguments, err := NewArguments(BakingVersion, baking)
		if err != nil {
			return nil, fmt.Errorf("rollout of %s: %w: give its alarms shorter names", about.Stack, err)
		}
		if step.Qualifier = name; n > 0 {
			step.Qualifier += fmt.Sprintf("-%d", n/bakedAtOnce+1)
		}
		step.Arguments, step.ID = arguments, StepID("", step.Verb, step.Qualifier)
		b.steps[step.ID] = step
		b.graph.Add(step.ID, after...)
		ids = append(ids, step.ID)
	}
	return ids, nil
}

// atOnce returns v as a rollback and a replace see it: they are about all targets at once. A rollback does not wait for alarms, which may be
// the reason for it. No number of failures stops them, so that one stack which cannot be brought back, or created again, does not keep the
// others from it. How many change at the same time stays limited.
func (v View) atOnce() View {
	v.Desired.MaxFailures, v.Desired.Nodes = nil, maps.Clone(v.Desired.Nodes)
	for name, n := range v.Desired.Nodes {
		if n.Rollout != nil {
			n.Rollout = &project.Rollout{Stack: n.Rollout.Stack}
			v.Desired.Nodes[name] = n
		}
	}
	return v
}

package report

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// A Why says what decides whether the next deploy changes a stack, on what the stack depends, and what runs did to it last. It has no
// values of parameters, tags and outputs.
type Why struct {
	Project  string            `json:"project"`
	Stack    string            `json:"stack"`
	Recorded *Stack            `json:"recorded,omitempty"` // without outputs; none if the stack is not recorded
	Next     *plan.Explanation `json:"next,omitempty"`     // what a deploy of the files does that the command why has read; an answer of the API has none
	Planned  *Planned          `json:"planned,omitempty"`  // what the newest plan says; none if there is no plan of all stacks that can be read
	Needs    []Neighbour       `json:"needs"`              // the stacks that it depends on, sorted
	Users    []Neighbour       `json:"users"`              // the stacks that depend on it, sorted
	Changes  []PastStep        `json:"changes"`            // the last steps of runs that changed it, or tried to, newest first
}

// A Neighbour is a stack that another one depends on, or the other way round. A stack is listed once for each reason.
type Neighbour struct {
	Stack    string `json:"stack"`
	Because  string `json:"because,omitempty"` // as in "app uses db.Url for parameter Url"; empty if the files are not known
	Place    string `json:"place,omitempty"`   // file, line and column of that
	Recorded bool   `json:"recorded"`          // the dependency was there when the dependent was last deployed
}

// A Planned is what a plan says of a stack.
type Planned struct {
	Run       string         `json:"run"`
	Requested time.Time      `json:"requested"`
	Source    run.Source     `json:"source"`
	Outdated  bool           `json:"outdated,omitempty"` // a run that is no plan was requested after it
	Outcome   plan.Outcome   `json:"outcome"`
	Certainty plan.Certainty `json:"certainty,omitempty"`
	Reasons   []string       `json:"reasons"`
}

// MostChanges is how many of its last changes a Why has at most.
const MostChanges = 10

// WhyOf is what the records of a project and its history say of a stack.
func WhyOf(project, stack string, records map[string]plan.Record, changes []PastStep) Why {
	w := Why{Project: project, Stack: stack, Needs: []Neighbour{}, Users: []Neighbour{}, Changes: changes[:min(len(changes), MostChanges)]}
	if r, recorded := records[stack]; recorded {
		shown := StackOf(r)
		shown.Outputs = nil
		w.Recorded = &shown
	}
	for _, need := range slices.Sorted(slices.Values(records[stack].Needs)) {
		w.Needs = append(w.Needs, Neighbour{Stack: need, Recorded: true})
	}
	for _, name := range slices.Sorted(maps.Keys(records)) {
		if slices.Contains(records[name].Needs, stack) {
			w.Users = append(w.Users, Neighbour{Stack: name, Recorded: true})
		}
	}
	return w
}

// PlannedOf is what the newest plan of a deploy of all stacks says of a stack. The runs are the newest ones of its project, newest first. It is nil
// if none of them is such a plan, or what it changes is no longer stored.
func PlannedOf(ctx context.Context, from Plans, runs []run.Run, stack string) (*Planned, error) {
	outdated := false
	for _, r := range runs {
		o := plan.AllOperations().Of(r.Operation)
		if !o.Preview || !o.Deploys() || o.DeletesAll || r.Partial() || r.State != run.StateSucceeded || r.Changes == "" {
			outdated = outdated || !o.Preview
			continue
		}
		text, err := Changes(ctx, from, r)
		if fault.Is(err, fault.Missing) {
			return nil, nil
		}
		var all plan.Changes
		if err == nil {
			err = json.Unmarshal(text, &all)
		}
		if err != nil {
			return nil, fault.New(fault.Broken, "what the plan of run %s changes cannot be read: %w", r.ID, err)
		}
		p := &Planned{Run: r.ID, Requested: r.Requested, Source: r.Source, Outdated: outdated, Outcome: plan.OutcomeUnchanged, Reasons: []string{}}
		if c, changes := all.Named(stack); changes {
			p.Outcome, p.Certainty, p.Reasons = plan.Outcome(c.Action), c.Certainty, append(p.Reasons, c.Reasons...)
		}
		return p, nil
	}
	return nil, nil
}

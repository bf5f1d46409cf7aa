package dynamodb

import (
	"maps"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// storedRun is a run with the names of its attributes. It has the fields of run.Run
// in the same order, so that one converts into the other.
type storedRun struct {
	run.Request
	Version            int                     `json:"version"`
	Command            run.Command             `json:"command"`
	Forced             bool                    `json:"forced,omitempty"`
	Commands           []run.GivenCommand      `json:"commands,omitempty"`
	SupersededBy       string                  `json:"superseded_by,omitempty"`
	Epoch              int                     `json:"epoch"`
	State              run.State               `json:"state"`
	TokenKey           string                  `json:"token_key,omitempty"`
	Generation         int                     `json:"generation"`
	ObservedGeneration int                     `json:"observed_generation,omitempty"`
	Token              string                  `json:"token"`
	Since              time.Time               `json:"since"`
	PolledUntil        time.Time               `json:"polled_until"`
	Due                time.Time               `json:"due"`
	Marks              int                     `json:"marks"`
	Events             int                     `json:"events"`
	Restarts           int                     `json:"restarts,omitempty"`
	RestartedAt        time.Time               `json:"restarted_at"`
	FinishedAtRestart  int                     `json:"finished_at_restart,omitempty"`
	Tidied             int                     `json:"tidied,omitempty"`
	Digest             string                  `json:"digest,omitempty"`
	Changes            string                  `json:"changes,omitempty"`
	Unchanged          int                     `json:"unchanged,omitempty"`
	Messages           []string                `json:"messages,omitempty"`
	Requested          time.Time               `json:"requested"`
	Started            time.Time               `json:"started"`
	Deadline           time.Time               `json:"deadline"`
	Ended              time.Time               `json:"ended"`
	Approval           *project.Approval       `json:"approval,omitempty"`
	Promotion          *project.Promotion      `json:"promotion,omitempty"`
	NotBefore          time.Time               `json:"not_before"`
	MaxParallel        []project.Limit         `json:"max_parallel,omitempty"`
	MaxFailures        []project.Limit         `json:"max_failures,omitempty"`
	Kind               project.Kind            `json:"kind,omitempty"`
	Destroy            *project.Destroy        `json:"destroy,omitempty"`
	SnapshotPolicy     *project.SnapshotPolicy `json:"snapshot_policy,omitempty"`
	Settings           string                  `json:"settings,omitempty"`
	Same               run.Source              `json:"same,omitzero"`
	Revision           string                  `json:"revision,omitempty"`
	Values             string                  `json:"values,omitempty"`
	Steps              []run.Step              `json:"-"` // items of their own
}

// runItem is a run as the table stores it.
type runItem struct {
	storedRun
	Steps   int    `json:"steps"`            // how many are committed
	Planner int    `json:"planner_number"`   // the number of the newest function that writes, or wrote, the steps
	Raiser  string `json:"raiser,omitempty"` // nonce of the function that raised the epoch

	Selected int   `json:"selected"`          // how many entries its log of selected steps has
	Expires  int64 `json:"expires,omitempty"` // Unix seconds
}

// itemOf is the item of a new run, without its steps.
func itemOf(r run.Run) runItem {
	r.Version, r.Steps = run.Version, nil
	return runItem{storedRun: storedRun(r)}
}

// run returns the run without its steps.
func (i runItem) run() run.Run { return run.Run(i.storedRun) }

// committed reports whether the run has a plan. The steps of a run without a plan were
// written by a function that has not finished, or has crashed.
func (i runItem) committed() bool { return i.State != run.StatePending && i.Steps > 0 }

// stepItem is a step as the table stores it.
type stepItem struct {
	Version int `json:"version"`
	Planner int `json:"planner_number"` // the number of the function that planned it
	plan.Step
	Number    int           `json:"number"`
	Spec      string        `json:"spec,omitempty"`
	Status    run.Status    `json:"status"`
	Attempt   int           `json:"attempt"`
	Nonce     string        `json:"nonce,omitempty"`
	Receipt   *plan.Receipt `json:"receipt,omitempty"`
	Why       string        `json:"why,omitempty"`
	Event     plan.Status   `json:"event"`
	Polls     int           `json:"polls"`
	Reported  bool          `json:"reported,omitempty"`
	Due       time.Time     `json:"due"`
	NotBefore time.Time     `json:"not_before"`
	Claimed   time.Time     `json:"claimed"`
	Tried     time.Time     `json:"tried,omitzero"`
	Kept      []string      `json:"previous,omitempty"`
	Ended     time.Time     `json:"ended"`
	Forced    bool          `json:"forced,omitempty"`
	Answer    *run.Answer   `json:"answer,omitempty"`
	Result    plan.Result   `json:"result"`
	Cause     *run.Cause    `json:"cause,omitempty"`
}

// stepItemOf is the item of a planned step.
func stepItemOf(s run.Step) stepItem {
	return stepItem{
		Version: run.Version, Step: s.Step, Number: s.Number, Spec: s.Spec, Status: s.Status, Attempt: s.Attempt,
		Nonce: s.Nonce, Receipt: known(s.Receipt), Why: s.Why, Event: s.Event.Status, Polls: s.Event.Polls, Reported: s.Reported,
		Due: s.Due, NotBefore: s.NotBefore, Claimed: s.Claimed, Tried: s.Tried, Kept: s.Kept, Ended: s.Ended, Forced: s.Forced, Answer: known(s.Answer), Result: s.Result, Cause: known(s.Cause),
	}
}

// known returns a pointer to v, or nil for the zero value.
func known[T interface{ Known() bool }](v T) *T {
	if !v.Known() {
		return nil
	}
	return &v
}

// step returns the step.
func (i stepItem) step() run.Step {
	s := run.Step{
		Step: i.Step, Number: i.Number, Spec: i.Spec, Status: i.Status, Attempt: i.Attempt, Nonce: i.Nonce,
		Why: i.Why, Event: run.Event{Status: i.Event, Polls: i.Polls}, Reported: i.Reported,
		Due: i.Due, NotBefore: i.NotBefore, Claimed: i.Claimed, Tried: i.Tried, Kept: i.Kept, Ended: i.Ended, Forced: i.Forced, Result: i.Result,
	}
	if i.Receipt != nil {
		s.Receipt = *i.Receipt
	}
	if i.Cause != nil {
		s.Cause = *i.Cause
	}
	if i.Answer != nil && i.Answer.Known() {
		s.Answer = *i.Answer
	}
	return s
}

// listItem is a run's entry in the list of its project, or among the open runs.
type listItem struct {
	Run       string    `json:"run"`
	Project   string    `json:"project"`
	Operation string    `json:"operation"`
	Requested time.Time `json:"requested"`
	Expires   int64     `json:"expires,omitempty"`
}

// ownerItem says which project has adopted a stack.
type ownerItem struct {
	Project string `json:"project"`
}

// eventItem is an entry of the audit log.
type eventItem struct {
	Time    time.Time `json:"time"`
	What    string    `json:"what"` // a command, an answer or a state
	Force   bool      `json:"force,omitempty"`
	Who     string    `json:"who,omitempty"`
	From    string    `json:"from,omitempty"` // an IP address
	Why     string    `json:"why,omitempty"`
	Epoch   int       `json:"epoch,omitempty"`
	Expires int64     `json:"expires,omitempty"`
}

// commandItem is the entry of a command.
func commandItem(c run.GivenCommand) eventItem {
	return eventItem{Time: c.At, What: string(c.Command), Force: c.Force, Who: c.Who, From: c.From, Why: c.Why}
}

// An expiringItem says that a run has ended, and that some of its items may not have a
// time to expire yet.
type expiringItem struct {
	Run     string `json:"run"`
	Expires int64  `json:"run_expires"` // Unix seconds; not the attribute by which DynamoDB deletes items
}

// encode returns v as an attribute. A struct becomes a map, a time an RFC 3339 string.
func encode(v any) (types.AttributeValue, error) {
	a, err := attributevalue.MarshalWithOptions(v, func(o *attributevalue.EncoderOptions) {
		o.TagKey = "json"
		o.EncodeTime = func(t time.Time) (types.AttributeValue, error) {
			if t.IsZero() {
				return nothing, nil
			}
			return &types.AttributeValueMemberS{Value: t.UTC().Format(time.RFC3339Nano)}, nil
		}
	})
	if err != nil {
		return nil, fault.New(fault.Broken, "encode: %w", err)
	}
	return tidy(a), nil
}

// nothing is the attribute of a zero value.
var nothing = &types.AttributeValueMemberNULL{Value: true}

// tidy replaces empty lists and maps by nothing, at every depth: an empty list and a
// missing one mean the same.
func tidy(a types.AttributeValue) types.AttributeValue {
	switch a := a.(type) {
	case *types.AttributeValueMemberNULL:
		return nothing
	case *types.AttributeValueMemberL:
		if len(a.Value) == 0 {
			return nothing
		}
	case *types.AttributeValueMemberM:
		for name, value := range a.Value {
			if a.Value[name] = tidy(value); a.Value[name] == nothing {
				delete(a.Value, name)
			}
		}
		if len(a.Value) == 0 {
			return nothing
		}
	}
	return a
}

// encodeItem returns the item with a key and the fields of the struct v. It leaves out
// zero values.
func encodeItem(k key, v any) (item, error) {
	a, err := encode(v)
	if err != nil {
		return nil, err
	}
	m, ok := a.(*types.AttributeValueMemberM)
	if !ok {
		return nil, fault.New(fault.Broken, "encode %s %s: it is no struct", k.pk, k.sk)
	}
	out := k.attributes()
	maps.Copy(out, m.Value)
	return out, nil
}

// decode reads an item into v, a pointer to a struct.
func decode(i item, v any) error {
	err := attributevalue.UnmarshalMapWithOptions(i, v, func(o *attributevalue.DecoderOptions) { o.TagKey = "json" })
	if err != nil {
		return fault.New(fault.Broken, "item %s %s cannot be read: another version of Stackwright wrote it, or it is damaged: use the version that wrote it (%w)", i.text("PK"), i.text("SK"), err)
	}
	return nil
}

// decodeAll reads items of one kind.
func decodeAll[T any](items []item) ([]T, error) {
	all := make([]T, len(items))
	for i := range items {
		if err := decode(items[i], &all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// decodeVersioned reads an item that has a version, and refuses a version that this code
// cannot read.
func decodeVersioned(i item, v any, what string) error {
	version := 0
	if n, ok := i["version"].(*types.AttributeValueMemberN); ok {
		version, _ = strconv.Atoi(n.Value) // decode refuses other numbers
	}
	if err := readable(version, what); err != nil {
		return err
	}
	return decode(i, v)
}

// decodeRun reads a run. The error is of kind Missing if the run has expired, although
// DynamoDB may still have it.
func decodeRun(id string, i item) (runItem, error) {
	var r runItem
	if err := decodeVersioned(i, &r, "run "+id); err != nil {
		return r, err
	}
	if len(i) == 0 || r.Expires != 0 && r.Expires <= time.Now().Unix() {
		return r, fault.New(fault.Missing, "there is no run %s", id)
	}
	return r, nil
}

// decodeStep reads a step.
func decodeStep(i item) (run.Step, error) {
	var s stepItem
	if err := decodeVersioned(i, &s, "a step of "+i.text("PK")); err != nil {
		return run.Step{}, err
	}
	for _, n := range s.After {
		if n < 0 || n >= s.Number {
			return run.Step{}, fault.New(fault.Broken, "step %s is number %d and comes after number %d", s.ID, s.Number, n)
		}
	}
	return s.step(), nil
}

// readable returns an error if this code cannot read what code of the given version
// wrote. It reads its own version and the one before. Version 0 has no number in its items.
func readable(version int, what string) error {
	switch {
	case version > run.Version:
		return fault.New(fault.Broken, "%s is of version %d, which a newer Stackwright wrote, and this one reads version %d: install the newer functions and the newer command", what, version, run.Version)
	case version < run.Version-1:
		return fault.New(fault.Broken, "%s is of version %d, which an older Stackwright wrote, and this one reads version %d: use the version that wrote it", what, version, run.Version)
	}
	return nil
}

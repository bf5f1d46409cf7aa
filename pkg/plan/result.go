package plan

import (
	"github.com/stackwright/stackwright/pkg/lib/shorten"
)

// A Result is how a step left its stack. The zero Result means that this is unknown.
type Result struct {
	NothingStarted bool   `json:"nothing_started,omitempty"` // the step started nothing: its stack is as it was before
	Status         Status `json:"status,omitempty"`          // of the stack when the step ended; DELETE_COMPLETE if it is gone

	Findings []Finding `json:"findings,omitempty"` // what the step found out, for people and programs; see Found
	More     int       `json:"more,omitempty"`     // how many further findings are left out
}

// A Finding is one thing that a step found out about its stack, such as a property
// that differs from its template.
type Finding struct {
	Kind     string `json:"kind"`               // as the verb defines it
	Resource string `json:"resource,omitempty"` // the logical ID
	Type     string `json:"type,omitempty"`     // of the resource
	Property string `json:"property,omitempty"` // the path of it in the resource
	Expected string `json:"expected,omitempty"`
	Actual   string `json:"actual,omitempty"`
	Secret   bool   `json:"secret,omitempty"` // neither value is shown
	Cut      bool   `json:"cut,omitempty"`    // a value was longer than is stored
	Why      string `json:"why,omitempty"`    // of what could not be compared
}

// Differs reports whether the finding is about something that differs. Others say what could not be compared.
func (f Finding) Differs() bool { return f.Kind != DriftUnchecked }

// The size of findings, which are stored with the step in one item of the table.
const (
	maxFindings    = 100
	maxFindingText = 500 // bytes of one text
)

// Found returns the result with the given findings. Findings beyond maxFindings are left
// out and counted, and texts longer than maxFindingText are cut.
func (r Result) Found(findings []Finding) Result {
	r.Findings, r.More = nil, max(len(findings)-maxFindings, 0)
	for _, f := range findings[:min(len(findings), maxFindings)] {
		f.Cut = max(len(f.Expected), len(f.Actual)) > maxFindingText
		for _, text := range []*string{&f.Kind, &f.Resource, &f.Type, &f.Property, &f.Expected, &f.Actual, &f.Why} {
			*text = shorten.To(maxFindingText, *text)
		}
		r.Findings = append(r.Findings, f)
	}
	return r
}

// ResultOf returns the result of a step that left its stack as l.
func ResultOf(l Live) Result {
	if l.Status.Gone() {
		return Result{Status: "DELETE_COMPLETE"}
	}
	return Result{Status: l.Status}
}

// Clean reports whether the stack is unchanged, succeeded or was rolled back, or is
// gone. Otherwise it is in a bad state, or its state is unknown.
func (r Result) Clean() bool {
	return r.NothingStarted || r.Status != "" && (r.Status.Gone() || r.Status.Good() || r.Status.Restored())
}

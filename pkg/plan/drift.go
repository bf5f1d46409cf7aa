package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// drift compares the resources of the live stacks with their templates.
func drift() Operation {
	return Operation{
		Name: "drift", Plan: DetectDrift,
		Requestable: true, Compares: true, Retryable: true, Schedulable: true,
		Options: append(Selecting(), OptionRefuse),
		Effect:  "it compares the resources of the live stacks with their templates, and changes none",
	}
}

// DetectDrift detects the drift of every recorded stack. Its steps have no order.
func DetectDrift(v View) (Plan, error) { return eachRecorded(v, Detect) }

// The kinds of the findings of a drift detection.
const (
	DriftModified  = "modified"  // a property differs from the template
	DriftDeleted   = "deleted"   // the resource does not exist any more
	DriftUnchecked = "unchecked" // CloudFormation could not compare the resource
)

// A Detection is what a drift detection of CloudFormation has found in a stack.
type Detection struct {
	Findings []Finding
	Failure  string // why not all resources could be compared; "" if all were for which CloudFormation can

	Operation string // what the receipt of the step says from now on, if it is not over: the detections of nested stacks are in it
}

// Drifted lists the logical IDs of the resources that differ from the template, sorted.
func (d Detection) Drifted() []string {
	ids := make(map[string]bool)
	for _, f := range d.Findings {
		if f.Differs() {
			ids[f.Resource] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// Sort puts the findings in order: by resource, and then by property.
func (d Detection) Sort() {
	slices.SortStableFunc(d.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Property, b.Property))
	})
}

// String says for people what differs.
func (d Detection) String() string {
	var texts []string
	if ids := d.Drifted(); len(ids) > 0 {
		texts = append(texts, "drifted: "+listed(ids))
	}
	if n := len(d.Findings) - d.differences(); n > 0 {
		texts = append(texts, fmt.Sprintf("%d could not be compared", n))
	}
	if len(texts) == 0 {
		return "no drift"
	}
	return strings.Join(texts, "; ")
}

// differences is how many of the findings are about something that differs.
func (d Detection) differences() int {
	n := 0
	for _, f := range d.Findings {
		if f.Differs() {
			n++
		}
	}
	return n
}

// A Drift is what the last drift detection has found in a recorded stack.
type Drift struct {
	At        time.Time `json:"at"`                  // when it was found
	Run       string    `json:"run"`                 // whose step has the properties
	Resources []string  `json:"resources,omitempty"` // the logical IDs of those that differ from the template, sorted; none if none does
}

// Drifted reports whether the last drift detection has found a difference. It is false for a stack of which no drift was
// detected.
func (r Record) Drifted() bool { return r.Drift != nil && len(r.Drift.Resources) > 0 }

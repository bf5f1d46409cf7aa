package plan

import (
	"errors"
	"maps"
	"slices"
)

// refresh reads the live stacks into the records.
func refresh() Operation {
	return Operation{
		Name: "refresh", Plan: Refresh,
		Requestable: true, Retryable: true, Schedulable: true,
		Options: append(Selecting(), OptionRefuse),
		Effect:  "it reads the live stacks into the records",
	}
}

// Refresh reads every recorded stack. Its steps have no order.
func Refresh(v View) (Plan, error) { return eachRecorded(v, Read) }

// eachRecorded does the same with every recorded stack that the request is about, in any order.
func eachRecorded(v View, verb Verb) (Plan, error) {
	about, unknown := v.selected()
	if len(unknown) > 0 {
		return Plan{}, errors.Join(unknown...)
	}
	var p Plan
	for _, name := range slices.Sorted(maps.Keys(v.Recorded)) {
		if about != nil && !about[name] {
			continue
		}
		p.Steps = append(p.Steps, Step{ID: StepID(name, verb, ""), Node: name, Where: v.where(name), Verb: verb})
	}
	return p, nil
}

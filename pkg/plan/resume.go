package plan

import (
	"errors"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/project"
)

// resume starts again what a suspend has stopped.
func resume() Operation {
	return Operation{
		Name: "resume", Plan: ResumeStacks,
		Requestable: true, Retryable: true, Schedulable: true,
		Options: append(Selecting(), OptionReason, OptionRefuse),
		Effect:  "it starts what a suspend has stopped in the stacks, as it was before",
	}
}

// ResumeStacks plans to start what is stopped in the suspended stacks, in each stack after its dependencies. Other stacks have no step.
// The hooks of a resume are called before and after that, if it is about all stacks, also if none is suspended: what only hooks have stopped
// is in no record.
func ResumeStacks(v View) (Plan, error) {
	about, unknown := v.selected()
	if len(unknown) > 0 {
		return Plan{}, errors.Join(unknown...)
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(v.Recorded)) {
		if v.Recorded[name].Suspended != nil && (about == nil || about[name]) {
			names = append(names, name)
		}
	}
	p := v.inOrder(names, Resume, false)
	if !v.Partial() && len(v.Recorded) > 0 {
		var err error
		if p, err = v.calling(p, project.BeforeResume, project.AfterResume, ""); err != nil {
			return p, err
		}
	}
	switch {
	case len(p.Steps) == 0:
		p.Messages = []string{"no stack is suspended: there is nothing to start"}
	case len(names) == 0:
		p.Messages = []string{"no stack is suspended: only the hooks of a resume are called"}
	}
	return p, nil
}

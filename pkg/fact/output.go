package fact

import (
	"context"
	"fmt"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// outputFact is the outputs of stacks outside the project.
func outputFact() Fact {
	return Fact{Of: func(s project.Source) bool { return s.Stack != "" }, Values: readOutputs}
}

// readOutputs reads outputs of stacks. The loader of the files has refused those that the project may not read.
func readOutputs(ctx context.Context, e Reading, _ project.Project, sources []project.Source) (Value, error) {
	var locations []plan.Location
	seen := make(map[string]bool)
	place := func(s project.Source) string { return s.Stack + "@" + s.Target.Name }
	for _, s := range sources {
		if !seen[place(s)] {
			seen[place(s)] = true
			locations = append(locations, plan.Location{Node: place(s), Stack: s.Stack, Target: s.Target})
		}
	}
	live, err := e.Clouds.Observe(ctx, locations)
	if err != nil {
		return nil, fmt.Errorf("read the outputs of stacks outside the project: %w", err)
	}
	return func(s project.Source) (string, error) {
		l := live[place(s)]
		value, ok := l.Outputs[s.Output]
		switch {
		case l.AccessError != "":
			return "", fault.New(fault.Denied, "%s", l.AccessError)
		case l.Status.Gone():
			return "", fault.New(fault.Missing, "there is no stack %s in target %s", s.Stack, s.Target.Name)
		case !ok:
			return "", fault.New(fault.Missing, "stack %s in target %s has no output %s", s.Stack, s.Target.Name, s.Output)
		}
		return value, nil
	}, nil
}

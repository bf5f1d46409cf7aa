package states

import (
	"strings"

	"github.com/stackwright/stackwright/pkg/enginetest/asl"
)

// historyEvent is the history event for an event of the runner.
func (s *Service) historyEvent(a asl.Event) (*event, error) {
	ev := &event{Previous: a.Previous, Time: now(), Type: string(a.Kind)}
	var err error
	switch a.Kind {
	case asl.StateEntered:
		ev.Type, ev.Key, ev.Details.Name = string(a.State.Type)+ev.Type, "stateEntered", a.State.Name
		ev.Details.Input, ev.Details.InputDetails, err = payload(a.Input)
	case asl.StateExited:
		ev.Type, ev.Key, ev.Details.Name = string(a.State.Type)+ev.Type, "stateExited", a.State.Name
		ev.Details.Output, ev.Details.OutputDetails, err = payload(a.Output)
	case asl.ExecutionSucceeded:
		ev.Key = "executionSucceeded"
		ev.Details.Output, ev.Details.OutputDetails, err = payload(a.Output)
	case asl.ExecutionFailed:
		ev.Key, ev.Details.Error, ev.Details.Cause = "executionFailed", a.Error.Name, a.Error.Cause
	case asl.MapStarted:
		ev.Key, ev.Details.Length = "mapStateStarted", &a.Length
	case asl.IterationStarted, asl.IterationSucceeded, asl.IterationFailed, asl.IterationAborted:
		ev.Key = "m" + strings.TrimPrefix(ev.Type, "M")
		ev.Details.Name, ev.Details.Index = a.State.Name, &a.Index
	case asl.TaskScheduled, asl.TaskStarted, asl.TaskSubmitted, asl.TaskSucceeded, asl.TaskEnded, asl.TaskTimedOut:
		err = s.taskEvent(ev, a)
	}
	return ev, err
}

// taskEvent adds the details of a task. A function that is named directly has events of its own.
func (s *Service) taskEvent(ev *event, a asl.Event) error {
	d := &ev.Details
	direct := a.Call.Resource.Direct()
	if direct {
		ev.Type = "LambdaFunction" + strings.TrimPrefix(ev.Type, "Task")
	} else {
		d.ResourceType, d.Resource = "lambda", "invoke"
		if a.Call.Resource.Waits() {
			d.Resource = "invoke.waitForTaskToken"
		}
	}
	ev.Key = strings.ToLower(ev.Type[:1]) + ev.Type[1:]
	var err error
	switch a.Kind {
	case asl.TaskScheduled:
		input := string(a.Call.Input)
		d.Timeout = int64(a.Call.Timeout.Seconds())
		if direct {
			d.Resource, d.Input, d.InputDetails = a.Call.Function, &input, notTruncated
		} else {
			d.Parameters, d.Region = &input, s.options.Region
		}
	case asl.TaskStarted:
		if direct {
			ev.Key = "" // LambdaFunctionStarted has no details
		}
	case asl.TaskSubmitted, asl.TaskSucceeded:
		d.Output, d.OutputDetails, err = payload(a.Output)
	case asl.TaskEnded, asl.TaskTimedOut:
		d.Error, d.Cause = a.Error.Name, a.Error.Cause
	}
	return err
}

func payload(v any) (*string, *truncated, error) {
	b, err := asl.Encode(v)
	if err != nil {
		return nil, nil, err
	}
	text := string(b)
	return &text, notTruncated, nil
}

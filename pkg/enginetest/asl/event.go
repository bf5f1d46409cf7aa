package asl

import (
	"encoding/json"
	"time"
)

// A Kind is the kind of an Event.
type Kind string

// The kinds of events, in the order in which they can come.
const (
	ExecutionStarted   Kind = "ExecutionStarted" // Input
	StateEntered       Kind = "StateEntered"     // State, Input
	TaskScheduled      Kind = "TaskScheduled"    // State, Call
	TaskStarted        Kind = "TaskStarted"      // State, Call
	TaskSubmitted      Kind = "TaskSubmitted"    // State, Call, Output: the function has returned, its token is waited for
	TaskSucceeded      Kind = "TaskSucceeded"    // State, Call, Output
	TaskEnded          Kind = "TaskFailed"       // State, Call, Error
	TaskTimedOut       Kind = "TaskTimedOut"     // State, Call, Error
	MapStarted         Kind = "MapStateStarted"  // State, Length
	IterationStarted   Kind = "MapIterationStarted"
	IterationSucceeded Kind = "MapIterationSucceeded"
	IterationFailed    Kind = "MapIterationFailed"
	IterationAborted   Kind = "MapIterationAborted"
	MapSucceeded       Kind = "MapStateSucceeded"
	MapFailed          Kind = "MapStateFailed"
	StateExited        Kind = "StateExited"        // State, Output
	ExecutionSucceeded Kind = "ExecutionSucceeded" // Output
	ExecutionFailed    Kind = "ExecutionFailed"    // Error
)

// An Event is one thing that happened in an execution, as Step Functions' history tells it.
type Event struct {
	Kind     Kind
	Previous int64  // what Observe returned for the event before it in the same branch; 0 for the first
	Depth    int    // how many Maps it is in
	State    *State // nil for the execution's own
	Input    any
	Output   any
	Call     *Call
	Error    *Error
	Index    int // of the iteration
	Length   int // of the Map's items
}

// A Call is one attempt of a Task.
type Call struct {
	State    string
	Resource Resource
	Function string          // name or ARN of the Lambda function
	Payload  json.RawMessage // what the function is given
	Input    json.RawMessage // what the task is given: for lambda:invoke FunctionName and Payload, else the Payload
	Token    string          // set if the task waits for an answer to it
	Timeout  time.Duration   // after which the task ends with States.Timeout; 0 for none

	// Submitted may be called once within Host.Task, by its own goroutine, with what the function returned while the
	// task goes on waiting for its token.
	Submitted func(response json.RawMessage)
}

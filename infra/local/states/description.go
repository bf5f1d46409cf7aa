package states

import "time"

// A description describes an execution: the answer to DescribeExecution, and the content of its events.
type description struct {
	ARN           string         `json:"executionArn"`
	Machine       string         `json:"stateMachineArn"`
	Name          string         `json:"name"`
	Status        string         `json:"status"`
	Started       stamp          `json:"startDate"`
	Stopped       *stamp         `json:"stopDate,omitempty"`
	Input         string         `json:"input"`
	InputDetails  map[string]any `json:"inputDetails"`
	Output        *string        `json:"output,omitempty"`
	OutputDetails map[string]any `json:"outputDetails,omitempty"`
	Error         string         `json:"error,omitempty"`
	Cause         string         `json:"cause,omitempty"`
	Redrives      int            `json:"redriveCount"`
	Redrivable    string         `json:"redriveStatus"`
	NotRedrivable string         `json:"redriveStatusReason"`
}

// included says that a payload is in the answer.
var included = map[string]any{"included": true}

// description describes the execution. The service's lock must be held.
func (e *execution) description() description {
	n := description{ARN: e.ARN, Machine: e.Machine, Name: e.Name, Status: e.status(), Started: e.Started, Input: e.Input,
		InputDetails: included, Redrivable: "NOT_REDRIVABLE", NotRedrivable: "the local emulator has no redrives: start another execution"}
	end := e.end()
	if end == nil {
		return n
	}
	n.Stopped, n.Error, n.Cause, n.Output = &end.Time, end.Details.Error, end.Details.Cause, end.Details.Output
	if n.Output != nil {
		n.OutputDetails = included
	}
	return n
}

// maxEscaped is how many bytes of input and output an event may contain.
// https://docs.aws.amazon.com/step-functions/latest/dg/cw-events.html
const maxEscaped = 248 << 10

// emit sends the status of an execution to EventBridge. The lock must not be held.
func (s *Service) emit(n description) {
	if s.options.Emit == nil {
		return
	}
	detail := map[string]any{
		"executionArn": n.ARN, "stateMachineArn": n.Machine, "name": n.Name, "status": n.Status,
		"startDate": time.Time(n.Started).UnixMilli(), "stopDate": nil,
		"input": n.Input, "inputDetails": n.InputDetails, "output": nil, "outputDetails": nil,
		"stateMachineVersionArn": nil, "stateMachineAliasArn": nil, "error": nil, "cause": nil,
		"redriveCount": 0, "redriveDate": nil, "redriveStatus": n.Redrivable, "redriveStatusReason": n.NotRedrivable,
	}
	if n.Stopped != nil {
		detail["stopDate"] = time.Time(*n.Stopped).UnixMilli()
	}
	out := 0
	if n.Output != nil {
		out = len(*n.Output)
		detail["output"], detail["outputDetails"] = *n.Output, included
	}
	if out > maxEscaped {
		detail["output"], detail["outputDetails"], out = nil, map[string]any{"included": false}, 0
	}
	if len(n.Input)+out > maxEscaped {
		detail["input"], detail["inputDetails"] = nil, map[string]any{"included": false}
	}
	if n.Status != running && n.Status != succeeded {
		detail["error"], detail["cause"] = n.Error, n.Cause
	}
	s.options.Emit("aws.states", "Step Functions Execution Status Change", []string{n.ARN}, detail)
}

package cloudformation

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// queuedEvent is an event that will be sent to EventBridge.
type queuedEvent struct {
	kind, stack string
	detail      any
}

type statusDetails struct {
	Status string `json:"status"`
	Reason string `json:"status-reason"`
}

// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/event-detail-stack-status-change.html
type stackStatusChange struct {
	Stack   string        `json:"stack-id"`
	Details statusDetails `json:"status-details"`
	Token   string        `json:"client-request-token"`
}

// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/event-detail-resource-status-change.html
type resourceStatusChange struct {
	Stack    string        `json:"stack-id"`
	Logical  string        `json:"logical-resource-id"`
	Physical string        `json:"physical-resource-id"`
	Details  statusDetails `json:"status-details"`
	Type     string        `json:"resource-type"`
	Token    string        `json:"client-request-token"`
}

// setStatus sets the status of the stack, and adds and sends the event.
func (s *Service) setStatus(st *stack, status types.StackStatus, reason string) {
	st.Status, st.Reason = status, reason
	token, operation := st.tokenAndOperation()
	st.Events = append(st.Events, event{
		ID: derived(st, "event", len(st.Events)), Logical: st.Name, Physical: st.ID, Type: "AWS::CloudFormation::Stack",
		Status: string(status), Reason: reason, Token: token, Operation: operation, At: time.Now(),
	})
	st.rememberDescription()
	s.indexExports(st)
	s.dirty[st] = true
	s.queueEvent(queuedEvent{"CloudFormation Stack Status Change", st.ID,
		stackStatusChange{Stack: st.ID, Details: statusDetails{string(status), reason}, Token: token}})
}

// setResourceStatus sets the status of a resource, and adds and sends the event. The resource may be one that a
// replacement has removed from the stack.
func (s *Service) setResourceStatus(st *stack, r *resource, status types.ResourceStatus, reason string) {
	r.Status, r.Reason, r.At, r.Unrestored = status, reason, time.Now(), false
	if r.Nested != nil && strings.HasSuffix(string(status), "_FAILED") {
		for _, e := range r.Nested.Failures {
			e.At = r.At
			st.Inside = append(st.Inside, e)
		}
	}
	token, operation := st.tokenAndOperation()
	st.Events = append(st.Events, event{
		ID:      fmt.Sprintf("%s-%s-%s", r.Logical, status, derived(st, "event", len(st.Events))),
		Logical: r.Logical, Physical: r.Physical, Type: r.Type, Status: string(status), Reason: reason,
		Properties: mask(st.Now.Parameters, r.Properties), Token: token, Operation: operation, At: r.At,
	})
	s.dirty[st] = true
	s.queueEvent(queuedEvent{"CloudFormation Resource Status Change", st.ID, resourceStatusChange{
		Stack: st.ID, Logical: r.Logical, Physical: r.Physical,
		Details: statusDetails{string(status), reason}, Type: r.Type, Token: token}})
}

// tokenAndOperation are the token and the operation ID of the stack's events.
func (st *stack) tokenAndOperation() (token, operation string) {
	if st.Operation == nil {
		return "", ""
	}
	return st.Operation.Token, st.Operation.ID
}

func (s *Service) queueEvent(n queuedEvent) {
	if s.options.Emit != nil && !s.faults.dropsEvents() {
		s.outbox = append(s.outbox, n)
	}
}

func (s *Service) sendEvents(out []queuedEvent) {
	for _, n := range out {
		s.options.Emit("aws.cloudformation", n.kind, []string{n.stack}, n.detail)
	}
}

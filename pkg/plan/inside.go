package plan

import "time"

// A StackResource is what CloudFormation reports about a resource of a stack.
type StackResource struct {
	ID         string    `json:"id"`                    // in the template
	PhysicalID string    `json:"physical_id,omitempty"` // empty until it is created
	Type       string    `json:"type"`
	Status     string    `json:"status"`           // CloudFormation's own, as CREATE_COMPLETE
	Reason     string    `json:"reason,omitempty"` // of the status
	Changed    time.Time `json:"changed,omitzero"`
}

// A ResourceEvent is what CloudFormation reports to have happened to a resource of a stack, or to the stack itself.
// The properties of the resource are no part of it: they may have secrets.
type ResourceEvent struct {
	Event      string    `json:"event"` // its ID
	Time       time.Time `json:"time"`
	ID         string    `json:"id"` // of the resource in the template; the name of the stack if it is about the stack itself
	PhysicalID string    `json:"physical_id,omitempty"`
	Type       string    `json:"type"`
	Status     string    `json:"status"`           // CloudFormation's own, as CREATE_FAILED; of the hook if there is one
	Reason     string    `json:"reason,omitempty"` // of the status
	Hook       string    `json:"hook,omitempty"`   // the type of the hook of CloudFormation that it is about
}

package plan

// A PlannedSuspension is what a suspend would stop in a stack, or a resume would start.
type PlannedSuspension struct {
	Resources []SuspendedResource `json:"resources"` // that would be stopped or started, in this order
	Stay      []SuspendedResource `json:"stay"`      // that stay as they are, each with the reason
}

// A SuspendedResource is a resource that a suspend stops, or could.
type SuspendedResource struct {
	Type string `json:"type"`          // as AWS::AutoScaling::AutoScalingGroup
	Kind string `json:"kind"`          // for people, as "Auto Scaling group"
	ID   string `json:"id"`            // the physical ID
	Is   string `json:"is,omitempty"`  // how it is now, for people
	Was  string `json:"was,omitempty"` // how a resume makes it, as its kind writes it
	Why  string `json:"why,omitempty"` // why it stays as it is
}

// previewSuspend shows what a suspend would stop.
func previewSuspend() Operation {
	return Operation{
		Name: PlanPrefix + "suspend", Plan: SuspendStacks,
		Requestable: true, Preview: true, Proposes: true,
		Options: Selecting(),
		Command: "suspend --plan",
		Effect:  "what a suspend would stop is read, and nothing is stopped",
	}
}

// previewResume shows what a resume would start.
func previewResume() Operation {
	return Operation{
		Name: PlanPrefix + "resume", Plan: ResumeStacks,
		Requestable: true, Preview: true, Proposes: true,
		Options: Selecting(),
		Command: "resume --plan",
		Effect:  "what a resume would start is read, and nothing is started",
	}
}

// proposesSuspension returns the verb that reads what the action would stop or start; empty for an action that does neither.
func (a StackAction) proposesSuspension() Verb {
	switch a {
	case ActionSuspend:
		return ProposeSuspend
	case ActionResume:
		return ProposeResume
	}
	return ""
}

// Idle reports whether a suspend would stop nothing in the stack: it is suspended already, or has nothing that can be stopped.
func (c StackChange) Idle() bool {
	return c.Action == ActionSuspend && c.Suspension != nil && len(c.Suspension.Resources)+len(c.Hooks) == 0
}

// suspension returns c with what was read of its stack.
func (c StackChange) suspension(p Proposal) StackChange {
	if p.Failure != "" {
		return c.caveat("it could not be read what runs in the stack: " + oneLine(p.Failure))
	}
	c.Suspension = p.Suspension
	return c
}

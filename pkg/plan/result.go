package plan

// A Result is how a step left its stack. The zero Result says that nobody knows.
type Result struct {
	Untouched bool   `json:"untouched,omitempty"` // the step started nothing: its stack is as it was before
	Status    Status `json:"status,omitempty"`    // of the stack when the step ended; DELETE_COMPLETE if it is gone
}

// ResultOf is the result of a step that ended when its stack was live so.
func ResultOf(l Live) Result {
	if l.Status.Gone() {
		return Result{Status: "DELETE_COMPLETE"}
	}
	return Result{Status: l.Status}
}

// Clean reports whether the stack is as it was before, is whole, or is gone.
// Otherwise it is in a bad state, or nobody knows.
func (r Result) Clean() bool {
	return r.Untouched || r.Status != "" && (r.Status.Gone() || r.Status.Good() || r.Status.Restored())
}

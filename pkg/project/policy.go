package project

import "fmt"

// A Policy says what no plan may do, or what a user should be warned of. Package policy
// compiles and checks it.
type Policy struct {
	Name    string      `json:"name"`
	Level   PolicyLevel `json:"level"`
	When    string      `json:"when"`    // an expression in CEL that is true if a plan violates the policy
	Message string      `json:"message"` // for people: why, and what to do

	File         string `json:"file"` // where the expression is written
	Line, Column int    `json:"-"`
	Exact        bool   `json:"-"` // its first letter stands there, and it has one line
}

// A PolicyLevel says what a violation means.
type PolicyLevel string

// The levels.
const (
	Deny PolicyLevel = "deny" // the plan is refused
	Warn PolicyLevel = "warn"
)

// MaxPolicies is how many policies a file may have.
const MaxPolicies = 100

// At is where the policy is written.
func (p Policy) At() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

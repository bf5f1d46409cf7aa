package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/project"
)

// Facts are what policies know besides what a plan changes.
type Facts struct {
	Project     string    `json:"project"`
	Environment string    `json:"environment"`
	Principal   string    `json:"principal"` // who requested the run, as AWS says; empty if that is not known
	Time        time.Time `json:"time"`      // of the plan
}

// A Violation is a policy that a plan violates.
type Violation struct {
	Policy   string              `json:"policy"` // empty if it stands for violations that are not shown
	Level    project.PolicyLevel `json:"level"`
	Message  string              `json:"message"`
	Stack    string              `json:"stack,omitempty"`    // empty if it is about the whole plan
	Resource string              `json:"resource,omitempty"` // its ID; empty if it is about the whole stack
	Place    string              `json:"place,omitempty"`    // of the resource in the project's files
	Source   string              `json:"source"`             // where the policy is written

	Unevaluated bool `json:"-"` // nobody knows whether the plan violates the policy, because it could not be evaluated
}

// String is the violation as a sentence.
func (v Violation) String() string {
	if v.Policy == "" {
		return "violations of policies " + v.Message
	}
	does := map[project.PolicyLevel]string{project.Deny: "denies", project.Warn: "warns of"}[v.Level]
	about := "the plan"
	if v.Stack != "" {
		about = "stack " + v.Stack
	}
	if v.Resource != "" {
		about += ", resource " + v.Resource
	}
	if v.Place != "" {
		about += " at " + v.Place
	}
	return fmt.Sprintf("policy %s %s %s: %s (%s)", v.Policy, does, about, v.Message, v.Source)
}

// Denials returns the violations for which a plan is refused.
func Denials(all []Violation) []Violation {
	return slices.DeleteFunc(slices.Clone(all), func(v Violation) bool { return v.Level != project.Deny })
}

// Warnings returns all violations as warnings.
func Warnings(all []Violation) []Violation {
	warnings := slices.Clone(all)
	for i := range warnings {
		warnings[i].Level = project.Warn
	}
	return warnings
}

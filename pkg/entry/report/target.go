package report

import "github.com/stackwright/stackwright/pkg/project"

// A Target is a registered account and region.
type Target struct {
	Target     string   `json:"target"`
	Account    string   `json:"account"`
	Region     string   `json:"region"`
	Role       string   `json:"role"`           // that is assumed there; empty for the installation's own
	Execution  string   `json:"execution_role"` // that CloudFormation uses
	ExternalID string   `json:"external_id"`
	Projects   []string `json:"projects"` // that may use it
}

// TargetOf reports a target.
func TargetOf(a project.Access) Target {
	return Target{a.Name, a.Account, a.Region, a.Role, a.Execution, a.ExternalID, append([]string{}, a.Projects...)}
}

// AccessOf returns the target that a report shows.
func AccessOf(t Target) project.Access {
	return project.Access{
		Target: project.Target{Name: t.Target, Account: t.Account, Region: t.Region}, Role: t.Role, Execution: t.Execution, ExternalID: t.ExternalID, Projects: t.Projects,
	}
}

// An Installation describes an installation of Stackwright.
type Installation struct {
	Name   string `json:"name"`
	Bucket string `json:"bucket"`
	Home   Target `json:"default"` // the target default: its own account and region
	Caller string `json:"caller"`  // as whom it knows the caller
}

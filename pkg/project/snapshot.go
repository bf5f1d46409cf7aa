package project

import (
	"fmt"
	"strings"
	"time"
)

// A SnapshotPolicy says which snapshots of an environment are kept. The zero policy keeps all.
type SnapshotPolicy struct {
	Keep int `json:"keep,omitempty"` // the newest ones; 0 is any number
	For  TTL `json:"for,omitzero"`   // how long each; 0 is for ever
}

// Known reports whether there is a policy.
func (p SnapshotPolicy) Known() bool { return p != SnapshotPolicy{} }

// Drops says why the snapshot at a place, of which the newest has place 0, is not kept; "" if it is.
func (p SnapshotPolicy) Drops(place int, made, now time.Time) string {
	switch {
	case p.Keep > 0 && place >= p.Keep:
		return fmt.Sprintf("it is not among the newest %d", p.Keep)
	case p.For > 0 && now.Sub(made) > time.Duration(p.For):
		return "it is older than " + p.For.String()
	}
	return ""
}

// String is the policy for people.
func (p SnapshotPolicy) String() string {
	var texts []string
	if p.Keep > 0 {
		texts = append(texts, fmt.Sprintf("the newest %d", p.Keep))
	}
	if p.For > 0 {
		texts = append(texts, "each for "+p.For.String())
	}
	if texts == nil {
		return "all"
	}
	return strings.Join(texts, ", ")
}

// A Restored is a parameter that names the backup from which a resource of its stack was restored, or is to be.
type Restored struct {
	Parameter string `json:"parameter"`
	Value     string `json:"value,omitempty"` // the parameter's; empty if the resource was created without a backup
	Again     bool   `json:"again,omitempty"` // a run that is retried has restored the resource from this backup
	Late      bool   `json:"late,omitempty"`  // it is the backup of a restore that has not created the stack
	Fixed     bool   `json:"fixed,omitempty"` // a restore leaves it as it is: CloudFormation cannot change it of a resource that is there
}

package main

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stackwright/stackwright/infra/aws/iam"
)

// A mutant is a policy without one part of it.
type mutant struct {
	without string
	iam.Policy
}

// mutants are a policy without each of its denials, without each action and resource in them, and without each condition.
func mutants(p iam.Policy) (all []mutant) {
	for n, s := range p.Statement {
		if s.Effect != "Deny" {
			continue
		}
		with := func(without string, statements ...iam.Statement) {
			all = append(all, mutant{fmt.Sprintf("statement %d of %v %v: %s", n, s.Action, s.NotAction, without), iam.Policy{Statement: slices.Replace(slices.Clone(p.Statement), n, n+1, statements...)}})
		}
		with("the statement")
		for name, list := range map[string]*iam.List[string]{"action": &s.Action, "exception": &s.NotAction, "resource": &s.Resource} {
			whole := *list
			for n, one := range whole {
				if len(whole) > 1 {
					*list = slices.Delete(slices.Clone(whole), n, n+1)
					with(name+" "+one, s)
				}
			}
			*list = whole
		}
		for operator := range s.Condition {
			fewer := s
			fewer.Condition = maps.Clone(s.Condition)
			delete(fewer.Condition, operator)
			with("condition "+operator, fewer)
		}
	}
	return all
}

// unnoticed lists the mutants with which every attempt is answered as without.
func unnoticed(t *testing.T, all []mutant, answered func(iam.Policy) bool) {
	t.Helper()
	for _, m := range all {
		if answered(m.Policy) {
			t.Errorf("no attempt notices a policy without %s", m.without)
		}
	}
	t.Logf("%d mutants", len(all))
}

// asWanted reports whether all attempts of a role are answered as they should be.
func asWanted(t *testing.T, who iam.Identity, all []attempt) bool {
	t.Helper()
	for _, a := range all {
		got, err := who.May(a.Request)
		if err != nil {
			t.Fatal(err)
		}
		if got != a.want {
			return false
		}
	}
	return true
}

// Each part of the boundary is there because of an attack, or because of something that projects need.
func TestNoPartOfTheBoundaryIsIdle(t *testing.T) {
	role, other := execution(t, administrator), made(t)
	shared := slices.Concat(onTheInstallation(), forMorePermissions(), asStackwright())
	unnoticed(t, mutants(*role.Boundary), func(p iam.Policy) bool {
		role.Boundary, other.Boundary = &p, &p
		return asWanted(t, role, append(shared, nestedStack(iam.Allowed))) && asWanted(t, other, append(shared, nestedStack(iam.Denied)))
	})
}

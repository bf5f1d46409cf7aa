package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// A role is a role of IAM in a template.
type role struct {
	Policies          []struct{ PolicyDocument document }
	ManagedPolicyArns []string
}

type document struct{ Statement []rule }

type rule struct {
	Effect           string
	Action, Resource any // a text or several
}

// roles are those of a template, by name.
func (t template) roles(test *testing.T) map[string]role {
	test.Helper()
	all := make(map[string]role)
	for _, name := range t.of("AWS::IAM::Role") {
		var r role
		body, err := json.Marshal(filled(t.Resources[name].Properties))
		if err == nil {
			err = json.Unmarshal(body, &r)
		}
		if err != nil {
			test.Fatal(name, err)
		}
		all[name] = r
	}
	return all
}

// texts is a text, or several.
func texts(v any) (all []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, one := range v {
			all = append(all, texts(one)...)
		}
	}
	return all
}

// allowed are the actions that a role may do.
func (r role) allowed() (all []string) {
	for _, p := range r.Policies {
		for _, s := range p.PolicyDocument.Statement {
			if s.Effect == "Allow" {
				all = append(all, texts(s.Action)...)
			}
		}
	}
	return all
}

// Permissions are in roles, or in managed policies that only roles of functions have.
func TestPoliciesAreInRoles(t *testing.T) {
	for i, made := range []func() (template, error){plain, full} {
		all := the(t, made)
		want := [][]string{{"Boundary", "ChangeStacks"}, {"BackUp", "BackUpFiles", "Boundary", "ChangeStacks", "SuspendResources"}}[i]
		if got := all.of("AWS::IAM::ManagedPolicy"); !slices.Equal(got, want) {
			t.Errorf("there are the managed policies %v, want the boundary, what changes stacks, and with the setting suspend what stops resources", got)
		}
		for _, kind := range []string{"AWS::IAM::Policy", "AWS::IAM::UserPolicy", "AWS::IAM::RolePolicy"} {
			if got := all.of(kind); len(got) > 0 {
				t.Errorf("there are the policies %v", got)
			}
		}
		for name, r := range all.roles(t) {
			for _, a := range r.allowed() {
				if strings.Contains(a, "*") {
					t.Errorf("%s may %s: name each action", name, a)
				}
			}
		}
	}
}

// Each wildcard in a resource of a permission has a reason.
func TestWildcardsHaveReasons(t *testing.T) {
	s, err := read(map[string]any{"executionPolicies": "PowerUserAccess", "targetAccounts": "111111111111", "customerKey": true})
	if err != nil {
		t.Fatal(err)
	}
	of := permissions(s)
	of["machine"], of["schedule"] = executing, scheduled
	for name, all := range of {
		for _, p := range all {
			if wild := strings.Contains(strings.Join(p.On, " "), "*"); wild && p.Why == "" && !p.Deny {
				t.Errorf("%s may %v on %v: say why it is not named more narrowly", name, p.Do, p.On)
			}
		}
	}
}

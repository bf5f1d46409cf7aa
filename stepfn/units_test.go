package stepfn_test

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/organizations"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// unitAccess is the target of scenarios that stands for a unit.
var unitAccess = project.Access{
	Target: project.Target{Name: "org", Region: "eu-west-1"}, Unit: "ou-home-12345678", Except: []string{"999999999999"},
	Role: "arn:aws:iam::*:role/stackwright-org", Execution: "arn:aws:iam::*:role/stackwright-execution",
	Projects: project.Grants{"shop@*"}, ExternalID: "sw-org",
}

// Units beside that of unitAccess.
const (
	nestedUnit = "ou-home-nested00" // within it
	otherUnit  = "ou-home-other000" // outside
)

// accountChanges are what may happen to an account.
var accountChanges = map[string]func(*organizations.Account){
	"joins":      func(a *organizations.Account) { a.Parent = unitAccess.Unit },
	"joins-deep": func(a *organizations.Account) { a.Parent = nestedUnit },
	"leaves":     func(a *organizations.Account) { a.Parent = otherUnit },
	"closes":     func(a *organizations.Account) { a.Closed = time.Now() },
	"suspended":  func(a *organizations.Account) { a.Suspended = true },
	"reopens":    func(a *organizations.Account) { a.Closed, a.Suspended = time.Time{}, false },
	"vanishes":   nil, // it is in no organization any more
}

// organizationDoes are what Organizations does with requests.
var organizationDoes = map[string]*gateway.Failure{
	"answer":       nil,
	"throttle":     {Status: 400, Fault: gateway.Fault{Code: "TooManyRequestsException", Message: "You have sent too many requests in too short a period of time."}},
	"list-nothing": nil,                                                                                                                       // see organizations.Service.Hide
	"list-flat":    nil,                                                                                                                       // see organizations.Service.HideUnits
	"lose-unit":    {Status: 400, Fault: gateway.Fault{Code: "ParentNotFoundException", Message: "You specified parent that doesn't exist."}}, // lists only
	"deny":         {Status: 400, Fault: gateway.Fault{Code: "AccessDeniedException", Message: "You don't have permissions to access this resource."}},
}

func keysOf[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// placeable reports whether a target is one of a scenario, or of an account of its unit.
func placeable(target string) bool {
	_, known := accesses[target]
	unit, _, member := project.UnitOf(target)
	return known || member && unit == unitAccess.Name
}

// haveUnit reports whether a stack is in the unit, or in one of its accounts.
func (w stacks) haveUnit() bool {
	return slices.ContainsFunc(w, func(s stack) bool {
		return slices.ContainsFunc(s.targets, func(t string) bool {
			of, _, _ := project.UnitOf(t)
			return t == unitAccess.Name || of == unitAccess.Name
		})
	})
}

// without returns the stacks that are not in accounts which are named and closed, and why the others are deployed nowhere.
func (w stacks) without(closed map[string]string) (left stacks, unplaced map[string]string) {
	unplaced = make(map[string]string)
	for _, s := range w {
		all := s.targets
		s.targets = slices.DeleteFunc(slices.Clone(all), func(t string) bool { return closed[t] != "" })
		for _, t := range all {
			if closed[t] != "" && len(s.targets) > 0 {
				unplaced[at(s.name, t)] = closed[t]
			} else if closed[t] != "" {
				unplaced[s.name] = closed[t]
			}
		}
		s.unit = s.unit || len(all) > 1
		if len(s.targets) > 0 || len(all) == 0 {
			left = append(left, s)
		}
	}
	return left, unplaced
}

// followed returns the stacks with the accounts of the unit in its place.
func (w stacks) followed(members []project.Target) stacks {
	w = slices.Clone(w)
	for i, s := range w {
		at := slices.Index(s.targets, unitAccess.Name)
		if at < 0 {
			continue
		}
		var names []string
		for _, t := range members {
			names = append(names, t.Name)
		}
		w[i].targets, w[i].unit = slices.Replace(slices.Clone(s.targets), at, at+1, names...), true
	}
	return w
}

// followed is sim.Backend.InUnits.
func (p *memoryBackend) followed(r run.Run, made project.Project, members project.Members) project.Project {
	if w, has := p.inUnits[r.Source]; has {
		if p.listed != nil {
			p.listed(r, members.Units[unitAccess.Name])
		}
		left, unplaced := w.without(members.Closed)
		made = p.project(left.followed(members.Units[unitAccess.Name]))
		for _, s := range w {
			if why := members.Empty[unitAccess.Name]; why != "" && slices.Equal(s.targets, []string{unitAccess.Name}) {
				unplaced[s.name] = why
			}
		}
		made.Unplaced = unplaced
	}
	return made
}

// Account is backend.
func (p *memoryBackend) Account(id, what string) {
	o := p.Backend.Organization
	o.Units = map[string]string{unitAccess.Unit: "", nestedUnit: unitAccess.Unit, otherUnit: ""}
	change := accountChanges[what]
	if change == nil {
		delete(o.Accounted, id)
		p.Deny(project.MemberName(unitAccess.Name, id), true)
		return
	}
	was, known := o.Accounted[id]
	a := organizations.Account{Parent: was.Unit}
	change(&a)
	now := project.Account{ID: id, Name: "account " + id[11:], State: project.AccountActive, Unit: a.Parent}
	switch {
	case !a.Closed.IsZero():
		now.State = project.AccountClosing
	case a.Suspended:
		now.State = project.AccountSuspended
	case known && what != "reopens":
		now.State = was.State
	}
	o.Accounted[id] = now
	p.Deny(project.MemberName(unitAccess.Name, id), now.State != project.AccountActive) // AWS denies all requests of a closed account
}

// Organization is backend.
func (p *memoryBackend) Organization(does string) {
	p.Backend.Organization.Empty, p.Backend.Organization.Flat, p.Backend.Organization.Gone = does == "list-nothing", does == "list-flat", ""
	if does == "lose-unit" {
		p.Backend.Organization.Gone = unitAccess.Unit
	}
	p.Backend.Organization.Fails = map[string]error{
		"throttle": fault.New(fault.Throttled, "Organizations throttles: TooManyRequestsException"),
		"deny":     fault.New(fault.Denied, "Organizations answers only the management account and delegated administrators"),
	}[does]
}

// Account is backend.
func (r *emulators) Account(id, what string) {
	r.registered[project.MemberName(unitAccess.Name, id)] = true
	r.orPut(organizations.Unit{ID: unitAccess.Unit, Name: "unit", Parent: organizations.Root})
	r.orPut(organizations.Unit{ID: nestedUnit, Name: "nested", Parent: unitAccess.Unit})
	change := accountChanges[what]
	if change == nil {
		r.closed[id] = true
		if err := r.cloud.Organization.Remove(id); err != nil {
			r.Fatal(err)
		}
		return
	}
	a, known := r.cloud.Organization.Account(id)
	if !known {
		a = organizations.Account{ID: id, Name: "account " + id[11:]}
	}
	change(&a)
	r.closed[id] = !a.Closed.IsZero() || a.Suspended
	if err := r.cloud.Organization.Put(a); err != nil {
		r.Fatal(err)
	}
}

// orPut puts a unit into the organization.
func (r *emulators) orPut(u organizations.Unit) {
	if err := r.cloud.Organization.PutUnit(u); err != nil {
		r.Fatal(err)
	}
}

// Organization is backend.
func (r *emulators) Organization(does string) {
	r.cloud.Organization.Hide(does == "list-nothing")
	r.cloud.Organization.HideUnits(does == "list-flat")
	failure, others := organizationDoes[does], r.failing
	r.cloud.Gateway.Fail(func(q gateway.Request) *gateway.Failure {
		switch {
		case q.Service == "organizations" && failure != nil && (does != "lose-unit" || strings.HasSuffix(q.Operation, "ForParent")):
			return failure
		case others != nil:
			return others(q)
		}
		return nil
	})
}

package target_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/target"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// A store is target.Store and unit.Organization.
type store struct {
	all     map[string]project.Access
	records map[string]plan.Record
	said    []string
	missing bool
	gone    string // the ID of a unit that was deleted
}

func (s *store) Targets(context.Context) (map[string]project.Access, error) { return s.all, nil }

func (s *store) AddTarget(_ context.Context, a project.Access, by run.AuditEntry) error {
	s.all[a.Name], s.said = a, append(s.said, by.What)
	return nil
}

func (s *store) RemoveTarget(_ context.Context, name string, by run.AuditEntry) error {
	delete(s.all, name)
	s.said = append(s.said, by.What)
	return nil
}

func (s *store) Projects(context.Context) ([]string, error) { return []string{"shop@prod"}, nil }

func (s *store) Records(context.Context, string) (map[string]plan.Record, error) {
	return s.records, nil
}

func (s *store) Accounts(_ context.Context, id string) (project.UnitAccounts, error) {
	if s.missing || id == s.gone {
		return project.UnitAccounts{}, fault.New(fault.Missing, "there is no such unit")
	}
	return project.UnitAccounts{Accounts: []project.Account{{ID: "111111111111", State: project.AccountActive}}}, nil
}

func (s *store) Above(context.Context, string) ([]string, error) { return nil, nil }

func (s *store) Account(context.Context, string) (project.Account, error) {
	return project.Account{}, fault.New(fault.Missing, "there is no account")
}

func registry(s *store) target.Registry {
	home := project.Access{Target: project.Target{Name: "default", Account: "000000000000", Region: "us-east-1"}}
	n := 0
	return target.Registry{Store: s, Organization: s, Shown: s, Home: home, Reach: project.Reach{Home: home.Target, Stack: "sw", Units: true}, NewExternalID: func() string { n++; return fmt.Sprint("sw-", n) }}
}

func unitOf(name string, except ...string) project.Access {
	return project.Access{Target: project.Target{Name: name, Region: "eu-west-1"}, Unit: "ou-abcd-12345678", Except: except, Role: "arn:aws:iam::*:role/stackwright/sw-orchestrator", Projects: project.Grants{"*@*"}}
}

func single(name, account string) project.Access {
	return project.Access{Target: project.Target{Name: name, Account: account, Region: "eu-west-1"}, Role: "arn:aws:iam::" + account + ":role/stackwright/sw-orchestrator", Projects: project.Grants{"*@*"}}
}

// add registers targets, and returns the external ID of the last.
func add(t *testing.T, r target.Registry, all ...project.Access) string {
	t.Helper()
	id := ""
	for _, a := range all {
		got, err := r.Add(t.Context(), a, target.Requester{Who: "ann"})
		if err != nil {
			t.Fatal(a.Name, err)
		}
		id = got.ExternalID
	}
	return id
}

// A role has one external ID, however it was registered first: that of an account, that of a unit, or that of the same unit before.
func TestExternalIDOfUnit(t *testing.T) {
	for name, c := range map[string]struct {
		all  []project.Access
		want string
	}{
		"a unit":                           {[]project.Access{unitOf("org")}, "sw-1"},
		"a unit again":                     {[]project.Access{unitOf("org"), unitOf("org", "333333333333")}, "sw-1"},
		"an account before the unit":       {[]project.Access{single("eu", "111111111111"), unitOf("org")}, "sw-1"},
		"an account after the unit":        {[]project.Access{unitOf("org"), single("eu", "111111111111")}, "sw-1"},
		"an account that is left out":      {[]project.Access{single("eu", "111111111111"), unitOf("org", "111111111111")}, "sw-2"},
		"a left out account after it":      {[]project.Access{unitOf("org", "111111111111"), single("eu", "111111111111")}, "sw-2"},
		"two units with the same roles":    {[]project.Access{unitOf("org"), unitOf("other")}, "sw-1"},
		"two accounts, one is left out":    {[]project.Access{single("eu", "111111111111"), single("us", "222222222222"), unitOf("org", "222222222222")}, "sw-1"},
		"accounts and a unit of their own": {[]project.Access{single("eu", "111111111111"), single("us", "222222222222"), unitOf("org", "111111111111", "222222222222")}, "sw-3"},
	} {
		if got := add(t, registry(&store{all: map[string]project.Access{}}), c.all...); got != c.want {
			t.Errorf("%s: the external ID is %s, want %s", name, got, c.want)
		}
	}
}

// What would be ambiguous is refused, and so is a unit that is used, or that does not exist.
func TestRefusedUnit(t *testing.T) {
	refused := func(t *testing.T, s *store, a project.Access, kind fault.Kind, says string) {
		t.Helper()
		was := len(s.said)
		if _, err := registry(s).Add(t.Context(), a, target.Requester{}); !fault.Is(err, kind) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v, want an error of kind %s with %q", a.Name, err, kind, says)
		}
		if len(s.said) != was {
			t.Errorf("%s was registered", a.Name)
		}
	}
	s := &store{all: map[string]project.Access{}}
	r := registry(s)
	add(t, r, single("eu", "111111111111"), single("us", "222222222222"))
	refused(t, s, unitOf("org"), fault.Refused, "the targets eu and us have roles of the same name in accounts of their own, with different external IDs, and all accounts of a unit have one: leave these accounts out with --except 111111111111,222222222222, or remove the targets")
	add(t, r, unitOf("org", "111111111111", "222222222222"))
	if want := "put target org: the accounts of unit ou-abcd-12345678, region eu-west-1, except 111111111111, 222222222222, role arn:aws:iam::*:role/stackwright/sw-orchestrator, projects *@*"; s.said[2] != want {
		t.Errorf("the audit log says %q, want %q", s.said[2], want)
	}
	refused(t, s, single("org-333333333333", "333333333333"), fault.Refused, "this is the name of a target of one account of the unit of target org")
	add(t, r, single("far-333333333333", "333333333333"))
	refused(t, s, unitOf("far", "111111111111", "222222222222"), fault.Refused, "target far-333333333333 is registered, and the target of one account of the unit could have the same name")
	s.missing = true
	refused(t, s, unitOf("nowhere", "111111111111", "222222222222"), fault.Missing, "target nowhere: there is no such unit")
	s.missing = false

	s.records = map[string]plan.Record{"net@org-444444444444": {Node: "net@org-444444444444", Target: project.Target{Name: "org-444444444444", Account: "444444444444"}}}
	moved := unitOf("org", "111111111111", "222222222222")
	moved.Unit = "ou-abcd-87654321"
	refused(t, s, moved, fault.Refused, "target org has 1 recorded stack, net@org-444444444444 of shop@prod: destroy them first, or leave them out of it and deploy; the records of those in accounts that nobody can use any more are deleted with stackwright forget; account 444444444444 is not under unit ou-abcd-87654321: move it there first")
	if err := r.Remove(t.Context(), "org", target.Requester{}); !fault.Is(err, fault.Refused) || s.all["org"].Name == "" {
		t.Errorf("a unit whose accounts have stacks was removed: %v", err)
	}
	for name, kind := range map[string]fault.Kind{"eu": fault.Refused, "mars": fault.Missing, "org": ""} {
		if a, all, err := r.Accounts(t.Context(), name); fault.KindOf(err) != kind || kind == "" && (len(all) != 1 || a.Name != "org") {
			t.Errorf("the accounts of %s are %+v (%v), want kind %q", name, all, err, kind)
		}
	}
	s.records = nil
	if err := r.Remove(t.Context(), "org", target.Requester{}); err != nil || s.all["org"].Name != "" {
		t.Errorf("the unit was not removed: %v", err)
	}
}

// A target that is not registered is refused with what the name is, or with the name that was probably meant.
func TestUnregistered(t *testing.T) {
	s := &store{all: map[string]project.Access{}}
	r := registry(s)
	add(t, r, single("eu", "111111111111"), unitOf("workloads", "111111111111"))
	for name, want := range map[string]string{
		"default":                "target default is the account and region of the installation itself: it is not registered, and is always there; the setting projects of the installation says which projects may use it",
		"workloads-222222222222": "target workloads-222222222222 is account 222222222222 under the unit of target workloads, and is not registered by itself: to leave the account out, register workloads again with all its options and --except 222222222222; to remove it with all other accounts, remove workloads",
		"workload":               "target workload is not registered: did you mean workloads?: the list of targets has those that are",
		"mars":                   "target mars is not registered: the list of targets has those that are",
	} {
		if err := r.Remove(t.Context(), name, target.Requester{}); !fault.Is(err, fault.Missing, fault.Refused) || err.Error() != want {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
		if _, _, err := r.Accounts(t.Context(), name); err == nil || err.Error() != want {
			t.Errorf("accounts of %s: got %v, want %s", name, err, want)
		}
	}
	s.records = map[string]plan.Record{"net": {Node: "net", Target: project.Target{Name: "eu", Account: "111111111111", Region: "eu-west-1"}}}
	far := single("eu", "111111111111")
	far.Region = "us-west-2"
	want := "target eu has 1 recorded stack, net of shop@prod: destroy them first, or leave them out of it and deploy; in region us-west-2, the target would not have those in eu-west-1 any more, and nobody would update or delete them: register us-west-2 under another name, name that in the project, and deploy, or give the target its region eu-west-1 again"
	if _, err := r.Add(t.Context(), far, target.Requester{}); !fault.Is(err, fault.Refused) || err.Error() != want {
		t.Errorf("another region: got %v, want %s", err, want)
	}
}

// A target stands for another unit if all accounts with stacks are under it, or if its unit was deleted. Stacks in a target whose name only looks like that
// of an account do not count.
func TestAnotherUnit(t *testing.T) {
	in := func(name, account string) map[string]plan.Record {
		return map[string]plan.Record{"net@" + name: {Node: "net@" + name, Target: project.Target{Name: name, Account: account}}}
	}
	moved := unitOf("org")
	moved.Unit = "ou-abcd-87654321"
	far := moved
	far.Region = "us-east-1"
	for name, c := range map[string]struct {
		records map[string]plan.Record
		gone    string
		to      project.Access
		good    bool
	}{
		"all accounts are under the new one":    {in("org-111111111111", "111111111111"), "", moved, true},
		"an account is elsewhere":               {in("org-444444444444", "444444444444"), "", moved, false},
		"the old one was deleted":               {in("org-444444444444", "444444444444"), "ou-abcd-12345678", moved, true},
		"the new one does not exist":            {in("org-111111111111", "111111111111"), moved.Unit, moved, false},
		"another region":                        {in("org-111111111111", "111111111111"), "ou-abcd-12345678", far, false},
		"an account in place of the unit":       {in("org-111111111111", "111111111111"), "ou-abcd-12345678", single("org", "111111111111"), false},
		"the target of another account is like": {in("org-111111111111", "222222222222"), "", single("org", "111111111111"), true},
	} {
		s := &store{all: map[string]project.Access{}}
		r := registry(s)
		add(t, r, unitOf("org"))
		s.records, s.gone = c.records, c.gone
		if _, err := r.Add(t.Context(), c.to, target.Requester{}); (err == nil) != c.good || c.good != (s.all["org"].Unit == c.to.Unit) {
			t.Errorf("%s: %v, want good %v", name, err, c.good)
		}
	}
	s := &store{all: map[string]project.Access{}, records: in("eu-111111111111", "111111111111")}
	r := registry(s)
	if add(t, r, single("eu", "111111111111")); r.Remove(t.Context(), "eu", target.Requester{}) != nil {
		t.Error("target eu cannot be removed because of stacks in target eu-111111111111, and eu is no unit")
	}
}

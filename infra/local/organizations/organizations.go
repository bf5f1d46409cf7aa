// Package organizations emulates AWS Organizations on this machine: its accounts and units, as far as a plan follows them.
package organizations

import (
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/stackwright/stackwright/infra/local/journal"
)

// Root is the ID of the root of the organization.
const Root = "r-home"

// How long a closure takes, and how long AWS can reinstate the account after it. Then the account is in no organization any more.
// https://docs.aws.amazon.com/accounts/latest/reference/manage-acct-closing.html
const (
	closing       = time.Minute
	reinstateable = 90 * 24 * time.Hour
)

// An Account is an account of the organization.
type Account struct {
	ID, Name, Email string
	Parent          string    // the ID of its unit, or the root
	Closed          time.Time `json:",omitzero"`  // when its closure was requested
	Suspended       bool      `json:",omitempty"` // by AWS
}

// A Unit is an organizational unit.
type Unit struct{ ID, Name, Parent string }

// record is a change: one field is set.
type record struct {
	Exists  bool     `json:"exists,omitempty"` // the organization, from now on
	Unit    *Unit    `json:"unit,omitempty"`
	Account *Account `json:"account,omitempty"`
	Gone    string   `json:"gone,omitempty"` // the ID of an account or a unit
	Last    int      `json:"last,omitempty"` // the number of the last ID that was given
}

// Service is an http.Handler that speaks the JSON protocol of Organizations. Use Open.
type Service struct {
	management string // the account that may call it
	caller     func(*http.Request) (account string)

	mu       sync.Mutex
	exists   bool
	units    map[string]Unit
	accounts map[string]Account
	last     int
	hides    bool              // lists of accounts are empty, although there are accounts
	flat     bool              // lists of units are empty, although there are units
	created  map[string]string // accounts by the ID of the request that has created them
	log      *journal.Journal[record]
}

// Open makes the service of a management account, with what is stored in a folder; "" is in memory. caller returns the account of the credentials of
// a request.
func Open(folder, management string, caller func(*http.Request) string) (*Service, error) {
	s := &Service{management: management, caller: caller, units: map[string]Unit{}, accounts: map[string]Account{}, created: map[string]string{}}
	log, err := journal.Restore(folder, "organizations.jsonl", s.replay, s.records)
	if err != nil {
		return nil, fmt.Errorf("open organizations: %w", err)
	}
	s.log = log
	return s, nil
}

// Close closes the journal.
func (s *Service) Close() error { return s.log.Close() }

func (s *Service) replay(r record) error {
	switch {
	case r.Exists:
		s.exists = true
	case r.Unit != nil:
		s.units[r.Unit.ID] = *r.Unit
	case r.Account != nil:
		s.accounts[r.Account.ID] = *r.Account
	case r.Gone != "":
		delete(s.units, r.Gone)
		delete(s.accounts, r.Gone)
	}
	s.last = max(s.last, r.Last)
	return nil
}

// records is the shortest journal that restores the service.
func (s *Service) records() iter.Seq[record] {
	return func(yield func(record) bool) {
		if s.exists && !yield(record{Exists: true, Last: s.last}) {
			return
		}
		for _, id := range slices.Sorted(maps.Keys(s.units)) {
			if u := s.units[id]; !yield(record{Unit: &u}) {
				return
			}
		}
		for _, id := range slices.Sorted(maps.Keys(s.accounts)) {
			if a := s.accounts[id]; !yield(record{Account: &a}) {
				return
			}
		}
	}
}

// keep stores a change and makes it.
func (s *Service) keep(r record) error {
	if err := s.log.Append(r); err != nil {
		return err
	}
	return s.replay(r)
}

// Put puts an account into the organization, or changes one, as its owner, the organization and AWS do in several requests. It makes the
// organization, and the unit of the account in its root, if there is none.
func (s *Service) Put(a Account) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.create(); err != nil {
		return err
	}
	if _, known := s.units[a.Parent]; !known && a.Parent != Root {
		if err := s.keep(record{Unit: &Unit{a.Parent, a.Parent, Root}}); err != nil {
			return err
		}
	}
	return s.keep(record{Account: &a})
}

// PutUnit puts a unit into another one, or into the root.
func (s *Service) PutUnit(u Unit) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.create(); err != nil {
		return err
	}
	return s.keep(record{Unit: &u})
}

// Hide lets lists of accounts be empty from now on, although there are accounts: AWS says that Organizations is eventually consistent.
// https://docs.aws.amazon.com/organizations/latest/APIReference/Welcome.html
func (s *Service) Hide(hides bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hides = hides
}

// HideUnits lets lists of units be empty from now on, although there are units.
func (s *Service) HideUnits(hides bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flat = hides
}

// Remove takes an account out of the organization.
func (s *Service) Remove(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keep(record{Gone: id})
}

// create makes the organization, unless there is one. Its management account is in it.
// https://docs.aws.amazon.com/organizations/latest/APIReference/API_CreateOrganization.html
func (s *Service) create() error {
	if s.exists {
		return nil
	}
	if err := s.keep(record{Exists: true}); err != nil {
		return err
	}
	return s.keep(record{Account: &Account{ID: s.management, Name: "management", Email: "management@example.com", Parent: Root}})
}

// state returns the state of an account, and whether it is still in the organization.
// https://docs.aws.amazon.com/organizations/latest/userguide/orgs_manage_accounts_account_state.html
func (a Account) state(now time.Time) (state string, in bool) {
	since := now.Sub(a.Closed)
	switch {
	case a.Closed.IsZero() && a.Suspended:
		return "SUSPENDED", true
	case a.Closed.IsZero():
		return "ACTIVE", true
	case since < closing:
		return "PENDING_CLOSURE", true
	}
	return "CLOSED", since < closing+reinstateable
}

// Account returns an account of the organization, and whether there is one.
func (s *Service) Account(id string) (Account, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, known := s.accounts[id]
	return a, known
}

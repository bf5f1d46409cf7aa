// Package organizations emulates AWS Organizations on this machine: its accounts and units, as far as a plan follows them.
package organizations

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stackwright/stackwright/infra/local/gateway"
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

// mostOnPage is the greatest MaxResults, and its default.
// https://docs.aws.amazon.com/organizations/latest/APIReference/API_ListAccountsForParent.html
const mostOnPage = 20

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

// A fault is an error of Organizations.
type fault struct{ code, message string }

func (f fault) Error() string { return f.code + ": " + f.message }

// The errors, with the texts of AWS where they are known.
// https://docs.aws.amazon.com/organizations/latest/APIReference/API_ListAccountsForParent.html#API_ListAccountsForParent_Errors
var (
	errNotInUse        = fault{"AWSOrganizationsNotInUseException", "Your account is not a member of an organization."}
	errDenied          = fault{"AccessDeniedException", "You don't have permissions to access this resource."}
	errAlready         = fault{"AlreadyInOrganizationException", "The AWS account is already a member of an organization."}
	errParentNotFound  = fault{"ParentNotFoundException", "You specified parent that doesn't exist."}
	errAccountNotFound = fault{"AccountNotFoundException", "You specified an account that doesn't exist."}
	errChildNotFound   = fault{"ChildNotFoundException", "You specified an organizational unit (OU) or account that doesn't exist."}
	errUnitNotFound    = fault{"OrganizationalUnitNotFoundException", "You specified an organizational unit that doesn't exist."}
	errUnitNotEmpty    = fault{"OrganizationalUnitNotEmptyException", "The specified organizational unit (OU) is not empty."}
	errSourceNotFound  = fault{"SourceParentNotFoundException", "We can't find a source root or OU with the ID that you specified."}
	errDestination     = fault{"DestinationParentNotFoundException", "We can't find the destination container (a root or OU) that you specified."}
	errClosed          = fault{"AccountAlreadyClosedException", "You attempted to close an account that is already closed."}
	errInvalid         = fault{"InvalidInputException", "You specified an invalid value."}
)

var (
	parentForm  = regexp.MustCompile(`^(r-[0-9a-z]{4,32}|ou-[0-9a-z]{4,32}-[a-z0-9]{8,32})$`)
	accountForm = regexp.MustCompile(`^\d{12}$`)
)

// input has the members of all requests.
type input struct {
	AccountId, ParentId, ChildId, Name, AccountName, Email string
	SourceParentId, DestinationParentId                    string
	OrganizationalUnitId, CreateAccountRequestId           string
	NextToken                                              string
	MaxResults                                             *int
}

// operations are those that it has.
// https://docs.aws.amazon.com/organizations/latest/APIReference/API_Operations.html
func operations() map[string]func(*Service, input) (any, error) {
	return map[string]func(*Service, input) (any, error){
		"CreateOrganization": (*Service).createOrganization, "DescribeOrganization": (*Service).describeOrganization, "ListRoots": (*Service).listRoots,
		"CreateOrganizationalUnit": (*Service).createUnit, "DeleteOrganizationalUnit": (*Service).deleteUnit,
		"ListOrganizationalUnitsForParent": (*Service).listUnits, "ListAccountsForParent": (*Service).listAccountsForParent, "ListAccounts": (*Service).listAccounts,
		"ListParents": (*Service).listParents, "CreateAccount": (*Service).createAccount, "DescribeCreateAccountStatus": (*Service).describeCreation,
		"DescribeAccount": (*Service).describeAccount, "MoveAccount": (*Service).moveAccount, "CloseAccount": (*Service).closeAccount,
		"RemoveAccountFromOrganization": (*Service).removeAccount,
	}
}

// ServeHTTP answers a request of the management account. No account here is a delegated administrator.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refuse := func(code, message string) {
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: code, Message: message})
	}
	name := r.Header.Get("X-Amz-Target")[strings.LastIndex(r.Header.Get("X-Amz-Target"), ".")+1:]
	operation, known := operations()[name]
	if !known {
		refuse("UnknownOperationException", "the local emulator of Organizations has no "+name)
		return
	}
	var in input
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		refuse("SerializationException", err.Error())
		return
	}
	out, err := s.answer(r, name, operation, in)
	if f, ok := err.(fault); ok {
		refuse(f.code, f.message)
		return
	}
	if err != nil {
		refuse("ServiceException", err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	_ = json.NewEncoder(w).Encode(out) // the client is gone if it fails
}

func (s *Service) answer(r *http.Request, name string, operation func(*Service, input) (any, error), in input) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	caller := s.caller(r)
	_, member := s.accounts[caller]
	switch {
	case !s.exists && name != "CreateOrganization", caller != s.management && !member:
		return nil, errNotInUse
	case caller != s.management:
		return nil, errDenied
	}
	return operation(s, in)
}

type object = map[string]any

func (s *Service) organization() object {
	return object{"Id": "o-localhome0", "Arn": "arn:aws:organizations::" + s.management + ":organization/o-localhome0", "FeatureSet": "ALL", "MasterAccountId": s.management}
}

func (s *Service) createOrganization(input) (any, error) {
	if s.exists {
		return nil, errAlready
	}
	return object{"Organization": s.organization()}, s.create()
}

func (s *Service) describeOrganization(input) (any, error) {
	return object{"Organization": s.organization()}, nil
}

func (s *Service) listRoots(input) (any, error) {
	return object{"Roots": []object{{"Id": Root, "Name": "Root"}}}, nil
}

// hasParent checks that a unit, or the root, exists.
func (s *Service) hasParent(id string, missing error) error {
	_, unit := s.units[id]
	switch {
	case !parentForm.MatchString(id):
		return errInvalid
	case !unit && id != Root:
		return missing
	}
	return nil
}

func (s *Service) createUnit(in input) (any, error) {
	if err := s.hasParent(in.ParentId, errParentNotFound); err != nil {
		return nil, err
	}
	if in.Name == "" {
		return nil, errInvalid
	}
	for _, u := range s.units { // https://docs.aws.amazon.com/organizations/latest/APIReference/API_CreateOrganizationalUnit.html
		if u.Parent == in.ParentId && u.Name == in.Name {
			return nil, fault{"DuplicateOrganizationalUnitException", "An OU with the same name already exists."}
		}
	}
	u := Unit{fmt.Sprintf("ou-%s-%08d", strings.TrimPrefix(Root, "r-"), s.last+1), in.Name, in.ParentId}
	return object{"OrganizationalUnit": object{"Id": u.ID, "Name": u.Name}}, s.keep(record{Unit: &u, Last: s.last + 1})
}

func (s *Service) deleteUnit(in input) (any, error) {
	if _, known := s.units[in.OrganizationalUnitId]; !known {
		return nil, errUnitNotFound
	}
	for _, u := range s.units {
		if u.Parent == in.OrganizationalUnitId {
			return nil, errUnitNotEmpty
		}
	}
	if len(s.in(in.OrganizationalUnitId)) > 0 {
		return nil, errUnitNotEmpty
	}
	return object{}, s.keep(record{Gone: in.OrganizationalUnitId})
}

// in are the accounts in a parent, sorted by ID.
func (s *Service) in(parent string) []Account {
	var all []Account
	for _, a := range s.accounts {
		if s.hides {
			continue
		}
		if _, in := a.state(time.Now()); in && (a.Parent == parent || parent == "") {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b Account) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// shown is an account in an answer. The member Status was retired on September 9, 2026.
// https://docs.aws.amazon.com/organizations/latest/APIReference/API_Account.html
func shown(a Account) object {
	state, _ := a.state(time.Now())
	return object{"Id": a.ID, "Name": a.Name, "Email": a.Email, "State": state, "JoinedMethod": "CREATED"}
}

// page is the part of a list that a request gets. The second page is empty, and there is a third one: "always check the NextToken response parameter
// value, even if you receive an empty result set".
func page(in input, key string, all []object) (any, error) {
	most := mostOnPage
	if in.MaxResults != nil {
		most = *in.MaxResults
	}
	if most < 1 || most > mostOnPage {
		return nil, errInvalid
	}
	from, empty := 0, false
	if in.NextToken != "" {
		if _, err := fmt.Sscanf(in.NextToken, "from-%d", &from); err != nil || from > len(all) {
			return nil, errInvalid
		}
		empty = strings.HasSuffix(in.NextToken, "-empty")
	}
	end := min(from+most, len(all))
	if empty {
		end = from
	}
	out := object{key: append([]object{}, all[from:end]...)}
	switch {
	case empty:
		out["NextToken"] = fmt.Sprintf("from-%d", end)
	case from == 0 && end < len(all):
		out["NextToken"] = fmt.Sprintf("from-%d-empty", end)
	case end < len(all):
		out["NextToken"] = fmt.Sprintf("from-%d", end)
	}
	return out, nil
}

func (s *Service) listUnits(in input) (any, error) {
	if err := s.hasParent(in.ParentId, errParentNotFound); err != nil {
		return nil, err
	}
	var all []object
	for _, id := range slices.Sorted(maps.Keys(s.units)) {
		if u := s.units[id]; u.Parent == in.ParentId && !s.flat {
			all = append(all, object{"Id": u.ID, "Name": u.Name})
		}
	}
	return page(in, "OrganizationalUnits", all)
}

func (s *Service) listAccountsForParent(in input) (any, error) {
	if err := s.hasParent(in.ParentId, errParentNotFound); err != nil {
		return nil, err
	}
	var all []object
	for _, a := range s.in(in.ParentId) {
		all = append(all, shown(a))
	}
	return page(in, "Accounts", all)
}

func (s *Service) listAccounts(in input) (any, error) {
	var all []object
	for _, a := range s.in("") {
		all = append(all, shown(a))
	}
	return page(in, "Accounts", all)
}

// Account returns an account of the organization, and whether there is one.
func (s *Service) Account(id string) (Account, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, known := s.accounts[id]
	return a, known
}

// account returns an account that is in the organization.
func (s *Service) account(id string, missing error) (Account, error) {
	a, known := s.accounts[id]
	if !accountForm.MatchString(id) {
		return a, errInvalid
	}
	if _, in := a.state(time.Now()); !known || !in {
		return a, missing
	}
	return a, nil
}

func (s *Service) describeAccount(in input) (any, error) {
	a, err := s.account(in.AccountId, errAccountNotFound)
	return object{"Account": shown(a)}, err
}

// listParents lists what an account, or a unit, is in.
// https://docs.aws.amazon.com/organizations/latest/APIReference/API_ListParents.html
func (s *Service) listParents(in input) (any, error) {
	parent, err := s.units[in.ChildId].Parent, error(nil)
	if parent == "" {
		var a Account
		a, err = s.account(in.ChildId, errChildNotFound)
		parent = a.Parent
	}
	kind := "ORGANIZATIONAL_UNIT"
	if parent == Root {
		kind = "ROOT"
	}
	return object{"Parents": []object{{"Id": parent, "Type": kind}}}, err
}

// createAccount creates an account in the root. AWS answers before it exists, and DescribeCreateAccountStatus says when it does.
// https://docs.aws.amazon.com/organizations/latest/APIReference/API_CreateAccount.html
func (s *Service) createAccount(in input) (any, error) {
	if in.AccountName == "" || in.Email == "" {
		return nil, errInvalid
	}
	a := Account{ID: fmt.Sprintf("9%011d", s.last+1), Name: in.AccountName, Email: in.Email, Parent: Root}
	request := fmt.Sprintf("car-%08d", s.last+1)
	s.created[request] = a.ID
	return object{"CreateAccountStatus": object{"Id": request, "AccountName": a.Name, "State": "IN_PROGRESS"}}, s.keep(record{Account: &a, Last: s.last + 1})
}

func (s *Service) describeCreation(in input) (any, error) {
	id, known := s.created[in.CreateAccountRequestId]
	if !known {
		return nil, fault{"CreateAccountStatusNotFoundException", "We can't find a create account request with the CreateAccountRequestId that you specified."}
	}
	return object{"CreateAccountStatus": object{"Id": in.CreateAccountRequestId, "AccountId": id, "State": "SUCCEEDED"}}, nil
}

// moveAccount moves an account to another unit.
// https://docs.aws.amazon.com/organizations/latest/APIReference/API_MoveAccount.html
func (s *Service) moveAccount(in input) (any, error) {
	a, err := s.account(in.AccountId, errAccountNotFound)
	if err != nil {
		return nil, err
	}
	if err := s.hasParent(in.SourceParentId, errSourceNotFound); err != nil {
		return nil, err
	}
	if err := s.hasParent(in.DestinationParentId, errDestination); err != nil {
		return nil, err
	}
	switch {
	case a.Parent == in.DestinationParentId:
		return nil, fault{"DuplicateAccountException", "That account is already present in the specified destination."}
	case a.Parent != in.SourceParentId:
		return nil, errSourceNotFound
	}
	a.Parent = in.DestinationParentId
	return object{}, s.keep(record{Account: &a})
}

// closeAccount closes an account.
// https://docs.aws.amazon.com/organizations/latest/APIReference/API_CloseAccount.html
func (s *Service) closeAccount(in input) (any, error) {
	a, err := s.account(in.AccountId, errAccountNotFound)
	switch {
	case err != nil:
		return nil, err
	case a.ID == s.management:
		return nil, fault{"ConstraintViolationException", "You can't close the management account."}
	case !a.Closed.IsZero():
		return nil, errClosed
	}
	a.Closed = time.Now().UTC()
	return object{}, s.keep(record{Account: &a})
}

// removeAccount takes an account out of the organization. It exists on, alone.
// https://docs.aws.amazon.com/organizations/latest/APIReference/API_RemoveAccountFromOrganization.html
func (s *Service) removeAccount(in input) (any, error) {
	a, err := s.account(in.AccountId, errAccountNotFound)
	switch {
	case err != nil:
		return nil, err
	case a.ID == s.management:
		return nil, fault{"MasterCannotLeaveOrganizationException", "You can't remove a management account from an organization."}
	}
	return object{}, s.keep(record{Gone: a.ID})
}

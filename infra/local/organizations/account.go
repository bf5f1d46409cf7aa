package organizations

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

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

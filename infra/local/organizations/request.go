package organizations

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/stackwright/stackwright/infra/local/gateway"
)

// mostOnPage is the greatest MaxResults, and its default.
// https://docs.aws.amazon.com/organizations/latest/APIReference/API_ListAccountsForParent.html
const mostOnPage = 20

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

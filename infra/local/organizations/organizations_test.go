package organizations_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/organizations"
	"github.com/aws/smithy-go"

	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/organizations"
	"github.com/stackwright/stackwright/infra/local/organizations/organizationstest"
	adapter "github.com/stackwright/stackwright/pkg/aws/organizations"
	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

const management = "000000000000"

// opened is a service whose requests are those of an account.
func opened(t *testing.T, folder string, account *string) *organizations.Service {
	t.Helper()
	s, err := organizations.Open(folder, management, func(*http.Request) string { return *account })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// clientOf is a client of a service, without a socket.
func clientOf(s http.Handler) *sdk.Client {
	return sdk.New(sdk.Options{Region: "us-east-1", HTTPClient: &http.Client{Transport: gateway.Transport{Handler: s}}, BaseEndpoint: aws.String("http://local"), Credentials: aws.AnonymousCredentials{}, Retryer: aws.NopRetryer{}})
}

func code(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return ""
}

// The adapter follows the accounts of the emulator.
func TestAdapter(t *testing.T) {
	contract.Follows(t, func(t *testing.T) contract.Organization {
		account := management
		return organizationstest.New(t, clientOf(opened(t, "", &account)))
	})
}

// Only the management account may send requests, and only if there is an organization. The adapter says what to do.
// https://docs.aws.amazon.com/organizations/latest/APIReference/API_ListAccountsForParent.html
func TestWhoMayList(t *testing.T) {
	account := management
	s := opened(t, "", &account)
	org := adapter.New(clientOf(s))
	const unit = "ou-home-12345678"
	refused := func(says string) {
		t.Helper()
		if _, err := org.Accounts(t.Context(), unit); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want an error of kind Denied with %q", err, says)
		}
	}
	refused("the account whose credentials are used is in no organization (AWSOrganizationsNotInUseException): let the installation use a role of the management account (setting organization), or create an organization in it")
	if err := s.Put(organizations.Account{ID: "111111111111", Name: "shop", Parent: unit}); err != nil {
		t.Fatal(err)
	}
	account = "111111111111"
	refused("Organizations answers only the management account and delegated administrators")
	account = "222222222222"
	refused("in no organization")
	account = management
	if found, err := org.Accounts(t.Context(), unit); err != nil || len(found.Accounts) != 1 {
		t.Errorf("the management account lists %+v (%v)", found, err)
	}
}

// A closed account is PENDING_CLOSURE, CLOSED, and after 90 days in no organization any more. The management account cannot be closed.
// https://docs.aws.amazon.com/accounts/latest/reference/manage-acct-closing.html
func TestClosure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		account := management
		o := organizationstest.New(t, clientOf(opened(t, "", &account)))
		in := o.Unit("")
		a := o.Join(in)
		o.Close(a)
		is := func(want project.AccountState) {
			t.Helper()
			if got, err := o.Account(t.Context(), a); err != nil || got.State != want || got.State.Closed() == "" {
				t.Errorf("the account is %+v (%v), want %s", got, err, want)
			}
		}
		is(project.AccountClosing)
		time.Sleep(time.Minute)
		is(project.AccountClosed)
		if _, err := o.Client.CloseAccount(t.Context(), &sdk.CloseAccountInput{AccountId: &a}); code(err) != "AccountAlreadyClosedException" {
			t.Errorf("it is closed again: %v", err)
		}
		time.Sleep(90 * 24 * time.Hour)
		if got, err := o.Account(t.Context(), a); !fault.Is(err, fault.Missing) {
			t.Errorf("after 90 days the account is %+v (%v)", got, err)
		}
		if found, err := o.Accounts(t.Context(), in); err != nil || len(found.Accounts) != 0 {
			t.Errorf("after 90 days the unit has %+v (%v)", found, err)
		}
		if _, err := o.Client.CloseAccount(t.Context(), &sdk.CloseAccountInput{AccountId: aws.String(management)}); code(err) != "ConstraintViolationException" {
			t.Errorf("the management account is closed: %v", err)
		}
	})
}

// What is requested is refused in AWS's words, and nothing is changed.
func TestRefused(t *testing.T) {
	account := management
	o := organizationstest.New(t, clientOf(opened(t, "", &account)))
	c, unit := o.Client, o.Unit("")
	a := o.Join(unit)
	text := aws.String
	for want, send := range map[string]func() error{
		"AlreadyInOrganizationException": func() error { _, err := c.CreateOrganization(t.Context(), &sdk.CreateOrganizationInput{}); return err },
		"ParentNotFoundException": func() error {
			_, err := c.ListOrganizationalUnitsForParent(t.Context(), &sdk.ListOrganizationalUnitsForParentInput{ParentId: text("ou-home-99999999")})
			return err
		},
		"InvalidInputException": func() error {
			_, err := c.ListAccountsForParent(t.Context(), &sdk.ListAccountsForParentInput{ParentId: text("no-unit")})
			return err
		},
		"DuplicateOrganizationalUnitException": func() error {
			_, err := c.CreateOrganizationalUnit(t.Context(), &sdk.CreateOrganizationalUnitInput{ParentId: text("r-home"), Name: text("unit1")})
			return err
		},
		"OrganizationalUnitNotEmptyException": func() error {
			_, err := c.DeleteOrganizationalUnit(t.Context(), &sdk.DeleteOrganizationalUnitInput{OrganizationalUnitId: &unit})
			return err
		},
		"OrganizationalUnitNotFoundException": func() error {
			_, err := c.DeleteOrganizationalUnit(t.Context(), &sdk.DeleteOrganizationalUnitInput{OrganizationalUnitId: text("ou-home-99999999")})
			return err
		},
		"SourceParentNotFoundException": func() error {
			_, err := c.MoveAccount(t.Context(), &sdk.MoveAccountInput{AccountId: &a, SourceParentId: text("r-home"), DestinationParentId: text("r-home")})
			return err
		},
		"DestinationParentNotFoundException": func() error {
			_, err := c.MoveAccount(t.Context(), &sdk.MoveAccountInput{AccountId: &a, SourceParentId: &unit, DestinationParentId: text("ou-home-99999999")})
			return err
		},
		"DuplicateAccountException": func() error {
			_, err := c.MoveAccount(t.Context(), &sdk.MoveAccountInput{AccountId: &a, SourceParentId: &unit, DestinationParentId: &unit})
			return err
		},
		"AccountNotFoundException": func() error {
			_, err := c.RemoveAccountFromOrganization(t.Context(), &sdk.RemoveAccountFromOrganizationInput{AccountId: text("777777777777")})
			return err
		},
		"UnknownOperationException": func() error {
			_, err := c.ListPolicies(t.Context(), &sdk.ListPoliciesInput{Filter: "TAG_POLICY"})
			return err
		},
	} {
		if err := send(); code(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if found, err := o.Accounts(t.Context(), unit); err != nil || len(found.Accounts) != 1 || found.Accounts[0].Unit != unit {
		t.Errorf("the unit has %+v (%v)", found, err)
	}
}

// A data folder keeps the organization.
func TestKept(t *testing.T) {
	account, folder := management, t.TempDir()
	s := opened(t, folder, &account)
	o := organizationstest.New(t, clientOf(s))
	unit := o.Unit(o.Unit(""))
	a, b := o.Join(unit), o.Join(unit)
	if err := s.Remove(b); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = opened(t, folder, &account)
	}
	again := adapter.New(clientOf(s))
	if found, err := again.Accounts(t.Context(), unit); err != nil || len(found.Accounts) != 1 || found.Accounts[0].ID != a {
		t.Errorf("after a restart the unit has %+v (%v), want %s", found, err, a)
	}
	out, err := clientOf(s).CreateAccount(t.Context(), &sdk.CreateAccountInput{AccountName: aws.String("new"), Email: aws.String("new@example.com")})
	if err != nil || out.CreateAccountStatus.State != "IN_PROGRESS" {
		t.Fatal(out, err)
	}
	all, err := clientOf(s).ListAccounts(t.Context(), &sdk.ListAccountsInput{})
	var ids []string
	for _, one := range all.Accounts {
		ids = append(ids, aws.ToString(one.Id))
	}
	if err != nil || len(ids) != 3 || len(slices.Compact(ids)) != 3 || slices.Contains(ids, b) {
		t.Errorf("the accounts are %v (%v), want three, without %s", ids, err, b)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

package organizations_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/organizations"
	"github.com/aws/aws-sdk-go-v2/service/organizations/types"

	"github.com/stackwright/stackwright/pkg/aws/organizations"
	"github.com/stackwright/stackwright/pkg/aws/sts"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

const unit = "ou-abcd-12345678"

// A service answers requests, by their operation, with what it is to say: several answers one after the other.
type service struct {
	says map[string][]string
	code string
	got  []string
}

// Do is aws.HTTPClient.
func (s *service) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	name := r.Header.Get("X-Amz-Target")[strings.LastIndex(r.Header.Get("X-Amz-Target"), ".")+1:]
	s.got = append(s.got, name+" "+string(body))
	status, said := http.StatusOK, "{}"
	if s.code != "" {
		status, said = http.StatusBadRequest, `{"__type":"`+s.code+`","message":"it failed"}`
	} else if all := s.says[name]; len(all) > 0 {
		said, s.says[name] = all[0], all[1:]
	}
	return &http.Response{StatusCode: status, Request: r, Header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}}, Body: io.NopCloser(strings.NewReader(said))}, err
}

func organization(s *service) organizations.Organization {
	return organizations.New(sdk.New(sdk.Options{Region: "us-east-1", HTTPClient: s, Retryer: aws.NopRetryer{}, Credentials: aws.AnonymousCredentials{}}))
}

// A page may be empty although there are more, an account may be on two pages because it was moved meanwhile, and the status of an account counts only
// without its state.
func TestAccounts(t *testing.T) {
	s := &service{says: map[string][]string{
		"ListAccountsForParent": {
			`{"Accounts":[],"NextToken":"a"}`, `{"Accounts":[{"Id":"222222222222","Name":"b","State":"CLOSED","Status":"ACTIVE"}],"NextToken":"b"}`, `{"Accounts":[{"Id":"111111111111","Name":"a","Status":"ACTIVE"}]}`,
			`{"Accounts":[{"Id":"111111111111","Name":"a","State":"ACTIVE"}]}`,
		},
		"ListOrganizationalUnitsForParent": {`{"OrganizationalUnits":[],"NextToken":"a"}`, `{"OrganizationalUnits":[{"Id":"ou-abcd-nested00"}]}`},
	}}
	found, err := organization(s).Accounts(t.Context(), unit)
	want := fmt.Sprint([]project.Account{{ID: "111111111111", Name: "a", State: "ACTIVE", Unit: unit}, {ID: "222222222222", Name: "b", State: "CLOSED", Unit: unit}}, []string{unit, "ou-abcd-nested00"})
	if got := fmt.Sprint(found.Accounts, found.Units); err != nil || got != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
	if len(s.got) != 7 || !strings.Contains(s.got[1], `"NextToken":"a"`) || !strings.Contains(s.got[6], "ou-abcd-nested00") {
		t.Errorf("the requests were %q", s.got)
	}
}

// Organizations that answers with a token for ever is an error, and no endless list.
func TestEndlessPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{says: map[string][]string{}}
		for i := range 5010 {
			s.says["ListAccountsForParent"] = append(s.says["ListAccountsForParent"], fmt.Sprintf(`{"Accounts":[],"NextToken":"%d"}`, i))
		}
		if found, err := organization(s).Accounts(t.Context(), unit); !fault.Is(err, fault.Broken) || len(found.Accounts) > 0 {
			t.Errorf("got %v (%v), want an error of kind Broken", found, err)
		}
	})
}

// A long list is requested slowly after its first requests, and ends when its context does.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for pages, least := range map[int]time.Duration{10: 0, 119: 20 * time.Second} {
			s := &service{says: map[string][]string{}}
			for i := range pages - 1 {
				s.says["ListAccountsForParent"] = append(s.says["ListAccountsForParent"], fmt.Sprintf(`{"Accounts":[],"NextToken":"%d"}`, i))
			}
			started := time.Now()
			if _, err := organization(s).Accounts(t.Context(), unit); err != nil || len(s.got) != pages+1 || time.Since(started) != least {
				t.Errorf("%d requests took %s (%v), want %d in %s", len(s.got), time.Since(started), err, pages+1, least)
			}
			s.says["ListAccountsForParent"], s.got = nil, nil
			for i := range pages {
				s.says["ListAccountsForParent"] = append(s.says["ListAccountsForParent"], fmt.Sprintf(`{"Accounts":[],"NextToken":"%d"}`, i))
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := organization(s).Accounts(ctx, unit); (err != nil) != (least > 0) || err != nil && !fault.Is(err, fault.Unavailable) {
				t.Errorf("%d pages in a second: %v", pages, err)
			}
			cancel()
		}
	})
}

type client func(*http.Request) (*http.Response, error)

// Do is aws.HTTPClient.
func (c client) Do(r *http.Request) (*http.Response, error) { return c(r) }

// If the role that lists accounts cannot be assumed, the error names the role and who has to trust it.
func TestRoleIsNotAssumed(t *testing.T) {
	const role = "arn:aws:iam::999999999999:role/stackwright-lists"
	denies := client(func(r *http.Request) (*http.Response, error) {
		body := `<ErrorResponse><Error><Code>AccessDenied</Code><Message>User: x is not authorized to perform: sts:AssumeRole on resource: ` + role + `</Message></Error></ErrorResponse>`
		return &http.Response{StatusCode: http.StatusForbidden, Request: r, Header: http.Header{"Content-Type": {"text/xml"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
	})
	cfg := aws.Config{Region: "us-east-1", HTTPClient: denies, Retryer: func() aws.Retryer { return aws.NopRetryer{} }, Credentials: aws.AnonymousCredentials{}}
	o := organizations.Assuming(sdk.New(sdk.Options{Region: "us-east-1", HTTPClient: &service{}, Retryer: aws.NopRetryer{}, Credentials: sts.Assuming(cfg, role)}), role)
	_, err := o.Accounts(t.Context(), unit)
	want := "list the accounts of unit " + unit + ": role " + role + ", with which the setting organization lets the installation list accounts, cannot be assumed ("
	if !fault.Is(err, fault.Denied) || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "let its trust policy allow the roles of the functions plan and api") {
		t.Errorf("got %v (%s), want %s…", err, fault.KindOf(err), want)
	}
}

// An account is in one unit. Without an account, or with several units, the answer is an error.
func TestAccount(t *testing.T) {
	const account = `{"Account":{"Id":"111111111111","Name":"a","State":"ACTIVE"}}`
	for says, want := range map[[2]string]fault.Kind{
		{account, `{"Parents":[{"Id":"r-abcd","Type":"ROOT"}]}`}:         "",
		{`{}`, `{"Parents":[{"Id":"r-abcd"}]}`}:                          fault.Broken,
		{account, `{"Parents":[]}`}:                                      fault.Unavailable,
		{account, `{"Parents":[{"Id":"r-abcd"},{"Id":"` + unit + `"}]}`}: fault.Unavailable,
	} {
		s := &service{says: map[string][]string{"DescribeAccount": {says[0]}, "ListParents": {says[1]}}}
		got, err := organization(s).Account(t.Context(), "111111111111")
		if fault.KindOf(err) != want || want == "" && got.Unit != "r-abcd" {
			t.Errorf("%v: got %+v (%v), want kind %q", says, got, err, want)
		}
	}
}

// Errors have the kinds on which plans decide, and say what to do. None of them is an empty unit.
func TestErrors(t *testing.T) {
	for code, want := range map[string]struct {
		kind fault.Kind
		says string
	}{
		"TooManyRequestsException":          {fault.Throttled, "nothing was changed; try again"},
		"ServiceException":                  {fault.Unavailable, ""},
		"AccessDeniedException":             {fault.Denied, "Organizations answers only the management account and delegated administrators"},
		"AWSOrganizationsNotInUseException": {fault.Denied, "is in no organization (AWSOrganizationsNotInUseException): let the installation use a role of the management account (setting organization), or create an organization in it (aws organizations create-organization"},
		"ParentNotFoundException":           {fault.Missing, "Organizations has no unit of this ID: it was deleted, or is of another organization"},
		"InvalidInputException":             {fault.Invalid, "it failed"},
		"ConstraintViolationException":      {fault.Refused, "it failed"},
	} {
		found, err := organization(&service{code: code}).Accounts(t.Context(), unit)
		if !fault.Is(err, want.kind) || !strings.Contains(err.Error(), want.says) || !strings.Contains(err.Error(), unit) || found.Units != nil {
			t.Errorf("%s: got %v (%v, %s), want kind %s with %q", code, found, err, fault.KindOf(err), want.kind, want.says)
		}
	}
	for code, kind := range map[string]fault.Kind{"AccountNotFoundException": fault.Missing, "TooManyRequestsException": fault.Throttled, "AccessDeniedException": fault.Denied} {
		if a, err := organization(&service{code: code}).Account(t.Context(), "111111111111"); !fault.Is(err, kind) {
			t.Errorf("%s: got %+v (%v), want kind %s", code, a, err, kind)
		}
	}
}

// Each state and status of the SDK is known, and only an active account is.
func TestStates(t *testing.T) {
	var all []string
	for _, s := range types.AccountState("").Values() {
		all = append(all, string(s))
	}
	for _, s := range types.AccountStatus("").Values() {
		all = append(all, string(s))
	}
	for _, s := range all {
		if state := project.AccountState(s); !state.Known() || (state.Closed() == "") != (s == "ACTIVE") {
			t.Errorf("%s: known %v, %q", s, state.Known(), state.Closed())
		}
	}
}

// The units above one end with the root. More than one parent, or no end, is an error.
func TestAbove(t *testing.T) {
	s := &service{says: map[string][]string{"ListParents": {`{"Parents":[{"Id":"ou-abcd-outer000"}]}`, `{"Parents":[{"Id":"r-abcd"}]}`}}}
	if got, err := organization(s).Above(t.Context(), unit); err != nil || fmt.Sprint(got) != "[ou-abcd-outer000 r-abcd]" || len(s.got) != 2 {
		t.Errorf("got %v (%v) after %q", got, err, s.got)
	}
	s = &service{says: map[string][]string{"ListParents": {`{"Parents":[]}`}}}
	if got, err := organization(s).Above(t.Context(), unit); !fault.Is(err, fault.Unavailable) || got != nil {
		t.Errorf("without a parent: %v (%v)", got, err)
	}
	for range 20 {
		s.says["ListParents"] = append(s.says["ListParents"], `{"Parents":[{"Id":"ou-abcd-round000"}]}`)
	}
	if got, err := organization(s).Above(t.Context(), unit); !fault.Is(err, fault.Broken) || got != nil {
		t.Errorf("without an end: %v (%v)", got, err)
	}
	if got, err := organization(s).Above(t.Context(), "r-abcd"); err != nil || got != nil {
		t.Errorf("above the root: %v (%v)", got, err)
	}
}

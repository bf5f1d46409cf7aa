package organizations_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
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

// An answering is Organizations with some units, each with an account, in the first one. Each answer takes a while, and more than some requests a
// second of an operation are throttled.
type answering struct {
	units, rate     int
	takes           time.Duration
	sent, throttled int
	tokens          map[string]float64
	last            map[string]time.Time
}

// Do is aws.HTTPClient.
func (s *answering) Do(r *http.Request) (*http.Response, error) {
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case <-time.After(s.takes):
	}
	body, err := io.ReadAll(r.Body)
	var in struct{ ParentId, NextToken string }
	if err == nil {
		err = json.Unmarshal(body, &in)
	}
	name := r.Header.Get("X-Amz-Target")[strings.LastIndex(r.Header.Get("X-Amz-Target"), ".")+1:]
	s.sent++
	status, said := http.StatusOK, `{"Accounts":[]}`
	switch {
	case s.over(name):
		s.throttled++
		status, said = http.StatusBadRequest, `{"__type":"TooManyRequestsException","message":"slower"}`
	case in.ParentId != unit:
		said = `{"Accounts":[{"Id":"` + in.ParentId[len("ou-abcd-"):] + `","State":"ACTIVE"}]}`
	case name == "ListOrganizationalUnitsForParent":
		var all []string
		for i := range s.units {
			all = append(all, fmt.Sprintf(`{"Id":"ou-abcd-%012d"}`, i))
		}
		said = `{"OrganizationalUnits":[` + strings.Join(all, ",") + `]}`
	}
	return &http.Response{StatusCode: status, Request: r, Header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}}, Body: io.NopCloser(strings.NewReader(said))}, err
}

// over reports whether a request is one too many: two seconds' requests may be sent at once.
func (s *answering) over(operation string) bool {
	if s.rate == 0 {
		return false
	}
	if s.tokens == nil {
		s.tokens, s.last = make(map[string]float64), make(map[string]time.Time)
	}
	now, most := time.Now(), float64(2*s.rate)
	if last, ok := s.last[operation]; !ok {
		s.tokens[operation] = most
	} else {
		s.tokens[operation] = min(most, s.tokens[operation]+now.Sub(last).Seconds()*float64(s.rate))
	}
	s.last[operation] = now
	if s.tokens[operation] < 1 {
		return true
	}
	s.tokens[operation]--
	return false
}

// list lists the accounts of an organization with the retries of the installation, in a time; none for as long as it takes.
func list(t *testing.T, s *answering, within time.Duration) (project.UnitAccounts, time.Duration, error) {
	t.Helper()
	o := sdk.Options{Region: "us-east-1", HTTPClient: s, Credentials: aws.AnonymousCredentials{}}
	o.Retryer = retry.NewStandard(func(r *retry.StandardOptions) { r.MaxAttempts, r.RateLimiter = 10, ratelimit.None })
	ctx := t.Context()
	if within > 0 {
		limited, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		ctx = limited
	}
	started := time.Now()
	found, err := organizations.New(sdk.New(o, organizations.Adaptive)).Accounts(ctx, unit)
	return found, time.Since(started), err
}

// A list is read without a pause as long as Organizations does not throttle: a unit with many units is read in the time that the requests take.
func TestNoPauseBeforeAThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &answering{units: 200, takes: 50 * time.Millisecond}
		found, took, err := list(t, s, 29*time.Second)
		if err != nil || len(found.Accounts) != 200 || s.sent != 402 || took != 402*s.takes {
			t.Errorf("%d accounts with %d requests in %s (%v), want 200 in %s", len(found.Accounts), s.sent, took, err, 402*s.takes)
		}
	})
}

// A list is read as slowly as Organizations allows once it throttles, and few requests are throttled.
func TestSlowerAfterAThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &answering{units: 500, takes: 20 * time.Millisecond, rate: 5}
		found, took, err := list(t, s, 300*time.Second)
		if err != nil || len(found.Accounts) != 500 || s.throttled == 0 || s.throttled > s.sent/5 {
			t.Errorf("%d accounts with %d requests, of which %d were throttled, in %s (%v)", len(found.Accounts), s.sent, s.throttled, took, err)
		}
	})
}

// A list that is not complete ends two seconds before its time with an error that says so, whether it waits for an answer or for Organizations to throttle no more.
func TestOutOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, s := range map[string]*answering{"many units": {units: 1000, takes: 50 * time.Millisecond}, "no answer": {takes: time.Hour}, "throttled": {units: 1000, takes: time.Millisecond, rate: 1}} {
			found, took, err := list(t, s, 29*time.Second)
			if !fault.Is(err, fault.Unavailable) || found.Units != nil || took > 27*time.Second || took < 20*time.Second || !strings.Contains(err.Error(), "the time for the list is over after ") || !strings.Contains(err.Error(), "stackwright targets add NAME --ou UNIT") {
				t.Errorf("%s: %v after %s: %v", name, found, took, err)
			}
		}
		if found, _, err := list(t, &answering{units: 1000, takes: 50 * time.Millisecond}, 0); err != nil || len(found.Accounts) != 1000 {
			t.Errorf("without a limit: %d accounts (%v)", len(found.Accounts), err)
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

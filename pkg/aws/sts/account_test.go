package sts_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/stackwright/stackwright/pkg/aws/sts"
	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

const (
	role = "arn:aws:iam::111111111111:role/stackwright"
)

var (
	home = project.Access{Target: project.Target{Name: "default", Account: "000000000000", Region: "us-east-1"}, Execution: "execution", Projects: project.Grants{"shop@*"}}
	eu   = project.Target{Name: "eu", Account: "111111111111", Region: "eu-west-1"}
	near = project.Target{Name: "near", Account: "000000000000", Region: "us-west-2"}
)

// tokens is an STS that returns credentials for a quarter of an hour, or refuses
// with a status and a code.
type tokens struct {
	forms  []url.Values
	status int
	code   string
}

// Do is aws.HTTPClient.
func (s *tokens) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	s.forms = append(s.forms, form)
	if s.status == 0 && s.code != "" {
		return nil, errors.New(s.code)
	}
	status := http.StatusOK
	text := fmt.Sprintf("<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>KEY%d</AccessKeyId><SecretAccessKey>s</SecretAccessKey>"+
		"<SessionToken>t</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>",
		len(s.forms), time.Now().Add(15*time.Minute).UTC().Format(time.RFC3339))
	if s.status > 0 {
		status = s.status
		text = fmt.Sprintf("<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>no</Message></Error></ErrorResponse>", s.code)
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"text/xml"}}, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
}

// registry holds targets by name. It counts how often it is read.
type registry struct {
	all   map[string]project.Access
	err   error
	reads int
}

func (r *registry) Access(_ context.Context, name string) (project.Access, error) {
	r.reads++
	if a, ok := r.all[name]; ok && r.err == nil {
		return a, nil
	}
	if r.err != nil {
		return project.Access{}, r.err
	}
	return project.Access{}, fault.New(fault.Missing, "no %s", name)
}

func open(s *tokens) (*sts.Accounts, *registry) {
	b := &registry{all: map[string]project.Access{
		"eu":   {Target: eu, Role: role, Execution: "theirs", ExternalID: "sw-1"},
		"near": {Target: near},
	}}
	cfg := aws.Config{
		Region: "us-east-1", HTTPClient: s, Credentials: credentials.NewStaticCredentialsProvider("OWN", "s", ""),
		Retryer: func() aws.Retryer { return aws.NopRetryer{} },
	}
	return sts.New(cfg, home, b), b
}

// The installation's own credentials are used for a target without a role. The
// registry is not read for the installation's own account.
func TestOwnAccount(t *testing.T) {
	s := &tokens{}
	a, b := open(s)
	for _, c := range []struct {
		target    project.Target
		execution string
		reads     int
	}{{home.Target, "execution", 0}, {near, "", 1}} {
		cfg, execution, err := a.In(t.Context(), c.target)
		if err != nil || cfg.Region != c.target.Region || execution != c.execution {
			t.Fatalf("%s: region %s, role %q, %v", c.target.Name, cfg.Region, execution, err)
		}
		if got, err := cfg.Credentials.Retrieve(t.Context()); err != nil || got.AccessKeyID != "OWN" || len(s.forms) > 0 || b.reads != c.reads {
			t.Errorf("%s: %s, %v; %d roles assumed, %d reads", c.target.Name, got.AccessKeyID, err, len(s.forms), b.reads)
		}
	}
}

// What is in stacks is read with the role beside the one that changes them, with the same external ID; with the installation's own
// credentials where no role is assumed.
func TestReadingAssumesTheReader(t *testing.T) {
	s := &tokens{}
	a, b := open(s)
	b.all["eu"] = project.Access{Target: eu, Role: role + "/sw-orchestrator", ExternalID: "sw-1"}
	for target, want := range map[project.Target]string{home.Target: "", near: "", eu: role + "/sw-reader sw-1"} {
		s.forms = nil
		cfg, err := a.Reading(t.Context(), target)
		if err != nil || cfg.Region != target.Region {
			t.Fatal(cfg.Region, err)
		}
		got := ""
		for _, f := range s.forms {
			got += f.Get("RoleArn") + " " + f.Get("ExternalId")
		}
		if got != want {
			t.Errorf("%s: %s, want %s", target.Name, got, want)
		}
	}
	a, _ = open(s)
	if _, err := a.Reading(t.Context(), eu); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "does not end with -orchestrator") {
		t.Error(err)
	}
	s.status, s.code = 403, "AccessDenied"
	a, b = open(s)
	b.all["eu"] = project.Access{Target: eu, Role: role + "/sw-orchestrator"}
	if _, err := a.Reading(t.Context(), eu); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "/sw-reader of account 111111111111 cannot be assumed") {
		t.Error(err)
	}
}

// A role is assumed once for each run, under the run's name and with the external
// ID, and again shortly before its credentials expire.
func TestAssume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &tokens{}
		a, b := open(s)
		key := func(run string) string {
			t.Helper()
			cfg, execution, err := a.In(sts.As(t.Context(), "sw-"+run), eu)
			if err != nil || cfg.Region != "eu-west-1" || execution != "theirs" {
				t.Fatal(cfg.Region, execution, err)
			}
			got, err := cfg.Credentials.Retrieve(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return got.AccessKeyID
		}
		for _, c := range []struct {
			run  string
			wait time.Duration
			want string
		}{{"a", 0, "KEY1"}, {"a", 13 * time.Minute, "KEY1"}, {"b", 0, "KEY2"}, {"a", 90 * time.Second, "KEY3"}, {"b", 0, "KEY2"}} {
			time.Sleep(c.wait)
			if got := key(c.run); got != c.want {
				t.Errorf("after %s run %s has %s, want %s", c.wait, c.run, got, c.want)
			}
		}
		if b.reads != 3 {
			t.Errorf("the target was read %d times", b.reads)
		}
		for i, session := range []string{"sw-a", "sw-b", "sw-a"} {
			got := s.forms[i]
			if got.Get("RoleArn") != role || got.Get("RoleSessionName") != session || got.Get("ExternalId") != "sw-1" {
				t.Errorf("the request is %v", got)
			}
		}
	})
}

// No two external IDs are equal, and the template of a target accepts them.
func TestNewExternalID(t *testing.T) {
	seen := make(map[string]bool)
	for range 1000 {
		id := sts.NewExternalID()
		if !regexp.MustCompile(`^sw-[0-9a-f]{32}$`).MatchString(id) || seen[id] {
			t.Fatal(id)
		}
		seen[id] = true
	}
}

// The error of a target that cannot be used says why, and what to do.
func TestDenied(t *testing.T) {
	moved := eu
	moved.Region = "eu-north-1"
	for _, c := range []struct {
		target project.Target
		tokens tokens
		read   error
		kind   fault.Kind
		says   string
	}{
		{eu, tokens{status: 403, code: "AccessDenied"}, nil, fault.Denied, "role " + role + " of account 111111111111 cannot be assumed (AccessDenied: no): create it there"},
		{eu, tokens{status: 403, code: "RegionDisabledException"}, nil, fault.Denied, "RegionDisabledException"},
		{eu, tokens{status: 400, code: "Throttling"}, nil, fault.Throttled, role},
		{eu, tokens{status: 500, code: "InternalFailure"}, nil, fault.Unavailable, role},
		{eu, tokens{code: "no route"}, nil, fault.Unavailable, role},
		{eu, tokens{}, fault.New(fault.Throttled, "slow down"), fault.Throttled, "slow down"},
		{moved, tokens{}, nil, fault.Denied, "it is registered for account 111111111111, region eu-west-1, but the run needs account 111111111111, region eu-north-1: register that with stackwright targets add eu"},
		{project.Target{Name: "us", Account: "222222222222", Region: "us-west-2"}, tokens{}, nil, fault.Denied, "it is not registered for account 222222222222, region us-west-2: register it with stackwright targets add us"},
	} {
		a, b := open(&c.tokens)
		b.err = c.read
		if _, _, err := a.In(t.Context(), c.target); !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %s: %s: %v", c.target.Name, c.tokens.code, fault.KindOf(err), err)
		}
	}
}

// The accounts obey the contract of the permissions, with a registry in memory.
func TestPermits(t *testing.T) {
	contract.Permits(t, func(t *testing.T, holds func(*testing.T, contract.Registry)) {
		synctest.Test(t, func(t *testing.T) {
			a, b := open(&tokens{})
			clear(b.all)
			holds(t, controlled{a, b})
		})
	})
}

// A controlled is accounts with a registry that the contract tests control.
type controlled struct {
	*sts.Accounts
	registry *registry
}

func (c controlled) Pass(d time.Duration) { time.Sleep(d) }

func (c controlled) Register(t project.Target, projects ...string) {
	c.registry.all[t.Name] = project.Access{Target: t, Projects: projects}
}

// The projects of the own account are a setting, so the registry is not read for it. An
// error says what to do.
func TestPermitInOwnAccount(t *testing.T) {
	a, b := open(&tokens{})
	if err := a.Permit(t.Context(), "shop@prod", home.Target); err != nil {
		t.Error(err)
	}
	const says = "target default is not for project other@prod: ask the owner of the installation to add other@prod to the setting projects of the installation"
	if err := a.Permit(t.Context(), "other@prod", home.Target); !fault.Is(err, fault.Denied) || err.Error() != says {
		t.Error(err)
	}
	if b.reads > 0 {
		t.Errorf("the registry was read %d times", b.reads)
	}
	b.err = fault.New(fault.Throttled, "slow down")
	if err := a.Permit(t.Context(), "shop@prod", eu); !fault.Is(err, fault.Throttled) {
		t.Errorf("the registry cannot be read: %v", err)
	}
}

// The role that publishes assets is assumed with the role of its target, or in the own account with the installation's own
// permissions, once for each run.
func TestRoleInATarget(t *testing.T) {
	const publishing = "arn:aws:iam::111111111111:role/cdk-hnb659fds-file-publishing-role-111111111111-eu-west-1"
	s := &tokens{}
	a, _ := open(s)
	for range 2 {
		cfg, err := a.As(t.Context(), eu, publishing, "")
		if err != nil || cfg.Region != "eu-west-1" {
			t.Fatal(cfg.Region, err)
		}
		if got, err := cfg.Credentials.Retrieve(t.Context()); err != nil || got.AccessKeyID != "KEY2" {
			t.Errorf("%s, %v", got.AccessKeyID, err)
		}
	}
	var assumed []string
	for _, f := range s.forms {
		assumed = append(assumed, f.Get("RoleArn")+" "+f.Get("ExternalId"))
	}
	if want := []string{role + " sw-1", publishing + " "}; !slices.Equal(assumed, want) {
		t.Errorf("%q, want %q", assumed, want)
	}

	denying := &tokens{status: http.StatusForbidden, code: "AccessDenied"}
	a, _ = open(denying)
	_, err := a.As(t.Context(), home.Target, "arn:aws:iam::000000000000:role/cdk-hnb659fds-file-publishing-role-000000000000-us-east-1", "")
	if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "run cdk bootstrap aws://000000000000/us-east-1") {
		t.Errorf("%v", err)
	}
}

// The installation assumes no role in its own account if that is in a unit, and CloudFormation gets its own execution role there. In the other accounts
// it assumes the roles of the unit.
func TestOwnAccountInAUnit(t *testing.T) {
	unit := project.Access{Target: project.Target{Name: "org", Region: "eu-west-1"}, Unit: "ou-abcd-12345678", Role: "arn:aws:iam::*:role/stackwright", Execution: "arn:aws:iam::*:role/execution", ExternalID: "sw-1", Projects: project.Grants{"*@*"}}
	own, other := unit.Member("000000000000"), unit.Member("111111111111")
	s := &tokens{}
	a := sts.New(aws.Config{HTTPClient: s, Credentials: credentials.NewStaticCredentialsProvider("OWN", "s", ""), Region: "us-east-1"}, home, &registry{all: map[string]project.Access{own.Name: own, other.Name: other}})
	cfg, execution, err := a.In(t.Context(), own.Target)
	if err != nil || execution != "execution" || cfg.Region != "eu-west-1" || len(s.forms) > 0 {
		t.Errorf("in the own account: %s in %s (%v), and %d roles were assumed", execution, cfg.Region, err, len(s.forms))
	}
	if cfg, err = a.Reading(t.Context(), own.Target); err != nil || len(s.forms) > 0 {
		t.Errorf("reading in the own account: %v, and %d roles were assumed", err, len(s.forms))
	}
	_, execution, err = a.In(t.Context(), other.Target)
	if err != nil || execution != "arn:aws:iam::111111111111:role/execution" || len(s.forms) != 1 || s.forms[0].Get("RoleArn") != role || s.forms[0].Get("ExternalId") != "sw-1" {
		t.Errorf("in another account: %s (%v), and these roles were assumed: %v", execution, err, s.forms)
	}
	if err := a.Permit(t.Context(), "shop@prod", other.Target); err != nil {
		t.Error(err)
	}
	if err := a.Permit(t.Context(), "shop@prod", own.Target); err != nil {
		t.Error(err)
	}
	if err := a.Permit(t.Context(), "bank@prod", other.Target); err != nil {
		t.Error(err)
	}
	if err := a.Permit(t.Context(), "bank@prod", own.Target); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "the setting projects of the installation; or leave the account out with --except 000000000000") {
		t.Errorf("a project that may not use the target default may use the account of the installation as one of a unit: %v", err)
	}
}

// In an account that is left out of its unit, no stack is created or updated; those that are there may be read and deleted.
func TestLeftOutOfAUnit(t *testing.T) {
	unit := project.Access{Target: project.Target{Name: "org", Region: "eu-west-1"}, Unit: "ou-abcd-12345678", Role: "arn:aws:iam::*:role/stackwright", ExternalID: "sw-1", Projects: project.Grants{"*@*"}, Except: []string{"222222222222"}}
	in, out := unit.Member("111111111111"), unit.Member("222222222222")
	a := sts.New(aws.Config{HTTPClient: &tokens{}, Region: "us-east-1"}, home, &registry{all: map[string]project.Access{in.Name: in, out.Name: out}})
	for _, one := range []project.Target{in.Target, home.Target} {
		if err := a.Deploys(t.Context(), one); err != nil {
			t.Error(err)
		}
	}
	if err := a.Deploys(t.Context(), out.Target); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "target org-222222222222: account 222222222222 is left out of its unit") {
		t.Errorf("got %v", err)
	}
	if err := a.Permit(t.Context(), "shop@prod", out.Target); err != nil {
		t.Error(err)
	}
}

// A role is assumed without an external ID to list the accounts of units, and again when its credentials expire.
func TestAssuming(t *testing.T) {
	s := &tokens{}
	p := sts.Assuming(aws.Config{HTTPClient: s, Credentials: credentials.NewStaticCredentialsProvider("OWN", "s", ""), Region: "us-east-1"}, role)
	for range 2 {
		if got, err := p.Retrieve(t.Context()); err != nil || got.AccessKeyID != "KEY1" {
			t.Errorf("got %s (%v)", got.AccessKeyID, err)
		}
	}
	if len(s.forms) != 1 || s.forms[0].Get("RoleArn") != role || s.forms[0].Has("ExternalId") || s.forms[0].Get("RoleSessionName") != "stackwright" {
		t.Errorf("the role was assumed with %v", s.forms)
	}
}

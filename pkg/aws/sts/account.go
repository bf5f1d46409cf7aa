// Package sts gets credentials in a target.
package sts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Registry knows the targets that are registered.
type Registry interface {
	// Access returns the target of a name, or an error of kind Missing.
	Access(ctx context.Context, name string) (project.Access, error)
}

// How long what was learnt is believed.
const (
	remembered = time.Minute // a registered target
	early      = time.Minute // before they expire credentials are fetched anew
	mostKept   = 500         // sessions; then all are forgotten
)

// ExternalID is what an installation says besides its name when it assumes a
// role of an account: the role's trust policy asks for it, so that nobody gets
// in who is only told the role's ARN. It is no secret, but it differs from
// installation to installation and from account to account, and no user can
// choose it. An installation is named by its state machine's ARN.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/confused-deputy.html
func ExternalID(installation, account string) string {
	sum := sha256.Sum256([]byte(installation + "\n" + account))
	return "sw-" + hex.EncodeToString(sum[:16])
}

// Accounts are all the accounts and regions that an installation works in.
type Accounts struct {
	own          aws.Config
	home         project.Access
	installation string
	registry     Registry

	mu       sync.Mutex
	targets  map[string]memory
	sessions map[session]aws.CredentialsProvider
}

// A memory is a registered target, and when it was read.
type memory struct {
	access project.Access
	at     time.Time
}

// A session is a role under the name that it was assumed by.
type session struct{ role, name string }

// New returns the accounts of an installation that has its own credentials by
// cfg and is at home, and whose state machine's ARN is given. It asks for nothing.
func New(cfg aws.Config, home project.Access, installation string, r Registry) *Accounts {
	return &Accounts{
		own: cfg, home: home, installation: installation, registry: r,
		targets: make(map[string]memory), sessions: make(map[session]aws.CredentialsProvider),
	}
}

type nameKey struct{}

// As has roles be assumed under a name, which is what a person finds in the
// account's own trail: letters, digits and hyphens, 2 to 64.
func As(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, nameKey{}, name)
}

// In returns the configuration of a client that works in a target, and the ARN
// of the role that CloudFormation is to be given there, if any. Credentials are
// kept until shortly before they expire. The error is of kind Denied if the
// target cannot be entered.
func (a *Accounts) In(ctx context.Context, t project.Target) (cfg aws.Config, execution string, err error) {
	access := a.home
	if t != a.home.Target {
		if access, err = a.access(ctx, t); err != nil {
			return aws.Config{}, "", err
		}
	}
	cfg = a.own.Copy()
	cfg.Region = access.Region
	if access.Role == "" {
		return cfg, access.Execution, nil
	}
	cfg.Credentials = a.credentials(ctx, access)
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		return aws.Config{}, "", understood(access, err)
	}
	return cfg, access.Execution, nil
}

// access returns how to work in a target, if it is still where it was.
func (a *Accounts) access(ctx context.Context, t project.Target) (project.Access, error) {
	a.mu.Lock()
	m, ok := a.targets[t.Name]
	a.mu.Unlock()
	if !ok || time.Since(m.at) > remembered || m.access.Target != t {
		got, err := a.registry.Access(ctx, t.Name)
		if fault.Is(err, fault.Missing) {
			return got, fault.New(fault.Denied, "it is not registered: have it registered for account %s, region %s", t.Account, t.Region)
		}
		if err != nil {
			return got, err
		}
		m = memory{got, time.Now()}
		a.mu.Lock()
		a.targets[t.Name] = m
		a.mu.Unlock()
	}
	if m.access.Target != t {
		return m.access, fault.New(fault.Denied, "it is registered for account %s, region %s, and this is about account %s, region %s: have that registered under this name",
			m.access.Account, m.access.Region, t.Account, t.Region)
	}
	return m.access, nil
}

// credentials are those of a target's role, under the name that ctx says.
func (a *Accounts) credentials(ctx context.Context, t project.Access) aws.CredentialsProvider {
	name, ok := ctx.Value(nameKey{}).(string)
	if !ok {
		name = "stackwright"
	}
	s := session{t.Role, name}
	a.mu.Lock()
	defer a.mu.Unlock()
	if known, ok := a.sessions[s]; ok {
		return known
	}
	if len(a.sessions) >= mostKept {
		clear(a.sessions)
	}
	assumes := stscreds.NewAssumeRoleProvider(sts.NewFromConfig(a.own), t.Role, func(o *stscreds.AssumeRoleOptions) {
		o.RoleSessionName, o.ExternalID = name, aws.String(ExternalID(a.installation, t.Account))
	})
	a.sessions[s] = aws.NewCredentialsCache(assumes, func(o *aws.CredentialsCacheOptions) { o.ExpiryWindow = early })
	return a.sessions[s]
}

var throttles = retry.IsErrorThrottles(retry.DefaultThrottles)

// understood says why a role was not assumed, and what to do.
func understood(t project.Access, err error) error {
	said, ok := errors.AsType[smithy.APIError](err)
	answer, heard := errors.AsType[*smithyhttp.ResponseError](err)
	switch {
	case throttles.IsErrorThrottle(err).Bool():
		return fault.New(fault.Throttled, "assume role %s: %w", t.Role, err)
	case !ok || !heard || answer.HTTPStatusCode() >= 500:
		return fault.New(fault.Unavailable, "assume role %s: %w", t.Role, err)
	}
	return fault.New(fault.Denied, "role %s of account %s cannot be assumed (%s: %s): have the role made there, and let it trust this installation with the external ID that stackwright targets lists; then retry",
		t.Role, t.Account, said.ErrorCode(), said.ErrorMessage())
}

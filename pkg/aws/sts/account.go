// Package sts assumes the roles of targets, and names callers.
package sts

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Registry knows the targets that are registered.
type Registry interface {
	// Access returns the target of a name, or an error of kind Missing.
	Access(ctx context.Context, name string) (project.Access, error)
}

// How long targets and credentials are cached.
const (
	cached      = time.Minute // a registered target
	early       = time.Minute // credentials are renewed so long before they expire
	maxSessions = 500         // cached at most; then the cache is emptied
)

// NewExternalID returns a random external ID for a role that an installation is to assume. It
// cannot be computed from anything; only the installation's table and the role's trust policy have it.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/confused-deputy.html
func NewExternalID() string {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // it never fails
	return "sw-" + hex.EncodeToString(id)
}

// Accounts gives access to the accounts and regions that an installation deploys to.
type Accounts struct {
	own      aws.Config
	home     project.Access
	registry Registry

	mu       sync.Mutex
	targets  map[string]entry
	sessions map[session]aws.CredentialsProvider
}

// An entry is a registered target, and when it was read.
type entry struct {
	access project.Access
	at     time.Time
}

// A session is a role, the external ID and the session name under which it was assumed, and the target with whose role.
type session struct{ role, externalID, name, via string }

// New returns the accounts of an installation. cfg holds the installation's own
// credentials, and home is its own account and region. New sends no request.
func New(cfg aws.Config, home project.Access, r Registry) *Accounts {
	return &Accounts{
		own: cfg, home: home, registry: r,
		targets: make(map[string]entry), sessions: make(map[session]aws.CredentialsProvider),
	}
}

// CallerARN returns the ARN of the principal whose credentials cfg holds. That of
// an assumed role ends with the session name. AWS requires no permission for this.
// https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html
func CallerARN(ctx context.Context, cfg aws.Config) (string, error) {
	out, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return "", awserr.Fault("get the caller's identity", "*", err, nil)
	}
	return aws.ToString(out.Arn), nil
}

// Assuming returns the credentials of a role, which is assumed with those of cfg, under the session name stackwright. They are cached until shortly
// before they expire.
func Assuming(cfg aws.Config, role string) aws.CredentialsProvider {
	assumes := stscreds.NewAssumeRoleProvider(sts.NewFromConfig(cfg), role, func(o *stscreds.AssumeRoleOptions) { o.RoleSessionName = "stackwright" })
	return aws.NewCredentialsCache(assumes, func(o *aws.CredentialsCacheOptions) { o.ExpiryWindow = early })
}

type nameKey struct{}

// As sets the session name under which roles are assumed: 2 to 64 letters, digits
// and hyphens. The account's CloudTrail shows it.
func As(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, nameKey{}, name)
}

// In returns the configuration of a client for a target, and the ARN of the role
// that CloudFormation assumes there, if any. Credentials are cached until shortly
// before they expire. The error is of kind Denied if the target is not registered
// or its role cannot be assumed.
func (a *Accounts) In(ctx context.Context, t project.Target) (cfg aws.Config, execution string, err error) {
	access, err := a.access(ctx, t, cached)
	if err != nil {
		return aws.Config{}, "", err
	}
	cfg = a.own.Copy()
	cfg.Region = access.Region
	if access.Role == "" {
		return cfg, access.Execution, nil
	}
	cfg.Credentials = a.credentials(ctx, a.own, access, "")
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		return aws.Config{}, "", denied(access, err)
	}
	return cfg, access.Execution, nil
}

// Reading returns the configuration of a client that only reads what is in the stacks of a target: with the target's reader role, which is
// beside the role that changes stacks. Where the installation uses its own permissions, it does here, too. Otherwise as In.
func (a *Accounts) Reading(ctx context.Context, t project.Target) (aws.Config, error) {
	access, err := a.access(ctx, t, cached)
	if err != nil {
		return aws.Config{}, err
	}
	cfg := a.own.Copy()
	cfg.Region = access.Region
	if access.Role == "" {
		return cfg, nil
	}
	if access.Role, err = access.Reader(); err != nil {
		return aws.Config{}, err
	}
	cfg.Credentials = a.credentials(ctx, a.own, access, "")
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		return aws.Config{}, denied(access, err)
	}
	return cfg, nil
}

// As returns the configuration of a client for a target with the permissions of another role
// in its account, which is assumed with those of the target's own role. The error is of
// kind Denied if a role cannot be assumed.
func (a *Accounts) As(ctx context.Context, t project.Target, role, externalID string) (aws.Config, error) {
	cfg, _, err := a.In(ctx, t)
	if err != nil {
		return aws.Config{}, err
	}
	of := project.Access{Target: t, Role: role, ExternalID: externalID}
	cfg.Credentials = a.credentials(ctx, cfg, of, t.Name)
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		return aws.Config{}, unassumed(of, err)
	}
	return cfg, nil
}

// unassumed returns the fault of a request to assume a role that cdk bootstrap has made.
func unassumed(t project.Access, err error) error {
	f := awserr.Fault("assume role "+t.Role, t.Role, err, awserr.Kinds{awserr.Other: fault.Denied})
	if !fault.Is(f, fault.Denied) {
		return f
	}
	return fault.New(fault.Denied, "role %s cannot be assumed: run cdk bootstrap aws://%s/%s, which creates it, and update the roles of Stackwright in that account, which may assume it (%w)",
		t.Role, t.Account, t.Region, f)
}

// Permit returns an error of kind Denied if the project of an ID may not use a target. It
// reads the target again before it denies, so that a permission counts at once.
func (a *Accounts) Permit(ctx context.Context, id string, t project.Target) error {
	access, err := a.access(ctx, t, cached)
	if err == nil && !access.Projects.Allow(id) {
		access, err = a.access(ctx, t, 0)
	}
	if err != nil {
		return fmt.Errorf("target %s: %w", t.Name, err)
	}
	if access.Unit != "" && access.Account == a.home.Account { // it is used with the permissions of the installation, as the target default
		if err := a.home.Permit(id); err != nil {
			return fmt.Errorf("target %s is the account of the installation: %w; or leave the account out with --except %s", t.Name, err, t.Account)
		}
	}
	return access.Permit(id)
}

// Deploys returns an error of kind Denied if the account of a target is left out of its unit.
func (a *Accounts) Deploys(ctx context.Context, t project.Target) error {
	access, err := a.access(ctx, t, cached)
	if err == nil && slices.Contains(access.Except, t.Account) {
		err = fault.New(fault.Denied, "account %s is left out of its unit (--except), so no stack is created or updated there: deploy again", t.Account)
	}
	if err != nil {
		return fmt.Errorf("target %s: %w", t.Name, err)
	}
	return nil
}

// access returns the access to a target, if its account and region are still the
// registered ones. It reads the target again if it was read longer ago than age.
func (a *Accounts) access(ctx context.Context, t project.Target, age time.Duration) (project.Access, error) {
	if t == a.home.Target {
		return a.home, nil
	}
	a.mu.Lock()
	m, ok := a.targets[t.Name]
	a.mu.Unlock()
	if !ok || time.Since(m.at) >= age || m.access.Target != t {
		got, err := a.registry.Access(ctx, t.Name)
		if fault.Is(err, fault.Missing) {
			return got, fault.New(fault.Denied, "it is not registered for account %s, region %s: register it with stackwright targets add %s", t.Account, t.Region, t.Name)
		}
		if err != nil {
			return got, err
		}
		m = entry{a.ownRoles(got), time.Now()}
		a.mu.Lock()
		a.targets[t.Name] = m
		a.mu.Unlock()
	}
	if m.access.Target != t {
		return m.access, fault.New(fault.Denied, "it is registered for account %s, region %s, but the run needs account %s, region %s: register that with stackwright targets add %s",
			m.access.Account, m.access.Region, t.Account, t.Region, t.Name)
	}
	return m.access, nil
}

// ownRoles returns the access to a target, with the permissions of the installation if the target is its own account in a unit: it assumes no
// role in its own account.
func (a *Accounts) ownRoles(t project.Access) project.Access {
	if t.Unit != "" && t.Account == a.home.Account {
		t.Role, t.Execution = "", a.home.Execution
	}
	return t
}

// credentials returns those of a role of a target, under the session name of ctx. The role is assumed with cfg, whose
// credentials are those of the target via; "" are the installation's own.
func (a *Accounts) credentials(ctx context.Context, cfg aws.Config, t project.Access, via string) aws.CredentialsProvider {
	name, ok := ctx.Value(nameKey{}).(string)
	if !ok {
		name = "stackwright"
	}
	s := session{t.Role, t.ExternalID, name, via}
	a.mu.Lock()
	defer a.mu.Unlock()
	if known, ok := a.sessions[s]; ok {
		return known
	}
	if len(a.sessions) >= maxSessions {
		clear(a.sessions)
	}
	assumes := stscreds.NewAssumeRoleProvider(sts.NewFromConfig(cfg), t.Role, func(o *stscreds.AssumeRoleOptions) {
		o.RoleSessionName = name
		if t.ExternalID != "" {
			o.ExternalID = &t.ExternalID
		}
	})
	a.sessions[s] = aws.NewCredentialsCache(assumes, func(o *aws.CredentialsCacheOptions) { o.ExpiryWindow = early })
	return a.sessions[s]
}

// denied returns the fault of a request to assume a role.
func denied(t project.Access, err error) error {
	f := awserr.Fault("assume role "+t.Role, t.Role, err, awserr.Kinds{awserr.Other: fault.Denied})
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok || !fault.Is(f, fault.Denied) {
		return f
	}
	return fault.New(fault.Denied, "role %s of account %s cannot be assumed (%s: %s): create it there, and let it trust this installation with the external ID that stackwright targets shows; then retry",
		t.Role, t.Account, api.ErrorCode(), api.ErrorMessage())
}

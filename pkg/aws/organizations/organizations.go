// Package organizations lists the accounts of organizational units.
package organizations

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	sdk "github.com/aws/aws-sdk-go-v2/service/organizations"
	"github.com/aws/aws-sdk-go-v2/service/organizations/types"
	"github.com/aws/smithy-go"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/unit"
)

// A Client is the part of the SDK's Organizations client that is used here.
type Client interface {
	ListAccountsForParent(context.Context, *sdk.ListAccountsForParentInput, ...func(*sdk.Options)) (*sdk.ListAccountsForParentOutput, error)
	ListOrganizationalUnitsForParent(context.Context, *sdk.ListOrganizationalUnitsForParentInput, ...func(*sdk.Options)) (*sdk.ListOrganizationalUnitsForParentOutput, error)
	DescribeAccount(context.Context, *sdk.DescribeAccountInput, ...func(*sdk.Options)) (*sdk.DescribeAccountOutput, error)
	ListParents(context.Context, *sdk.ListParentsInput, ...func(*sdk.Options)) (*sdk.ListParentsOutput, error)
}

// An Organization is the organization of the account whose credentials its client has: the management account, or one that is a
// delegated administrator. It is a unit.Organization.
type Organization struct {
	client Client
	role   string // that is assumed for the requests; "" for none
}

var _ unit.Organization = Organization{}

// New returns the organization that a client reaches.
func New(client Client) Organization { return Organization{client: client} }

// Assuming returns the organization that a client reaches whose credentials are those of a role, which the requests assume.
func Assuming(client Client, role string) Organization { return Organization{client, role} }

// Adaptive lets a client of the SDK send its requests without a pause until Organizations throttles one, which it does for each operation and the whole
// organization. Then there is a pause before each request, which doubles with each throttle and decreases with each answer. What is throttled
// is repeated as the client's retryer says, and then by the plan.
func Adaptive(o *sdk.Options) {
	if repeats, ok := o.Retryer.(aws.RetryerV2); ok {
		o.Retryer = &adaptive{RetryerV2: repeats}
	}
}

// The pause before a request after the first throttle, and the longest one.
const (
	firstPause = 50 * time.Millisecond
	mostPause  = 2 * time.Second
)

// adaptive repeats requests as another retryer, with a pause before each request.
type adaptive struct {
	aws.RetryerV2
	mu    sync.Mutex
	pause time.Duration
}

var throttles = retry.IsErrorThrottles(retry.DefaultThrottles)

// GetAttemptToken waits until the next request may be sent, and returns what is to be called with its result.
func (a *adaptive) GetAttemptToken(ctx context.Context) (func(error) error, error) {
	a.mu.Lock()
	pause := a.pause
	a.mu.Unlock()
	if pause > 0 {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
	release, err := a.RetryerV2.GetAttemptToken(ctx)
	return func(result error) error {
		a.learn(throttles.IsErrorThrottle(result).Bool())
		return release(result)
	}, err
}

// learn changes the pause after an answer.
func (a *adaptive) learn(throttled bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if throttled {
		a.pause = min(max(2*a.pause, firstPause), mostPause)
		return
	}
	a.pause -= a.pause / 50
}

// mostPages bounds the requests for one unit, so that a list without an end is an error: 20 accounts or units are on a page, each unit needs two
// pages at least, and an organization has at most some 10,000 accounts and 2,000 units.
// https://docs.aws.amazon.com/organizations/latest/userguide/orgs_reference_limits.html
const mostPages = 5000

// stopsBefore is how long before the deadline of its context a list that is not complete ends with an error, so that its caller can report the error.
const stopsBefore = 2 * time.Second

// early returns a context that ends that long before another one.
func early(ctx context.Context) (context.Context, context.CancelFunc) {
	if end, limited := ctx.Deadline(); limited {
		return context.WithDeadline(ctx, end.Add(-stopsBefore))
	}
	return context.WithCancel(ctx)
}

// Accounts implements unit.Organization. A page may be empty although there are more.
// https://docs.aws.amazon.com/organizations/latest/APIReference/API_ListAccountsForParent.html
func (o Organization) Accounts(ctx context.Context, id string) (project.UnitAccounts, error) {
	ctx, cancel := early(ctx)
	defer cancel()
	found := project.UnitAccounts{Units: []string{id}}
	pages, read := 0, 0
	checked := func(do string, err error) error {
		pages++
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return fault.New(fault.Unavailable, "list the accounts of unit %s: the time for the list is over after %d requests. %d accounts in %d of the %d units found so far were read, and nothing was changed: try again. If it fails again, the unit has too many units, or Organizations throttles: register some of the units within it as targets of their own (stackwright targets add NAME --ou UNIT), and name these in different projects", id, pages, len(found.Accounts), read, len(found.Units))
		case err != nil:
			return o.refused(do, err)
		case pages > mostPages:
			return fault.New(fault.Broken, "list the accounts of unit %s: Organizations answers with more than %d pages", id, mostPages)
		}
		return nil
	}
	for ; read < len(found.Units); read++ { // it grows meanwhile
		parent := found.Units[read]
		accounts := sdk.NewListAccountsForParentPaginator(o.client, &sdk.ListAccountsForParentInput{ParentId: &parent})
		for accounts.HasMorePages() {
			page, err := accounts.NextPage(ctx)
			if err := checked("list the accounts of unit "+parent, err); err != nil {
				return project.UnitAccounts{}, err
			}
			for _, a := range page.Accounts {
				found.Accounts = append(found.Accounts, accountOf(a, parent))
			}
		}
		units := sdk.NewListOrganizationalUnitsForParentPaginator(o.client, &sdk.ListOrganizationalUnitsForParentInput{ParentId: &parent})
		for units.HasMorePages() {
			page, err := units.NextPage(ctx)
			if err := checked("list the units of unit "+parent, err); err != nil {
				return project.UnitAccounts{}, err
			}
			for _, u := range page.OrganizationalUnits {
				if nested := aws.ToString(u.Id); !slices.Contains(found.Units, nested) {
					found.Units = append(found.Units, nested)
				}
			}
		}
	}
	slices.SortFunc(found.Accounts, func(a, b project.Account) int { return cmp.Compare(a.ID, b.ID) })
	same := func(a, b project.Account) bool { return a.ID == b.ID } // it was moved meanwhile
	found.Accounts = slices.CompactFunc(found.Accounts, same)
	return found, nil
}

// Account implements unit.Organization.
// https://docs.aws.amazon.com/organizations/latest/APIReference/API_DescribeAccount.html
func (o Organization) Account(ctx context.Context, id string) (project.Account, error) {
	out, err := o.client.DescribeAccount(ctx, &sdk.DescribeAccountInput{AccountId: &id})
	if err != nil {
		return project.Account{}, o.refused("describe account "+id, err)
	}
	if out.Account == nil {
		return project.Account{}, fault.New(fault.Broken, "describe account %s: the answer has no account", id)
	}
	parents, err := o.client.ListParents(ctx, &sdk.ListParentsInput{ChildId: &id})
	if err != nil {
		return project.Account{}, o.refused("find the unit of account "+id, err)
	}
	if len(parents.Parents) != 1 { // https://docs.aws.amazon.com/organizations/latest/APIReference/API_ListParents.html
		return project.Account{}, fault.New(fault.Unavailable, "find the unit of account %s: Organizations answers with %d, and an account is in one: try again", id, len(parents.Parents))
	}
	return accountOf(*out.Account, aws.ToString(parents.Parents[0].Id)), nil
}

// mostLevels bounds how many units are above one: they are nested five levels deep, below the root.
// https://docs.aws.amazon.com/organizations/latest/userguide/orgs_reference_limits.html
const mostLevels = 10

// Above implements unit.Organization.
// https://docs.aws.amazon.com/organizations/latest/APIReference/API_ListParents.html
func (o Organization) Above(ctx context.Context, id string) ([]string, error) {
	var above []string
	for child := id; strings.HasPrefix(child, "ou-"); {
		out, err := o.client.ListParents(ctx, &sdk.ListParentsInput{ChildId: &child})
		switch {
		case err != nil:
			return nil, o.refused("find the unit that unit "+child+" is within", err)
		case len(out.Parents) != 1:
			return nil, fault.New(fault.Unavailable, "find the unit that unit %s is within: Organizations answers with %d, and a unit is in one: try again", child, len(out.Parents))
		case len(above) == mostLevels:
			return nil, fault.New(fault.Broken, "find the units that unit %s is within: Organizations answers with more than %d", id, mostLevels)
		}
		child = aws.ToString(out.Parents[0].Id)
		above = append(above, child)
	}
	return above, nil
}

// accountOf is an account in a unit. Its status has been replaced by its state.
// https://docs.aws.amazon.com/organizations/latest/APIReference/API_Account.html
func accountOf(a types.Account, in string) project.Account {
	return project.Account{ID: aws.ToString(a.Id), Name: aws.ToString(a.Name), State: project.AccountState(cmp.Or(string(a.State), string(a.Status))), Unit: in}
}

// kinds are those of the errors of Organizations. TooManyRequestsException is a common one.
var kinds = awserr.Kinds{
	"AccountNotFoundException":            fault.Missing,
	"ParentNotFoundException":             fault.Missing,
	"ChildNotFoundException":              fault.Missing,
	"AWSOrganizationsNotInUseException":   fault.Denied,
	"ServiceException":                    fault.Unavailable,
	"UnsupportedAPIEndpointException":     fault.Denied,
	"ConcurrentModificationException":     fault.Unavailable,
	"FinalizingOrganizationException":     fault.Unavailable,
	"InvalidInputException":               fault.Invalid,
	"OrganizationalUnitNotFoundException": fault.Missing,
	awserr.Other:                          fault.Refused,
}

// refused returns the fault of a request, with what to do.
func (o Organization) refused(do string, err error) error {
	f := awserr.Fault(do, "*", err, kinds)
	operation, assumes := errors.AsType[*smithy.OperationError](err)
	for assumes && operation.Service() != "STS" { // the first request assumes the role
		operation, assumes = errors.AsType[*smithy.OperationError](operation.Unwrap())
	}
	switch {
	case assumes && fault.Is(f, fault.Denied):
		return fault.New(fault.Denied, "%s: role %s, with which the setting organization lets the installation list accounts, cannot be assumed (%w): let its trust policy allow the roles of the functions plan and api of the installation (on a command without an API, your role) sts:AssumeRole, and if another role is meant, give it in the setting and deploy the installation", do, o.role, f)
	case awserr.Is(err, "AWSOrganizationsNotInUseException"):
		return fault.New(fault.Denied, "%s: the account whose credentials are used is in no organization (AWSOrganizationsNotInUseException): let the installation use a role of the management account (setting organization), or create an organization in it (aws organizations create-organization; on a laptop, docs/local.md says how the aws command reaches it)", do)
	case awserr.Is(err, "AccessDeniedException", "AccessDenied"):
		return fault.New(fault.Denied, "%w; Organizations answers only the management account and delegated administrators: make the account of the installation one, or let it use a role of the management account (setting organization)", f)
	case awserr.Is(err, "ParentNotFoundException"):
		return fault.New(fault.Missing, "%s: Organizations has no unit of this ID: it was deleted, or is of another organization", do)
	case fault.Is(f, fault.Throttled):
		return fault.New(fault.Throttled, "%w: nothing was changed; try again", f)
	}
	return f
}

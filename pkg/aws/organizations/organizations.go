// Package organizations lists the accounts of organizational units.
package organizations

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
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

// Organizations throttles the requests of each operation, for the whole organization: a list of many units and accounts is sent slowly after its first
// requests, so that it leaves room for those of others, such as of other plans. What is throttled all the same is repeated by the SDK, and then by the plan.
// https://docs.aws.amazon.com/organizations/latest/userguide/orgs_reference_limits.html
const (
	atOnce = 20                     // requests of a list
	pace   = 200 * time.Millisecond // between those after them
)

// paced waits before the next request of a list that has sent some.
func paced(ctx context.Context, sent int) error {
	if sent < atOnce {
		return nil
	}
	select {
	case <-ctx.Done():
		return fault.New(fault.Unavailable, "list accounts: %w", ctx.Err())
	case <-time.After(pace):
		return nil
	}
}

// mostPages bounds the requests for one unit: 20 accounts or units are on a page, and an organization has at most some 10,000 accounts and
// 2,000 units.
// https://docs.aws.amazon.com/organizations/latest/userguide/orgs_reference_limits.html
const mostPages = 5000

// Accounts implements unit.Organization. A page may be empty although there are more.
// https://docs.aws.amazon.com/organizations/latest/APIReference/API_ListAccountsForParent.html
func (o Organization) Accounts(ctx context.Context, id string) (project.UnitAccounts, error) {
	found := project.UnitAccounts{Units: []string{id}}
	pages := 0
	for i := 0; i < len(found.Units); i++ { // it grows meanwhile
		parent := found.Units[i]
		accounts := sdk.NewListAccountsForParentPaginator(o.client, &sdk.ListAccountsForParentInput{ParentId: &parent})
		for accounts.HasMorePages() {
			if err := paced(ctx, pages); err != nil {
				return project.UnitAccounts{}, err
			}
			page, err := accounts.NextPage(ctx)
			if err != nil {
				return project.UnitAccounts{}, o.refused("list the accounts of unit "+parent, err)
			}
			for _, a := range page.Accounts {
				found.Accounts = append(found.Accounts, accountOf(a, parent))
			}
			if pages++; pages > mostPages {
				return project.UnitAccounts{}, fault.New(fault.Broken, "list the accounts of unit %s: Organizations answers with more than %d pages", id, mostPages)
			}
		}
		units := sdk.NewListOrganizationalUnitsForParentPaginator(o.client, &sdk.ListOrganizationalUnitsForParentInput{ParentId: &parent})
		for units.HasMorePages() {
			if err := paced(ctx, pages); err != nil {
				return project.UnitAccounts{}, err
			}
			page, err := units.NextPage(ctx)
			if err != nil {
				return project.UnitAccounts{}, o.refused("list the units of unit "+parent, err)
			}
			for _, u := range page.OrganizationalUnits {
				if nested := aws.ToString(u.Id); !slices.Contains(found.Units, nested) {
					found.Units = append(found.Units, nested)
				}
			}
			if pages++; pages > mostPages {
				return project.UnitAccounts{}, fault.New(fault.Broken, "list the units of unit %s: Organizations answers with more than %d pages", id, mostPages)
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

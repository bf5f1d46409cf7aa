package wire

import (
	"context"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/organizations"

	"github.com/stackwright/stackwright/pkg/aws/organizations"
	"github.com/stackwright/stackwright/pkg/aws/sts"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/unit"
)

// ownOrganization is the value of the setting organization if the installation asks Organizations with its own permissions.
const ownOrganization = "own"

// organizationForm is what an Environment.Organization may be.
var organizationForm = pattern.New(`^(own|arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]{1,512})$`)

// Organization returns the organization that an installation lists with a role; see Environment.Organization. Only the functions plan and api get it,
// by their mains: the linker keeps the SDK's client out of the others.
func Organization(cfg aws.Config, role string) unit.Organization {
	if role == ownOrganization {
		return organizations.New(sdk.NewFromConfig(cfg, organizations.Adaptive))
	}
	there := cfg.Copy()
	there.Credentials = sts.Assuming(cfg, role)
	return organizations.Assuming(sdk.NewFromConfig(there, organizations.Adaptive), role)
}

// listing returns the functions with the organization of the installation.
func (h *App) listing(of func(aws.Config, string) unit.Organization) *App {
	with := *h
	with.organizations = of
	return &with
}

// API is the function api. See App.API.
func API(h *App, ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	return h.listing(Organization).API(ctx, e)
}

// organization returns the organization of the installation.
func (h *App) organization() unit.Organization {
	if h.organizationRole == "" || h.organizations == nil {
		return noOrganization{}
	}
	return h.organizations(h.config, h.organizationRole)
}

// recent returns the same for what is only shown: its lists may be half a minute old.
func (h *App) recent() unit.Organization { return h.units.Of(h.organization()) }

// follower follows the accounts of units for one plan.
func (h *App) follower() *unit.Follower {
	return &unit.Follower{Organization: h.organization(), Registered: h.table.Targets}
}

// noOrganization is that of an installation that may not ask Organizations.
type noOrganization struct{}

var errNoOrganization = fault.New(fault.Denied, "the installation may not list the accounts of organizational units, because its setting organization is missing: set it (make deploy SETTINGS=\"-c organization=ORGANIZATION\", with the other settings as before), which also lets it assume the roles there. Until then, stacks elsewhere are deployed with --only, and stackwright forget deletes the records of those in the unit, which stay in AWS")

// Accounts implements unit.Organization.
func (noOrganization) Accounts(context.Context, string) (project.UnitAccounts, error) {
	return project.UnitAccounts{}, errNoOrganization
}

// Above implements unit.Organization.
func (noOrganization) Above(context.Context, string) ([]string, error) { return nil, errNoOrganization }

// Account implements unit.Organization.
func (noOrganization) Account(context.Context, string) (project.Account, error) {
	return project.Account{}, errNoOrganization
}

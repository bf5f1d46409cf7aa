// Package organizationstest changes an organization with requests, for tests of our emulator and of others.
package organizationstest

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/organizations"
	"github.com/aws/aws-sdk-go-v2/service/organizations/types"

	adapter "github.com/stackwright/stackwright/pkg/aws/organizations"
)

// An Organization is reached by a client of Organizations. It is a contract.Organization.
type Organization struct {
	adapter.Organization
	testing.TB
	Client *sdk.Client

	root  string
	count int
}

// New makes the organization of the account whose credentials the client has.
func New(t testing.TB, client *sdk.Client) *Organization {
	t.Helper()
	if _, err := client.CreateOrganization(t.Context(), &sdk.CreateOrganizationInput{FeatureSet: types.OrganizationFeatureSetAll}); err != nil {
		t.Fatal(err)
	}
	roots, err := client.ListRoots(t.Context(), &sdk.ListRootsInput{})
	if err != nil || len(roots.Roots) != 1 {
		t.Fatal(roots, err)
	}
	return &Organization{Organization: adapter.New(client), TB: t, Client: client, root: aws.ToString(roots.Roots[0].Id)}
}

// in is the ID of a unit, or of the root.
func (o *Organization) in(unit string) *string {
	if unit == "" {
		return &o.root
	}
	return &unit
}

// Unit implements contract.Organization.
func (o *Organization) Unit(parent string) string {
	o.Helper()
	o.count++
	out, err := o.Client.CreateOrganizationalUnit(o.Context(), &sdk.CreateOrganizationalUnitInput{ParentId: o.in(parent), Name: aws.String(fmt.Sprint("unit", o.count))})
	if err != nil {
		o.Fatal(err)
	}
	return aws.ToString(out.OrganizationalUnit.Id)
}

// Join implements contract.Organization.
func (o *Organization) Join(unit string) string {
	o.Helper()
	o.count++
	name := fmt.Sprint("account", o.count)
	out, err := o.Client.CreateAccount(o.Context(), &sdk.CreateAccountInput{AccountName: &name, Email: aws.String(name + "@example.com")})
	if err != nil {
		o.Fatal(err)
	}
	made, err := o.Client.DescribeCreateAccountStatus(o.Context(), &sdk.DescribeCreateAccountStatusInput{CreateAccountRequestId: out.CreateAccountStatus.Id})
	if err != nil || made.CreateAccountStatus.State != types.CreateAccountStateSucceeded {
		o.Fatal(made, err)
	}
	id := aws.ToString(made.CreateAccountStatus.AccountId)
	if unit != "" {
		o.Move(id, unit)
	}
	return id
}

// Move implements contract.Organization.
func (o *Organization) Move(account, unit string) {
	o.Helper()
	parents, err := o.Client.ListParents(o.Context(), &sdk.ListParentsInput{ChildId: &account})
	if err != nil || len(parents.Parents) != 1 {
		o.Fatal(parents, err)
	}
	if _, err := o.Client.MoveAccount(o.Context(), &sdk.MoveAccountInput{AccountId: &account, SourceParentId: parents.Parents[0].Id, DestinationParentId: o.in(unit)}); err != nil {
		o.Fatal(err)
	}
}

// Close implements contract.Organization.
func (o *Organization) Close(account string) {
	o.Helper()
	if _, err := o.Client.CloseAccount(o.Context(), &sdk.CloseAccountInput{AccountId: &account}); err != nil {
		o.Fatal(err)
	}
}

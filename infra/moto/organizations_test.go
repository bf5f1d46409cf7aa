package moto

import (
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/service/organizations"

	"github.com/stackwright/stackwright/infra/local/organizations/organizationstest"
	"github.com/stackwright/stackwright/pkg/enginetest/contract"
)

// The adapter follows the accounts of moto's organization, as of our own.
func TestOrganizations(t *testing.T) {
	contract.Follows(t, func(t *testing.T) contract.Organization {
		return organizationstest.New(t, sdk.NewFromConfig(start(t).config))
	})
}

package sim_test

import (
	"fmt"
	"testing"

	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/project"
)

// A controlled organization is a contract.Organization.
type controlled struct {
	*sim.Organization
	count int
}

func (c *controlled) Unit(parent string) string {
	c.count++
	id := fmt.Sprintf("ou-abcd-%08d", c.count)
	c.Units[id] = parent
	return id
}

func (c *controlled) Join(unit string) string {
	c.count++
	a := project.Account{ID: fmt.Sprintf("%012d", c.count), Name: fmt.Sprint("account", c.count), State: project.AccountActive, Unit: unit}
	c.Accounted[a.ID] = a
	return a.ID
}

func (c *controlled) Move(account, unit string) {
	a := c.Accounted[account]
	a.Unit = unit
	c.Accounted[account] = a
}

func (c *controlled) Close(account string) {
	a := c.Accounted[account]
	a.State = project.AccountClosing
	c.Accounted[account] = a
}

// The organization in memory keeps the contract.
func TestOrganization(t *testing.T) {
	contract.Follows(t, func(*testing.T) contract.Organization { return &controlled{Organization: sim.NewOrganization()} })
}

package sim

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/enginetest/contract"
)

// The store in memory satisfies the contract of stores.
func TestStore(t *testing.T) {
	contract.Store(t, func(*testing.T) engine.Store { return NewStore() })
}

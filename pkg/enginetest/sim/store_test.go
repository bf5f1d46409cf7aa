package sim

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/enginetest/contract"
)

// The store in memory keeps what every store promises.
func TestStore(t *testing.T) {
	contract.Store(t, func(*testing.T) engine.Store { return NewStore() })
}

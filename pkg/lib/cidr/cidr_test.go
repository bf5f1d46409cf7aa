package cidr

import (
	"net/netip"
	"slices"
	"testing"
)

func TestDivide(t *testing.T) {
	for _, c := range []struct {
		block       string
		count, bits int
		want        []string // nil if it is refused
	}{
		{"10.0.0.0/16", 2, 8, []string{"10.0.0.0/24", "10.0.1.0/24"}},
		{"10.0.7.9/16", 1, 8, []string{"10.0.0.0/24"}},
		{"2001:db8::/56", 2, 64, []string{"2001:db8::/64", "2001:db8:0:1::/64"}},
		{"10.0.0.0/24", 2, 8, nil},
		{"10.0.0.0/24", 0, 4, nil},
		{"10.0.0.0/24", 2, 0, nil},
		{"10.0.0.0/8", MaxBlocks + 1, 8, nil},
		{"10.0.0.0/24", 1, 33, nil},
	} {
		got, ok := Divide(netip.MustParsePrefix(c.block), c.count, c.bits)
		if !slices.Equal(got, c.want) || ok != (c.want != nil) {
			t.Errorf("%s, %d, %d: %v, %t", c.block, c.count, c.bits, got, ok)
		}
	}
}

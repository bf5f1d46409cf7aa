// Package cidr divides blocks of IP addresses.
package cidr

import (
	"math/big"
	"net/netip"
)

// MaxBlocks is the most blocks that Divide returns.
const MaxBlocks = 256

// Divide returns count blocks of 2^bits addresses each, from the beginning of a block. It
// reports false if the block does not hold them, or if count is not from 1 to MaxBlocks, or
// bits not above 0.
func Divide(block netip.Prefix, count, bits int) ([]string, bool) {
	block = block.Masked()
	length := block.Addr().BitLen() - bits
	if count < 1 || count > MaxBlocks || bits < 1 || length < block.Bits() || length-block.Bits() < 9 && count > 1<<(length-block.Bits()) {
		return nil, false
	}
	var blocks []string
	step := new(big.Int).Lsh(big.NewInt(1), uint(bits))
	at := new(big.Int).SetBytes(block.Addr().AsSlice())
	for range count {
		raw := at.FillBytes(make([]byte, block.Addr().BitLen()/8))
		address, _ := netip.AddrFromSlice(raw)
		blocks = append(blocks, netip.PrefixFrom(address, length).String())
		at.Add(at, step)
	}
	return blocks, true
}

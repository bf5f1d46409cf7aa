package template

import (
	"net/netip"
	"strconv"

	"github.com/stackwright/stackwright/pkg/lib/cidr"
	"github.com/stackwright/stackwright/pkg/lib/document"
)

// cidr evaluates Fn::Cidr: count blocks of 2^bits addresses each (8 by
// default), from the block's beginning.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-cidr.html
func (r *running) cidr(x *Expr, words []string) (any, *document.Error) {
	block, err := netip.ParsePrefix(words[0])
	if err != nil {
		return nil, r.fail(x, "Template error: Fn::Cidr: %q is not a block of addresses such as 10.0.0.0/16", words[0])
	}
	count, err := strconv.Atoi(words[1])
	if err != nil || count < 1 || count > cidr.MaxBlocks {
		return nil, r.fail(x, "Template error: Fn::Cidr: the count must be a number from 1 to 256, not %q", words[1])
	}
	bits := 8
	if len(words) == 3 {
		if bits, err = strconv.Atoi(words[2]); err != nil || bits < 1 {
			return nil, r.fail(x, "Template error: Fn::Cidr: the subnets' bits must be a number above 0, not %q", words[2])
		}
	}
	divided, ok := cidr.Divide(block, count, bits)
	if !ok {
		return nil, r.fail(x, "Template error: Fn::Cidr: %s does not hold %d blocks of %d bits", words[0], count, bits)
	}
	blocks := make([]any, len(divided))
	for i, one := range divided {
		blocks[i] = one
	}
	return blocks, nil
}

package function

import (
	"fmt"
	"net/netip"

	"github.com/stackwright/stackwright/pkg/lib/cidr"
)

// cidr divides a block of addresses as Fn::Cidr does.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-cidr.html
var divide = Function{
	Name: "cidr", Syntax: "cidr(block, count, bits)", Takes: []Kind{Text, Number, Number}, Optional: 1, Gives: List,
	apply: func(_ *Evaluation, args []any) (any, error) {
		block, err := netip.ParsePrefix(args[0].(string))
		if err != nil {
			return nil, fmt.Errorf("%q is not a block of addresses such as 10.0.0.0/16", short(args[0].(string)))
		}
		count, bits := args[1].(int), 8
		if len(args) == 3 {
			bits = args[2].(int)
		}
		blocks, ok := cidr.Divide(block, count, bits)
		if !ok {
			return nil, fmt.Errorf("%s does not hold %d blocks of %d bits: write a count from 1 to %d, and the number of bits of the addresses in a block", block, count, bits, cidr.MaxBlocks)
		}
		items := make([]any, len(blocks))
		for i, one := range blocks {
			items[i] = one
		}
		return items, nil
	},
}

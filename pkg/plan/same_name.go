package plan

import (
	"fmt"

	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/resource"
)

// A named is a resource with a physical name of its own, in a stack that was described.
type named struct{ stack, id string }

// sameNames warns of resources that have the names of others in stacks that were described before, in the same account
// and region: AWS refuses the second one. Names that are not known yet say nothing.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-name.html
func (d describer) sameNames(c StackChange, at place, after difference.Side, uncertain map[string]string) []string {
	var all []string
	if c.Action == ActionDelete || c.Action == ActionForget || after.Template == nil {
		return nil
	}
	in := known(after, uncertain)
	for _, r := range in.Resources() {
		typ, listed := resource.Named(r.Type)
		properties, literal := in.Reduce(r.Properties).(map[string]any)
		if !listed || !literal {
			continue
		}
		name, key, ok := typ.Called(properties)
		if key = at.account + " " + at.region + " " + key; !ok {
			continue
		}
		if other, taken := d.names[key]; taken && other.stack != c.Stack {
			all = append(all, fmt.Sprintf("%s has the name %s, as %s of stack %s in the same account and region: AWS refuses the "+
				"second one: give one of them another name", r.Name, name, other.id, other.stack))
			continue
		}
		d.names[key] = named{c.Stack, r.Name}
	}
	return all
}

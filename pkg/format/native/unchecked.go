package native

import (
	"github.com/stackwright/stackwright/pkg/format/declared"
	"go.yaml.in/yaml/v4"
)

// unchecked reads what is not compared with the schemas of AWS.
func (p *parser) unchecked(n *yaml.Node) []string {
	var all []string
	for _, v := range p.names("unchecked", n) {
		if name, ok := v.Literal(); ok && declared.UncheckedName.MatchString(name) {
			all = append(all, name)
		} else {
			p.Add(v.At, "unchecked: %s", declared.NotUnchecked)
		}
	}
	return all
}

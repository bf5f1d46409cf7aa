package template

import (
	"slices"

	"github.com/stackwright/stackwright/pkg/lib/document"
	"go.yaml.in/yaml/v4"
)

// Empty is the template of a stack without resources: CloudFormation demands a resource in each template, and creates none
// whose condition is false.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/conditions-section-structure.html
const Empty = `Conditions:
  EmptyStackCondition: !Equals [with, without]
Resources:
  EmptyStackResource:
    Type: AWS::CloudFormation::WaitConditionHandle
    Condition: EmptyStackCondition
`

// inherited are the sections of which Importing takes the entries that are missing. No
// entry of them refers to a resource.
var inherited = []string{"Parameters", "Mappings", "Conditions"}

// Importing returns the template with which CloudFormation imports resources into a stack
// that was deployed from the template before: it changes nothing else, neither other
// resources nor outputs. The resources are those of the template desired. The error is that
// of the template that cannot be read.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/import-resources-manually.html
func Importing(before, desired []byte, resources []string) ([]byte, error) {
	from, _, err := document.ReadRepeating("the template", desired)
	if err != nil {
		return nil, err
	}
	to, _, err := document.ReadRepeating("the template that is deployed", before)
	if err != nil {
		return nil, err
	}
	for _, section := range inherited {
		copyEntries(to, from, section, func(string) bool { return true })
	}
	copyEntries(to, from, "Resources", func(name string) bool { return slices.Contains(resources, name) })
	return encode(to)
}

// copyEntries copies the wanted entries of a section that the section does not have.
func copyEntries(to, from *yaml.Node, section string, wanted func(name string) bool) {
	source, ok := document.Lookup(from, section)
	if !ok {
		return
	}
	target, ok := document.Lookup(to, section)
	if !ok {
		target = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	}
	for _, entry := range document.Pairs(source) {
		if _, has := document.Lookup(target, entry.Key.Value); !has && wanted(entry.Key.Value) {
			set(target, entry.Key.Value, entry.Value)
		}
	}
	if !ok && len(target.Content) > 0 {
		set(to, section, target)
	}
}

// set adds an entry to a mapping.
func set(mapping *yaml.Node, key string, value *yaml.Node) {
	name := &yaml.Node{}
	name.SetString(key)
	mapping.Content = append(mapping.Content, name, value)
}

// block writes mappings and lists over several lines: a text that begins with a brace is
// read as JSON, which has no short forms.
func block(n *yaml.Node) {
	n.Style &^= yaml.FlowStyle
	for _, child := range n.Content {
		block(child)
	}
}

package cli

import (
	"bytes"
	"io"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/fault"
)

// A yamlWriter writes each JSON object that it is given, a line each, as a YAML
// document.
type yamlWriter struct {
	to   io.Writer
	rest []byte // an object whose line has not ended
}

// Write is io.Writer.
func (y *yamlWriter) Write(p []byte) (int, error) {
	y.rest = append(y.rest, p...)
	for {
		line, after, ended := bytes.Cut(y.rest, []byte("\n"))
		if !ended {
			return len(p), nil
		}
		y.rest = after
		text, err := yamlOf(line)
		if err == nil {
			_, err = y.to.Write(append([]byte("---\n"), text...))
		}
		if err != nil {
			return 0, err
		}
	}
}

// yamlOf is a JSON object as YAML, its keys in the same order.
func yamlOf(object []byte) ([]byte, error) {
	var n yaml.Node
	if err := yaml.Unmarshal(object, &n); err != nil {
		return nil, fault.New(fault.Broken, "print as YAML: %w", err)
	}
	block(&n)
	text, err := yaml.Marshal(&n)
	if err != nil {
		return nil, fault.New(fault.Broken, "print as YAML: %w", err)
	}
	return text, nil
}

// block sets the style of a node and all nodes below it: without braces, and with
// quotes only if they are needed.
func block(n *yaml.Node) {
	n.Style &^= yaml.FlowStyle | yaml.DoubleQuotedStyle
	for _, below := range n.Content {
		block(below)
	}
}

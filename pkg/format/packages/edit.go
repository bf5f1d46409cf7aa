package packages

import (
	"errors"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/lib/document"
)

// replace returns the edit that replaces a value by a text, and leaves all other bytes.
func replace(body []byte, n *yaml.Node, text string) (document.Edit, error) {
	from, to, ok := document.Span(body, n)
	if !ok || n.Anchor != "" || n.Style&(yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) != 0 {
		return document.Edit{}, errors.New("the path cannot be replaced as it is written: write it on one line, without an anchor")
	}
	return document.Edit{From: from, To: to, Text: text}, nil
}

package template

import (
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/pattern"
)

// part is a piece of Fn::Sub's text: literal, or the name within ${…}.
type part struct {
	text      string
	reference bool
}

var subName = pattern.New(`^[A-Za-z0-9_.:]+$`)

// subParts takes Fn::Sub's text apart. ${!Literal} stands for ${Literal}.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-sub.html
// It returns the first name that is not one, if any.
func subParts(text string) (parts []part, bad string, ok bool) {
	for text != "" {
		begin := strings.Index(text, "${")
		if begin < 0 {
			return append(parts, part{text: text}), "", true
		}
		end := strings.IndexByte(text[begin:], '}')
		if end < 0 {
			return append(parts, part{text: text}), "", true
		}
		if begin > 0 {
			parts = append(parts, part{text: text[:begin]})
		}
		inner := text[begin+2 : begin+end]
		text = text[begin+end+1:]
		if literal, is := strings.CutPrefix(inner, "!"); is {
			parts = append(parts, part{text: "${" + literal + "}"})
			continue
		}
		inner = strings.TrimSpace(inner)
		if !subName.MatchString(inner) {
			return nil, inner, false
		}
		parts = append(parts, part{text: inner, reference: true})
	}
	return parts, "", true
}

// splitName splits Resource.Attribute at the first dot.
func splitName(s string) name {
	of, attribute, _ := strings.Cut(s, ".")
	return name{of, attribute}
}

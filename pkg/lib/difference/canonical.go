package difference

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/template"
)

// same reports whether two values at a path are the same to CloudFormation, as far as
// that is known.
func (p *properties) same(at []string, a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	x := p.canonical(at, a)
	return x == p.canonical(at, b) && !strings.Contains(x, "!"+template.TooLarge)
}

// canonical writes a value so that the same values have the same text: keys are sorted,
// and so are lists without order; scalars are compared as text.
func (p *properties) canonical(at []string, v any) string {
	var b strings.Builder
	p.write(&b, at, v)
	return b.String()
}

func (p *properties) write(b *strings.Builder, at []string, v any) {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case template.Call:
		b.WriteString("!" + v.Name)
		p.write(b, nil, v.Arguments)
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = p.canonical(append(slices.Clone(at), "[]"), item)
		}
		if p.unordered(at) {
			slices.Sort(items)
		}
		b.WriteString("[" + strings.Join(items, ",") + "]")
	case map[string]any:
		b.WriteByte('{')
		for _, key := range names(v, nil) {
			b.WriteString(strconv.Quote(key) + ":")
			item := v[key]
			if _, scalar := template.Text(item); scalar && inStatement(v, key) {
				item = []any{item} // one action may be written with or without a list
			}
			p.write(b, append(slices.Clone(at), key), item)
			b.WriteByte(',')
		}
		b.WriteByte('}')
	default:
		text, _ := template.Text(v)
		b.WriteString(strconv.Quote(text))
	}
}

// unordered reports whether the list at a path has no order: the schema of the type says
// so, it is a list of tags, or it is a list of a statement of a policy.
func (p *properties) unordered(at []string) bool {
	if len(at) == 0 || p.attribute {
		return false
	}
	switch last := at[len(at)-1]; {
	case last == "Tags":
		return true
	case statementList(last) && slices.Contains(at, "Statement"):
		return true
	}
	return p.named && p.known.Unordered(at)
}

// inStatement reports whether the key of a mapping is a list of a statement of a policy.
func inStatement(m map[string]any, key string) bool { return m["Effect"] != nil && statementList(key) }

// statementList reports whether a key of a statement of a policy has a list without order.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements.html
func statementList(key string) bool {
	switch key {
	case "Action", "NotAction", "Resource", "NotResource", "AWS", "Service", "Federated", "CanonicalUser":
		return true
	}
	return false
}

package jinja

import (
	"fmt"
	"strconv"
	"strings"
)

func toJSON(e *evaluator, of any, a args) any {
	b := e.bind("tojson", a, "indent")
	by := -1
	if b.any(0, nil) != nil {
		by = max(b.size(0, 0), 0)
	}
	var out strings.Builder
	e.json(&out, of, by, 0)
	return out.String()
}

// json writes a value as Python's json.dumps with sorted keys, safe in HTML.
func (e *evaluator) json(out *strings.Builder, v any, by, depth int) {
	e.step()
	if depth > maxNested {
		e.fail("tojson: the value contains itself, or is nested too deep")
	}
	line := func(depth int) {
		if by >= 0 {
			e.charge(by * depth)
			out.WriteString("\n" + strings.Repeat(" ", by*depth))
		}
	}
	separator := ", "
	if by >= 0 {
		separator = ","
	}
	each := func(open, end string, n int, one func(i int)) {
		out.WriteString(open)
		for i := range n {
			if i > 0 {
				out.WriteString(separator)
			}
			line(depth + 1)
			one(i)
		}
		if n > 0 {
			line(depth)
		}
		out.WriteString(end)
	}
	switch v := e.defined(v).(type) {
	case nil:
		out.WriteString("null")
	case bool:
		out.WriteString(strconv.FormatBool(v))
	case int64, float64:
		out.WriteString(e.repr(v))
	case string:
		e.charge(6 * len(v))
		jsonText(out, v)
	case *List, Tuple:
		items := e.items(v)
		each("[", "]", len(items), func(i int) { e.json(out, items[i], by, depth+1) })
	case *Dict:
		entries := e.sort(e.pairs(v), false, func(p any) any { return p.(Tuple)[0] })
		each("{", "}", len(entries), func(i int) {
			p := entries[i].(Tuple)
			key, ok := p[0].(string)
			if !ok {
				e.fail("tojson: a key of type %s", Kind(p[0]))
			}
			jsonText(out, key)
			out.WriteString(": ")
			e.json(out, p[1], by, depth+1)
		})
	default:
		e.fail("tojson: a value of type %s has no JSON", Kind(v))
	}
}

func jsonText(out *strings.Builder, s string) {
	out.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case strings.ContainsRune("\n\r\t\b\f", r):
			out.WriteString(map[rune]string{'\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}[r])
		case r < 0x20 || strings.ContainsRune("<>&'", r) || r > 0x7e && r < 0x10000:
			fmt.Fprintf(out, `\u%04x`, r)
		case r >= 0x10000:
			r -= 0x10000
			fmt.Fprintf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
}

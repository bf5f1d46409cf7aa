package term

import (
	"strings"

	"github.com/stackwright/stackwright/pkg/plan"
)

// values draws parameters, tags or options.
func (p *planText) values(kind string, all []plan.ValueChange) {
	for _, v := range all {
		head := kind + " " + v.Name
		switch {
		case v.Secret && v.Known:
			p.add(6, span{yellow, "~ "}, span{normal, head + ": changes (secret)"})
		case v.Secret:
			p.add(6, span{cyan, "? "}, span{normal, head + ": may change (secret)"})
		case v.Why != "":
			p.add(6, span{cyan, "? "}, span{normal, head + ": (" + v.Why + ")"})
		default:
			p.difference(6, head, v.Before, v.After, "")
		}
	}
}

// given draws the values of a stack that is created.
func (p *planText) given(kind string, all []plan.ValueChange) {
	var words []string
	for _, v := range all {
		value := "(secret)"
		if !v.Secret {
			value = cutText(oneLine(orAbsent(v.After)), planWidth/2)
		}
		words = append(words, v.Name+"="+value)
	}
	if len(words) > 0 {
		p.add(6, span{normal, kind + ": " + strings.Join(words, ", ")})
	}
}

// cutText cuts a text to some characters.
func cutText(s string, most int) string {
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return s
}

// orAbsent is a value, or a word for none.
func orAbsent(s *string) string {
	if s == nil {
		return "(none)"
	}
	return quoted(*s)
}

// quoted shows that a value is an empty text.
func quoted(s string) string {
	if s == "" {
		return `""`
	}
	return s
}

// maxValueLines is how many lines one value of a plan takes.
const maxValueLines = 6

// difference draws a value before and after: on one line if there is room, else each on
// lines of its own. Of texts of several lines only those that differ are drawn.
func (p *planText) difference(indent int, head string, before, after *string, remark string) {
	style := normal
	if remark != "" {
		style = red
	}
	one := orAbsent(before) + " → " + orAbsent(after)
	if text := head + ": " + one + inParentheses(remark); !strings.Contains(one, "\n") && indent+cells(text) <= p.width {
		p.add(indent, span{style, text})
		return
	}
	p.add(indent, span{style, head + ":" + inParentheses(remark)})
	was, is := splitLines(before), splitLines(after)
	for len(was) > 0 && len(is) > 0 && was[0] == is[0] {
		was, is = was[1:], is[1:]
	}
	for len(was) > 0 && len(is) > 0 && was[len(was)-1] == is[len(is)-1] {
		was, is = was[:len(was)-1], is[:len(is)-1]
	}
	p.block(indent+2, "- ", red, was)
	p.block(indent+2, "+ ", green, is)
}

func splitLines(s *string) []string {
	if s == nil {
		return nil
	}
	return strings.Split(quoted(*s), "\n")
}

// block draws the lines of a value, broken to fit.
func (p *planText) block(indent int, sign string, s style, lines []string) {
	var parts []string
	for _, l := range lines {
		for room := max(p.width-indent-2, 20); ; {
			first, rest := splitAt(l, room)
			parts, l = append(parts, first), rest
			if rest == "" {
				break
			}
		}
	}
	for i, part := range parts {
		if i == maxValueLines && len(parts) > i+1 {
			p.lines = append(p.lines, line{{normal, strings.Repeat(" ", indent)}, {dim, "  … " + Plural(len(parts)-i, "more line")}})
			return
		}
		p.lines = append(p.lines, line{{normal, strings.Repeat(" ", indent)}, {s, sign + part}})
	}
}

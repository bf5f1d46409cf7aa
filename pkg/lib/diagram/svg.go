package diagram

import (
	"fmt"
	"strings"
)

// The measures of a drawing, in pixels.
const (
	letter     = 7.3 // about the width of a letter
	boxHeight  = 28
	bendHeight = 4 // of an edge that passes a column
	rowGap     = 12
	columnGap  = 64
	margin     = 16
	mostText   = 36 // letters in a box; the whole text is shown when the pointer rests on it
)

// SVG draws the graph from left to right: each node stands to the right of all that it comes after. The drawing has no styles,
// scripts or links, so that any page may show it.
func (g Graph) SVG() string {
	l := g.layout()
	width := 0.0
	for _, n := range g.Nodes {
		width = max(width, float64(min(len([]rune(n.Name)), mostText))*letter+20)
	}
	x, y := make([]float64, l.places), make([]float64, l.places) // of the left end of each place, at half its height
	lowest := 0.0
	for column, places := range l.columns {
		top := float64(margin)
		for _, p := range places {
			height := float64(bendHeight)
			if p < len(g.Nodes) {
				height = boxHeight
			}
			x[p], y[p] = margin+float64(column)*(width+columnGap), top+height/2
			lowest, top = max(lowest, top+height), top+height+rowGap
		}
	}
	var b strings.Builder
	header(&b, g.Title, 2*margin+float64(len(l.columns))*(width+columnGap)-columnGap, lowest+margin)
	for i, e := range g.Edges {
		fmt.Fprintf(&b, `<path d="M%.0f %.0f`, x[e.From]+width, y[e.From])
		for n, p := range l.routes[i][1:] {
			before := l.routes[i][n]
			fmt.Fprintf(&b, "C%.0f %.0f %.0f %.0f %.0f %.0f", x[before]+width+columnGap/2, y[before], x[p]-columnGap/2, y[p], x[p], y[p])
			if p >= len(g.Nodes) {
				fmt.Fprintf(&b, "H%.0f", x[p]+width)
			}
		}
		fmt.Fprintf(&b, `" fill="none" stroke="#8c959f"><title>%s</title></path>`+"\n", escaped(strings.TrimSuffix(g.Nodes[e.To].Name+" after "+g.Nodes[e.From].Name+": "+e.Label, ": ")))
	}
	for i, n := range g.Nodes {
		s := n.Colour.shade()
		fmt.Fprintf(&b, `<g><title>%s</title><rect x="%.0f" y="%.0f" width="%.0f" height="%d" rx="5" fill="%s" stroke="%s"/>`, escaped(strings.TrimSpace(n.Name+" "+n.Detail)), x[i], y[i]-boxHeight/2, width, boxHeight, s.fill, s.line)
		fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" fill="%s">%s</text></g>`+"\n", x[i]+10, y[i]+4, s.line, escaped(cut(n.Name)))
	}
	return b.String() + "</svg>\n"
}

// sign is how two numbers with a difference are ordered.
func sign(difference float64) int {
	switch {
	case difference < 0:
		return -1
	case difference > 0:
		return 1
	}
	return 0
}

// header begins a drawing with a white ground, which is readable on pages of any colour.
func header(b *strings.Builder, title string, width, height float64) {
	width, height = max(width, 2*margin), max(height, 2*margin)
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" font-family="ui-sans-serif, system-ui, sans-serif" font-size="13">`+"\n", width, height, width, height)
	fmt.Fprintf(b, `<title>%s</title><rect width="100%%" height="100%%" fill="#ffffff"/>`+"\n", escaped(title))
}

// cut is a text as it is written in a box.
func cut(text string) string {
	letters := []rune(text)
	if len(letters) <= mostText {
		return text
	}
	return "…" + string(letters[len(letters)-mostText+1:]) // stacks of one folder differ at the end
}

// escaped is a text in XML, without characters that XML does not have.
func escaped(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' || r == 0xFFFE || r == 0xFFFF {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "�"))
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;").Replace(text)
}

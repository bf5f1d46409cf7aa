package term

import (
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

const (
	gap       = 2 // columns of a table are apart
	narrowest = 8 // a column is made no narrower to fit
)

// Table draws rows below a head. If they are wider than width, the widest
// columns are broken into lines of words, or of letters where a word is too
// long: nothing is cut. 0 is any width.
func Table(head []string, rows [][]string, width int) []string {
	all := append([][]string{head}, rows...)
	widths := make([]int, len(head))
	for _, r := range all {
		for i, cell := range r {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	if width > 0 {
		shrink(widths, width-gap*(len(widths)-1))
	}
	t := table.NewWriter()
	t.SetStyle(table.Style{Box: table.BoxStyle{PaddingRight: strings.Repeat(" ", gap)}})
	configs := make([]table.ColumnConfig, len(widths))
	for i, w := range widths {
		configs[i] = table.ColumnConfig{Number: i + 1, WidthMax: w, WidthMaxEnforcer: text.WrapSoft}
	}
	t.SetColumnConfigs(configs)
	for _, r := range all {
		cells := make(table.Row, len(r))
		for i, cell := range r {
			cells[i] = printable(cell)
		}
		t.AppendRow(cells)
	}
	lines := strings.Split(t.Render(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return lines
}

// shrink makes the widest columns narrower until all fit a width. The first is
// left as it is: it is what the row is called by.
func shrink(widths []int, width int) {
	for {
		total, widest := 0, 0
		for i, w := range widths {
			total += w
			if i > 0 && (widest == 0 || w > widths[widest]) {
				widest = i
			}
		}
		if total <= width || widest == 0 || widths[widest] <= narrowest {
			return
		}
		widths[widest]--
	}
}

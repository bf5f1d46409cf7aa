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

// Table draws rows below a head. If they are wider than width, the text of columns
// is broken between words. If the last columns still do not fit, they are on a
// line of their own below each row. A word that is longer than half of the width
// is broken between letters. No text is cut. 0 is any width.
func Table(head []string, rows [][]string, width int) []string {
	all := append([][]string{head}, rows...)
	widths, floors := columns(all, width)
	fit := len(head)
	for fit > 1 && width > 0 && sum(floors[:fit])+gap*(fit-1) > width {
		fit--
	}
	if width > 0 {
		shrink(widths[:fit], floors, width-gap*(fit-1))
	}
	var lines []string
	for n, r := range all {
		lines = append(lines, tableRow(r[:fit], widths)...)
		if n > 0 && fit < len(head) {
			lines = append(lines, below(head[fit:], r[fit:], width)...)
		}
	}
	return lines
}

// columns returns how wide each column would be, and how narrow it may be made.
func columns(all [][]string, width int) (widths, floors []int) {
	widths, floors = make([]int, len(all[0])), make([]int, len(all[0]))
	for _, r := range all {
		for i, cell := range r {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			for word := range strings.FieldsSeq(cell) {
				if n := utf8.RuneCountInString(word); n <= width/2 {
					floors[i] = max(floors[i], n)
				}
			}
		}
	}
	for i := range floors {
		floors[i] = max(floors[i], min(widths[i], narrowest))
	}
	return widths, floors
}

func sum(widths []int) int {
	total := 0
	for _, w := range widths {
		total += w
	}
	return total
}

// tableRow draws one row.
func tableRow(r []string, widths []int) []string {
	t := table.NewWriter()
	t.SetStyle(table.Style{Box: table.BoxStyle{PaddingRight: strings.Repeat(" ", gap)}})
	configs, cells := make([]table.ColumnConfig, len(r)), make(table.Row, len(r))
	for i, cell := range r {
		configs[i] = table.ColumnConfig{Number: i + 1, WidthMin: widths[i], WidthMax: widths[i], WidthMaxEnforcer: text.WrapSoft}
		cells[i] = printable(cell)
	}
	t.SetColumnConfigs(configs)
	t.AppendRow(cells)
	lines := strings.Split(t.Render(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return lines
}

// below draws the cells that do not fit into their row.
func below(head, r []string, width int) []string {
	var said []string
	for i, cell := range r {
		if cell != "" {
			said = append(said, strings.ToLower(head[i])+" "+printable(cell))
		}
	}
	if len(said) == 0 {
		return nil
	}
	lines := strings.Split(text.WrapSoft(strings.Join(said, ", "), width-gap), "\n")
	for i, l := range lines {
		lines[i] = strings.Repeat(" ", gap) + strings.TrimRight(l, " ")
	}
	return lines
}

// shrink makes the widest columns narrower until all fit a width. It keeps the
// width of the first column, which has the name of the row.
func shrink(widths, floors []int, width int) {
	for sum(widths) > width {
		widest := 0
		for i, w := range widths {
			if i > 0 && w > floors[i] && (widest == 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest == 0 {
			return
		}
		widths[widest]--
	}
}

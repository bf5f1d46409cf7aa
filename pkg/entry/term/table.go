package term

import (
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

const (
	gap       = 2 // columns of a table are apart
	narrowest = 8 // a column is made no narrower to fit
)

// Table draws rows below a head. If they are wider than width, the text of columns
// is broken between words. What still does not fit is below its row: each cell with a
// word that is longer than half of the width, on a line of its own, and the last
// columns. No text is cut and no word is broken, so that an ARN can be copied. 0 is any
// width.
func Table(head []string, rows [][]string, width int) []string {
	all := append([][]string{head}, rows...)
	longest, fit := math.MaxInt, len(head)
	widths, floors := columns(all, longest)
	if width > 0 {
		if sum(floors)+gap*(fit-1) > width {
			longest = width / 2
			widths, floors = columns(all, longest)
		}
		for fit > 1 && sum(floors[:fit])+gap*(fit-1) > width {
			fit--
		}
		shrink(widths[:fit], floors, width-gap*(fit-1))
	}
	lines := tableRow(head[:fit], widths)
	for _, r := range rows {
		var short, long []string
		cells := slices.Clone(r[:fit])
		for i, cell := range r {
			said := strings.ToLower(head[i]) + " " + printable(cell)
			switch {
			case i > 0 && isLong(cell, longest):
				long = append(long, said)
				if i < fit {
					cells[i] = ""
				}
			case i >= fit && cell != "":
				short = append(short, said)
			}
		}
		lines = append(lines, tableRow(cells, widths)...)
		for _, text := range append([]string{strings.Join(short, ", ")}, long...) {
			for _, part := range Wrap(text, width-gap, "") {
				if part != "" {
					lines = append(lines, strings.Repeat(" ", gap)+part)
				}
			}
		}
	}
	return lines
}

// isLong reports whether a cell has a word that is too long for a column.
func isLong(cell string, longest int) bool {
	return slices.ContainsFunc(strings.Fields(cell), func(word string) bool { return cells(word) > longest })
}

// columns returns how wide each column would be, and how narrow it may be made, for
// the cells that are not long.
func columns(all [][]string, longest int) (widths, floors []int) {
	widths, floors = make([]int, len(all[0])), make([]int, len(all[0]))
	for _, r := range all {
		for i, cell := range r {
			if i > 0 && isLong(cell, longest) {
				continue
			}
			widths[i] = max(widths[i], cells(cell))
			for word := range strings.FieldsSeq(cell) {
				floors[i] = max(floors[i], cells(word))
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
	t.SuppressTrailingSpaces()
	return strings.Split(t.Render(), "\n")
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

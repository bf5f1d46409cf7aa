package term

import (
	"fmt"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/lib/diagram"
)

// The widths of a timeline, in cells.
const (
	usualWidth = 100
	leastChart = 20
	mostName   = 40
	tookWidth  = 10
)

// Timeline draws a timeline, with a line for each bar, in lines of at most width cells; 0 is any width. Dots show how long something
// could have started, and did not; the bars that decided the end are full, and the others are shaded.
func Timeline(t diagram.Timeline, width int) []string {
	if width == 0 {
		width = usualWidth
	}
	names := 0
	for _, g := range t.Groups {
		for _, b := range g.Bars {
			names = max(names, min(cells(b.Name), mostName))
		}
	}
	chart := max(width-names-tookWidth-4, leastChart)
	whole := max(t.End.Sub(t.Start), time.Second)
	at := func(when time.Time) int {
		return min(max(int(int64(chart)*int64(when.Sub(t.Start))/int64(whole)), 0), chart)
	}
	lines := []string{printable(t.Title) + ": " + whole.Round(time.Second).String()}
	for _, g := range t.Groups {
		lines = append(lines, printable(g.Name))
		for _, b := range g.Bars {
			fill := "▒"
			if b.Critical {
				fill = "█"
			}
			from := min(at(b.Start), chart-1)
			ready := from
			if !b.Ready.IsZero() {
				ready = min(at(b.Ready), from)
			}
			to := max(at(b.End), from+1)
			bar := strings.Repeat(" ", ready) + strings.Repeat("·", from-ready) + strings.Repeat(fill, to-from) + strings.Repeat(" ", chart-to)
			name, rest := splitAt(printable(b.Name), mostName)
			if rest != "" {
				name, _ = splitAt(name, mostName-1)
				name += "…"
			}
			lines = append(lines, fmt.Sprintf("  %s %s %s", pad(name, names), bar, b.End.Sub(b.Start).Round(100*time.Millisecond)))
		}
	}
	return lines
}

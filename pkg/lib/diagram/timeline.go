package diagram

import (
	"fmt"
	"strings"
	"time"
)

// A Timeline shows when things began and ended.
type Timeline struct {
	Title  string
	Start  time.Time
	End    time.Time
	Groups []Group
}

// A Group is bars with a name.
type Group struct {
	Name string
	Bars []Bar
}

// A Bar is a span of time.
type Bar struct {
	Name     string
	Detail   string    // is shown when the pointer rests on the bar
	Ready    time.Time // since when it could have started: a thin line leads from there to the bar; zero if that is unknown
	Start    time.Time
	End      time.Time
	Colour   Colour
	Critical bool // it decided when the whole ended
}

// The measures of a timeline, in pixels.
const (
	barHeight  = 18
	chartWidth = 900
	mostMarks  = 10
)

// SVG draws the timeline, with a bar a line. The drawing has no styles, scripts or links.
func (t Timeline) SVG() string {
	names, lines := 0.0, 0
	for _, l := range t.Groups {
		lines += 1 + len(l.Bars)
		for _, bar := range l.Bars {
			names = max(names, float64(min(len([]rune(bar.Name)), mostText))*letter)
		}
	}
	left := margin + names + margin
	var b strings.Builder
	height := float64(2*margin + (lines+1)*(barHeight+4))
	header(&b, t.Title, left+chartWidth+2*margin, height)
	at := func(when time.Time) float64 {
		whole := max(t.End.Sub(t.Start), time.Second)
		return left + chartWidth*min(max(float64(when.Sub(t.Start))/float64(whole), 0), 1)
	}
	step := interval(t.End.Sub(t.Start))
	for after := time.Duration(0); after <= t.End.Sub(t.Start); after += step {
		x := at(t.Start.Add(after))
		fmt.Fprintf(&b, `<path d="M%.1f %d V%.0f" stroke="#d8dee4"/><text x="%.1f" y="%d" fill="#57606a" font-size="11">%s</text>`+"\n", x, margin+barHeight-2, height-margin, x+3, margin+8, after)
	}
	y := float64(margin + barHeight + 4)
	for _, l := range t.Groups {
		fmt.Fprintf(&b, `<text x="%d" y="%.0f" font-weight="bold" fill="#24292f">%s</text>`+"\n", margin, y+13, escaped(l.Name))
		y += barHeight + 4
		for _, bar := range l.Bars {
			bar.draw(&b, y, at)
			y += barHeight + 4
		}
	}
	return b.String() + "</svg>\n"
}

// draw draws a bar at a height.
func (bar Bar) draw(b *strings.Builder, y float64, at func(time.Time) float64) {
	s, weight := bar.Colour.shade(), 1.0
	if bar.Critical {
		weight = 2.5
	}
	fmt.Fprintf(b, `<g><title>%s</title><text x="%d" y="%.0f" fill="#24292f">%s</text>`, escaped(strings.TrimSpace(bar.Name+" "+bar.Detail)), margin, y+13, escaped(cut(bar.Name)))
	if !bar.Ready.IsZero() && bar.Ready.Before(bar.Start) {
		fmt.Fprintf(b, `<path d="M%.1f %.0fH%.1f" stroke="#8c959f" stroke-dasharray="2 2"/>`, at(bar.Ready), y+barHeight/2, at(bar.Start))
	}
	fmt.Fprintf(b, `<rect x="%.1f" y="%.0f" width="%.1f" height="%d" rx="3" fill="%s" stroke="%s" stroke-width="%.1f"/></g>`+"\n", at(bar.Start), y, max(at(bar.End)-at(bar.Start), 2), barHeight, s.fill, s.line, weight)
}

// interval is the time between two marks of a timeline.
func interval(whole time.Duration) time.Duration {
	for _, step := range []time.Duration{
		time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute,
		10 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	} {
		if whole/step < mostMarks {
			return step
		}
	}
	return max(whole/mostMarks, 24*time.Hour).Round(24 * time.Hour)
}

// Mermaid is the timeline as a Gantt chart of Mermaid.
func (t Timeline) Mermaid() string {
	var b strings.Builder
	fmt.Fprintf(&b, "gantt\n  title %s\n  dateFormat x\n  axisFormat %%H:%%M:%%S\n", plain(t.Title))
	number := 0
	for _, l := range t.Groups {
		fmt.Fprintf(&b, "  section %s\n", plain(l.Name))
		for _, bar := range l.Bars {
			tags := map[Colour]string{Good: "done, ", Active: "active, "}[bar.Colour]
			if bar.Critical || bar.Colour == Bad {
				tags = "crit, " + tags
			}
			fmt.Fprintf(&b, "  %s :%sb%d, %d, %d\n", plain(bar.Name), tags, number, bar.Start.UnixMilli(), bar.End.UnixMilli())
			number++
		}
	}
	return b.String()
}

// plain is a text in a Gantt chart, where these characters end it.
func plain(text string) string {
	return strings.NewReplacer(":", " ", ";", " ", "#", " ", "\n", " ", ",", " ").Replace(text)
}

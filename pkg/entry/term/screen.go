package term

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/run"
)

// A Screen draws frames of lines at the end of a terminal's output, each over the
// one before.
type Screen struct {
	Out   io.Writer
	shown []string
}

// Draw replaces the lines of the previous frame. Each frame is one write and
// every line is overwritten before its rest is cleared, so that nothing flickers.
func (s *Screen) Draw(lines []string) error {
	if len(lines) > 0 && slices.Equal(lines, s.shown) {
		return nil
	}
	var b strings.Builder
	if n := len(s.shown); n > 0 {
		fmt.Fprintf(&b, "\r\x1b[%dA", n)
	}
	for _, l := range lines {
		b.WriteString(l + "\x1b[K\n")
	}
	if len(lines) < len(s.shown) {
		b.WriteString("\x1b[J")
	}
	s.shown = slices.Clone(lines)
	_, err := io.WriteString(s.Out, b.String())
	return err
}

// A Live view draws a run as a tree, in place, on a terminal.
type Live struct {
	Screen
	Size   func() (width, height int) // of the window, in cells
	Now    func() time.Time
	Colour bool
	Next   Next

	Targets bool // many targets of one stack are shown each by itself

	forecast   run.Forecast
	forecastAt time.Time
}

// forecastInterval is how often a live view forecasts the end of its run: of 10,000 steps,
// a forecast takes about 10 ms.
const forecastInterval = 2 * time.Second

// Show draws the current state of r.
func (l *Live) Show(r run.Run) error {
	_, height := l.Size()
	if height <= 1 {
		height = MaxLines
	}
	// The last column and the last row are left free: to write there scrolls.
	now := l.Now()
	if now.Sub(l.forecastAt) >= forecastInterval {
		l.forecast, _ = r.Forecast(now)
		l.forecastAt = now
	}
	return l.Draw(Tree{Run: r, Now: now, Colour: l.Colour, Forecast: l.forecast, Next: l.Next, Targets: l.Targets}.Render(l.width()-1, height-1))
}

// width is the width of the window, or 80 if it is unknown.
func (l *Live) width() int {
	if width, _ := l.Size(); width > 1 {
		return width
	}
	return 80
}

// Clear removes the tree, so that a line can be printed in its place. The next
// Show draws the tree below that line.
func (l *Live) Clear() error { return l.Draw(nil) }

// End replaces the tree by the summary.
func (l *Live) End(r run.Run) error {
	if err := l.Clear(); err != nil {
		return err
	}
	_, err := io.WriteString(l.Out, strings.Join(Summary(r, l.Next, l.width()), "\n")+"\n")
	return err
}

// Able reports whether a terminal with the given environment can move its cursor,
// and whether it can show colours.
// https://no-color.org
func Able(getenv func(string) string) (live, colour bool) {
	live = getenv("TERM") != "dumb"
	return live, live && getenv("NO_COLOR") == ""
}

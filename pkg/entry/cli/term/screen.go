package term

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/run"
)

// A Screen draws frames of lines over one another at the end of what a terminal
// shows.
type Screen struct {
	out   io.Writer
	shown []string
}

// NewScreen returns a screen that has shown nothing yet.
func NewScreen(out io.Writer) *Screen { return &Screen{out: out} }

// Draw shows lines in place of those shown before. Each frame is one write and
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
	_, err := io.WriteString(s.out, b.String())
	return err
}

// A Live view draws a run as a tree, in place, on a terminal.
type Live struct {
	Out    io.Writer
	Size   func() (width, height int) // of the window, in cells
	Now    func() time.Time
	Colour bool
	Next   Next

	screen *Screen
}

// Show draws r as it stands.
func (l *Live) Show(r run.Run) error {
	if l.screen == nil {
		l.screen = NewScreen(l.Out)
	}
	width := l.width()
	_, height := l.Size()
	if height <= 1 {
		height = MaxLines
	}
	// The last column and the last row are left free: to write there scrolls.
	return l.screen.Draw(Tree{Run: r, Now: l.Now(), Colour: l.Colour}.Render(width-1, height-1))
}

// width is that of the window, or 80 if it tells none.
func (l *Live) width() int {
	if width, _ := l.Size(); width > 1 {
		return width
	}
	return 80
}

// Clear takes the tree away, so that something can be printed in its place. The
// next Show draws it below that.
func (l *Live) Clear() error {
	if l.screen == nil {
		return nil
	}
	return l.screen.Draw(nil)
}

// End replaces the tree by what came of it all.
func (l *Live) End(r run.Run) error {
	if l.screen == nil {
		l.screen = NewScreen(l.Out)
	}
	if err := l.screen.Draw(nil); err != nil {
		return err
	}
	_, err := io.WriteString(l.Out, strings.Join(Summary(r, l.Next, l.width()), "\n")+"\n")
	return err
}

// Able says what a terminal with the given environment can do: move its cursor,
// and show colours.
// https://no-color.org
func Able(getenv func(string) string) (live, colour bool) {
	live = getenv("TERM") != "dumb"
	return live, live && getenv("NO_COLOR") == ""
}

package term

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/lib/diagram"
)

// A timeline has a line for each bar: dots while it could have started, a full bar if it decided the end, and a bar of at least one
// cell. Long names are cut, and no text moves the cursor.
func TestTimeline(t *testing.T) {
	begin := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }
	d := diagram.Timeline{Title: "shop@prod a\x1b[2Jb", Start: begin, End: at(100), Groups: []diagram.Group{{Name: "111122223333 eu-west-1", Bars: []diagram.Bar{
		{Name: "vpc/create", Ready: begin, Start: begin, End: at(50), Critical: true},
		{Name: "db/create", Ready: at(50), Start: at(75), End: at(100)},
		{Name: strings.Repeat("long-", 10) + "name", Start: at(100), End: at(100)},
	}}}}
	const width = 74
	name := strings.Repeat("long-", 7) + "long…"
	want := []string{
		"shop@prod a [2Jb: 1m40s",
		"111122223333 eu-west-1",
		"  " + pad("vpc/create", 40) + " ██████████           50s",
		"  " + pad("db/create", 40) + "           ·····▒▒▒▒▒ 25s",
		"  " + pad(name, 40) + "                    ▒ 0s",
	}
	if d := cmp.Diff(want, Timeline(d, width)); d != "" {
		t.Error(d)
	}
	for _, line := range Timeline(d, 0) {
		if cells(line) > usualWidth {
			t.Errorf("%d cells: %s", cells(line), line)
		}
	}
}

package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/enginetest/figure"
	"github.com/stackwright/stackwright/pkg/enginetest/workload"
)

// page shows the figures.
const page = "docs/performance.md"

// value returns the figure of a row, the largest if it shows several.
func (r record) value(of figure.Row) (largest float64, measured bool) {
	for name, v := range r[of.By].Figures {
		if of.Shows(name) {
			largest, measured = max(largest, v), true
		}
	}
	return largest, measured
}

// figures is the table of all rows. A figure that was not measured is "–".
func (r record) figures() string {
	var t strings.Builder
	t.WriteString("| measure | Sceptre 4.7 | today | of CPU | reach | |\n|---|---:|---:|---:|---:|---|\n")
	for _, row := range figure.Rows {
		sceptre, today, cpu, reach, verdict := "", "–", "", "", ""
		if v, ok := r.figure(row.Sceptre); ok {
			sceptre = fmt.Sprintf(row.Format, v)
		}
		if row.Reach > 0 {
			reach = "≤ " + fmt.Sprintf(row.Format, row.Reach)
		}
		v, ok := r.value(row)
		switch {
		case !ok:
			verdict = "not measured"
			if r[row.By].Error != "" {
				verdict = firstLine(r[row.By].Error)
			}
		case row.Reach > 0 && !row.Reached(v):
			verdict = fmt.Sprintf("missed by %.1f %%", 100*(v/row.Reach-1))
		case row.Reach > 0:
			verdict = "reached"
		}
		if ok {
			today = fmt.Sprintf(row.Format, v)
		}
		if v, ok := r[row.By].Figures["cpu "+row.Figures]; ok {
			cpu = fmt.Sprintf(row.Format, v)
		}
		fmt.Fprintf(&t, "| %s | %s | %s | %s | %s | %s |\n", row.Title, sceptre, today, cpu, reach, verdict)
	}
	return t.String()
}

// sessions is the table of who has measured what, when.
func (r record) sessions() string {
	var t strings.Builder
	var machines []string
	t.WriteString("| figures | command | when | commit | load before | took |\n|---|---|---|---|---:|---:|\n")
	sum := 0.0
	for _, p := range append(slices.Clone(all), comparison) {
		s, ok := r[p.name]
		if !ok {
			continue
		}
		if !slices.Contains(machines, s.Machine) {
			machines = append(machines, s.Machine)
		}
		if p.name != comparison.name {
			sum += s.Took
		}
		fmt.Fprintf(&t, "| %s | %s | %s | %s | %s | %.0f s |\n", p.name, p.command, s.At.Format("2 January 2006, 15:04 UTC"), s.Commit, s.Load, s.Took)
	}
	return fmt.Sprintf("Measured with %s. Without Sceptre and the build, it took %s.\n\n%s",
		strings.Join(machines, "; and with "), (time.Duration(sum) * time.Second).String(), t.String())
}

// missed lists the rows whose target is missed: by how much, why, and what would reach it.
func (r record) missed() string {
	var t strings.Builder
	for _, row := range figure.Rows {
		v, ok := r.value(row)
		if !ok || row.Reach == 0 || row.Reached(v) {
			continue
		}
		fmt.Fprintf(&t, "- **%s**: "+row.Format+" instead of "+row.Format+". %s\n", row.Title, v, row.Reach, row.Why)
	}
	if t.Len() == 0 {
		return "None.\n"
	}
	return t.String()
}

// comparison is the table of both tools.
func (r record) comparison() string {
	var t strings.Builder
	g := workload.Grid(8, 10, 1)
	fmt.Fprintf(&t, "Deploying the 80 stacks row by row takes at least %.2f times the critical path of %s.\n\n", g.Waves().Seconds()/g.CriticalPath().Seconds(), g.CriticalPath().Round(time.Second))
	t.WriteString("| measure | Sceptre 4.7 | Stackwright |\n|---|---:|---:|\n")
	for _, row := range []struct{ title, figure, format string }{
		{fmt.Sprintf("makespan ÷ critical path, 80 stacks 8 × 10, operations %d times faster", scale), "ratio/%s/makespan/deploy", "%.2f"},
		{"100 instant stacks 10 × 10: deploy", "seconds/%s/instant/deploy", "%.1f s"},
		{"the same again", "seconds/%s/instant/again", "%.2f s"},
		{"destroy", "seconds/%s/instant/destroy", "%.1f s"},
		{"requests to CloudFormation a created stack, instant", "calls/%s/instant/deploy", "%.2f"},
		{"an unchanged stack", "calls/%s/instant/again", "%.2f"},
		{"a deleted stack", "calls/%s/instant/destroy", "%.2f"},
		{"a created stack of the 80", "calls/%s/makespan/deploy", "%.2f"},
	} {
		fmt.Fprintf(&t, "| %s |", row.title)
		for _, tool := range []string{"sceptre", "stackwright"} {
			v, ok := r.figure(fmt.Sprintf(row.figure, tool))
			if !ok {
				t.WriteString(" – |")
				continue
			}
			fmt.Fprintf(&t, " "+row.format+" |", v)
		}
		t.WriteString("\n")
	}
	return t.String()
}

// writePage writes the parts of the page that show the record.
func (r record) writePage(file string) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text, err := r.fill(old)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, text, 0o644)
}

// fill returns the page with the parts that show the record.
func (r record) fill(text []byte) ([]byte, error) {
	for name, part := range map[string]string{"figures": r.figures(), "sessions": r.sessions(), "missed": r.missed(), "sceptre": r.comparison()} {
		begin, end := []byte("<!-- measured: "+name+" -->\n"), []byte("<!-- end -->")
		before, rest, found := bytes.Cut(text, begin)
		_, after, closed := bytes.Cut(rest, end)
		if !found || !closed {
			return nil, fmt.Errorf("the page has no part %s", bytes.TrimSpace(begin))
		}
		text = bytes.Join([][]byte{before, begin, []byte(part), end, after}, nil)
	}
	return text, nil
}

// firstLine is the first line of a text.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

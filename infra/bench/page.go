package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// table shows the figures of rows. A figure that was not measured is "–".
func (b *measurement) table(rows []row) string {
	var t strings.Builder
	t.WriteString("| measure | reach | measured | of CPU | |\n|---|---:|---:|---:|---|\n")
	for _, r := range rows {
		reach, measured, cpu, verdict := "", "–", "", ""
		if r.reach > 0 {
			reach = "≤ " + fmt.Sprintf(r.format, r.reach)
		}
		if v, ok := b.value(r); ok {
			measured = fmt.Sprintf(r.format, v)
			if v, ok := b.figures["cpu "+r.figure]; ok {
				cpu = fmt.Sprintf(r.format, v)
			}
			switch {
			case r.reach == 0:
			case v <= r.reach:
				verdict = "reached"
			default:
				verdict = "missed: " + fmt.Sprintf("%.2f times", v/r.reach)
			}
		}
		fmt.Fprintf(&t, "| %s | %s | %s | %s | %s |\n", r.title, reach, measured, cpu, verdict)
	}
	return t.String()
}

// machine says where and when is measured.
func machine() string {
	commit := output("git", "rev-parse", "--short", "HEAD")
	if output("git", "status", "--porcelain", "--untracked-files=no") != "" {
		commit += " with changes"
	}
	return fmt.Sprintf("Measured on %s at commit %s, %s, %s/%s, %d cores (%s), %s; load average before: %s",
		time.Now().UTC().Format("2 January 2006, 15:04 UTC"), commit, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(),
		field("/proc/cpuinfo", "model name"), field("/proc/meminfo", "MemTotal"), firstOf("/proc/loadavg"))
}

// output is the first line that a command prints, "unknown" if it fails.
func output(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line)
}

// field is the value of the first "name: value" in a file of Linux.
func field(path, name string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(text)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == name {
			return strings.TrimSpace(v)
		}
	}
	return "unknown"
}

// firstOf is the first word of a file of Linux.
func firstOf(path string) string {
	text, err := os.ReadFile(path)
	if err != nil || len(strings.Fields(string(text))) == 0 {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}

// write replaces the part of the page between the markers of that name.
func write(page, name, text string) error {
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	begin, end := []byte("<!-- measured: "+name+" -->\n"), []byte("<!-- end -->")
	before, rest, found := bytes.Cut(old, begin)
	_, after, closed := bytes.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s has no part %s", page, bytes.TrimSpace(begin))
	}
	return os.WriteFile(page, bytes.Join([][]byte{before, begin, []byte(text), end, after}, nil), 0o644)
}

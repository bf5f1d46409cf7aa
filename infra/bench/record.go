package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// recordFile holds what was measured last.
const recordFile = "infra/bench/measured.json"

// A record has the last session of each producer.
type record map[string]session

// A session is what a producer has measured, when, and where.
type session struct {
	At      time.Time          `json:"at"`
	Commit  string             `json:"commit"`
	Machine string             `json:"machine"`
	Load    string             `json:"load"`            // the load average before
	Took    float64            `json:"took"`            // in seconds
	Error   string             `json:"error,omitempty"` // why figures are missing
	Figures map[string]float64 `json:"figures"`
}

// about returns a session that begins now.
func about() session {
	commit := output("git", "rev-parse", "--short", "HEAD")
	if output("git", "status", "--porcelain", "--untracked-files=no", "--", ".", ":!"+recordFile, ":!"+page) != "" {
		commit += " with changes"
	}
	return session{
		At: time.Now().UTC().Truncate(time.Minute), Commit: commit, Load: firstOf("/proc/loadavg"),
		Machine: fmt.Sprintf("%s, %s/%s, %d cores (%s), %s", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(),
			field("/proc/cpuinfo", "model name"), field("/proc/meminfo", "MemTotal")),
	}
}

// read reads a record. A file that does not exist is an empty one.
func read(file string) (record, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return make(record), nil
	}
	if err != nil {
		return nil, err
	}
	r := make(record)
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return r, nil
}

// write writes what read reads.
func (r record) write(file string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// figure returns the figure of that name.
func (r record) figure(name string) (value float64, measured bool) {
	for _, s := range r {
		if v, ok := s.Figures[name]; ok {
			return v, true
		}
	}
	return 0, false
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

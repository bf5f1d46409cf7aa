// Package figure collects the figures that tests measure, for docs/performance.md.
package figure

import (
	"encoding/json"
	"os"
	"testing"
)

// File is the environment variable that names the file to which Report appends. make
// bench sets it.
const File = "STACKWRIGHT_FIGURES"

// A Figure is one line of the file.
type Figure struct {
	Row   string  `json:"row"`
	Value float64 `json:"value"`
}

// Collected reports whether File is set. A test that takes long may measure only then.
func Collected() bool { return os.Getenv(File) != "" }

// Report logs a figure that a test has measured. If the environment variable File is
// set, it also appends the figure to that file, as one line of JSON. Rows are named like
// "makespan/8x10": the measure, then what was measured.
func Report(t testing.TB, row string, value float64) {
	t.Helper()
	t.Logf("%s: %.4g", row, value)
	path := os.Getenv(File)
	if path == "" {
		return
	}
	line, err := json.Marshal(Figure{row, value})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

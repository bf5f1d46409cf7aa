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
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Collected reports whether File is set. A test that takes long may measure only then.
func Collected() bool { return os.Getenv(File) != "" }

// Report logs a figure that a test has measured. The test fails if the figure is larger
// than most, and if no row shows it. If the environment variable File is set, Report also
// appends the figure to that file, as one line of JSON. Figures are named like
// "makespan/8x10": the measure, then what was measured.
func Report(t testing.TB, name string, value, most float64) {
	t.Helper()
	t.Logf("%s: %.4g", name, value)
	switch row, known := Of(name); {
	case !known:
		t.Errorf("no row of the table shows %s", name)
	case value > most:
		t.Errorf("%s is %.4g, want at most %.4g", name, value, most)
	case row.Reach > 0 && value > row.Reach:
		t.Logf("the target, %.4g, is not reached", row.Reach)
	}
	path := os.Getenv(File)
	if path == "" {
		return
	}
	line, err := json.Marshal(Figure{name, value})
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

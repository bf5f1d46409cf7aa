package figure

import (
	"os"
	"path/filepath"
	"testing"
)

// Report appends one line for each figure.
func TestReport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "figures")
	t.Setenv(File, path)
	Report(t, "makespan/8x10", 1.0125, 1.02)
	Report(t, "makespan/4x5", 1.03, 1.04)
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"name":"makespan/8x10","value":1.0125}
{"name":"makespan/4x5","value":1.03}
`
	if string(got) != want {
		t.Errorf("the file is %s, want %s", got, want)
	}
}

// Each figure is shown by one row at most.
func TestRows(t *testing.T) {
	seen := make(map[string]bool)
	for _, r := range Rows {
		if seen[r.Figures] || r.Title == "" || r.By == "" {
			t.Errorf("row %s is there twice, or lacks a title or who measures it", r.Figures)
		}
		seen[r.Figures] = true
		if of, known := Of(r.Figures); !known || of != r {
			t.Errorf("the figures of row %s are shown by row %s", r.Figures, of.Figures)
		}
	}
}

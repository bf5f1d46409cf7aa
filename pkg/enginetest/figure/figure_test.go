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
	Report(t, "makespan/8x10", 1.0125)
	Report(t, "calls/created", 3)
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"row":"makespan/8x10","value":1.0125}
{"row":"calls/created","value":3}
`
	if string(got) != want {
		t.Errorf("the file is %s, want %s", got, want)
	}
}

// Package golden compares what a test made with a file beside the test. The flag -update of go test writes the file.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// Updating reports whether the test writes its golden files.
func Updating() bool { return *update }

// Same reports an error if the file at path does not hold the text. With -update it writes the text to the file first.
func Same(t testing.TB, path, text string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), text); d != "" {
		t.Errorf("%s differs (-want +got); see whether it is right, then run go test -run '^%s$' -update:\n%s", path, t.Name(), d)
	}
}

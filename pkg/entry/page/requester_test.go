package page

import (
	"io/fs"
	"strings"
	"testing"
)

// The page shows who has requested a run as the API says it, and never what a sender says of itself.
func TestPageShowsNoForgedRequester(t *testing.T) {
	files, err := fs.Glob(static, "static/*.js")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	shown := 0
	for _, name := range files {
		text, err := fs.ReadFile(static, name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), ".claim") {
			t.Errorf("%s reads the claim of a run", name)
		}
		shown += strings.Count(string(text), "r.by") + strings.Count(string(text), "run.by")
	}
	if shown < 4 {
		t.Errorf("the page shows %d times who has requested a run", shown)
	}
}

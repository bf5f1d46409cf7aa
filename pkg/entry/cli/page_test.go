package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// read returns a file of the repository.
func read(t *testing.T, path string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("../../..", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// The commands of the pages are commands, with flags that they have.
func TestCommandsOfPages(t *testing.T) {
	t.Parallel()
	typed := regexp.MustCompile("build/stackwright ([a-z][^`|\\n]*)")
	for _, name := range []string{"docs/deploy.md", "docs/local.md", "docs/commands.md"} {
		lines := strings.ReplaceAll(read(t, name), "\\\n", " ")
		found := typed.FindAllStringSubmatch(lines, -1)
		if len(found) == 0 && name != "docs/commands.md" {
			t.Errorf("%s has no command", name)
		}
		for _, m := range found {
			words := strings.Fields(m[1])
			if err := understood(words); err != nil {
				t.Errorf("%s: %s: %v", name, strings.Join(words, " "), err)
			}
		}
	}
}

// docs/commands.md has the reference of the commands as they are: make docs writes it.
func TestReferenceIsCurrent(t *testing.T) {
	t.Parallel()
	code := 0
	page := read(t, "docs/commands.md")
	want, err := withReference([]byte(page), Shell{}.tree(&code))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), page); d != "" {
		t.Errorf("run make docs (-want +got):\n%s", d)
	}
}

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
	typed := regexp.MustCompile("(?m)(?:build/|^ {4,}|^\\$ |run: |- |`)stackwright ([a-z][^`|>#\\n]*)")
	paths := []string{"../../../README.md"}
	for _, pattern := range []string{"../../../docs/*.md", "../../../docs/how-to/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	commands := 0
	for _, path := range paths {
		name := strings.TrimPrefix(filepath.ToSlash(path), "../../../")
		found := typed.FindAllStringSubmatch(strings.ReplaceAll(read(t, name), "\\\n", " "), -1)
		if name == "docs/commands.md" { // it is generated from the commands
			continue
		}
		commands += len(found)
		for _, m := range found {
			words := strings.Fields(m[1])
			if strings.Join(words, " ") == "targets add" { // in a sentence
				continue
			}
			if err := understood(words); err != nil {
				t.Errorf("%s: %s: %v", name, strings.Join(words, " "), err)
			}
		}
	}
	if commands < 60 {
		t.Errorf("only %d commands are found", commands)
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

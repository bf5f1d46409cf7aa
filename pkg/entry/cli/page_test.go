package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
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
	for _, name := range []string{"docs/deploy.md", "docs/local.md", "docs/commands.md", "README.md"} {
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

// understood reports what is wrong with a command that a person types.
func understood(words []string) error {
	for _, c := range commands() {
		if c.name != words[0] {
			continue
		}
		var f flags
		set := c.set(&f)
		if err := set.Parse(words[1:]); err != nil {
			return err
		}
		f.complete(set, func(string) string { return "" })
		return c.check(&call{flags: f, args: set.Args(), command: c})
	}
	return fmt.Errorf("there is no command %s", words[0])
}

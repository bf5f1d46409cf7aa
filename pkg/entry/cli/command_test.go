package cli

import (
	"bytes"
	"strings"
	"testing"
)

// Every command has help with an example.
func TestHelp(t *testing.T) {
	for _, c := range commands() {
		var out, err bytes.Buffer
		s := Shell{Out: &out, Err: &err, Self: "stackwright", Getenv: func(string) string { return "" }}
		if code := Execute(t.Context(), s, []string{c.name, "--help"}); code != ExitOK || err.Len() > 0 {
			t.Errorf("%s --help ended with %d: %s", c.name, code, err.String())
		}
		for _, want := range []string{"usage: stackwright " + c.name, "examples:", "--data"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s --help has no %q", c.name, want)
			}
		}
	}
}

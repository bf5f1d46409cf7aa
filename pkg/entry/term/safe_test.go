package term_test

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/term"
)

// What controls a terminal or a pipeline is replaced, also if it comes in parts. Everything else stays.
func TestSafe(t *testing.T) {
	for _, c := range []struct{ written, terminal, pipeline string }{
		{"plain text, ü\n\tindented\n", "plain text, ü\n\tindented\n", "plain text, ü\n\tindented\n"},
		{"\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"},
		{"\x1b]52;c;ZXZpbA==\a", " ]52;c;ZXZpbA== ", " ]52;c;ZXZpbA== "},
		{"\x1b[2J\x1b[1A\r\u009b2J\u202e", " [2J [1A  2J ", " [2J [1A  2J "},
		{"::error file=x::no\n", "::error file=x::no\n", ": :error file=x::no\n"},
		{"a\n  ::add-mask::x", "a\n  ::add-mask::x", "a\n  : :add-mask::x"},
		{"Type: AWS::S3::Bucket\nAWS::S3::Bucket", "Type: AWS::S3::Bucket\nAWS::S3::Bucket", "Type: AWS::S3::Bucket\nAWS::S3::Bucket"},
		{"text ##[group]x ###[b]", "text ##[group]x ###[b]", "text ## [group]x ### [b]"},
		{": : #[x]", ": : #[x]", ": : #[x]"},
	} {
		for commands, want := range map[bool]string{false: c.terminal, true: c.pipeline} {
			var whole, parts strings.Builder
			w := &term.Safe{To: &whole, Commands: commands}
			if n, err := w.Write([]byte(c.written)); n != len(c.written) || err != nil || whole.String() != want {
				t.Errorf("%q, commands %v: %d %v, got %q, want %q", c.written, commands, n, err, whole.String(), want)
			}
			w = &term.Safe{To: &parts, Commands: commands}
			for at, line := range strings.SplitAfter(c.written, ":") {
				if _, err := w.Write([]byte(line)); err != nil {
					t.Fatal(at, err)
				}
			}
			if parts.String() != want {
				t.Errorf("%q in parts, commands %v: got %q, want %q", c.written, commands, parts.String(), want)
			}
		}
	}
}

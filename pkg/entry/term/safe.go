package term

import (
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Safe writes texts for people, which may have parts of the files of a project, or of what AWS answers. They neither control
// a terminal nor, with Commands, the runner of a pipeline: characters that would do so are replaced. Colours stay.
type Safe struct {
	To       io.Writer
	Commands bool // the runner reads workflow commands from the output

	written bool // the present line has more than spaces
	colons  int  // that it begins with, so far
	hashes  int  // that it ends with, so far
}

// colours are what changes the colour of text.
var colours = regexp.MustCompile(`^\x1b\[[0-9;]*m`)

// Write is io.Writer.
func (s *Safe) Write(p []byte) (int, error) {
	var b strings.Builder
	for rest := string(p); rest != ""; {
		if colour := colours.FindString(rest); colour != "" {
			b.WriteString(colour)
			rest = rest[len(colour):]
			continue
		}
		r, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			r = ' '
		}
		if s.Commands && s.commands(r) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	if _, err := io.WriteString(s.To, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// commands reports whether r would complete the beginning of a workflow command. Spaces before one do not count.
// https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
func (s *Safe) commands(r rune) bool {
	is := r == ':' && s.colons == 1 || r == '[' && s.hashes >= 2
	switch {
	case r == '\n':
		s.written, s.colons = false, 0
	case r == ':' && !s.written:
		s.written, s.colons = true, 1
	case !unicode.IsSpace(r):
		s.written, s.colons = true, 0
	default:
		s.colons = 0
	}
	if s.hashes++; r != '#' {
		s.hashes = 0
	}
	return is
}

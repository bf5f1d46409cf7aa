package term

import (
	"strings"
	"unicode/utf8"
)

// Wrap breaks a text between its words into lines that fit a width. Lines but
// the first begin with indent. A word that is longer than a line is not broken.
func Wrap(text string, width int, indent string) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
			lines = append(lines, line)
			line = indent + word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// Package shorten cuts texts that are too long for a message or a record.
package shorten

import "strings"

// To returns the text if it has at most the given number of bytes. Else it returns as many of
// its first bytes as are whole characters of UTF-8, and an ellipsis.
func To(most int, text string) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

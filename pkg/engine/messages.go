package engine

import (
	"fmt"
	"slices"
	"strings"
)

// The messages of a run are stored in its item of the table, together with other
// attributes. An item has at most 400 KB.
const (
	maxMessages = 200
	maxMessage  = 1000 // bytes
)

// limitMessages shortens the messages of a run so that its item has room for them.
func limitMessages(messages []string) []string {
	said := slices.Clone(messages[:min(len(messages), maxMessages)])
	for i, m := range said {
		if len(m) > maxMessage {
			said[i] = strings.ToValidUTF8(m[:maxMessage], "") + "…"
		}
	}
	if more := len(messages) - len(said); more > 0 {
		said = append(said, fmt.Sprintf("and %d more", more))
	}
	return said
}

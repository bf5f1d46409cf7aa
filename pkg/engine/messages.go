package engine

import (
	"fmt"
	"slices"
	"strings"
)

// What a run says of itself has its place in one item of the table, which holds
// 400 KB with all else.
const (
	maxMessages = 200
	maxMessage  = 1000 // bytes
)

// say cuts what a run says to what there is room for.
func say(messages []string) []string {
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

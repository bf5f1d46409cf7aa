package engine

import (
	"fmt"

	"github.com/stackwright/stackwright/pkg/lib/shorten"
)

// The messages of a run are stored in its item of the table, together with other
// attributes. An item has at most 400 KB.
const (
	maxMessages = 200
	maxMessage  = 1000     // bytes of one
	maxText     = 64 << 10 // bytes of all
)

// limitMessages shortens the messages of a run so that its item has room for them.
func limitMessages(messages []string) []string {
	var said []string
	bytes := 0
	for _, m := range messages[:min(len(messages), maxMessages)] {
		m = shorten.To(maxMessage, m)
		if bytes += len(m); bytes > maxText {
			break
		}
		said = append(said, m)
	}
	if more := len(messages) - len(said); more > 0 {
		said = append(said, fmt.Sprintf("and %d more", more))
	}
	return said
}

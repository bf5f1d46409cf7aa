package report

import "github.com/stackwright/stackwright/pkg/fault"

// A Problem says why a request failed: a problem document of RFC 9457.
// https://www.rfc-editor.org/rfc/rfc9457
type Problem struct {
	Type     string     `json:"type"`     // a URN that ends with the kind
	Title    string     `json:"title"`    // the status in words
	Status   int        `json:"status"`   // of the answer
	Detail   string     `json:"detail"`   // all messages in one
	Kind     fault.Kind `json:"kind"`     // what programs decide by
	Messages []string   `json:"messages"` // one for each error: what happened, why, what to do
}

package notify

import (
	"unicode/utf8"

	"github.com/stackwright/stackwright/pkg/run"
)

// A link leads from a card to the page.
type link struct{ text, url string }

// links are those of a card: none without the address of a page. A run that waits for a person has the plan first.
func (e Event) links(page string) []link {
	if page == "" {
		return nil
	}
	all := []link{{"Open the run", e.link(page, false)}}
	if e.State == run.StateWaiting {
		all = []link{{"Review the plan", e.link(page, true)}, all[0]}
	}
	return all
}

// urgent reports whether somebody may have to do something.
func (e Event) urgent() bool { return e.State == run.StateWaiting || e.State == run.StateFailed }

// cut shortens a text to at most a number of characters.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

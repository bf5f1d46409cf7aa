package eventbridge

import (
	"strings"
	"unicode"

	"github.com/stackwright/stackwright/pkg/lib/markdown"
	"github.com/stackwright/stackwright/pkg/run"
)

// title names the run in all its messages.
func title(r run.Run) string { return r.Operation + " of " + r.Project }

// How many messages and failed steps a chat message shows.
const (
	shownMessages = 3
	shownFailed   = 5
)

// why returns the first messages of a run and its first failed steps, without their
// reasons: CloudFormation's words may repeat values that do not belong in a chat.
func why(r run.Run) string {
	all := append([]string{}, r.Messages[:min(len(r.Messages), shownMessages)]...)
	var failed []string
	for _, s := range r.Steps {
		if s.Status == run.Failed {
			failed = append(failed, s.ID)
		}
	}
	if len(failed) > shownFailed {
		failed = append(failed[:shownFailed:shownFailed], "and others")
	}
	if len(failed) > 0 {
		all = append(all, "failed: "+strings.Join(failed, ", "))
	}
	return strings.Join(all, "; ")
}

// plain returns a text that EventBridge can put between the quotes of a JSON
// template. Its input transformer copies strings without escaping them, and drops
// an event if the result is not JSON. So plain replaces quotes, backslashes, line
// breaks and other control characters. It also replaces angle brackets: text
// between them would be a variable of the template. A chat shows the text as Markdown, and
// much of it comes from project files: so nothing in it is a link, a mention or formatting.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-transform-target-input.html
func plain(text string) string {
	text = strings.Map(func(c rune) rune {
		switch {
		case c == '"':
			return '\''
		case c == '\\':
			return '/'
		case unicode.IsSpace(c), unicode.IsControl(c), unicode.Is(unicode.Zl, c), unicode.Is(unicode.Zp, c):
			return ' '
		}
		return c
	}, strings.ToValidUTF8(text, "?"))
	return cut(markdown.Inert(text))
}

// cut returns a text without what is beyond the most letters.
func cut(text string) string {
	if letters := []rune(text); len(letters) > mostLetters {
		text = string(letters[:mostLetters]) + "…"
	}
	return text
}

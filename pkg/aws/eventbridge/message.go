package eventbridge

import (
	"strings"
	"unicode"

	"github.com/stackwright/stackwright/pkg/run"
)

// title says what all the messages of a run are about.
func title(r run.Run) string { return r.Operation + " of " + r.Project }

// How many messages and failed steps are told in a chat.
const (
	mostTold   = 3
	mostFailed = 5
)

// why tells the first messages, and the first steps that failed. For their reasons
// one looks at the run: they are CloudFormation's words, which may repeat what is
// nobody's business in a chat.
func why(r run.Run) string {
	told := append([]string{}, r.Messages[:min(len(r.Messages), mostTold)]...)
	var failed []string
	for _, s := range r.Steps {
		if s.Status == run.Failed {
			failed = append(failed, s.ID)
		}
	}
	if len(failed) > mostFailed {
		failed = append(failed[:mostFailed:mostFailed], "and others")
	}
	if len(failed) > 0 {
		told = append(told, "failed: "+strings.Join(failed, ", "))
	}
	return strings.Join(told, "; ")
}

// plain makes of a text what EventBridge can put between the quotes of a JSON
// template: its input transformer puts strings there as they are, and drops an
// event of which that makes no JSON. So there are no quotes, no backslashes, and
// no line breaks or other control characters. Angle brackets go as well: what is
// between them is a variable of the template, or a mention in a chat.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-transform-target-input.html
func plain(text string) string {
	text = strings.Map(func(c rune) rune {
		switch {
		case c == '"':
			return '\''
		case c == '\\':
			return '/'
		case c == '<':
			return '('
		case c == '>':
			return ')'
		case unicode.IsSpace(c), unicode.IsControl(c), unicode.Is(unicode.Zl, c), unicode.Is(unicode.Zp, c):
			return ' '
		}
		return c
	}, strings.ToValidUTF8(text, "?"))
	if letters := []rune(text); len(letters) > mostLetters {
		text = string(letters[:mostLetters]) + "…"
	}
	return text
}

// Package markdown makes texts of others harmless where Markdown is shown: in chats and in
// comments on pull requests.
package markdown

import (
	"slices"
	"strings"
	"unicode"

	"github.com/stackwright/stackwright/pkg/lib/pattern"
)

// marks are the characters that begin formatting, a link, a mention or an entity, with
// similar ones that begin nothing.
var marks = strings.NewReplacer(
	"<", "(", ">", ")", "[", "(", "]", ")", "`", "'", "*", "∗", "~", "∼", "|", "¦", "&", "＆", "#", "＃",
	"\\", "∖", "。", ".", "．", ".", "｡", ".", "://", ": //",
)

// similar begin formatting and mentions only at the edge of a word.
var similar = map[rune]rune{'_': '＿', '@': '＠'}

// host is what chats make a link of, also without "https://": names with dots between them.
var host = pattern.New(`[\pL\pN_-]+(?:\.[\pL\pN_-]+)*\.\pL[\pL\pN_-]*`)

// ends are those of files. No domain ends so.
var ends = []string{".yaml", ".yml", ".json"}

// Inert returns a text in which Markdown, Slack's and that of GitHub too, finds no link, no
// mention and no formatting: characters that begin one are replaced by similar ones, and
// evil.example becomes evil(.)example. Names of projects, stacks and YAML files stay as they are.
// https://docs.slack.dev/messaging/formatting-message-text
// https://github.github.com/gfm/#autolinks-extension-
func Inert(text string) string {
	return host.ReplaceAllStringFunc(alone(marks.Replace(text)), func(name string) string {
		end := ""
		for _, e := range ends {
			if strings.HasSuffix(name, e) {
				end = e
			}
		}
		return strings.ReplaceAll(strings.TrimSuffix(name, end), ".", "(.)") + end
	})
}

// alone replaces each underscore and at sign that is not between two letters or digits, as in
// UPDATE_COMPLETE and shop@prod, where it has no meaning.
func alone(text string) string {
	all := []rune(text)
	within := func(i int) bool {
		return i >= 0 && i < len(all) && (unicode.IsLetter(all[i]) || unicode.IsDigit(all[i]))
	}
	out := slices.Clone(all)
	for i, c := range all {
		if other, is := similar[c]; is && !(within(i-1) && within(i+1)) {
			out[i] = other
		}
	}
	return string(out)
}

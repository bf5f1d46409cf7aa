package markdown_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/markdown"
)

// Nothing that a project writes into a text becomes a link, a mention or formatting.
func TestInert(t *testing.T) {
	for text, want := range map[string]string{
		"[reset your password](https://evil.example/x)":  "(reset your password)(https: //evil(.)example/x)",
		"<https://evil.example|deploy failed, log in>":   "(https: //evil(.)example¦deploy failed, log in)",
		"see evil.example or www.evil.example:8443/path": "see evil(.)example or www(.)evil(.)example:8443/path",
		"mail ciso@evil.example":                         "mail ciso@evil(.)example",
		"&lt;!channel&gt; <!channel> @here @ops":         "＆lt;!channel＆gt; (!channel) ＠here ＠ops",
		"*bold* _italic_ ~gone~ `code` #12":              "∗bold∗ ＿italic＿ ∼gone∼ 'code' ＃12",
		"evil。example, evil．example":                     "evil(.)example, evil(.)example",
		"evil.example.yaml":                              "evil(.)example.yaml",
		"![](http://10.0.0.1/pixel)":                     "!()(http: //10.0.0.1/pixel)",

		// What is no attack stays as it is.
		"deploy of shop@prod failed":               "deploy of shop@prod failed",
		"failed: data/db/update, UPDATE_FAILED":    "failed: data/db/update, UPDATE_FAILED",
		"stackwright.yaml:3:1: unknown key 'x'":    "stackwright.yaml:3:1: unknown key 'x'",
		"AWS::S3::Bucket in 10.0.0.0/16, v1.2.3":   "AWS::S3::Bucket in 10.0.0.0/16, v1.2.3",
		"arn:aws:iam::111111111111:role/path/name": "arn:aws:iam::111111111111:role/path/name",
	} {
		if got := markdown.Inert(text); got != want {
			t.Errorf("%q becomes\n%q, want\n%q", text, got, want)
		}
	}
}

// link is what Slack, Teams and GitHub make a link, a mention or formatting of.
var link = regexp.MustCompile("[<>\\[\\]`*~|&#\\\\]|://|(^|[^\\pL\\pN])@|[\\pL\\pN]\\.\\pL")

// No text of any characters keeps a link, and a text that is inert stays as it is.
func TestInertOfAnyText(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{"[", "]", "(", ")", "<", ">", "|", "https", ":", "/", "//", ".", "。", "evil", "com", "www", "@", "_", "*", "`", "&", "#", "\\", "é", "1", " ", "-", "yaml", "\n"}
	for range 50_000 {
		var text strings.Builder
		for range random.IntN(12) {
			text.WriteString(parts[random.IntN(len(parts))])
		}
		got := markdown.Inert(text.String())
		if found := link.FindString(strings.ReplaceAll(got, ".yaml", " yaml")); found != "" {
			t.Fatalf("%q becomes %q, which has %q", text.String(), got, found)
		}
		if again := markdown.Inert(got); again != got {
			t.Fatalf("%q becomes %q, and that %q", text.String(), got, again)
		}
	}
}

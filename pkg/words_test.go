package pkg

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// The retired words, and what to write instead. A word counts wherever it stands:
// in code, also as a part of an identifier, in comments, strings, documentation,
// test data and file names.
const retired = `
wish wishes wished: command
nudge nudges nudged: wake
stir stirs stirred: ensure running
astray: unclaimed
park parks parked: mark as waiting, waiting
tick ticks: loop state
told teller: notified, notifier; say who says what
heard hears: events of the operation
lookout: monitor
sequel sequels: follow-up
scene scenes: fixture
zombie zombies: late process
weather: fault plan
mishap mishaps: fault
mortal mortals: process that may crash
deaf: events lost
story stories: scenario
world worlds: scenario, random scenario, backend
twig twigs: row
displace displaces displaced: rename
revive revives revived revival: restart
house houses: app, installation
desk desks: loader
door doors: client
book books: reader
market markets: export index
fall falls falling fell fallen: delete phase, is deleted
rise rises rising rose risen: deploy phase, is created
lane lanes: phase
settle settles settled settling: wait, finished
gate gates: barrier
aside: fenced off
drive drives driven drove driving driver drivers: execute, execution, epoch
begun: started
born: created by our token
unseen: access error
news: generation
mend mends mended: plan convergence, repair
strike strikes struck: fail remaining
abandon abandons abandoned: end by force
touched untouched: last updated, changed
asked: requested
look looks looked looking: poll, describe, read
note notes noted: receipt, record
whoever: name the actor
`

// What some of these words mean in English or elsewhere.
var meanings = regexp.MustCompile(`(?i)` + strings.Join([]string{
	`look(s|ed|ing)?[- ]?(ups?|ahead)\b`,                // in a table
	`look(s|ed|ing)? ?(exactly |just )?(like|as if)\b`,  // resemble
	`fall(s|en|ing)?[- ]?(back|through)\b`, `fell back`, // to a default; Go's keyword
	`time\.Tick\b`, `exec\.LookPath\b`, // functions of Go
	`rising edge`,
	`InstanceMarketOptions`,             // a property of EC2
	"`stack abandon`",                   // a command of Heat
	`release notes?\b`, `please note\b`, // the latter in a message of AWS
}, "|"))

// Words that are retired in one meaning only, as it shows in the text.
var retiredPhrases = []struct {
	is  *regexp.Regexp
	say string
}{
	{regexp.MustCompile(`(?i)\bstand-?ins?\b`), "local emulator, test double"},
	{regexp.MustCompile(`(?i)\b(stand|stands|standing|wait|waits|waiting|first|next|last|stood) in (the )?line\b`), "queued, in the queue"},
	{regexp.MustCompile(`\b(dead|lost) letters\b`), "dead-letter queue"},
	{regexp.MustCompile(`"(good|whole|halted|seen|going|kept|asked|drive|note)":|"line": *[^ 0-9]`), "last successful, last full, cancelled by, observed generation, running, has resources, requested, queue, epoch, receipt"},
	{regexp.MustCompile(`(?i)\b(is|are|still|keeps|keep|was|be) going\b|\bgoing (runs?|steps?)\b`), "running"},
	{regexp.MustCompile(`(?i)\bis there no more\b|\bwhat is wanted\b|\blets? go\b`), "no longer exists; name what is wanted"},
}

// Files that are not our prose.
var foreign = regexp.MustCompile(`^(LICENSE|go\.sum|infra/aws/go\.sum|infra/aws/package-lock\.json|pkg/words_test\.go)$`)

// TestRetiredWords keeps the words of this project plain: a reader who knows AWS
// and Terraform needs no explanation of them.
func TestRetiredWords(t *testing.T) {
	instead := make(map[string]string)
	for line := range strings.Lines(retired) {
		words, say, _ := strings.Cut(line, ":")
		for _, w := range strings.Fields(words) {
			instead[w] = strings.TrimSpace(say)
		}
	}
	files := 0
	for path, text := range texts(t) {
		files++
		for n, line := range append([][]byte{[]byte(path)}, bytes.Split(text, []byte("\n"))...) {
			for _, w := range retiredIn(string(line), instead) {
				t.Errorf("%s:%d: %s", path, n, w)
			}
		}
	}
	if files < 500 {
		t.Errorf("only %d files were read", files)
	}
}

// retiredIn lists the retired words of a line, each with what to write instead.
func retiredIn(line string, instead map[string]string) []string {
	var all []string
	for _, w := range words(line) {
		if instead[w] != "" {
			all = append(all, w)
		}
	}
	if len(all) > 0 && meanings.MatchString(line) {
		all = nil
		for _, w := range words(meanings.ReplaceAllString(line, " ")) {
			if instead[w] != "" {
				all = append(all, w)
			}
		}
	}
	for i, w := range all {
		all[i] = w + ": write " + instead[w]
	}
	for _, p := range retiredPhrases {
		if m := p.is.FindString(line); m != "" {
			all = append(all, m+": write "+p.say)
		}
	}
	return all
}

// words are those of a line in lower case; fooBar and foo_bar are two.
func words(line string) []string {
	var all []string
	start, before := -1, rune(0)
	for i, r := range line {
		letter := unicode.IsLetter(r)
		next, _ := utf8.DecodeRuneInString(line[i+utf8.RuneLen(max(r, 0)):])
		hump := letter && start >= 0 && unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsLower(next))
		if start >= 0 && (!letter || hump) {
			all = append(all, strings.ToLower(line[start:i]))
			start = -1
		}
		if letter && start < 0 {
			start = i
		}
		before = r
	}
	if start >= 0 {
		all = append(all, strings.ToLower(line[start:]))
	}
	return all
}

// texts returns our text files by their paths.
func texts(t *testing.T) map[string][]byte {
	t.Helper()
	all := make(map[string][]byte)
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			hidden := strings.HasPrefix(name, ".") && name != ".." && name != ".ci"
			if hidden || name == "build" || name == "node_modules" || name == "cdk.out" {
				return filepath.SkipDir
			}
			return nil
		}
		rel := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		if !d.Type().IsRegular() || foreign.MatchString(rel) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil && utf8.Valid(text) {
			all[rel] = text
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

package action_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/plan"
)

const key = "of the run" // with which the tokens of the tests are made

// A token is valid for CloudFormation, and ParseToken reads it back.
func TestToken(t *testing.T) {
	const mac = "-00112233445566778899aabbccddeeff"
	for _, c := range []struct {
		token           string
		run             string
		number, attempt int
		ok              bool
	}{
		{action.Token("abc234", key, 7, 1), "abc234", 7, 1, true},
		{action.Token("abc234", "", 7, 1), "abc234", 7, 1, true},
		{"sw-abc234-0-12" + mac, "abc234", 0, 12, true},
		{"sw-abc234-7-1" + mac + "-cancel", "abc234", 7, 1, true},
		{"sw-abc234-7-1" + mac + "-cancel-cancel", "", 0, 0, false},
		{"sw-abc234-7-1-cancel", "abc234", 7, 1, true},
		{"sw-abc234-7-1", "abc234", 7, 1, true}, // of a run that an older version has started
		{"-cancel", "", 0, 0, false},
		{"", "", 0, 0, false},
		{"sw-", "", 0, 0, false},
		{"abc234-7-1" + mac, "", 0, 0, false},
		{"SW-abc234-7-1" + mac, "", 0, 0, false},
		{"sw-abc234-7" + mac, "", 0, 0, false},
		{"sw-abc-234-7-1" + mac, "", 0, 0, false},
		{"sw-abc234-x-1" + mac, "", 0, 0, false},
		{"sw-abc234-7-x" + mac, "", 0, 0, false},
		{"sw-abc234-07-1" + mac, "", 0, 0, false},
		{"sw-abc234-7-+1" + mac, "", 0, 0, false},
		{"sw-abc234-7-1" + strings.ToUpper(mac), "", 0, 0, false},
		{"sw-abc234-7-1" + mac[:20], "", 0, 0, false},
		{"sw-abc234-7-1" + mac + "00", "", 0, 0, false},
		{"sw-abc234-7-1-xx112233445566778899aabbccddeeff", "", 0, 0, false},
		{"sw-abc234-7-99999999999999999999" + mac, "", 0, 0, false},
		{"Console-CreateStack-1b2c", "", 0, 0, false},
	} {
		run, number, attempt, ok := action.ParseToken(c.token)
		if ok != c.ok || ok && (run != c.run || number != c.number || attempt != c.attempt) {
			t.Errorf("%q: got %q %d %d %t", c.token, run, number, attempt, ok)
		}
	}
}

// Who knows a run and its tokens so far can compute no other token of it.
func TestTokensDependOnTheKey(t *testing.T) {
	seen := make(map[string]bool) // the last parts
	for _, token := range []string{
		action.Token("a", key, 0, 1), action.Token("a", "another", 0, 1), action.Token("a", "", 0, 1), action.Token("b", key, 0, 1),
		action.Token("a", key, 1, 1), action.Token("a", key, 0, 2),
	} {
		seen[token[strings.LastIndexByte(token, '-'):]] = true
	}
	if len(seen) != 6 || action.Token("a", key, 0, 1) != (action.Task{Run: "a", TokenKey: key, Attempt: 1}).Token() {
		t.Errorf("the last parts are %v", seen)
	}
}

// ParseToken accepts only what has the form of a token.
func FuzzToken(f *testing.F) {
	f.Add(action.Token("abc234", key, 7, 1))
	f.Add("sw--0-0-00112233445566778899aabbccddeeff")
	f.Add("sw-a-01-1-00112233445566778899aabbccddeeff")
	f.Add("sw-a--1-1-00112233445566778899aabbccddeeff")
	f.Add("sw-a-1-1-cancel")
	f.Add("sw-a-1-1-retain12")
	f.Add("sw-a-1-1-retain012")
	f.Add("sw-a-1-10")
	f.Add("sw-aaaaaaaaaaaaaaaaaaaa-9223372036854775807-9223372036854775808")
	f.Add("sw-" + strings.Repeat("a", 200) + "-1-1")
	f.Add("Console-CreateStack-1b2c")
	form := regexp.MustCompile(`^sw-[^-]*-(0|[1-9][0-9]*)-(0|[1-9][0-9]*)(-[0-9a-f]{32})?(-retain[1-9][0-9]*)?(-cancel)?$`)
	f.Fuzz(func(t *testing.T, token string) {
		run, number, attempt, ok := action.ParseToken(token)
		if !ok {
			return
		}
		if !form.MatchString(token) || number < 0 || attempt < 0 {
			t.Errorf("%q is read as %q %d %d", token, run, number, attempt)
		}
		if !strings.HasPrefix(token, action.Token(run, "", number, attempt)) {
			t.Errorf("%q is read as %q %d %d", token, run, number, attempt)
		}
	})
}

func FuzzRun(f *testing.F) {
	f.Add(7, 1)
	f.Add(100_000, 1000)
	f.Fuzz(func(t *testing.T, number, attempt int) {
		if number < 0 || attempt < 0 {
			t.Skip("there is no such step")
		}
		id := strings.Repeat("a2", 10)
		token := action.Task{Run: id, TokenKey: key, Number: number, Attempt: attempt}.CancelToken()
		if len(token) > 128 || !regexp.MustCompile(`^[a-zA-Z0-9][-a-zA-Z0-9]*$`).MatchString(token) {
			t.Errorf("CloudFormation does not accept %q", token)
		}
		retaining := action.Task{Run: id, TokenKey: key, Number: number, Attempt: attempt, Receipt: plan.Receipt{Retained: "A,B"}}.Token()
		if run, n, a, ok := action.ParseToken(retaining); len(retaining) > 128 || retaining == action.Token(id, key, number, attempt) || !ok || run != id || n != number || a != attempt {
			t.Errorf("%q is read as %q %d %d %t", retaining, run, n, a, ok)
		}
		if run, n, a, ok := action.ParseToken(token); !ok || run != id || n != number || a != attempt {
			t.Errorf("%q is read as %q %d %d %t", token, run, n, a, ok)
		}
	})
}

package action_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/action"
)

// A token is valid for CloudFormation, and ParseToken reads it back.
func TestToken(t *testing.T) {
	for _, c := range []struct {
		token           string
		run             string
		number, attempt int
		ok              bool
	}{
		{"sw-abc234-7-1", "abc234", 7, 1, true},
		{"sw-abc234-0-12", "abc234", 0, 12, true},
		{"sw-abc234-7-1-cancel", "abc234", 7, 1, true},
		{"sw-abc234-7-1-cancel-cancel", "", 0, 0, false},
		{"sw-abc234-7-cancel", "", 0, 0, false},
		{"-cancel", "", 0, 0, false},
		{"", "", 0, 0, false},
		{"sw-", "", 0, 0, false},
		{"abc234-7-1", "", 0, 0, false},
		{"SW-abc234-7-1", "", 0, 0, false},
		{"sw-abc234-7", "", 0, 0, false},
		{"sw-abc-234-7-1", "", 0, 0, false},
		{"sw-abc234-x-1", "", 0, 0, false},
		{"sw-abc234-7-x", "", 0, 0, false},
		{"sw-abc234-07-1", "", 0, 0, false},
		{"sw-abc234-7-+1", "", 0, 0, false},
		{"sw-abc234-7-99999999999999999999", "", 0, 0, false},
		{"Console-CreateStack-1b2c", "", 0, 0, false},
	} {
		run, number, attempt, ok := action.ParseToken(c.token)
		if ok != c.ok || ok && (run != c.run || number != c.number || attempt != c.attempt) {
			t.Errorf("%q: got %q %d %d %t", c.token, run, number, attempt, ok)
		}
	}
}

// ParseToken accepts only tokens that Token makes.
func FuzzToken(f *testing.F) {
	f.Add("sw-abc234-7-1")
	f.Add("sw--0-0")
	f.Add("sw-a-01-1")
	f.Add("sw-a--1-1")
	f.Add("sw-a-1-1-cancel")
	f.Add("sw-aaaaaaaaaaaaaaaaaaaa-9223372036854775807-9223372036854775808")
	f.Add("sw-" + strings.Repeat("a", 200) + "-1-1")
	f.Add("Console-CreateStack-1b2c")
	f.Fuzz(func(t *testing.T, token string) {
		run, number, attempt, ok := action.ParseToken(token)
		if !ok {
			if run != "" && action.Token(run, number, attempt) == token {
				t.Errorf("%q was not recognized", token)
			}
			return
		}
		if action.Token(run, number, attempt) != strings.TrimSuffix(token, "-cancel") {
			t.Errorf("%q is read as %q %d %d", token, run, number, attempt)
		}
		if number < 0 || attempt < 0 || strings.Contains(run, "-") {
			t.Errorf("%q has the parts %q %d %d", token, run, number, attempt)
		}
		again, n, a, ok := action.ParseToken(action.Task{Run: run, Number: number, Attempt: attempt}.CancelToken())
		if !ok || again != run || n != number || a != attempt {
			t.Errorf("%q is cancelled as %q %d %d %t", token, again, n, a, ok)
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
		token := action.Task{Run: id, Number: number, Attempt: attempt}.CancelToken()
		if len(token) > 128 || !regexp.MustCompile(`^[a-zA-Z0-9][-a-zA-Z0-9]*$`).MatchString(token) {
			t.Errorf("CloudFormation does not accept %q", token)
		}
		if run, n, a, ok := action.ParseToken(token); !ok || run != id || n != number || a != attempt {
			t.Errorf("%q is read as %q %d %d %t", token, run, n, a, ok)
		}
	})
}

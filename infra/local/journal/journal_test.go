package journal_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/infra/local/journal"
)

type entry struct{ N int }

func open(t *testing.T, path string) (*journal.Journal[entry], []int) {
	t.Helper()
	var entries []int
	j, err := journal.Open(path, func(e entry) error { entries = append(entries, e.N); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return j, entries
}

func add(t *testing.T, j *journal.Journal[entry], numbers ...int) {
	t.Helper()
	for _, n := range numbers {
		if err := j.Append(entry{n}); err != nil {
			t.Fatal(err)
		}
	}
}

// If a write was torn, at whatever byte, the journal returns the entries before it in
// order, and the entries written after it.
func TestTorn(t *testing.T) {
	for _, rest := range []string{"", "{", `{"N":3`, `{"N":3}`, "\x00\x00\x00", "{\"N\":\n"} {
		path := filepath.Join(t.TempDir(), "deep", "j.jsonl")
		j, _ := open(t, path)
		add(t, j, 1, 2)
		file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteString(rest); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		j, entries := open(t, path)
		if !slices.Equal(entries, []int{1, 2}) {
			t.Errorf("after %q the journal has %v", rest, entries)
		}
		add(t, j, 4)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if _, entries = open(t, path); !slices.Equal(entries, []int{1, 2, 4}) {
			t.Errorf("after %q and another start the journal has %v", rest, entries)
		}
	}
}

func TestDamagedInTheMiddle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.jsonl")
	if err := os.WriteFile(path, []byte("{\"N\":1}\n{\"N\":\n{\"N\":3}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := journal.Open(path, func(entry) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "line 2 is damaged") || !strings.Contains(err.Error(), path) {
		t.Errorf("opened with %v", err)
	}
}

func TestRewrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.jsonl")
	j, _ := open(t, path)
	add(t, j, 1, 2, 3)
	if err := j.Rewrite(slices.Values([]entry{{6}})); err != nil {
		t.Fatal(err)
	}
	add(t, j, 7)
	if j.Len() != 2 {
		t.Errorf("%d records, want 2", j.Len())
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(entry{8}); err == nil {
		t.Error("a closed journal took a record")
	}
	if _, entries := open(t, path); !slices.Equal(entries, []int{6, 7}) {
		t.Errorf("the journal has %v", entries)
	}
}

// A nil journal, for a service in memory, accepts every record and stores none.
func TestInMemory(t *testing.T) {
	var j *journal.Journal[entry]
	if err := j.Append(entry{1}); err != nil || j.Len() != 0 || j.Close() != nil {
		t.Errorf("append %v, %d records", err, j.Len())
	}
}

func TestRequestComesBack(t *testing.T) {
	r, err := http.NewRequest(http.MethodPut, "http://aws.test/bucket/a%20b%2Fc?x=1&y", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "text/plain")
	r.Header.Set("Authorization", "secret")
	kept := journal.Keep(r, []byte("body"), func(string) bool { return true })
	again, err := kept.HTTP()
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(again.Body)
	if err != nil || !bytes.Equal(body, []byte("body")) {
		t.Errorf("body %q %v", body, err)
	}
	if again.URL.EscapedPath() != "/bucket/a%20b%2Fc" || again.URL.RawQuery != "x=1&y" || again.Host != "aws.test" {
		t.Errorf("%s of %s", again.URL, again.Host)
	}
	if again.Header.Get("Content-Type") != "text/plain" || again.Header.Get("Authorization") != "" {
		t.Errorf("header %v", again.Header)
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/infra/local/host"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// opens carries out open with flags, and calls see with the address of the page while it is served. It returns what the
// command has printed.
func (l *laptop) opens(flags []string, see func(address string)) result {
	l.Helper()
	out, in := io.Pipe()
	var all, problems bytes.Buffer
	ended := make(chan int, 1)
	file, browsed := "", make(chan string, 1)
	s := cli.Shell{
		Laptop: host.Laptop{}, Out: io.MultiWriter(in, &all), Err: &problems, Self: "stackwright", Getenv: func(k string) string { return l.env[k] }, Interrupts: l.interrupts,
		Browse: func(url string) error { browsed <- url; return nil },
	}
	go func() {
		ended <- cli.Execute(context.Background(), s, append([]string{"open", "--console", "127.0.0.1:0"}, flags...))
		in.Close()
	}()
	text := make([]byte, 4096)
	n, err := out.Read(text)
	if err != nil { // it has ended
		return result{<-ended, all.String(), problems.String()}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	address := regexp.MustCompile(`http://\S+#code=\S+`).FindString(string(text[:n]))
	if address == "" {
		l.Fatalf("open prints %s", text[:n])
	}
	if !slices.Contains(flags, "--no-browser") {
		file = <-browsed
		l.opened(file, address)
	}
	see(address)
	l.interrupts <- os.Interrupt
	r := result{<-ended, all.String(), problems.String()}
	if file != "" {
		if _, err := os.Stat(strings.TrimPrefix(file, "file://")); err == nil {
			l.Errorf("%s is left", file)
		}
	}
	return r
}

// opened checks the file that leads a browser to the address: other users may see its name, but cannot read it.
func (l *laptop) opened(file, address string) {
	l.Helper()
	path := strings.TrimPrefix(file, "file://")
	text, err := os.ReadFile(path)
	if err != nil {
		l.Fatal(err)
	}
	about, err := os.Stat(path)
	if err != nil || about.Mode().Perm() != 0o600 || !strings.Contains(string(text), "url="+address) || strings.Contains(file, "code") {
		l.Errorf("the browser gets %s, %v: %s (%v)", file, about.Mode(), text, err)
	}
}

// The page of an installation on AWS acts with the credentials of the person who has opened it, through the API alone.
func TestOpen(t *testing.T) {
	l, h := newInstallation(t)
	l.must(cli.ExitOK, "deploy", l.project)
	requests := l.spy(h)
	address := ""
	r := l.opens([]string{"--installation", "sw"}, func(at string) {
		address = at
		server, code, _ := strings.Cut(at, "/#code=")
		got, err := http.Post(server+"/page/key", "application/json", strings.NewReader(`{"code":"`+code+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		defer got.Body.Close()
		var said struct{ Key string }
		if err := json.NewDecoder(got.Body).Decode(&said); err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]int{said.Key: http.StatusOK, "": http.StatusUnauthorized, "x": http.StatusUnauthorized} {
			q, err := http.NewRequest(http.MethodGet, server+"/projects/pair/default/runs", nil)
			if err != nil {
				t.Fatal(err)
			}
			q.Header.Set("Stackwright-Key", key)
			got, err := http.DefaultClient.Do(q)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(got.Body)
			got.Body.Close()
			if err != nil || got.StatusCode != want || (want == http.StatusOK) != strings.Contains(string(text), `"operation":"deploy"`) {
				t.Errorf("the key %q is answered %d %s (%v)", key, got.StatusCode, text, err)
			}
		}
	})
	l.has(r.out, "installation sw (account 000000000000, region us-east-1) as arn:aws:iam::000000000000:root", "Ctrl-C ends the page")
	if r.code != cli.ExitOK || r.err != "" {
		t.Errorf("open ended with %d\n%s", r.code, r.err)
	}
	if got := strings.Join(requests(), " "); got != "cloudformation:DescribeStacks execute-api:Invoke" {
		t.Errorf("the page needs the permissions %s", got)
	}
	if got, err := http.Get(address); err == nil {
		got.Body.Close()
		t.Errorf("%s is served after the command has ended", address)
	}
}

// What prevents open is reported before a page is served.
func TestOpenIsRefused(t *testing.T) {
	l, h := newInstallation(t)
	denies := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"message":"Forbidden"}`)
	}))
	defer denies.Close()
	for _, c := range []struct {
		flags []string
		code  int
		says  string
	}{
		{[]string{"--api", denies.URL}, cli.ExitFailed, "does not allow GET /installation (Forbidden): log in again"},
		{[]string{"--api", "http://127.0.0.1:1"}, cli.ExitFailed, "does not answer"},
		{[]string{"--api", h.URL(), "--console", "0.0.0.0:4567"}, cli.ExitFailed, "not an address of this machine alone"},
		{[]string{"--console", "off"}, cli.ExitRefused, "open has nothing else to serve"},
		{[]string{"--installation", "nothing"}, cli.ExitRefused, "nothing"},
	} {
		r := l.opens(c.flags, func(string) { t.Errorf("open %v serves a page", c.flags) })
		if l.has(r.err, c.says); r.code != c.code {
			t.Errorf("open %v ended with %d, want %d", c.flags, r.code, c.code)
		}
	}
	l.env["STACKWRIGHT_INSTALLATION"] = ""
	r := l.opens(nil, func(string) { t.Error("open serves a page of a laptop") })
	if l.has(r.err, "open is for an installation on AWS", "serve --open"); r.code != cli.ExitRefused {
		t.Errorf("open ended with %d", r.code)
	}
}

// A person opens the page in a browser, sees as whom, and starts a run; a second browser shows why it is not answered.
func TestOpenInABrowser(t *testing.T) {
	if *chromium == "" {
		t.Skip("-chromium names no command")
	}
	l, _ := newInstallation(t)
	l.must(cli.ExitOK, "deploy", l.project)
	l.opens([]string{"--installation", "sw", "--no-browser"}, func(address string) {
		server, _, _ := strings.Cut(address, "/#")
		t.Run("first", func(t *testing.T) {
			b := newBrowser(t, address, 1440, 900, "light")
			b.see("pair", "deploy", "arn:aws:iam::000000000000:root")
			b.picture("opened")
			b.press("deploy")
			b.see("3 of 3 steps done")
			if at := evaluate[string](b, "location.href"); strings.Contains(at, "code=") {
				t.Errorf("the code is left in the address %s", at)
			}
			evaluate[any](b, "location.reload()")
			b.see("3 of 3 steps done")
		})
		t.Run("second", func(t *testing.T) {
			b := newBrowser(t, server, 1440, 900, "light")
			b.see("You are not signed in", "run stackwright open")
			b.picture("not-opened")
		})
	})
}

package main

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/infra/local/host"
	"github.com/stackwright/stackwright/infra/local/sts"
	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// notAllowed is the answer to everybody who has not the role.
const notAllowed = `{"type":"urn:stackwright:problem:denied","title":"Forbidden","status":403,"detail":"not allowed","kind":"Denied","messages":["not allowed"]}` + "\n"

// session is the access key of a session of a role in the laptop's account.
func session(role string) string {
	return sts.AssumedRole{Account: cli.Account, Role: role, Session: "ann", Expires: time.Now().Add(time.Hour)}.AccessKey()
}

// file writes a file for the test, and returns its name.
func (l *laptop) file(text string) string {
	name := filepath.Join(l.T.TempDir(), "access.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		l.Fatal(err)
	}
	return name
}

// The access file holds on uploads, request objects, the API and the command line. A file that cannot be used is not
// put by the command; if it is there nevertheless, all are denied, until the command puts another.
func TestAccessFile(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	holdsAccess(t, l, l.serve(0.01))
}

// The deployed binaries hold it too.
func TestAccessFileWithBinaries(t *testing.T) {
	l := newLaptop(t)
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	how := l.hosting(0.01)
	how.Functions = "binaries"
	h, err := host.Open(t.Context(), how)
	if err != nil {
		t.Fatal(err)
	}
	holdsAccess(t, l, h)
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

// holdsAccess puts access files into an installation, and tries what they deny.
func holdsAccess(t *testing.T, l *laptop, h *host.Host) {
	t.Helper()
	const grants = `grants:
  - projects: "*@*"
    role: admin
    to: [arn: arn:aws:iam::000000000000:root]
  - projects: pair@prod
    role: reader
    to: [arn: arn:aws:iam::000000000000:role/reader]
  - projects: pair@prod
    role: planner
    to: [arn: arn:aws:iam::000000000000:role/planner]
`
	const uploads = grants + `  - projects: pair@prod
    role: deployer
    to: [account: "000000000000"]
`
	refused := func(text, want string) {
		t.Helper()
		for _, how := range []string{"check", "put"} {
			r := l.run("access", how, l.file(text))
			if r.code != cli.ExitRefused || !strings.Contains(r.err, want) {
				t.Errorf("access %s ends with %d and %s%s, want %s", how, r.code, r.out, r.err, want)
			}
		}
	}
	refused("grants: []\n", "it locks everybody out")
	refused(strings.Replace(grants, "admin", "adnim", 1), "access.yaml:3:11: role: there is no such role: did you mean admin?")
	if got := l.must(cli.ExitOK, "access"); strings.Contains(got, "admin") {
		t.Errorf("a refused file was put: %s", got)
	}
	l.must(cli.ExitOK, "deploy", l.project, "--env", "prod") // without a file, IAM decides
	if got := l.must(cli.ExitOK, "access", "check", l.file(grants)); !strings.Contains(got, "there is no access file yet") || !strings.Contains(got, "+ reader of pair@prod to arn:aws:iam::000000000000:role/reader") {
		t.Errorf("the check says %s", got)
	}
	l.must(cli.ExitOK, "access", "put", l.file(grants))
	l.has(l.must(cli.ExitOK, "access"), "reader", "pair@prod", "arn:aws:iam::000000000000:role/reader")

	r := l.run("deploy", l.project, "--env", "prod")
	if l.has(r.out+r.err, "not allowed"); r.code == cli.ExitOK {
		t.Errorf("an upload that is not allowed ends with %d: %s%s", r.code, r.out, r.err)
	}
	r = l.run("destroy", l.project, "--env", "prod", "--yes")
	if l.has(r.out+r.err, "not allowed"); r.code == cli.ExitOK {
		t.Errorf("a request that is not allowed ends with %d: %s%s", r.code, r.out, r.err)
	}
	owner, reader, stranger := asker{T: t, url: h.URL(), key: "local"}, asker{T: t, url: h.URL(), key: session("reader")}, asker{T: t, url: h.URL(), key: session("stranger")}
	for _, c := range []struct {
		by           asker
		method, path string
		want         int
	}{
		{reader, "GET", "/projects/pair/prod/runs", http.StatusOK},
		{reader, "POST", "/projects/pair/prod/runs", http.StatusForbidden},
		{reader, "GET", "/projects/pair/test/runs", http.StatusForbidden},
		{reader, "GET", "/projects/other/prod/runs", http.StatusForbidden},
		{stranger, "GET", "/projects/pair/prod/runs", http.StatusForbidden},
		{stranger, "GET", "/projects/pair/prod/runs/abcdefghijklmnopqrs2", http.StatusForbidden},
		{stranger, "POST", "/projects/pair/prod/runs/abcdefghijklmnopqrs2/unlock", http.StatusForbidden},
		{owner, "POST", "/projects/pair/prod/runs", http.StatusAccepted},
		{owner, "GET", "/projects/other/prod/access", http.StatusOK},
	} {
		got := c.by.ask(c.method, c.path, `{"operation":"refresh"}`, "")
		if got.Status != c.want || c.want == http.StatusForbidden && got.text != notAllowed {
			t.Errorf("%s %s: %d %s, want %d", c.method, c.path, got.Status, got.text, c.want)
		}
	}

	planner := asker{T: t, url: h.URL(), key: session("planner")}
	for body, want := range map[string]int{
		`{"operation":"plan-destroy"}`: http.StatusAccepted, `{"operation":"plan-revert-drift","options":{"exact":true}}`: http.StatusForbidden,
		`{"operation":"destroy"}`: http.StatusForbidden, `{"operation":"refresh"}`: http.StatusForbidden, `{"operation":"suspend"}`: http.StatusForbidden,
	} {
		if got := planner.ask("POST", "/projects/pair/prod/runs", body, ""); got.Status != want {
			t.Errorf("a planner requests %s: %d %s, want %d", body, got.Status, got.text, want)
		}
	}

	got := l.must(cli.ExitOK, "access", "put", l.file(uploads))
	l.has(got, "+ deployer of pair@prod to uploads of account 000000000000")
	l.must(cli.ExitOK, "deploy", l.project, "--env", "prod")
	l.has(l.must(cli.ExitOK, "access", "put", l.file(uploads)), "nothing changes")

	if _, err := objects(h).Put(t.Context(), access.Key, []byte("grants: all")); err != nil {
		t.Fatal(err)
	}
	if denied := owner.ask("GET", "/projects/pair/prod/runs", "", ""); denied.Status != http.StatusForbidden || denied.text != notAllowed {
		t.Errorf("with a file that cannot be used, the answer is %d %s", denied.Status, denied.text)
	}
	l.has(l.must(cli.ExitOK, "access", "put", l.file(uploads)), "the file before cannot be used")
	if again := owner.ask("GET", "/projects/pair/prod/runs", "", ""); again.Status != http.StatusOK {
		t.Errorf("with a file again, the answer is %d %s", again.Status, again.text)
	}
}

// Commands that only read make no data folder, and say who decides while there is no access file. The file of the documentation can
// be checked anywhere.
func TestAccessIsReadWithoutAFolder(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	page, err := os.ReadFile("../../docs/how-to/say-who-may-do-what.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	l.has(l.must(cli.ExitOK, "access", "check", l.file(strings.ReplaceAll("\n"+example, "\n   ", "\n"))), "is valid: 5 grants", "there is no access file yet")
	r := l.run("access")
	if l.has(r.err, "there is no access/access.yaml, and the installation has no owner: IAM alone decides"); r.code != cli.ExitOK {
		t.Errorf("access ends with %d: %s%s", r.code, r.out, r.err)
	}
	for _, command := range []string{"runs", "stacks", "targets"} {
		l.must(cli.ExitOK, command)
	}
	if _, err := os.Stat(l.data); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the data folder: %v", err)
	}
}

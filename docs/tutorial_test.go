package docs

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

const (
	tutorial = "docs/tutorial.md"
	screens  = "docs/testdata/tutorial-80x24.txt"
	program  = "./infra/stackwright"
	address  = "127.0.0.1:4566" // that the tutorial's server listens at
)

// The tutorial prints what it says. With -update the page gets what it prints.
func TestTutorial(t *testing.T) {
	r := newReader(t)
	page := r.follow(read(t, tutorial), r.capture, true)
	if *update {
		write(t, tutorial, page)
	}
}

// On a terminal of 80 × 24 each command of the tutorial leaves the screen that
// is kept for it.
func TestTutorialOnTerminal(t *testing.T) {
	r := newReader(t)
	var got strings.Builder
	r.follow(read(t, tutorial), func(line string) string {
		fmt.Fprintf(&got, "$ %s\n%s\n", r.canonical(line), alike(r.canonical(r.screen(line))))
		return ""
	}, false)
	if *update {
		write(t, screens, got.String())
	}
	if want := read(t, screens); digits.ReplaceAllString(got.String(), "0") != digits.ReplaceAllString(want, "0") {
		t.Errorf("the screens differ from %s: see whether they are right, then run go test ./docs -update\n%s", screens, differences(want, got.String()))
	}
}

// A reader follows the tutorial in a folder of its own.
type reader struct {
	*testing.T
	folder, path, address string
	seconds               string   // that the emulator takes for an operation; as usual, if empty
	runs                  []string // whose IDs were printed, in that order
	served                *exec.Cmd
}

var built string // the folder of the command; empty until a test needs it

var binary = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "stackwright-tutorial-")
	if err != nil {
		return "", err
	}
	built = folder
	build := exec.Command("go", "build", "-o", filepath.Join(folder, "stackwright"), program)
	build.Dir = root
	out, err := build.CombinedOutput()
	if err != nil {
		return folder, fmt.Errorf("%w: %s", err, out)
	}
	return folder, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if err := os.RemoveAll(built); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func newReader(t *testing.T) *reader {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	for _, tool := range []string{"sh", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the tutorial uses %s, which this machine does not have: %v", tool, err)
		}
	}
	folder, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{T: t, folder: t.TempDir(), path: folder, address: l.Addr().String(), seconds: "0.2"}
	if *update {
		r.seconds = "1.5" // the page shows what people will see
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.stop)
	return r
}

var (
	block   = regexp.MustCompile("(?ms)^```(yaml|console)\n(.*?)^```\n")
	creates = regexp.MustCompile("(?:Create|Replace) `([^`]+)`:\n\n$")
)

// follow writes the files of the page, runs its commands and compares what they
// print, if that is wanted. It returns the page with what they have printed.
func (r *reader) follow(page string, run func(line string) string, compare bool) string {
	r.Helper()
	var b strings.Builder
	last := 0
	for _, at := range block.FindAllStringSubmatchIndex(page, -1) {
		before, kind, text := page[last:at[0]], page[at[2]:at[3]], page[at[4]:at[5]]
		last = at[1]
		b.WriteString(before)
		if kind == "yaml" {
			name := creates.FindStringSubmatch(before)
			if name == nil {
				r.Fatalf("the page does not say where to write\n%s", text)
			}
			file := filepath.Join(r.folder, name[1])
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				r.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				r.Fatal(err)
			}
			fmt.Fprintf(&b, "```yaml\n%s```\n", text)
			continue
		}
		b.WriteString("```console\n")
		for _, command := range strings.Split("\n"+text, "\n$ ")[1:] {
			line, want, _ := strings.Cut(command, "\n")
			if want != "" {
				want = strings.TrimSuffix(want, "\n") + "\n"
			}
			got := run(strings.ReplaceAll(line, address, r.address))
			got = r.canonical(got)
			if same := alike(got) == alike(want) || got == "" && want == ""; same {
				got = want // its times are as good as these
			} else if compare && !*update {
				r.Errorf("%s prints\n%s\nthe page says\n%s\nrun go test ./docs -update", line, got, want)
			}
			fmt.Fprintf(&b, "$ %s\n%s", line, got)
		}
		b.WriteString("```\n")
	}
	b.WriteString(page[last:])
	return b.String()
}

// capture runs a command without a terminal.
func (r *reader) capture(line string) string {
	r.Helper()
	if r.server(line) {
		return ""
	}
	c, cancel := r.command(line)
	defer cancel()
	out, err := c.CombinedOutput()
	r.ended(line, string(out), err)
	return strings.TrimLeft(string(out), "\n")
}

// screen runs a command on a terminal and returns what it leaves there.
func (r *reader) screen(line string) string {
	r.Helper()
	if r.server(line) {
		return ""
	}
	c, cancel := r.command(line)
	defer cancel()
	terminal, err := pty.StartWithSize(c, &pty.Winsize{Rows: rows, Cols: columns})
	if err != nil {
		r.Fatal(err)
	}
	defer terminal.Close()
	var out bytes.Buffer
	if _, err := io.Copy(&out, terminal); err != nil && !errors.Is(err, syscall.EIO) { // Linux says so at the end
		r.Fatal(err)
	}
	r.ended(line, out.String(), c.Wait())
	s, err := draw(suffix.ReplaceAllString(atLaptop(out.String()), sameSuffix))
	if err != nil {
		r.Errorf("%s: %v", line, err)
	}
	return s
}

// ended checks that a command ended as the page says that it does.
func (r *reader) ended(line, out string, err error) {
	r.Helper()
	code := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		r.Fatal(err)
	}
	want := 0
	if strings.Contains(out, "failed in") {
		want = 1
	}
	if strings.Contains(line, "stackwright status") {
		want = code // it is that of the run it shows
	}
	if code != want {
		r.Fatalf("%s ended with %d\n%s", line, code, out)
	}
}

// awaitCleanups waits until CloudFormation has cleaned up after updates, as a person does who reads
// the page between two commands.
func (r *reader) awaitCleanups() {
	r.Helper()
	for r.served != nil {
		q, err := http.NewRequestWithContext(r.Context(), http.MethodPost, "http://"+r.address+"/", strings.NewReader("Action=DescribeStacks&Version=2010-05-15"))
		if err != nil {
			r.Fatal(err)
		}
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		q.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/cloudformation/aws4_request, SignedHeaders=host, Signature=local")
		answer, err := http.DefaultClient.Do(q)
		if err != nil {
			r.Fatal(err)
		}
		stacks, err := io.ReadAll(answer.Body)
		if err := errors.Join(err, answer.Body.Close()); err != nil || answer.StatusCode != http.StatusOK {
			r.Fatalf("describe the stacks: %s: %v", answer.Status, err)
		}
		if !bytes.Contains(stacks, []byte("CLEANUP_IN_PROGRESS")) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// patience is how long a command may take. Only a test that fails waits so long, on
// whatever machine.
const patience = 10 * time.Minute

// command is a line of the page as the reader's shell runs it.
func (r *reader) command(line string) (*exec.Cmd, context.CancelFunc) {
	r.Helper()
	r.awaitCleanups()
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	c := exec.CommandContext(ctx, "sh", "-c", line)
	c.Dir = r.folder
	c.Env = r.environment()
	return c, cancel
}

// environment has nothing of the machine's own settings of AWS.
func (r *reader) environment() []string {
	host, err := os.Hostname()
	if err != nil {
		r.Fatal(err)
	}
	return []string{"PATH=" + r.path + ":" + os.Getenv("PATH"), "HOME=" + r.folder, "USER=" + user(host), "TERM=xterm-256color", "LANG=C.UTF-8", "STACKWRIGHT_SECONDS=" + r.seconds, "STACKWRIGHT_CONSOLE=off"}
}

// runID is the ID that the page has for the n-th run that is printed.
func runID(n int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "run %d of the tutorial", n))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:20]
}

const sameSuffix = "-1A2B3C4D5E6F"

var (
	suffix = regexp.MustCompile(`-[A-Z0-9]{12}\b`) // of a physical name
)

var anID = regexp.MustCompile(`\b[a-z2-7]{20}\b`)

// canonical is what was printed, as the page has it.
func (r *reader) canonical(out string) string {
	out = atLaptop(strings.ReplaceAll(out, r.address, address))
	out = suffix.ReplaceAllString(out, sameSuffix)
	return anID.ReplaceAllStringFunc(out, func(id string) string {
		for i := range r.runs {
			if id == runID(i) {
				return id
			}
		}
		if !slices.Contains(r.runs, id) {
			r.runs = append(r.runs, id)
		}
		return runID(slices.Index(r.runs, id))
	})
}

// who is the reader in what the command prints, on every machine.
const who = "you@laptop.local"

// user is the name of the reader's user, so long that it has the length of who
// with the name of this machine: the widths of columns depend on it.
func user(host string) string {
	return strings.Repeat("u", max(1, len(who)-len("@")-len(host)))
}

// atLaptop gives the reader and the machine names that are the same everywhere.
func atLaptop(out string) string {
	host, err := os.Hostname()
	if err != nil {
		return out
	}
	return strings.ReplaceAll(out, user(host)+"@"+host, who)
}

// server starts or stops the reader's server, if that is what the line does.
func (r *reader) server(line string) bool {
	r.Helper()
	switch start, background := strings.CutSuffix(line, " &"); {
	case line == "kill %1":
		r.stop()
		return true
	case !background:
		return false
	default:
		c := exec.Command("sh", "-c", "exec "+strings.Replace(start, "serve", "serve --listen "+r.address, 1)) // it outlives the test until it is stopped
		c.Dir, c.Env = r.folder, r.environment()
		if err := c.Start(); err != nil {
			r.Fatal(err)
		}
		r.served = c
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		c, err := net.Dial("tcp", r.address)
		if err == nil {
			if err := c.Close(); err != nil {
				r.Fatal(err)
			}
			return true
		}
	}
	r.Fatalf("nothing listens at %s", r.address)
	return true
}

// stop stops the reader's server.
func (r *reader) stop() {
	if r.served == nil {
		return
	}
	if err := r.served.Process.Signal(os.Interrupt); err != nil {
		r.Error(err)
	}
	if err := r.served.Wait(); err != nil {
		r.Errorf("serve: %v", err)
	}
	r.served = nil
}

var (
	clock    = regexp.MustCompile(`\b\d\d:\d\d:\d\d\b`)
	date     = regexp.MustCompile(`\b\d{4}-\d\d-\d\d\b`)
	duration = regexp.MustCompile(`\b\d+(?:\.\d+)?m?s\b`)
	spaces   = regexp.MustCompile(`  +`)
	digits   = regexp.MustCompile(`\d`) // of a date that is broken at the end of a column, for instance
)

// alike is a text without what differs each time: dates, times, durations, and
// the width of columns.
func alike(text string) string {
	text = clock.ReplaceAllString(text, "00:00:00")
	text = date.ReplaceAllString(text, "2026-01-01")
	text = duration.ReplaceAllString(text, "0s")
	return spaces.ReplaceAllString(text, "  ")
}

// differences shows the first lines that differ.
func differences(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		var a, b string
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			return fmt.Sprintf("line %d\nwant %q\ngot  %q", i+1, a, b)
		}
	}
	return cmp.Or("", "no line differs")
}

// The screen that the README shows is the tutorial's.
func TestScreenOfREADME(t *testing.T) {
	page := read(t, "README.md")
	before, rest, ok := strings.Cut(page, "```console\n")
	got, after, closed := strings.Cut(rest, "```\n")
	if !ok || !closed {
		t.Fatal("README.md has no screen")
	}
	var want string
	for _, b := range block.FindAllStringSubmatch(read(t, tutorial), -1) {
		if i := strings.LastIndex("\n"+b[2], "\n$ stackwright deploy"); i >= 0 && strings.Contains(b[2][i:], "failed in") {
			want = b[2][i:]
		}
		if strings.HasPrefix(b[2], "$ stackwright retry") {
			want += b[2]
		}
	}
	if got != want && !*update {
		t.Errorf("README.md shows\n%s\nthe tutorial\n%s\nrun go test ./docs -update", got, want)
	}
	if *update {
		write(t, "README.md", before+"```console\n"+want+"```\n"+after)
	}
}

// The README fits on two screens.
func TestLengthOfREADME(t *testing.T) {
	if n := strings.Count(read(t, "README.md"), "\n"); n > 110 {
		t.Errorf("README.md has %d lines: move something to docs", n)
	}
}

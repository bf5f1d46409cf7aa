package main

import (
	"cmp"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

const shopFile = `project: shop
stacks:
  orders: {template: orders.yaml}
  jobs: {template: jobs.yaml}
`

const ordersFile = `Resources:
  Orders:
    Type: AWS::DynamoDB::Table
    Properties: {BillingMode: PAY_PER_REQUEST, KeySchema: [{AttributeName: id, KeyType: HASH}], AttributeDefinitions: [{AttributeName: id, AttributeType: S}]}
`

const jobsFile = `Resources:
  Jobs: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 30}}
`

// reviewedShop is a project in a folder of its own, deployed once.
type reviewedShop struct {
	*testing.T
	dir string
	env []string
}

func newReviewedShop(t *testing.T) *reviewedShop {
	s := &reviewedShop{T: t, dir: t.TempDir(), env: []string{"STACKWRIGHT_SECONDS=0.05"}}
	s.write("stackwright.yaml", shopFile)
	s.write("orders.yaml", ordersFile)
	s.write("jobs.yaml", jobsFile)
	if code, out := s.without("deploy"); code != cli.ExitOK {
		t.Fatalf("the first deploy ended with %d: %s", code, out)
	}
	return s
}

func (s *reviewedShop) write(name, text string) {
	s.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
}

func (s *reviewedShop) command(args ...string) *exec.Cmd {
	c, err := program(s.dir, args...)
	if err != nil {
		s.Fatal(err)
	}
	c.Env = append(c.Env, s.env...)
	return c
}

// without runs a command without a terminal.
func (s *reviewedShop) without(args ...string) (code int, out string) {
	s.Helper()
	text, err := s.command(args...).CombinedOutput()
	return s.exit(err), string(text)
}

func (s *reviewedShop) exit(err error) int {
	s.Helper()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode()
	} else if err != nil {
		s.Fatal(err)
	}
	return 0
}

// on runs a command on a terminal, on which a person types the answer when the command prompts: no, if it is empty.
// "\x04" is the end of the input.
func (s *reviewedShop) on(answer string, args ...string) (code int, out string) {
	s.Helper()
	c := s.command(args...)
	terminal, err := pty.StartWithSize(c, &pty.Winsize{Rows: 50, Cols: 160})
	if err != nil {
		s.Fatal(err)
	}
	defer terminal.Close()
	var b syncBuffer
	copied := make(chan error, 1)
	go func() {
		_, err := io.Copy(&b, terminal)
		copied <- err
	}()
	answered := false
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if !answered && strings.Contains(b.String(), "type yes to continue") {
			if _, err := terminal.WriteString(cmp.Or(answer, "no\n")); err != nil {
				s.Fatal(err)
			}
			answered = true
		}
		select {
		case err := <-copied:
			if err != nil && !errors.Is(err, syscall.EIO) {
				s.Fatal(err)
			}
			return s.exit(c.Wait()), b.String()
		default:
		}
		if time.Now().After(end) {
			s.Fatalf("%v does not end: %s", args, b.String())
		}
	}
}

// On a terminal a deploy shows its plan and asks before it deletes a stack, replaces a resource or loses data, and carries
// out exactly that plan. With --yes, without a terminal, and if nothing of that kind happens, it does not ask. Without a
// terminal it says before its first step what is lost.
func TestDeployAsksBeforeItDestroys(t *testing.T) {
	t.Parallel()
	changes := map[string]struct {
		file, text string
		shown      []string // what a person reads before the first step
		lost       bool
	}{
		"a deletion": {"stackwright.yaml", strings.Replace(shopFile, "  jobs: {template: jobs.yaml}\n", "", 1),
			[]string{"DATA LOSS: jobs Jobs, deleted (messages)", "DELETED: jobs (shop-jobs)"}, true},
		"a replacement": {"orders.yaml", strings.Replace(ordersFile, "AttributeType: S", "AttributeType: N", 1),
			[]string{"DATA LOSS: orders Orders, replaced (a table)"}, true},
		"a change": {"jobs.yaml", strings.Replace(jobsFile, "30", "60", 1), nil, false},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, c := range []struct {
				answer string
				args   []string
				code   int
			}{
				{"no\n", nil, cli.ExitRefused}, {"y\n", nil, cli.ExitRefused}, {"\x04", nil, cli.ExitRefused}, {"yes\n", nil, cli.ExitOK}, {"", []string{"--yes"}, cli.ExitOK},
			} {
				s := newReviewedShop(t)
				s.write(change.file, change.text)
				code, out := s.on(c.answer, append([]string{"deploy"}, c.args...)...)
				prompted := strings.Contains(out, "type yes to continue")
				want := c.code
				if !change.lost {
					want = cli.ExitOK
				}
				if code != want || prompted != (change.lost && c.args == nil) {
					t.Errorf("answered with %q, %v: it ended with %d, and prompted: %v\n%s", c.answer, c.args, code, prompted, out)
				}
				if change.lost && c.args == nil && !strings.Contains(out, "DATA LOSS") {
					t.Errorf("it does not show the plan: %s", out)
				}
				if _, state := s.without("plan"); strings.Contains(state, "no changes") != (want == cli.ExitOK) {
					t.Errorf("answered with %q: %s", c.answer, state)
				}
			}
			s := newReviewedShop(t)
			s.write(change.file, change.text)
			code, out := s.without("deploy")
			before, _, _ := strings.Cut(out, "  running  ")
			for _, line := range change.shown {
				if !strings.Contains(before, line) {
					t.Errorf("without a terminal: %q is not said before the first step:\n%s", line, out)
				}
			}
			if code != cli.ExitOK || !change.lost && strings.Contains(out, "LOSS") {
				t.Errorf("without a terminal: it ended with %d: %s", code, out)
			}
			for _, line := range change.shown {
				if _, status := s.without("status"); !strings.Contains(status, line) {
					t.Errorf("status does not say %q:\n%s", line, status)
				}
			}
		})
	}
}

// In a pipeline, a command that changes something is refused unless something says where: its setting may be missing or
// misspelt. Each such command says where it changes something, in its first and its last line.
func TestWhereACommandChangesSomething(t *testing.T) {
	t.Parallel()
	s := newReviewedShop(t)
	const here = "on this laptop (emulators, .stackwright)"
	_, out := s.without("deploy")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); lines[0] != here || lines[len(lines)-1] != here {
		t.Errorf("it does not begin and end with where it deploys:\n%s", out)
	}
	if _, out = s.without("plan"); strings.Contains(out, here) {
		t.Errorf("a plan changes nothing: %s", out)
	}
	if _, out = s.without("deploy", "-o", "json"); !strings.Contains(out, `"where":"`+here+`"`) {
		t.Errorf("no object says where: %s", out)
	}
	for _, c := range []struct {
		env  string
		args []string
		code int
		says string
	}{
		{"CI=true", []string{"deploy"}, cli.ExitRefused, "deploy: CI is set, and nothing says where to deploy: name the installation on AWS with --installation"},
		{"CI=true", []string{"destroy", "--yes"}, cli.ExitRefused, "destroy: CI is set, and nothing says where to destroy"},
		{"CI=true", []string{"retry"}, cli.ExitRefused, "retry: CI is set"},
		{"CI=true", []string{"plan"}, cli.ExitOK, "no changes"},
		{"CI=true", []string{"stacks"}, cli.ExitOK, "shop-orders"},
		{"CI=false", []string{"deploy"}, cli.ExitOK, here},
		{"CI=true", []string{"deploy", "--data", ".stackwright"}, cli.ExitOK, here},
		{"CI=true STACKWRIGHT_DATA=.stackwright", []string{"deploy"}, cli.ExitOK, here},
		{"STACKWRIGHT_INSTALATION=stackwright", []string{"deploy"}, cli.ExitRefused,
			"the variable STACKWRIGHT_INSTALATION sets no flag: did you mean STACKWRIGHT_INSTALLATION?"},
		{"STACKWRIGHT_TOKEN=x", []string{"plan"}, cli.ExitOK, "no changes"},
	} {
		with := &reviewedShop{T: t, dir: s.dir, env: append(strings.Fields(c.env), s.env...)}
		if code, out := with.without(c.args...); code != c.code || !strings.Contains(out, c.says) {
			t.Errorf("%s %v ended with %d: %s", c.env, c.args, code, out)
		}
	}
}

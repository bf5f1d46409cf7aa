package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// withMore is the shop with another stack that has a queue.
const withMore = shopFile + "  more: {template: jobs.yaml}\n"

// renamedOrders is the shop with a stack that has another physical name.
const renamedOrders = `project: shop
stacks:
  orders: {template: orders.yaml, stack_name: other-orders}
  jobs: {template: jobs.yaml}
`

// ofEnvironments is a project file with two environments.
func ofEnvironments(file string) string { return file + "environments: {staging: {}, prod: {}}\n" }

// Every command that deploys files again shows its plan on a terminal and asks before it deletes a stack, and carries
// out exactly that plan. With --yes, without a terminal, and if nothing is lost, it does not ask. Without a terminal
// it says before its first step what is lost.
func TestCommandsAskBeforeTheyDestroy(t *testing.T) {
	t.Parallel()
	deployed := func(s *reviewedShop, files ...string) {
		for _, file := range files {
			s.write("stackwright.yaml", file)
			s.must("deploy")
		}
	}
	commands := map[string]struct {
		args   []string
		before func(s *reviewedShop) // what comes before the command, which then deletes the stack more
		safe   func(s *reviewedShop) // what comes before the command, which then loses nothing
		after  []string              // the command that says that nothing is left to do
	}{
		"rollback": {
			[]string{"rollback"}, func(s *reviewedShop) { deployed(s, withMore) },
			func(s *reviewedShop) {
				s.write("jobs.yaml", strings.Replace(jobsFile, "30", "60", 1))
				s.must("deploy")
			},
			[]string{"rollback", "--to", "current~1", "--plan"},
		},
		"promote": {
			[]string{"promote", "--from", "staging", "--to", "prod"},
			func(s *reviewedShop) {
				for _, file := range []string{withMore, shopFile} {
					s.write("stackwright.yaml", ofEnvironments(file))
					s.must("deploy", "--env", "staging")
					if file == withMore {
						s.must("promote", "--from", "staging", "--to", "prod", "--yes")
					}
				}
			},
			func(s *reviewedShop) {
				s.write("stackwright.yaml", ofEnvironments(shopFile))
				s.must("deploy", "--env", "staging")
			},
			[]string{"promote", "--from", "staging", "--to", "prod", "--plan"},
		},
		"restore": {
			[]string{"restore", "first"},
			func(s *reviewedShop) {
				s.must("snapshot", "first", "--no-backups")
				deployed(s, withMore)
			},
			func(s *reviewedShop) { s.must("snapshot", "first", "--no-backups") },
			[]string{"restore", "first", "--plan"},
		},
	}
	for name, c := range commands {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, given := range []struct {
				answer string
				flags  []string
				code   int
			}{
				{"no\n", nil, cli.ExitRefused}, {"\x04", nil, cli.ExitRefused}, {"yes\n", nil, cli.ExitOK}, {"", []string{"--yes"}, cli.ExitOK},
			} {
				s := newReviewedShop(t)
				c.before(s)
				code, out := s.on(given.answer, slices.Concat(c.args, given.flags)...)
				if code != given.code || strings.Contains(out, "type yes to continue") != (given.flags == nil) {
					t.Errorf("answered with %q, %v: it ended with %d\n%s", given.answer, given.flags, code, out)
				}
				if !strings.Contains(out, "DATA LOSS: more Jobs, deleted (messages)") {
					t.Errorf("answered with %q, %v: it does not say what is lost:\n%s", given.answer, given.flags, out)
				}
				if listed := s.must("stacks"); strings.Contains(listed, "-more ") != (given.code != cli.ExitOK) {
					t.Errorf("answered with %q, %v: the stacks are\n%s", given.answer, given.flags, listed)
				}
			}
			s := newReviewedShop(t)
			c.before(s)
			code, out := s.without(c.args...)
			before, _, _ := strings.Cut(out, "  running  ")
			if code != cli.ExitOK || !strings.Contains(before, "DATA LOSS: more Jobs, deleted (messages)") {
				t.Errorf("without a terminal it ended with %d, and does not say before the first step what is lost:\n%s", code, out)
			}
			s = newReviewedShop(t)
			c.safe(s)
			if code, out := s.on("", c.args...); code != cli.ExitOK || strings.Contains(out, "type yes to continue") {
				t.Errorf("nothing is lost, and it ended with %d: %s", code, out)
			}
		})
	}
}

// must runs a command without a terminal, which succeeds, and returns its output.
func (s *reviewedShop) must(args ...string) string {
	s.Helper()
	code, out := s.without(args...)
	if code != cli.ExitOK {
		s.Fatalf("%v ended with %d: %s", args, code, out)
	}
	return out
}

// A stack that gets another physical name is deleted and created again: a deploy and a rollback ask before they do so.
func TestAnotherPhysicalNameIsConfirmed(t *testing.T) {
	t.Parallel()
	s := newReviewedShop(t)
	s.write("stackwright.yaml", renamedOrders)
	for _, command := range []string{"deploy", "rollback"} {
		for _, answer := range []string{"no\n", "yes\n"} {
			code, out := s.on(answer, command)
			if !strings.Contains(out, "type yes to continue") || !strings.Contains(out, "DATA LOSS: orders Orders") {
				t.Errorf("%s does not ask:\n%s", command, out)
			}
			if want := map[string]int{"no\n": cli.ExitRefused, "yes\n": cli.ExitOK}[answer]; code != want {
				t.Errorf("%s, answered with %q, ended with %d: %s", command, answer, code, out)
			}
		}
	}
}

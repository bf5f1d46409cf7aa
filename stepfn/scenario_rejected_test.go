package stepfn_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/golden"
)

// A scenario with a misspelt word, outcome, option, state, step or name, or with
// an argument too many or too few, is rejected with every fault and its line.
func TestMisspeltScenariosAreRejected(t *testing.T) {
	files, err := filepath.Glob("testdata/rejected/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("there is no rejected scenario: ", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, problems := readScenario(file, string(text))
			if len(problems) == 0 {
				t.Fatal("it is accepted")
			}
			golden.Same(t, strings.TrimSuffix(file, ".txt")+".golden", strings.Join(problems, "\n")+"\n")
		})
	}
}

// A check whose condition is false fails the scenario, and the message names the line.
func TestScenarioChecksFail(t *testing.T) {
	const start = "# Checks.\nproject vpc db<vpc\nfail db/create\ndeploy failed\nname first\n"
	for _, c := range []struct{ line, want string }{
		{"steps vpc/create", "x.txt:6: steps vpc/create: got vpc/create db/create"},
		{"step vpc/create failed", "x.txt:6: step vpc/create failed: got done "},
		{"step db/create failed because", "x.txt:6: step db/create failed because: got failed ROLLBACK_COMPLETE: "},
		{"step vpc/update done", "x.txt:6: step vpc/update done: the run has no such step"},
		{"cause db/create failed step db/create", "x.txt:6: cause db/create failed step db/create: got "},
		{"attempts vpc/create 2", "x.txt:6: attempts vpc/create 2: got 1"},
		{"unchanged 1", "x.txt:6: unchanged 1: got 0"},
		{"epoch 2", "x.txt:6: epoch 2: got 1"},
		{"says hello", "x.txt:6: says hello: got "},
		{"run first succeeded", "x.txt:6: run first succeeded: got failed"},
		{"ends first succeeded", "x.txt:6: ends first succeeded: got failed []"},
		{"lock first", "x.txt:6: lock first: got free"},
		{"requests vpc/create", "x.txt:6: requests vpc/create: got vpc/create db/create"},
		{"stack vpc gone", "x.txt:6: stack vpc gone: got CREATE_COMPLETE"},
		{"made vpc v2", "x.txt:6: made vpc v2: got v1"},
		{"passed vpc db", "x.txt:6: passed vpc db: vpc does not need db"},
		{"kept db vpc", `x.txt:6: kept db vpc: got "`},
		{"recorded vpc", "x.txt:6: recorded vpc: got db vpc"},
		{"scheduled", ""},
		{"path Plan Next Succeeded", "x.txt:6: path Plan Next Succeeded: got Plan Next Execute Watch "},
		{"gap vpc/create db/create 0", "x.txt:6: gap vpc/create db/create 0: got "},
	} {
		t.Run(c.line, func(t *testing.T) {
			lines, problems := readScenario("x.txt", start+c.line+"\n")
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			p := newMemory(t, 1)
			defer p.Stop()
			failures := &recorder{TB: t}
			(&scenario{TB: failures, backend: p}).play(lines)
			if got := strings.Join(failures.failed, "\n"); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

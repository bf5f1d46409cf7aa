package main

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"github.com/stackwright/stackwright/infra/local/cloud"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

var (
	rounds = flag.Int("rounds", 0, "how often the shop is deployed while any of its functions are killed; 0 is twice, while some are")
	seed   = flag.Uint64("seed", 1, "of the first round")
)

// While functions are killed at any time, the shop is deployed, and no stack is created
// twice. Without -rounds, execute-step is not killed: if it crashes between its claim
// and its request, the step is retried only after a minute.
func TestKilledFunctions(t *testing.T) {
	t.Parallel()
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	n, most, spared := *rounds, 30, ""
	if n == 0 {
		n, most, spared = 2, 8, "execute-step"
	}
	all := make([]*round, n)
	t.Run("round", func(t *testing.T) {
		for i := range all {
			s := *seed + uint64(i)
			t.Run(fmt.Sprintf("with seed %d", s), func(t *testing.T) {
				t.Parallel()
				all[i] = &round{T: t, chance: rand.New(rand.NewPCG(s, 0)), dir: dir, data: t.TempDir(), most: most, spared: spared}
				all[i].play()
			})
		}
	})
	kills, atWork := 0, 0
	for _, r := range all {
		kills, atWork = kills+r.kills, atWork+r.atWork
	}
	t.Logf("%d rounds, %d kills, %d of them of a function at work for the state machine", n, kills, atWork)
	if kills < most*n/2 {
		t.Errorf("only %d functions were killed", kills)
	}
}

// A round is one deploy of the shop during which functions are killed.
type round struct {
	*testing.T
	chance        *rand.Rand
	dir, data     string          // of the functions, and of the program's state
	most          int             // kills: a run goes on however many there are, but slower and slower
	spared        string          // a function that is not killed
	processes     map[int]process // that are running, by their IDs
	kills, atWork int
}

// play deploys the shop while functions are killed, and then checks the result.
func (r *round) play() {
	startedAt := time.Now()
	out := r.deploy(r.kill)
	took := time.Since(startedAt)
	if !strings.Contains(out, "9 created") {
		r.Errorf("the shop was not created:\n%s", out)
	}
	if out := r.deploy(nil); !strings.Contains(out, "9 unchanged") {
		r.Errorf("the second deploy changed something:\n%s", out)
	}
	r.vacant()
	r.inspect()
	r.Logf("%d kills, %d of them at work for the state machine; it took %s", r.kills, r.atWork, took.Round(100*time.Millisecond))
}

// deploy runs the real command to its end and returns what it printed. Meanwhile it
// calls kill, unless that is nil.
func (r *round) deploy(kill func(parent int)) string {
	r.Helper()
	shop, err := filepath.Abs("../../examples/shop")
	if err != nil {
		r.Fatal(err)
	}
	cmd, err := program(r.dir, "deploy", shop, "--functions", "binaries", "--data", r.data, "--seconds", "0.3")
	if err != nil {
		r.Fatal(err)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		r.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }()
	var limit <-chan time.Time
	if end, ok := r.Deadline(); ok {
		limit = time.After(time.Until(end) - time.Minute)
	}
	ticker := time.NewTicker(3 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case err := <-over:
			if err != nil {
				log, _ := os.ReadFile(filepath.Join(r.data, "stackwright.log")) // it may not be there
				r.Fatalf("deploy: %v\n%s\nlog:\n%s", err, out.String(), log)
			}
			return out.String()
		case <-limit:
			_ = cmd.Process.Kill() // it is over now
			r.Fatalf("deploy has not ended:\n%s", out.String())
		case <-ticker.C:
			if kill != nil && r.kills < r.most {
				kill(cmd.Process.Pid)
			}
		}
	}
}

// A process of a function was seen first at a time, and is killed when it has an age; at noAge, it is not.
type process struct {
	seen time.Time
	ends time.Duration
}

const noAge = time.Duration(math.MaxInt64)

// kill kills functions that a process has started. Chance decides for each process at its start whether and when it is
// killed, so that the speed of the machine does not decide how often a function is killed: of three processes, two are
// killed, while they begin or work. Now and then all are killed.
func (r *round) kill(parent int) {
	all := make(map[int]process)
	everyone := r.chance.IntN(300) == 0
	for _, pid := range r.functions(parent) {
		p, known := r.processes[pid]
		if !known {
			p = process{time.Now(), noAge}
			if r.chance.IntN(3) > 0 {
				p.ends = time.Duration(r.chance.IntN(300)) * time.Millisecond
			}
		}
		all[pid] = p
		if (everyone || time.Since(p.seen) >= p.ends) && r.kills < r.most && syscall.Kill(pid, syscall.SIGKILL) == nil {
			r.kills++
		}
	}
	r.processes = all
}

// functions finds the processes of functions that a process has started, in order.
func (r *round) functions(parent int) []int {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	if err != nil {
		r.Fatal(err)
	}
	var found []int
	for _, list := range lists {
		pids, _ := os.ReadFile(list) // a thread may be gone
		for word := range strings.FieldsSeq(string(pids)) {
			exe, _ := os.Readlink("/proc/" + word + "/exe") // and so may a process
			function, ours := strings.CutPrefix(exe, filepath.Join(r.dir, "build")+"/")
			if pid, err := strconv.Atoi(word); ours && err == nil && function != r.spared+"/bootstrap" {
				found = append(found, pid)
			}
		}
	}
	slices.Sort(found)
	return found
}

// vacant waits until no process has the data folder open. One may still deliver events
// to functions that were killed.
func (r *round) vacant() {
	for {
		_, taken, err := cloud.LockedBy(r.data)
		if err != nil {
			r.Fatal(err)
		}
		if !taken {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// inspect checks the data folder after the deploy: each stack was created once.
func (r *round) inspect() {
	r.Helper()
	c, err := cloud.Open(r.Context(), cloud.Options{Data: r.data, Paused: true, Getenv: func(string) string { return "" }})
	if err != nil {
		r.Fatal(err)
	}
	defer c.Close()
	once(r.T, cloudformation.NewFromConfig(c.Config()), 9)
	flows := sfn.NewFromConfig(c.Config())
	executions, err := flows.ListExecutions(r.Context(), &sfn.ListExecutionsInput{StateMachineArn: aws.String("arn:aws:states:" + cli.Region + ":" + cli.Account + ":stateMachine:" + cli.Name)})
	if err != nil {
		r.Fatal(err)
	}
	for _, x := range executions.Executions {
		pages := sfn.NewGetExecutionHistoryPaginator(flows, &sfn.GetExecutionHistoryInput{ExecutionArn: x.ExecutionArn})
		for pages.HasMorePages() {
			page, err := pages.NextPage(r.Context())
			if err != nil {
				r.Fatal(err)
			}
			for _, e := range page.Events {
				if d := e.TaskFailedEventDetails; d != nil && strings.Contains(aws.ToString(d.Cause), "was killed") {
					r.atWork++
				}
			}
		}
	}
}

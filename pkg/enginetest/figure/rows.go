package figure

import (
	"fmt"
	"path"
)

// A Row is a row of the first table of docs/performance.md. It shows one figure, or the
// largest of those whose names match.
type Row struct {
	Figures string  // a pattern of names, as for path.Match
	Title   string  // what is measured
	Format  string  // of the value
	Reach   float64 // the most that it should be; 0 if there is no target
	By      string  // who measures it: a producer of infra/bench
	Sceptre string  // the figure of Sceptre 4.7 beside it; "" if there is none
	Why     string  // why the target is missed, and what would reach it; shown if it is missed
}

// Of returns the row that shows a figure.
func Of(name string) (Row, bool) {
	for _, r := range Rows {
		if r.Shows(name) {
			return r, true
		}
	}
	return Row{}, false
}

// Shows reports whether the row shows the figure of that name.
func (r Row) Shows(name string) bool {
	matches, err := path.Match(r.Figures, name)
	if err != nil {
		panic(fmt.Sprintf("row %s: %v", r.Figures, err)) // the rows are constant
	}
	return matches
}

// Reached reports whether a figure reaches the target of the row.
func (r Row) Reached(value float64) bool { return value <= r.Reach }

const (
	gaps = "A step starts about 1.6 s after its dependencies have ended: CloudFormation's event takes 1.0 s of it, DescribeStacks and CreateStack 0.3 s, two transitions and two calls of functions 0.1 s, " +
		"and requests to DynamoDB, S3 and Step Functions 0.2 s. AWS documents no latency of CloudFormation's events; 0.5 to 1.5 s is our assumption. With 0.1 to 0.2 s, the ratio was 1.015 for 20 stacks, 1.012 for 80 " +
		"and 1.029 for 1,000 when this was written. With slow events, a poll that comes when the recorded duration of a stack is nearly over would notice the end before the event, from the second deploy on; a poll that comes too early costs a request and transitions."
	rounds = "500 steps become ready in few minutes, and a function call starts 40 of them. Starts that last a round longer delay their dependents by it, and each waits for its event: a stack starts about 2.9 s after its dependencies " +
		"have ended, against 2.1 s with events of 0.1 to 0.2 s. More calls of execute-step at the same time would shorten a round, but each needs state transitions."
	fleet     = "The least possible has no gap between one stack and the next. Each of the thirty places has a gap of about 2 s for each of the ten stacks that it has one after another, and accounts that throttle delay theirs."
	lostAlone = "Without events and without a recorded duration, a step is polled after a quarter of the time that it has run, so an operation of three hours is polled often. " +
		"Only a longer pause would need fewer requests, and each end would be noticed later; from the second deploy on, the recorded duration does it."
	emulated = "The command hosts the emulators, the state machine and the functions in its own process, and reads a journal at its start; the column of CPU is what all of that needs."
	binaries = "The SDK's own loader of the configuration links the clients of SSO, OIDC, sign-in and the metadata service into each function, and plan links all readers of project files, the table of resource types (0.09 MB), and what compiles policies (cel-go with its parser and protobuf, 1.4 MB). " +
		"Without the clients, the zip of plan was 0.39 MB smaller; without HTTP/2, 0.14 MB. A loader of our own would have to follow the SDK's settings by hand."
)

// Rows are all rows. Targets are written only here. Tests assert those that do not depend on the
// machine: the target, or the figure of today if the target is missed.
var Rows = []Row{
	{"makespan/4x5", "makespan ÷ critical path, 20 stacks 4 × 5", "%.3f", 1.02, "makespan", "", gaps},
	{"makespan/8x10", "makespan ÷ critical path, 80 stacks 8 × 10", "%.3f", 1.02, "makespan", "ratio/sceptre/makespan/deploy", gaps},
	{"makespan/20x10", "makespan ÷ critical path, 200 stacks 20 × 10", "%.3f", 1.02, "makespan", "", gaps},
	{"makespan/500x2", "makespan ÷ critical path, 1,000 stacks 500 × 2", "%.3f", 1.03, "makespan", "", rounds},
	{"makespan/500x2 even", "makespan ÷ critical path, 1,000 stacks 500 × 2, operations of 30 to 89 s", "%.3f", 1.03, "makespan", "", rounds},
	{"makespan/8x10 every second event lost", "makespan ÷ critical path, 80 stacks 8 × 10, every second event lost", "%.3f", 1.05, "makespan", "",
		"Without its event, an end is noticed an eighth of the duration late on average. More frequent polls would need more requests."},
	{"makespan/8x10 all events lost", "makespan ÷ critical path, 80 stacks 8 × 10, all events lost", "%.3f", 0, "makespan", "", ""},

	{"max_parallel/*", "makespan ÷ least possible, 80 to 100 stacks, ten at a time", "%.3f", 1.05, "order", "",
		"The least possible has no gap between one stack and the next. Each of the ten places has a gap of about 1.5 s for each of its stacks."},
	{"forecast/*", "error of the forecast at half of the makespan, the same runs", "%.2f", 0.2, "order", "", "The recorded durations of few deploys say little about the next one."},

	{"calls/created/*, with events, *", "requests to CloudFormation a created stack: 1 and 80 stacks, 5 s to 3 h, with events", "%.2f", 3, "calls", "calls/sceptre/makespan/deploy", ""},
	{"calls/updated*/*, with events, *", "requests an updated stack, the same runs", "%.2f", 3, "calls", "", ""},
	{"calls/deleted/*, with events, *", "requests a deleted stack, the same runs", "%.2f", 2, "calls", "calls/sceptre/instant/destroy",
		"A delete that an event has not reported yet is described once more."},
	{"calls/unchanged", "requests an unchanged stack, of 100", "%.3f", 0.01, "calls", "calls/sceptre/instant/again", ""},
	{"calls/created/80 stacks, all events lost, *", "requests a created stack of 80, all events lost, duration not yet known", "%.2f", 6, "calls", "", lostAlone},
	{"calls/created/one stack, all events lost, *", "requests a created stack alone, all events lost, duration not yet known", "%.2f", 6, "calls", "", lostAlone},
	{"calls/updated/*, all events lost, *", "requests an updated stack, all events lost, duration not yet known", "%.2f", 6, "calls", "", lostAlone},
	{"calls/updated again/*, all events lost, *", "requests an updated stack, all events lost, duration known", "%.2f", 6, "calls", "", lostAlone},
	{"calls/deleted/*, all events lost, *", "requests a deleted stack, all events lost", "%.2f", 6, "calls", "", lostAlone},

	{"transitions/ten chains, operations of ten seconds", "state transitions, 100 stacks in ten chains, operations of 10 s", "%.0f", 350, "cost", "", ""},
	{"cost/ten chains, operations of ten seconds", "dollars, 100 stacks in ten chains, operations of 10 s", "$%.4f", 0.012, "cost", "", ""},
	{"transitions/ten chains, operations of a minute", "state transitions, 100 stacks in ten chains, lognormal with a median of a minute", "%.0f", 350, "cost", "", ""},
	{"cost/ten chains, operations of a minute", "dollars, 100 stacks in ten chains, lognormal with a median of a minute", "$%.4f", 0.012, "cost", "", ""},

	{"makespan/fleet", "makespan ÷ least possible, 20 stacks in 300 targets rolled out, 30 targets at a time, 2 % of them fail, 10 % throttle", "%.3f", 1.1, "fleet", "", fleet},
	{"calls/fleet", "requests to CloudFormation a stack, the same run", "%.2f", 3, "fleet", "", "A request that is throttled is sent again, and a creation that fails has its events read for its reason."},
	{"transitions/fleet", "state transitions, the same run", "%.0f", 0, "fleet", "", ""},
	{"cost/fleet", "dollars, the same run", "$%.3f", 0, "fleet", "", ""},

	{"poll/bytes-10000", "bytes that a poll of 10,000 steps reads, 100 in flight", "%.0f", 102_000, "poll", "", "A step in flight has more than a kilobyte."},

	{"seconds/deploy 100", "deploy of 100 instant stacks 10 × 10", "%.2f s", 2.5, "instant", "seconds/sceptre/instant/deploy", emulated},
	{"seconds/deploy 100 again", "deploy of the same again: nothing changes", "%.2f s", 0.2, "instant", "seconds/sceptre/instant/again", emulated},
	{"seconds/destroy 100", "destroy of the same 100", "%.2f s", 1.5, "instant", "seconds/sceptre/instant/destroy", emulated},

	{"seconds/own 10000", "load and plan 10,000 stacks with 20,000 edges, the engine's own part", "%.2f s", 1, "own", "",
		"Two thirds of it is reading the project, one third the plan; both use one core."},
	{"seconds/plan 10000", "plan of 10,000 stacks with 20,000 edges, whole command", "%.1f s", 3, "plan", "", emulated},
	{"megabytes/plan 10000", "peak memory of that command", "%.0f MB", 300, "plan", "", emulated},

	{"seconds/deploy 1600", "deploy of 1,600 instant stacks 40 wide", "%.1f s", 10, "deploy", "", emulated},
	{"milliseconds/stack of 1000", "time per stack, 1,000 stacks 40 wide", "%.1f ms", 0, "deploy", "", ""},
	{"milliseconds/stack of 10000", "time per stack, 10,000 stacks 40 wide", "%.1f ms", 0, "deploy", "", ""},
	{"ratio/stack of 10000", "time per stack at 10,000 ÷ at 1,000", "%.2f", 1.5, "deploy", "",
		"A new execution reads the whole run, and each poll goes over all its steps in memory; both grow with the run."},

	{"milliseconds/init", "function init over the Runtime API, slowest function, shortest of 15", "%.1f ms", 13, "init", "", binaries},
	{"megabytes/zip", "largest zip of a function", "%.2f MB", 5, "zip", "", binaries},
	{"milliseconds/api", "API, of what the page asks about 1,000 stacks, 50 requests a second, after the first of each kind: 99 of 100 within", "%.0f ms", 100, "api", "", emulated},
	{"megabytes/api", "memory of function api meanwhile, up to", "%.0f MB", 128, "api", "", "The answers that it makes at the same time are in memory."},
	{"seconds/page paint", "page of a run of 1,000 stacks, until the first text", "%.2f s", 1, "page", "", emulated},
	{"seconds/page graph", "until its graph", "%.2f s", 2, "page", "", "The layout of the graph, in a worker, takes most of it."},
	{"seconds/page change", "from the end of a step until the page shows it", "%.2f s", 2, "page", "", "The page reads the run again every 0.8 seconds."},
	{"dollars/idle", "an idle installation, a month", "$%.2f", 1, "idle", "", ""},
}

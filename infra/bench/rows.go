package main

import (
	"fmt"
	"path"
)

// virtual are the tests that measure in virtual time, and virtualPackages their packages.
const virtual = `^Test(Makespan|CriticalPathFirst|CostOfTenChains|Calls|FollowReadsWhatChanged)$`

var virtualPackages = []string{"./stepfn", "./pkg/aws/dynamodb"}

// A row of the table is one figure, or the largest of those that its pattern matches.
type row struct {
	figure, title string
	format        string  // of a value
	reach         float64 // the most that it should be; 0 if there is no target
}

// rows are all rows of the table.
var rows = []row{
	{"makespan/4x5", "makespan ÷ critical path, 20 stacks 4 × 5", "%.3f", 1.02},
	{"makespan/8x10", "the same, 80 stacks 8 × 10", "%.3f", 1.02},
	{"makespan/20x10", "the same, 200 stacks 20 × 10", "%.3f", 1.02},
	{"makespan/500x2", "the same, 1,000 stacks 500 × 2", "%.3f", 1.03},
	{"makespan/500x2 even", "the same, operations of 30 to 89 s", "%.3f", 1.03},
	{"makespan/8x10 every second event lost", "80 stacks, every second event lost", "%.3f", 1.05},
	{"makespan/8x10 all events lost", "80 stacks, all events lost", "%.3f", 0},

	{"max_parallel/*", "makespan ÷ least possible, ten stacks at a time, 80 to 100 stacks", "%.3f", 1.05},
	{"forecast/*", "error of the forecast at half of their time", "%.2f", 0.2},

	{"calls/created/with events, 80 of *", "requests to CloudFormation a created stack, 80 stacks of 5 s to 3 h, with events", "%.2f", 3},
	{"calls/updated/with events, 80 of *", "the same, an updated stack", "%.2f", 3},
	{"calls/deleted/with events, 80 of *", "the same, a deleted stack", "%.2f", 2},
	{"calls/unchanged/with events, 80 of *", "the same, an unchanged stack", "%.4f", 0.0126},
	{"calls/created/all events lost, 80 of *", "a created stack, all events lost", "%.2f", 6},
	{"calls/updated/all events lost, 80 of *", "an updated stack, all events lost", "%.2f", 6},
	{"calls/deleted/all events lost, 80 of *", "a deleted stack, all events lost", "%.2f", 6},

	{"transitions/ten chains, *", "state transitions, 100 stacks in ten chains", "%.0f", 350},
	{"cost/ten chains, *", "the same run, in dollars", "$%.4f", 0.012},

	{"poll/bytes-10000", "bytes that a poll of 10,000 steps reads, 100 in flight", "%.0f", 102_000},

	{"seconds/deploy 100", "deploy of 100 instant stacks 10 × 10", "%.2f s", 2.5},
	{"seconds/deploy 100 again", "the same again: nothing changes", "%.2f s", 0.2},
	{"seconds/destroy 100", "destroy of the same", "%.2f s", 1.5},

	{"seconds/plan 10000", "plan of 10,000 stacks with 20,000 edges, whole command", "%.1f s", 3},
	{"bytes/plan 10000", "its peak memory", "%.0f MB", 300},
	{"seconds/deploy 1600", "deploy of 1,600 instant stacks 40 wide", "%.1f s", 10},
	{"milliseconds/stack of 1000", "time per stack, 1,000 stacks 40 wide", "%.1f ms", 0},
	{"milliseconds/stack of 10000", "time per stack, 10,000 stacks 40 wide", "%.1f ms", 0},
	{"ratio/stack of 10000", "time per stack at 10,000 ÷ at 1,000", "%.2f", 1.5},

	{"milliseconds/init", "function init over the Runtime API, slowest function", "%.1f ms", 13},
	{"bytes/zip", "largest zip of a function", "%.1f MB", 5},
	{"dollars/idle", "an idle installation, a month", "$%.2f", 1},
}

// value returns the figure of a row. It is false if the figure was not measured.
func (b *measurement) value(r row) (largest float64, measured bool) {
	for name, v := range b.figures {
		matches, err := path.Match(r.figure, name)
		if err != nil {
			panic(fmt.Sprintf("row %s: %v", r.figure, err)) // the rows are constant
		}
		if matches {
			largest, measured = max(largest, v), true
		}
	}
	return largest, measured
}

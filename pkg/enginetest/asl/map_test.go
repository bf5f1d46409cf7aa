package asl_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stackwright/stackwright/pkg/enginetest/asl"
)

const mapping = `{"StartAt":"S","States":{"S":{"Type":"Map","MaxConcurrency":%d,"ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Task","Resource":"f","End":true}}},"End":true}}}`

// At most MaxConcurrency items run at once, and never more than 40.
// https://docs.aws.amazon.com/step-functions/latest/dg/state-map-inline.html
func TestConcurrency(t *testing.T) {
	items := "[" + strings.Repeat("0,", 199) + "0]"
	for _, c := range []struct{ limit, want int }{{0, 40}, {3, 3}, {100, 40}} {
		synctest.Test(t, func(t *testing.T) {
			var now, most atomic.Int64
			w := &host{answer: func(asl.Call) (string, error) {
				if n := now.Add(1); n > most.Load() {
					most.Store(n)
				}
				time.Sleep(time.Second)
				now.Add(-1)
				return "1", nil
			}}
			r := &asl.Runner{Host: w}
			if _, err := r.Run(t.Context(), parse(t, fmt.Sprintf(mapping, c.limit)), json.RawMessage(items)); err != nil {
				t.Fatal(err)
			}
			if got := int(most.Load()); got != c.want || len(w.calls) != 200 {
				t.Errorf("limit %d: %d ran at once, %d in all", c.limit, got, len(w.calls))
			}
		})
	}
}

// A serial runner starts no goroutine.
func TestSerial(t *testing.T) {
	before, most := runtime.NumGoroutine(), 0
	w := &host{answer: func(asl.Call) (string, error) { most = max(most, runtime.NumGoroutine()); return "1", nil }}
	r := &asl.Runner{Host: w, Serial: true}
	if _, err := r.Run(t.Context(), parse(t, fmt.Sprintf(mapping, 0)), json.RawMessage(`[1,2,3]`)); err != nil {
		t.Fatal(err)
	}
	if most > before {
		t.Errorf("%d goroutines, %d before", most, before)
	}
}

// When one item fails the others are aborted, and the Map waits for them.
func TestAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &host{answer: func(c asl.Call) (string, error) {
			if string(c.Payload) == "1" {
				time.Sleep(time.Second)
				return "", &asl.Error{Name: "A"}
			}
			time.Sleep(time.Minute)
			return "1", nil
		}}
		var mu sync.Mutex
		events := make(map[asl.Kind]int)
		r := &asl.Runner{Host: w, Observe: func(e asl.Event) int64 {
			mu.Lock()
			defer mu.Unlock()
			events[e.Kind]++
			return 1
		}}
		if got := outcome(r.Run(t.Context(), parse(t, fmt.Sprintf(mapping, 3)), json.RawMessage(`[1,2,3,4,5]`))); got != "fails A" {
			t.Error(got)
		}
		if events[asl.IterationFailed] != 1 || events[asl.IterationAborted] != 2 || events[asl.IterationStarted] != 3 || events[asl.MapFailed] != 1 {
			t.Error(events)
		}
	})
}

// Events come in order, each after the one before it in its branch.
func TestEvents(t *testing.T) {
	m := parse(t, `{"StartAt":"S","States":{"S":{"Type":"Map","ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Task","Resource":"f","End":true}}},"Next":"W"},
		"W":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke.waitForTaskToken","Parameters":{"FunctionName":"f","Payload":{"t.$":"$$.Task.Token"}},"Catch":[{"ErrorEquals":["States.ALL"],"Next":"F"}],"End":true},
		"F":{"Type":"Fail","Error":"X"}}}`)
	w := &host{answer: func(c asl.Call) (string, error) {
		if c.Token != "" {
			c.Submitted([]byte("null"))
			return "", &asl.Error{Name: asl.Timeout}
		}
		return "1", nil
	}}
	var events []string
	r := &asl.Runner{Host: w, Serial: true, Observe: func(e asl.Event) int64 {
		events = append(events, fmt.Sprintf("%d<%d %s", len(events)+1, e.Previous, e.Kind))
		return int64(len(events))
	}}
	if got := outcome(r.Run(t.Context(), m, json.RawMessage(`[1,2]`))); got != "fails X" {
		t.Error(got)
	}
	want := []string{"1<0 ExecutionStarted", "2<1 StateEntered", "3<2 MapStateStarted",
		"4<3 MapIterationStarted", "5<4 StateEntered", "6<5 TaskScheduled", "7<6 TaskStarted", "8<7 TaskSucceeded", "9<8 StateExited", "10<9 MapIterationSucceeded",
		"11<3 MapIterationStarted", "12<11 StateEntered", "13<12 TaskScheduled", "14<13 TaskStarted", "15<14 TaskSucceeded", "16<15 StateExited", "17<16 MapIterationSucceeded",
		"18<17 MapStateSucceeded", "19<18 StateExited",
		"20<19 StateEntered", "21<20 TaskScheduled", "22<21 TaskStarted", "23<22 TaskSubmitted", "24<23 TaskTimedOut", "25<24 StateExited",
		"26<25 StateEntered", "27<26 ExecutionFailed"}
	if !slices.Equal(events, want) {
		t.Errorf("%s", strings.Join(events, "\n"))
	}
}

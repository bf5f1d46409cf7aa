package api

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// How long a request for events waits. API Gateway gives up after 30 seconds, and the function api has 29.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html
const (
	mostWait  = 20              // seconds
	waitPause = time.Second     // between two reads of a run
	waitGrace = 4 * time.Second // the wait ends so long before the function has to
)

// lateness is how much later than its time an event may become known: the clocks of two functions differ, and a write takes a moment.
const lateness = time.Minute

// events lists what has happened to a run after a cursor. If nothing has happened since, it waits until something does.
func (a API) events(ctx context.Context, q question) (answer, error) {
	until := time.Now().Add(time.Duration(q.number("wait")) * time.Second)
	if end, limited := ctx.Deadline(); limited && end.Add(-waitGrace).Before(until) {
		until = end.Add(-waitGrace)
	}
	for {
		r, err := of(ctx, q.project, q.PathParameters["run"], a.Reader.Follow)
		if err != nil {
			return answer{}, err
		}
		page, err := eventsAfter(r, q.QueryStringParameters["after"], q.number("limit"))
		if err != nil || len(page.Events) > 0 || r.State.Over() || !time.Now().Add(waitPause).Before(until) {
			return answer{body: page}, err
		}
		select {
		case <-ctx.Done(): // nobody waits for the answer any more
			return answer{body: page}, nil
		case <-time.After(waitPause):
		}
	}
}

// eventsAfter is the page of the events of a run after a cursor; "" is the first page.
func eventsAfter(r run.Run, after string, most int) (report.EventPage, error) {
	all, from := report.EventsOf(r), 0
	if after != "" {
		c, err := readCursor(r.ID, after)
		if err != nil {
			return report.EventPage{}, err
		}
		from = c.next(all)
	}
	fits, err := fill(min(len(all)-from, most), func(i int) report.Event { return all[from+i] })
	page := report.EventPage{Events: append([]report.Event{}, fits...), After: after, State: r.State, More: from+len(fits) < len(all)}
	if len(fits) > 0 {
		page.After = cursorAt(r.ID, all[:from+len(fits)]).String()
	}
	return page, err
}

// A cursor is a place in the events of a run: behind the last one that was listed. The sum of the IDs up to there shows whether an event
// before that place became known later.
type cursor struct {
	run  string
	time time.Time
	last uint64 // the hash of the ID of the last event
	sum  uint64
}

// cursorAt is the cursor behind some events.
func cursorAt(id string, events []report.Event) cursor {
	last := events[len(events)-1]
	c := cursor{run: id, time: last.Time, last: hashOf(last.ID)}
	for _, e := range events {
		c.sum += hashOf(e.ID)
	}
	return c
}

// next is the number of the first event to list: the one behind the cursor or, if an event before it became known since, or is gone, the
// first one of the minute before the cursor.
func (c cursor) next(all []report.Event) int {
	sum := uint64(0)
	for i, e := range all {
		h := hashOf(e.ID)
		if sum += h; h == c.last && sum == c.sum {
			return i + 1
		}
	}
	if i := slices.IndexFunc(all, func(e report.Event) bool { return !e.Time.Before(c.time.Add(-lateness)) }); i >= 0 {
		return i
	}
	return len(all)
}

// String is the cursor as a parameter.
func (c cursor) String() string {
	return fmt.Sprintf("%s-%x-%x-%x", c.run, c.time.UnixNano(), c.last, c.sum)
}

// readCursor reads a cursor, which must be one of the run.
func readCursor(id, text string) (cursor, error) {
	parts := strings.Split(text, "-")
	if len(parts) == 4 && parts[0] == id {
		at, wrongTime := strconv.ParseInt(parts[1], 16, 64)
		last, wrongLast := strconv.ParseUint(parts[2], 16, 64)
		sum, wrongSum := strconv.ParseUint(parts[3], 16, 64)
		if wrongTime == nil && wrongLast == nil && wrongSum == nil {
			return cursor{run: id, time: time.Unix(0, at), last: last, sum: sum}, nil
		}
	}
	return cursor{}, fault.New(fault.Invalid, "after: %.80q is not from an answer about the events of run %s: begin without it", text, id)
}

// hashOf is a short form of the ID of an event.
func hashOf(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // it never returns an error
	return h.Sum64()
}

package events

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// rate is a schedule as EventBridge writes it: rate(1 hour), rate(5 minutes).
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rate-expressions.html
var rate = regexp.MustCompile(`^rate\(([1-9][0-9]{0,5}) (minute|hour|day)(s?)\)$`)

// every reads how far apart the events of a schedule are. The unit is singular after 1 and plural after all else, as
// EventBridge wants it.
func every(expression string) (time.Duration, error) {
	parts := rate.FindStringSubmatch(expression)
	if parts == nil || (parts[1] == "1") != (parts[3] == "") {
		return 0, invalid("Parameter ScheduleExpression is not valid: %q; of schedules, only rate(<number> minutes|hours|days) is stood in for here.", expression)
	}
	n, err := strconv.Atoi(parts[1])
	if err != nil {
		return 0, invalid("Parameter ScheduleExpression is not valid: %v", err)
	}
	unit := map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}[parts[2]]
	return time.Duration(n) * unit, nil
}

// scheduled keeps of an old rule when a new one of the same schedule is due. The first time is one interval from now.
func (r *rule) keepSchedule(old *rule) {
	if r.every == 0 {
		return
	}
	if r.due = time.Now().Add(r.every); old != nil && old.every == r.every {
		r.due = old.due
	}
}

// wind sets the clock of a rule that has a schedule. What came due while the bus was closed is made up for once, and at
// once: a laptop is often asleep. The caller holds b.mu.
func (b *Bus) setTimer(r *rule) {
	if r.every == 0 || !b.started || b.closed {
		return
	}
	r.timer = time.AfterFunc(time.Until(r.due), func() { b.scheduleFired(r) })
}

// halt stops the clock of a rule, if it has one. A tick that is under way finds the rule replaced. The caller holds b.mu.
func (r *rule) stopTimer() {
	if r != nil && r.timer != nil {
		r.timer.Stop()
	}
}

// tick sends a scheduled rule's targets, and nobody else, the event that EventBridge makes for it.
func (b *Bus) scheduleFired(r *rule) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || b.rules[r.Name] != r {
		return
	}
	now := time.Now()
	r.due = now.Add(r.every)
	b.setTimer(r)
	if r.State != enabled || len(r.Targets) == 0 {
		return
	}
	e := Event{DetailType: "Scheduled Event", Source: "aws.events", Time: now.UTC(), Region: b.opts.Region, Account: b.opts.Account,
		Resources: []string{b.arn(r.Name)}, Detail: json.RawMessage("{}")}
	b.stamp(&e)
	err := b.log.Append(record{Due: &due{r.Name, r.due}})
	if err == nil {
		err = b.send(e, r.functions())
	}
	if err != nil {
		_, _ = fmt.Fprintf(b.opts.Log, "rule %s: %v\n", r.Name, err)
	}
}

// due is when a rule's schedule next comes up, as the journal has it.
type due struct {
	Rule string    `json:"rule"`
	At   time.Time `json:"at"`
}

// windAll starts the clocks of all rules.
func (b *Bus) setTimers() {
	for _, name := range slices.Sorted(maps.Keys(b.rules)) {
		b.setTimer(b.rules[name])
	}
}

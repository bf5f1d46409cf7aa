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

// rate is the form of EventBridge's rate expressions: rate(1 hour), rate(5 minutes).
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rate-expressions.html
var rate = regexp.MustCompile(`^rate\(([1-9][0-9]{0,5}) (minute|hour|day)(s?)\)$`)

// every is the interval of a rate expression. As in EventBridge, the unit is singular after 1 and plural otherwise.
func every(expression string) (time.Duration, error) {
	parts := rate.FindStringSubmatch(expression)
	if parts == nil || (parts[1] == "1") != (parts[3] == "") {
		return 0, invalid("Parameter ScheduleExpression is not valid: %q; the local emulator of EventBridge knows rate(<number> minutes|hours|days) only.", expression)
	}
	n, err := strconv.Atoi(parts[1])
	if err != nil {
		return 0, invalid("Parameter ScheduleExpression is not valid: %v", err)
	}
	unit := map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}[parts[2]]
	return time.Duration(n) * unit, nil
}

// keepSchedule sets the next time of a rule: that of the old rule if its schedule is the same, else one interval from
// now.
func (r *rule) keepSchedule(old *rule) {
	if r.every == 0 {
		return
	}
	if r.due = time.Now().Add(r.every); old != nil && old.every == r.every {
		r.due = old.due
	}
}

// setTimer sets the timer of a rule with a schedule. Times that passed while the bus was closed are made up for once,
// at once. The caller holds b.mu.
func (b *Bus) setTimer(r *rule) {
	if r.every == 0 || !b.started || b.closed {
		return
	}
	r.timer = time.AfterFunc(time.Until(r.due), func() { b.scheduleFired(r) })
}

// stopTimer stops the timer of a rule, if it has one. A timer that has already fired finds the rule replaced. The
// caller holds b.mu.
func (r *rule) stopTimer() {
	if r != nil && r.timer != nil {
		r.timer.Stop()
	}
}

// scheduleFired sends the targets of the rule the event of its schedule.
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

// due is the next time of a rule's schedule, as the journal stores it.
type due struct {
	Rule string    `json:"rule"`
	At   time.Time `json:"at"`
}

// setTimers sets the timers of all rules.
func (b *Bus) setTimers() {
	for _, name := range slices.Sorted(maps.Keys(b.rules)) {
		b.setTimer(b.rules[name])
	}
}

package events

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

type rule struct {
	Name               string
	Description        string `json:",omitempty"`
	EventPattern       string `json:",omitempty"`
	ScheduleExpression string `json:",omitempty"`
	State              string
	Targets            []target `json:"-"`
	pattern            Pattern
	every              time.Duration // the interval of its schedule; 0 is none
	due                time.Time     // the next time of its schedule
	timer              *time.Timer   // for the next time
}

// enabled is the State of a rule that sends events.
const enabled = "ENABLED"

// functions lists the targets of the rule.
func (r *rule) functions() []string {
	var all []string
	for _, t := range r.Targets {
		all = append(all, t.Arn)
	}
	return all
}

type target struct {
	ID  string `json:"Id"`
	Arn string
}

// refusal is an error of EventBridge.
type refusal struct{ code, message string }

func (r *refusal) Error() string { return r.message }

func invalid(format string, args ...any) error {
	return &refusal{"ValidationException", fmt.Sprintf(format, args...)}
}

var ruleName = regexp.MustCompile(`^[.\-_A-Za-z0-9]{1,64}$`)

// input holds the fields of all operations on rules. Unknown fields are refused, not ignored.
type input struct {
	Name, Rule, Description, EventPattern, State, EventBusName string
	ScheduleExpression                                         string
	Targets                                                    []target
	Limit                                                      int
	NextToken                                                  string
	RoleArn                                                    string // accepted, but permissions are not checked here
	Tags                                                       []any
}

// change carries out an operation that changes rules. The caller holds b.mu, or is the only one.
func (b *Bus) change(operation string, body []byte) (any, error) {
	in, err := read(body)
	if err != nil {
		return nil, err
	}
	if operation == "PutRule" {
		return b.putRule(in)
	}
	return b.putTargets(in)
}

func read(body []byte) (input, error) {
	var in input
	dec := json.NewDecoder(strings.NewReader(string(body)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return in, invalid("the local emulator of EventBridge cannot carry out the request: %v", err)
	}
	if in.EventBusName != "" && in.EventBusName != "default" && !strings.HasSuffix(in.EventBusName, ":event-bus/default") {
		return in, &refusal{"ResourceNotFoundException", "Event bus " + in.EventBusName + " does not exist."}
	}
	return in, nil
}

func (b *Bus) rule(name string) (*rule, error) {
	r, ok := b.rules[name]
	if !ok {
		return nil, &refusal{"ResourceNotFoundException", "Rule " + name + " does not exist on EventBus default."}
	}
	return r, nil
}

func (b *Bus) arn(name string) string {
	return fmt.Sprintf("arn:aws:events:%s:%s:rule/%s", b.opts.Region, b.opts.Account, name)
}

func (b *Bus) putRule(in input) (any, error) {
	if !ruleName.MatchString(in.Name) {
		return nil, invalid("Value '%s' at 'name' failed to satisfy constraint: Member must satisfy regular expression pattern: [\\.\\-_A-Za-z0-9]+", in.Name)
	}
	r := &rule{Name: in.Name, Description: in.Description, EventPattern: in.EventPattern, ScheduleExpression: in.ScheduleExpression,
		State: cmp.Or(in.State, enabled)}
	if err := r.compile(); err != nil {
		return nil, err
	}
	old := b.rules[in.Name]
	if old != nil {
		r.Targets = old.Targets
	}
	old.stopTimer()
	r.keepSchedule(old)
	b.rules[in.Name] = r
	b.setTimer(r)
	return map[string]string{"RuleArn": b.arn(in.Name)}, nil
}

// compile reads the pattern and the schedule of the rule.
func (r *rule) compile() (err error) {
	if r.EventPattern == "" && r.ScheduleExpression == "" {
		return invalid("Parameter(s) EventPattern or ScheduleExpression must be specified.")
	}
	if r.ScheduleExpression != "" {
		if r.every, err = every(r.ScheduleExpression); err != nil {
			return err
		}
	}
	if r.EventPattern == "" {
		return nil
	}
	if r.pattern, err = Compile(r.EventPattern); err != nil {
		return &refusal{"InvalidEventPatternException", "Event pattern is not valid. Reason: " + err.Error()}
	}
	return nil
}

type failed struct {
	TargetID     string `json:"TargetId"`
	ErrorCode    string
	ErrorMessage string
}

func (b *Bus) putTargets(in input) (any, error) {
	r, err := b.rule(in.Rule)
	if err != nil {
		return nil, err
	}
	fails := []failed{}
	for _, t := range in.Targets {
		if !strings.HasPrefix(t.Arn, "arn:aws:lambda:") {
			fails = append(fails, failed{t.ID, "ValidationException", "only functions can be targets here, not " + t.Arn})
			continue
		}
		r.Targets = slices.DeleteFunc(r.Targets, func(old target) bool { return old.ID == t.ID })
		r.Targets = append(r.Targets, t)
	}
	return map[string]any{"FailedEntryCount": len(fails), "FailedEntries": fails}, nil
}

// matchingTargets lists the functions to which rules send the event, in the order of the rules' names. A function that
// is a target of two matching rules is listed twice, as in AWS.
func (b *Bus) matchingTargets(event []byte) []string {
	value, err := decode(event)
	if err != nil {
		return nil
	}
	var found []string
	for _, name := range slices.Sorted(maps.Keys(b.rules)) {
		r := b.rules[name]
		if r.State == enabled && r.EventPattern != "" && r.pattern.matches(value) {
			found = append(found, r.functions()...)
		}
	}
	return found
}

// records yields the lines of a new journal that restores the bus.
func (b *Bus) records() iter.Seq[record] {
	return func(yield func(record) bool) {
		for _, name := range slices.Sorted(maps.Keys(b.rules)) {
			r := b.rules[name]
			put, _ := json.Marshal(r)                                                  // strings always marshal
			aim, _ := json.Marshal(map[string]any{"Rule": name, "Targets": r.Targets}) // these as well
			if !yield(record{Operation: "PutRule", Body: put}) || !yield(record{Operation: "PutTargets", Body: aim}) {
				return
			}
			if r.every > 0 && !yield(record{Due: &due{name, r.due}}) {
				return
			}
		}
		for _, id := range slices.Sorted(maps.Keys(b.pending)) {
			d := b.pending[id]
			if !yield(record{Delivery: &d}) {
				return
			}
		}
	}
}

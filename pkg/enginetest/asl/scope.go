package asl

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// An Execution is what the context object ($$) says of an execution.
type Execution struct {
	ID          string // the execution's ARN
	Name        string
	Machine     string // the machine's ARN
	MachineName string
	Input       any // as Decode reads it; Run sets it if it is nil
}

// A scope is what paths are looked up in.
type scope struct {
	state     *State
	input     any
	execution *Execution
	item      *item
	token     string
	entered   time.Time
	retries   int
}

// An item is what a Map makes of one of its items.
type item struct {
	index int
	value any
}

func (s *scope) find(p path) (any, bool) {
	if !p.context {
		return walk(s.input, p.steps)
	}
	if p.field == nil {
		return nil, false
	}
	v, ok := p.field.value(s)
	if !ok {
		return nil, false
	}
	return walk(v, p.steps)
}

// A contextField is one place in the context object. When an execution was started is not among them: not every
// interpreter knows it.
type contextField struct {
	at    string
	deep  bool // paths may lead further
	value func(*scope) (any, bool)
}

var contexts = []contextField{
	{"Execution.Id", false, func(s *scope) (any, bool) { return s.execution.ID, true }},
	{"Execution.Name", false, func(s *scope) (any, bool) { return s.execution.Name, true }},
	{"Execution.Input", true, func(s *scope) (any, bool) { return s.execution.Input, true }},
	{"StateMachine.Id", false, func(s *scope) (any, bool) { return s.execution.Machine, true }},
	{"StateMachine.Name", false, func(s *scope) (any, bool) { return s.execution.MachineName, true }},
	{"State.Name", false, func(s *scope) (any, bool) { return s.state.Name, true }},
	{"State.EnteredTime", false, func(s *scope) (any, bool) { return s.entered.UTC().Format("2006-01-02T15:04:05.000Z"), true }},
	{"State.RetryCount", false, func(s *scope) (any, bool) { return count(s.retries), true }},
	{"Task.Token", false, func(s *scope) (any, bool) { return s.token, s.token != "" }},
	{"Map.Item.Index", false, func(s *scope) (any, bool) { return s.item.at() }},
	{"Map.Item.Value", true, func(s *scope) (any, bool) { return s.item.what() }},
}

func count(n int) json.Number { return json.Number(strconv.Itoa(n)) }

func (i *item) at() (any, bool) {
	if i == nil {
		return nil, false
	}
	return count(i.index), true
}

func (i *item) what() (any, bool) {
	if i == nil {
		return nil, false
	}
	return i.value, true
}

// match says whether p leads to c, and how it goes on from there.
func (c contextField) match(p path) ([]step, bool) {
	rest := p.steps
	for key := range strings.SplitSeq(c.at, ".") {
		if len(rest) == 0 || rest[0].index >= 0 || rest[0].key != key {
			return nil, false
		}
		rest = rest[1:]
	}
	return rest, c.deep || len(rest) == 0
}

// enter finds the field that p leads to. Where there is none, p.field stays nil.
func (p *path) enter() {
	for i := range contexts {
		if rest, ok := contexts[i].match(*p); ok {
			p.field, p.steps = &contexts[i], rest
			return
		}
	}
}

// pick applies an InputPath or OutputPath.
func (s *scope) pick(sel selection, field string) (any, error) {
	switch {
	case sel.none:
		return map[string]any{}, nil
	case sel.path == nil:
		return s.input, nil
	}
	v, ok := s.find(*sel.path)
	if !ok {
		return nil, runtimef(s.state.Name, "Invalid path '%s': the %s leads nowhere in the input", sel.path.text, field)
	}
	return v, nil
}

// seconds finds a duration; ok is false where there is none.
func (s *scope) seconds(d duration, lowest int) (n int, ok bool, err error) {
	if d.path == nil {
		return d.seconds, d.set, nil
	}
	v, found := s.find(*d.path)
	if n, ok = whole(v); !found || !ok || n < lowest || n > maxSeconds {
		return 0, false, runtimef(s.state.Name, "The path '%s' must lead to a whole number from %d to %d", d.path.text, lowest, maxSeconds)
	}
	return n, true, nil
}

package asl

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

const (
	maxSeconds = 99_999_999 // of a timeout or a wait
	maxDelay   = 31_622_400 // seconds between two attempts
	maxDepth   = 8          // of Maps in Maps, and of rules in rules
	maxNesting = 200        // of JSON in JSON
)

// Parse reads a machine and refuses one that would not run here exactly as it does on AWS, or that could lose its way.
// The error names every fault, each with the path of its state (Execute/ExecuteStep).
func Parse(body []byte) (*Machine, error) {
	if len(body) > MaxDefinition {
		return nil, fmt.Errorf("asl: the machine has %d bytes, more than %d", len(body), MaxDefinition)
	}
	if !json.Valid(body) {
		_, err := Decode(body)
		return nil, err
	}
	if at, err := duplicates(json.NewDecoder(bytes.NewReader(body)), 0); err != nil {
		slices.Reverse(at)
		return nil, fmt.Errorf("asl: %s: %w", brief([]byte(cmp.Or(strings.Join(at, "/"), "machine"))), err)
	}
	r := &reader{}
	f := r.fields("machine", body)
	m := parseMachine(f, "", 0)
	if seconds, ok := f.whole("TimeoutSeconds", 1, maxSeconds); ok {
		m.Timeout = time.Duration(seconds) * time.Second
	}
	if f.has("Version") {
		if v := f.text("Version"); v != "1.0" {
			f.refuse(f.at, "field \"Version\" must be \"1.0\", not %q", v)
		}
	}
	f.close("a machine")
	r.names(m, "", make(map[string]string))
	if len(r.faults) == 0 {
		r.check(m, "", scopeOf(false))
	}
	if len(r.faults) > 0 {
		return nil, errors.Join(r.faults...)
	}
	return m, nil
}

// parseMachine takes what a machine and an ItemProcessor have in common.
func parseMachine(f fields, at string, depth int) *Machine {
	f.language()
	f.need("StartAt")
	f.need("States")
	m := &Machine{Comment: f.text("Comment"), StartAt: f.state("StartAt"), States: make(map[string]*State)}
	var states map[string]json.RawMessage
	if !f.decode("States", "an object", &states) {
		return m
	}
	names := make([]string, 0, len(states))
	for name := range states {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		m.States[name] = parseState(f.fields(at+name, states[name]), name, depth)
	}
	return m
}

func (f fields) language() {
	if !f.has("QueryLanguage") {
		return
	}
	if l := f.text("QueryLanguage"); l != "JSONPath" {
		f.refuse(f.at, "QueryLanguage %q is not understood, only JSONPath", l)
	}
}

func parseState(f fields, name string, depth int) *State {
	f.language()
	f.need("Type")
	s := &State{Name: name, Type: Type(f.text("Type")), Comment: f.text("Comment")}
	switch s.Type {
	case Task:
		f.task(s)
	case Map:
		f.mapping(s, depth)
	case Choice:
		f.choice(s)
	case Wait:
		s.wait = f.duration("Seconds", "SecondsPath", 0)
		if !s.wait.set {
			f.refuse(f.at, "needs Seconds or SecondsPath")
		}
	case Pass:
		s.parameters = f.template("Parameters")
		s.resultPath = f.target("ResultPath")
		f.result(s)
	case Succeed:
	case Fail:
		s.Error, s.Cause = f.text("Error"), f.text("Cause")
	case "":
		return s
	default:
		f.refuse(f.at, "type %q is not understood", s.Type)
		return s
	}
	f.common(s)
	f.close("a " + string(s.Type) + " state")
	return s
}

// common takes what states of several types have.
func (f fields) common(s *State) {
	if s.Type != Fail {
		s.inputPath, s.outputPath = f.selection("InputPath"), f.selection("OutputPath")
	}
	if s.Type == Fail || s.Type == Succeed || s.Type == Choice {
		return
	}
	next := f.has("Next")
	s.Next, s.End = f.state("Next"), f.flag("End")
	if next == s.End {
		f.refuse(f.at, "needs either Next or \"End\": true")
	}
}

func (f fields) result(s *State) {
	b, ok := f.take("Result")
	if !ok {
		return
	}
	v, err := Decode(b)
	if err != nil {
		f.refuse(f.at, "field \"Result\": %v", err)
	}
	s.result = &v
}

func (f fields) task(s *State) {
	f.need("Resource")
	has := f.has("Resource")
	s.Resource = Resource(f.text("Resource"))
	if has && !s.Resource.valid() {
		f.refuse(f.at, "field \"Resource\": %q is neither a Lambda function nor %s nor %s", s.Resource, invoke, invokeWithToken)
	}
	arguments := f.raw["Parameters"]
	s.parameters = f.template("Parameters")
	if !s.Resource.Direct() {
		f.arguments(arguments)
	}
	f.answer(s)
	s.timeout = f.duration("TimeoutSeconds", "TimeoutSecondsPath", 1)
	f.tolerance(s)
}

// arguments checks the parameters of lambda:invoke. A field that would be ignored here is refused.
func (f fields) arguments(b json.RawMessage) {
	if b == nil {
		f.refuse(f.at, "field \"Parameters\" is missing: lambda:invoke needs a FunctionName")
		return
	}
	var names map[string]json.RawMessage
	if json.Unmarshal(b, &names) != nil {
		return // refused as a template
	}
	_, constant := names["FunctionName"]
	if _, dynamic := names["FunctionName.$"]; !constant && !dynamic {
		f.refuse(f.at, "field \"Parameters\": lambda:invoke needs a FunctionName")
	}
	var function string
	if constant && (json.Unmarshal(names["FunctionName"], &function) != nil || !functionName.MatchString(function)) {
		f.refuse(f.at, "field \"Parameters\": FunctionName %s is no Lambda function", brief(names["FunctionName"]))
	}
	for _, known := range []string{"FunctionName", "FunctionName.$", "Payload", "Payload.$"} {
		delete(names, known)
	}
	fields{reader: f.reader, at: f.at, raw: names}.close("lambda:invoke")
}

// answer takes what becomes of a result.
func (f fields) answer(s *State) {
	s.resultSelector = f.template("ResultSelector")
	s.resultPath = f.target("ResultPath")
}

func (f fields) duration(name, pathName string, lowest int) duration {
	if f.has(name) && f.has(pathName) {
		f.refuse(f.at, "has both %s and %s", name, pathName)
	}
	if p := f.path(pathName); p != nil {
		return duration{path: p, set: true}
	}
	has := f.has(name)
	n, _ := f.whole(name, lowest, maxSeconds)
	return duration{seconds: n, set: has}
}

func (f fields) mapping(s *State, depth int) {
	f.need("ItemProcessor")
	s.itemsPath = path{text: "$"}
	if p := f.path("ItemsPath"); p != nil {
		s.itemsPath = *p
	}
	s.parameters = f.template("ItemSelector")
	s.MaxConcurrency, _ = f.whole("MaxConcurrency", 0, math.MaxInt32)
	f.answer(s)
	f.tolerance(s)
	b, ok := f.take("ItemProcessor")
	if !ok {
		return
	}
	if depth == maxDepth {
		f.refuse(f.at, "Maps are nested more than %d deep", maxDepth)
		return
	}
	inner := f.fields(f.at+"/ItemProcessor", b)
	if c, ok := inner.take("ProcessorConfig"); ok {
		config := f.fields(f.at+"/ProcessorConfig", c)
		if mode := config.text("Mode"); mode != "INLINE" {
			config.refuse(config.at, "Mode %q is not understood, only INLINE", mode)
		}
		config.close("a ProcessorConfig")
	}
	s.Each = parseMachine(inner, f.at+"/", depth+1)
	inner.close("an ItemProcessor")
}

// tolerance takes Retry and Catch.
func (f fields) tolerance(s *State) {
	retries, catches := f.objects("Retry"), f.objects("Catch")
	for i, b := range retries {
		g := f.fields(fmt.Sprintf("%s/Retry[%d]", f.at, i), b)
		s.retry = append(s.retry, g.retrier())
		g.lastIsAll(s.retry[i].errors, i == len(retries)-1)
	}
	for i, b := range catches {
		g := f.fields(fmt.Sprintf("%s/Catch[%d]", f.at, i), b)
		g.need("Next")
		s.catch = append(s.catch, catcher{errors: g.errors(), resultPath: g.target("ResultPath"), next: g.state("Next")})
		g.take("Comment")
		g.close("a catcher")
		g.lastIsAll(s.catch[i].errors, i == len(catches)-1)
	}
}

func (f fields) lastIsAll(names []string, last bool) {
	if !last && slices.Contains(names, All) {
		f.refuse(f.at, "%s must come last: what follows it never applies", All)
	}
}

func (f fields) retrier() retrier {
	r := retrier{errors: f.errors(), interval: time.Second, attempts: 3, rate: 2}
	if n, ok := f.whole("IntervalSeconds", 1, maxSeconds); ok {
		r.interval = time.Duration(n) * time.Second
	}
	if n, ok := f.whole("MaxAttempts", 0, maxSeconds); ok {
		r.attempts = n
	}
	if n, ok := f.whole("MaxDelaySeconds", 1, maxDelay); ok {
		if r.ceiling = time.Duration(n) * time.Second; r.ceiling <= r.interval {
			f.refuse(f.at, "MaxDelaySeconds must be more than IntervalSeconds")
		}
	}
	if f.decode("BackoffRate", "a number from 1", &r.rate) && r.rate < 1 {
		f.refuse(f.at, "field \"BackoffRate\" must be a number from 1, not %v", r.rate)
	}
	if f.has("JitterStrategy") {
		strategy := f.text("JitterStrategy")
		if r.jitter = strategy == "FULL"; !r.jitter && strategy != "NONE" {
			f.refuse(f.at, "JitterStrategy %q is neither FULL nor NONE", strategy)
		}
	}
	f.take("Comment")
	f.close("a retrier")
	return r
}

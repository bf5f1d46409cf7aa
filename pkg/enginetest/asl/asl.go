// Package asl runs the part of the Amazon States Language that this project uses, and refuses the rest.
//
// It speaks JSONPath only. Parse reads a machine strictly: a field, a type or a path that it would not carry out
// exactly as AWS does is an error, never ignored, so that a machine which runs here runs there.
// The language: https://states-language.net/spec.html
package asl

import (
	"time"
)

// MaxPayload is how many bytes of JSON may pass from one state to another.
// https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html
const MaxPayload = 262_144

// MaxDefinition is how many bytes the text of a machine may have.
const MaxDefinition = 1 << 20

// A Machine is a state machine, or what a Map does with each of its items.
type Machine struct {
	Comment string
	StartAt string
	States  map[string]*State
	Timeout time.Duration // of a whole execution, 0 for none; the caller of the Runner enforces it, through the context
}

// A Type is the kind of a state, in the words of the language.
type Type string

// The types that are understood.
const (
	Task    Type = "Task"
	Map     Type = "Map"
	Choice  Type = "Choice"
	Wait    Type = "Wait"
	Pass    Type = "Pass"
	Succeed Type = "Succeed"
	Fail    Type = "Fail"
)

// A State is one state of a machine. Which fields are set depends on its type.
type State struct {
	Name     string
	Type     Type
	Comment  string
	Next     string // where it leads; empty if it ends the machine or chooses
	End      bool
	Resource Resource // Task

	Each           *Machine // Map: the ItemProcessor
	MaxConcurrency int      // Map: 0 for no limit of its own

	Error, Cause string // Fail

	inputPath      selection
	outputPath     selection
	resultPath     target
	parameters     template // Task, Pass; a Map's ItemSelector
	resultSelector template
	result         *any // Pass
	timeout        duration
	wait           duration
	itemsPath      path
	rules          []rule
	fallback       string // Choice: Default
	retry          []retrier
	catch          []catcher
}

// A duration is a number of seconds, written down or found by a path. Neither is set where there is none.
type duration struct {
	seconds int
	path    *path
	set     bool
}

type retrier struct {
	errors   []string
	interval time.Duration
	attempts int
	rate     float64
	ceiling  time.Duration // 0 for none
	jitter   bool
}

type catcher struct {
	errors     []string
	resultPath target
	next       string
}

// Leads lists the states that s can lead to, each once, in the order in which they are written.
func (s *State) Leads() []string {
	var out []string
	add := func(name string) {
		for _, seen := range out {
			if seen == name {
				return
			}
		}
		if name != "" {
			out = append(out, name)
		}
	}
	for _, r := range s.rules {
		add(r.next)
	}
	add(s.fallback)
	add(s.Next)
	for _, c := range s.catch {
		add(c.next)
	}
	return out
}

// ends says whether the machine can end in s.
func (s *State) ends() bool { return s.End || s.Type == Succeed || s.Type == Fail }

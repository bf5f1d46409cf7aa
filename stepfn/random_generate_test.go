package stepfn_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// A script is a random world, written down: a line for all that goes wrong by
// itself, and then one for all that anybody does, in order. Whoever reads it
// needs no seed.
type script []line

// A line is a word that says what happens, and words that say to what.
type line []string

// parseScript reads what String wrote.
func parseScript(text string) script {
	var s script
	for part := range strings.SplitSeq(text, ";") {
		if words := strings.Fields(part); len(words) > 0 {
			s = append(s, words)
		}
	}
	return s
}

func (s script) String() string {
	var lines []string
	for _, l := range s {
		lines = append(lines, strings.Join(l, " "))
	}
	return strings.Join(lines, "; ")
}

// copy returns a script that shares nothing with s.
func (s script) copy() script {
	var c script
	for _, l := range s {
		c = append(c, slices.Clone(l))
	}
	return c
}

// world is what a line asks for.
func (l line) stacks() stacks {
	if end := slices.Index(l, "with"); end >= 0 {
		l = l[:end]
	}
	return parseStacks(l[1:])
}

// number is the n-th word as a number; 0 if it is none.
func (l line) number(n int) int {
	if n >= len(l) {
		return 0
	}
	k, _ := strconv.Atoi(l[n]) // what is no number counts as none
	return k
}

// option is the number that follows an option after "with", and whether that is there.
func (l line) option(name string) (int, bool) {
	end := max(slices.Index(l, "with"), 0)
	if i := slices.Index(l[end:], name); i >= 0 {
		return l.number(end + i + 1), true
	}
	return 0, false
}

// An author makes up scripts.
type generator struct {
	*rand.Rand
	script   script
	emulated bool   // for the real adapters: shorter
	last     stacks // what is asked for last
	plain    bool   // nothing goes wrong, and nobody changes their mind
}

// writeScript makes up the world of a seed.
func writeScript(seed uint64, real bool) script {
	a := &generator{Rand: rand.New(rand.NewPCG(seed, 7)), emulated: real}
	a.plain = a.IntN(12) == 0
	a.faultPlan(seed)
	turns := 1 + a.IntN(3)
	if a.emulated {
		turns = 1 + a.IntN(5)/4
	}
	for range turns {
		a.round()
	}
	if a.IntN(3) == 0 {
		a.add("mend", a.stacks().words()...)
	}
	a.add("empty")
	return a.script
}

func (a *generator) add(what string, words ...string) {
	a.script = append(a.script, append(line{what}, words...))
}

// one returns one of the words.
func (a *generator) one(words ...string) string { return words[a.IntN(len(words))] }

// number returns a number below n, as a word.
func (a *generator) number(n int) string { return strconv.Itoa(a.IntN(n)) }

// weather decides what goes wrong by itself.
func (a *generator) faultPlan(seed uint64) {
	a.add("latency", strconv.FormatUint(seed, 10))
	if !a.emulated && a.IntN(4) == 0 {
		a.add("targets", a.one("2", "3"))
	}
	if a.plain {
		return
	}
	a.add("events", a.one("prompt", "lost", "wild", "wild"))
	if a.IntN(4) == 0 {
		a.add("deaf")
	}
	if !a.emulated && a.IntN(4) == 0 {
		a.add("skewed", a.one("1", "3", "10"))
	}
	risk := []float64{0, 0.003, 0.02, 0.04}[a.IntN(4)]
	if risk == 0 {
		return
	}
	kinds := []string{"dies-before", "dies-after", "answer-lost", "throttled", "lingers"}
	if a.emulated {
		kinds = kinds[:4]
		a.add("throttling", fmt.Sprint(risk))
	}
	for at := 0; ; {
		at += 1 + int(a.ExpFloat64()/risk)
		if at > 2000 || len(a.script) > 60 {
			return
		}
		a.add("mishap", strconv.Itoa(at), a.one(kinds...))
	}
}

// turn has something asked for and, maybe, somebody change their mind in the
// middle of it.
func (a *generator) round() {
	for _, st := range a.last {
		if a.IntN(12) == 0 && !a.plain {
			a.add("live", st.nameOnBackend(), a.one(outsideChanges...))
		}
	}
	w := a.stacks()
	for _, st := range w {
		if a.IntN(2) == 0 {
			a.add("slow", st.nameOnBackend(), strconv.Itoa(1+a.IntN(90)))
		}
		if a.IntN(7) == 0 {
			a.add("fail", st.nameOnBackend()+"/"+a.one("create", "update", "delete", "continue", "rollback"))
		}
	}
	a.request(w)
	for i := 0; i < 4 && a.IntN(5) < 2 && !a.plain; i++ {
		a.add("pass", a.number(100))
		a.meanwhile()
	}
	a.add("quiet")
	if a.IntN(4) == 0 {
		a.add("retry")
		a.add("quiet")
	}
}

// ask has w deployed, or something else done.
func (a *generator) request(w stacks) {
	switch what := a.one("deploy", "deploy", "deploy", "deploy", "destroy", "refresh", "plan"); what {
	case "deploy":
		a.deploy(w)
	case "plan":
		a.add(what, w.words()...)
	default:
		a.add(what)
	}
}

// deploy has w uploaded, or asked for otherwise.
func (a *generator) deploy(w stacks) {
	words := w.words()
	switch a.IntN(8) {
	case 0:
		words = append(words, "with", "rolling-back")
	case 1:
		words = append(words, "with", "refusing")
	case 2:
		words = append(words, "with", "late", a.number(60))
	case 3:
		words = append(words, "with", "twice", a.number(60))
	}
	a.add("deploy", words...)
	a.last = w
}

// meanwhile has something done in the middle.
func (a *generator) meanwhile() {
	what := a.one("deploy", "deploy", "deploy", "pause", "pause", "continue", "cancel", "back", "unlock", "abort", "destroy", "refresh", "retry", "outage", "live")
	switch what {
	case "deploy":
		a.deploy(a.stacks())
	case "destroy", "refresh", "retry":
		a.add(what)
	case "outage":
		a.add(what, strconv.Itoa(1+a.IntN(900)))
	case "live":
		if st := a.last; len(st) > 0 && !a.emulated {
			a.add(what, st[a.IntN(len(st))].nameOnBackend(), a.one(outsideChanges...))
		}
	default: // of the last run, or of the one before
		words := []string{a.one("0", "0", "0", "1")}
		if a.IntN(4) == 0 && what != "abort" {
			words = append(words, "with", "twice", a.number(20))
		}
		a.add(what, words...)
	}
}

// meddling is what people make of our stacks.
var outsideChanges = []string{"UPDATE_ROLLBACK_FAILED", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "DELETE_COMPLETE"}

// size is how many stacks a project has: mostly few.
func (a *generator) size() int {
	switch k := a.IntN(40); {
	case a.emulated && k < 39:
		return 2 + a.IntN(3)
	case a.emulated:
		return 2 + a.IntN(9)
	case k < 30:
		return 2 + a.IntN(3)
	case k < 39:
		return 2 + a.IntN(9)
	}
	return 2 + a.IntN(39)
}

// dream makes up a project: often a variation of the last one.
func (a *generator) stacks() stacks {
	if len(a.last) > 0 && a.IntN(2) == 0 {
		return a.change(slices.Clone(a.last))
	}
	var w stacks
	n := a.size()
	wild := 2 + n/3 // so that the edges do not grow with the square
	for _, k := range a.Perm(n) {
		s := stack{name: fmt.Sprintf("s%d", k), version: a.version()}
		s.physical = physicalName(s.name)
		for _, on := range w {
			if a.IntN(wild) == 0 {
				s.needs = append(s.needs, need{name: on.name, output: a.one("Value", "Value", "Name"), bare: a.IntN(4) == 0})
			}
		}
		w = append(w, s.tidy())
	}
	return w
}

func (a *generator) version() string { return a.one("v1", "v2", "v3") }

// vary changes something about a project.
func (a *generator) change(w stacks) stacks {
	k := a.IntN(len(w))
	switch a.IntN(6) {
	case 0: // it goes
		if gone := w[k].name; len(w) > 1 {
			w = slices.Delete(w, k, k+1)
			for i := range w {
				w[i].needs = slices.DeleteFunc(slices.Clone(w[i].needs), func(n need) bool { return n.name == gone })
			}
		}
	case 1: // it is to be another stack
		w[k].physical = physicalName(a.one(w[k].name, "x"+w[k].name))
	default:
		w[k].version = a.version()
	}
	return w
}

// tidy makes s one that can be written in words.
func (s stack) tidy() stack {
	for i, n := range s.needs {
		s.needs[i].bare = n.bare && n.output == "Value"
	}
	return s
}

// called is how the stage calls the physical stack of s.
func (s stack) nameOnBackend() string { return strings.TrimPrefix(s.physical, physicalName("")) }

// words writes a world as parseWorld reads it.
func (w stacks) words() []string {
	var words []string
	for _, s := range w {
		words = append(words, s.word())
	}
	return words
}

func (s stack) word() string {
	var needs []string
	for _, n := range s.needs {
		switch {
		case n.output == "Name":
			needs = append(needs, "~"+n.name)
		case n.bare:
			needs = append(needs, "."+n.name)
		default:
			needs = append(needs, n.name)
		}
	}
	word := s.name
	if len(needs) > 0 {
		word += "<" + strings.Join(needs, ",")
	}
	if s.version != "v1" {
		word += "!" + s.version
	}
	if s.physical != physicalName(s.name) {
		word += "=" + s.physical
	}
	return word
}

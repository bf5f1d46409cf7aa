package stepfn_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// shrink searches until the deadline for a shorter script that still fails. It tries
// fewer lines, fewer stacks, simpler stacks and smaller numbers.
func shrink(s script, deadline time.Time, fails func(script) bool) script {
	try := func(c script) bool {
		if time.Now().Before(deadline) && c.String() != s.String() && fails(c) {
			s = c
			return true
		}
		return false
	}
	for before := ""; before != s.String() && time.Now().Before(deadline); {
		before = s.String()
		for size := max(len(s)/2, 1); size > 0; size /= 2 {
			for at := 0; at < len(s); {
				if !try(slices.Delete(s.copy(), at, min(at+size, len(s)))) {
					at += size
				}
			}
		}
		for _, name := range s.stacks() {
			try(s.without(name))
		}
		for i := 0; i < len(s); i++ {
			for j := 1; i < len(s) && j < len(s[i]); j++ {
				for _, simpler := range simplify(s[i], j) {
					c := s.copy()
					if c[i] = simpler; try(c) {
						j--
						break
					}
				}
			}
		}
	}
	return s
}

// projectLines are the first words of lines that contain a project.
var projectLines = []string{"deploy", "plan", "redeploy", "roll-back", "replace", "replaced", "adopt", "by-hand", "unreadable", "lab-adopt", "lab-deploy"}

// stacks lists the names of all stacks in a script.
func (s script) stacks() []string {
	var names []string
	for _, l := range s {
		if slices.Contains(projectLines, l[0]) {
			for _, st := range l.stacks() {
				names = append(names, st.name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// without returns the script without the stack of that name.
func (s script) without(name string) script {
	var c script
	for _, l := range s.copy() {
		if !slices.Contains(projectLines, l[0]) {
			if len(l) < 2 || l[1] != name && !strings.HasPrefix(l[1], name+"/") {
				c = append(c, l)
			}
			continue
		}
		w := slices.DeleteFunc(l.stacks(), func(st stack) bool { return st.name == name })
		for i := range w {
			w[i].needs = slices.DeleteFunc(w[i].needs, func(n need) bool { return n.name == name })
		}
		if len(w) > 0 {
			c = append(c, slices.Concat(line{l[0]}, w.words(), l.rest()))
		}
	}
	return c
}

// rest returns the part of a line after the project.
func (l line) rest() line {
	if end := slices.Index(l, "with"); end >= 0 {
		return l[end:]
	}
	return nil
}

// simplify returns simpler lines that differ from l in its j-th word.
func simplify(l line, j int) []line {
	with := func(words ...string) line { return slices.Concat(l[:j], words, l[j+1:]) }
	if n, err := strconv.Atoi(l[j]); err == nil {
		if l[0] == "fault" || l[0] == "account" || n == 0 {
			return nil
		}
		return []line{with("0"), with(strconv.Itoa(n / 2)), with(strconv.Itoa(n - 1))}
	}
	if l[j] == "with" {
		return []line{slices.Clone(l[:j])}
	}
	if !slices.Contains(projectLines, l[0]) || j > len(l)-len(l.rest())-1 {
		return nil
	}
	var simpler []line
	st := l.stacks()[j-1]
	for i := range st.needs {
		c := st
		c.needs = slices.Delete(slices.Clone(st.needs), i, i+1)
		simpler = append(simpler, with(c.word()))
	}
	for _, c := range []stack{{name: st.name, version: "v1", physical: st.physical, needs: st.needs}, {name: st.name, version: st.version, physical: physicalName(st.name), needs: st.needs}} {
		if c.word() != l[j] {
			simpler = append(simpler, with(c.word()))
		}
	}
	used := slices.ContainsFunc(l.stacks(), func(o stack) bool {
		return slices.ContainsFunc(o.needs, func(n need) bool { return n.name == st.name })
	})
	if !used && len(l.stacks()) > 1 {
		simpler = append(simpler, with())
	}
	return simpler
}

// A long script of which three lines matter is shrunk to these lines. Every script can
// be read from its text.
func TestShrink(t *testing.T) {
	fails := func(s script) bool {
		requested, stopped, crashed := false, false, false
		for _, l := range s {
			if l[0] == "deploy" {
				for _, st := range l.stacks() {
					requested = requested || st.name == "s1" && st.version == "v2"
				}
			}
			stopped = stopped || requested && l[0] == "cancel"
			crashed = crashed || l[0] == "fault" && l[2] == "crash-after"
		}
		return stopped && crashed
	}
	shrunk := 0
	for seed := uint64(1); shrunk < 5; seed++ {
		s := writeScript(seed, false)
		if got := parseScript(s.String()); got.String() != s.String() {
			t.Fatalf("%s is read as %s", s, got)
		}
		if !fails(s) {
			continue
		}
		shrunk++
		got := shrink(s, time.Now().Add(time.Hour), fails)
		if len(got) != 3 || got[0][2] != "crash-after" || got[1:].String() != "deploy s1!v2; cancel 0" {
			t.Errorf("seed %d: %s is shrunk to %s", seed, s, got)
		}
	}
}

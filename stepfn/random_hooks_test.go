package stepfn_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// The invariants of hooks.
const (
	calledInTime invariant = "called in time: a hook is called only while its step runs"
	calledOnce   invariant = "called at least once: a hook whose step is done was called with the token of its step"
	calledAround invariant = "called around a destroy: a destroy that deletes stacks calls the hooks before and after it"
)

// hookedSeeds is of how many seeds one has hooks.
const hookedSeeds = 5

// declareHooks adds hooks of stacks and of deploys. It draws from numbers of its own, so that scripts without hooks stay as they
// are.
func (a *generator) declareHooks(seed uint64) {
	if seed%hookedSeeds != 2 || a.emulated || a.contests {
		return
	}
	a.hooking = rand.New(rand.NewPCG(seed, 13))
	moments := []string{"before_create", "after_create", "before_update", "after_update", "before_delete", "after_delete", "before_deploy", "after_deploy"}
	draw := func(words ...string) string { return words[a.hooking.IntN(len(words))] }
	add := func(words ...string) {
		name := fmt.Sprintf("h%d", len(a.hooks))
		words = append(words, name)
		switch a.hooking.IntN(4) {
		case 0:
			words = append(words, "starting")
		case 1:
			words = append(words, "putting")
		}
		if a.hooking.IntN(4) == 0 {
			words = append(words, "ignored")
		}
		a.add("hook", words...)
		if a.hooking.IntN(2) == 0 {
			a.add("slow-hook", name, fmt.Sprint(a.hooking.IntN(120)))
		}
		a.hooks = append(a.hooks, name)
	}
	for k := range 5 {
		for range a.hooking.IntN(3) {
			add(fmt.Sprintf("s%d", k), draw(moments...))
		}
	}
	for _, moment := range []string{"before_deploy", "after_deploy", "on_failure", "before_destroy", "after_destroy"} {
		if a.hooking.IntN(3) == 0 {
			add(moment)
		}
	}
}

// failHooks lets hooks fail in the next round, and the functions that call them crash before, after and during the call.
func (a *generator) failHooks() {
	for _, name := range a.hooks {
		if a.hooking.IntN(6) == 0 {
			a.add("fail-hook", name)
		}
		if kinds := []string{"crash-before", "crash-after", "answer-lost", "late-process"}; a.hooking.IntN(4) == 0 && !a.plain {
			a.add("hook-fault", kinds[a.hooking.IntN(len(kinds))], name)
		}
	}
}

// forgiveHooks lets no hook fail any more.
func (g *player) forgiveHooks() {
	if p, ok := g.backend.(*memoryBackend); ok {
		clear(p.Hooks.Fail)
		clear(p.faults)
	}
}

// calledAroundDestroy checks a destroy that has succeeded. All files of a script have the same hooks.
func (g *player) calledAroundDestroy(r run.Run) {
	p, ok := g.backend.(*memoryBackend)
	if !ok || !slices.ContainsFunc(r.Steps, func(s run.Step) bool { return s.Verb == plan.Delete }) {
		return
	}
	for _, h := range p.hooks {
		if m := project.Moment(h.moment); m == project.BeforeDestroy || m == project.AfterDestroy {
			done := slices.ContainsFunc(r.Steps, func(s run.Step) bool { return s.ID == "hook:"+h.name && s.Status == run.Done })
			g.holds(calledAround, done, "run %s has deleted stacks, and has not called %s", r.ID, h.name)
		}
	}
}

// hookCalled checks a call of a hook.
func (w *monitor) hookCalled(c sim.HookCalled) {
	w.hooked[c.Message.Token] = true
	id, number, _, ok := action.ParseToken(c.Message.Token)
	r := w.p.Store.Lend(id)
	if !ok || number >= len(r.Steps) {
		w.holds(calledInTime, false, "hook %s is called with the token %s, which is of no step", c.Message.Hook, c.Message.Token)
		return
	}
	s := r.Steps[number]
	late := w.skewed() // a process whose clock is behind does not know that it is late, and the service accepts the call: the token says that it is the same
	w.holds(calledInTime, (s.Status == run.Running || late) && s.Verb == plan.Hook && s.Qualifier == c.Message.Hook, "hook %s of run %s is called while %s is %s", c.Message.Hook, id, s.ID, s.Status)
}

// hookEnded checks a step that calls a hook and has ended.
func (w *monitor) hookEnded(r run.Run, s run.Step) {
	if s.Verb == plan.Hook && s.Status == run.Done && !s.Receipt.Skipped {
		w.holds(calledOnce, w.hooked[action.Token(r.ID, r.TokenKey, s.Number, 1)], "%s of run %s is done, and its hook was not called", s.ID, r.ID)
	}
}

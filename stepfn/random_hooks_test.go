package stepfn_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/hook"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// The invariants of hooks.
const (
	calledInTime invariant = "called in time: a hook is called only while its step runs"
	calledOnce   invariant = "called at least once: a hook whose step is done was called with the token of its step"
	uploadedAll  invariant = "uploaded all: a bucket into which a hook has uploaded a folder has the files of the folder, and no others if the hook deletes them"
	scaledAll    invariant = "scaled all: after a hook about the Auto Scaling groups of its stack, their processes are as it says"
	emptiedFirst invariant = "emptied first: a bucket that a hook has emptied has no objects"
	keepsValues  invariant = "keeps values: an update changes no parameter that the stack has and whose changes are ignored"
	prunes       invariant = "prunes: a prune deletes obsolete stacks and does nothing else to stacks"
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
	add := func(words ...string) {
		name := fmt.Sprintf("h%d", len(a.hooks))
		words = append(words, name)
		words = append(words, a.hookType(words)...)
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
			add(fmt.Sprintf("s%d", k), moments[a.hooking.IntN(len(moments))])
		}
	}
	of := []string{"before_deploy", "after_deploy", "on_failure", "before_destroy", "after_destroy"}
	if seed%suspendingSeeds == 5 {
		of = append(of, "before_suspend", "after_suspend", "before_resume", "after_resume")
	}
	for _, moment := range of {
		if a.hooking.IntN(3) == 0 {
			add(moment)
		}
	}
}

// hookType draws the type of a hook, and creates what it reaches. words are its stack, if it has one, its moment and its name.
func (a *generator) hookType(words []string) []string {
	name, moment := words[len(words)-1], words[len(words)-2]
	elsewhere := len(words) > 2 && a.script.setting("targets") > 0 // the secret and the alarms are in one account
	switch a.hooking.IntN(10) {
	case 0, 1:
		return []string{"starting"}
	case 2:
		return []string{"putting"}
	case 3:
		if elsewhere {
			break
		}
		return []string{"posting"}
	case 4:
		return []string{[]string{"open", "opening"}[a.hooking.IntN(2)]}
	case 5:
		if elsewhere {
			break
		}
		a.add("alarm", "alarm-"+name, "OK")
		a.alarms = append(a.alarms, "alarm-"+name)
		return []string{"watching", "alarm-" + name}
	case 6, 7:
		if kind := a.ofStack(words); kind != nil {
			return kind
		}
		a.add("group", "group-"+name)
		return []string{[]string{"suspending", "resuming"}[a.hooking.IntN(2)], "group-" + name, "Launch,Terminate"}
	case 8:
		if moment != string(project.BeforeDelete) {
			break
		}
		a.add("fill", "bucket-"+name, fmt.Sprint(a.hooking.IntN(30)))
		return []string{"emptying", "bucket-" + name}
	case 9:
		if len(words) == 2 { // of the project
			break
		}
		a.add("fill", "bucket-"+name, "0")
		a.uploading = append(a.uploading, slices.Clone(words))
		return a.upload(name)
	}
	return nil
}

// ofStack draws a hook about all Auto Scaling groups of its stack, whose versions then decide which groups it has. It returns nil for a
// hook that is about a group of its own, as at a moment when a stack has none.
func (a *generator) ofStack(words []string) []string {
	if len(words) == 2 || slices.Contains([]string{"before_create", "after_delete"}, words[1]) || a.hooking.IntN(2) == 0 {
		return nil
	}
	a.grouped = true
	return []string{[]string{"suspending", "resuming"}[a.hooking.IntN(2)], hook.OfStack, "Launch,Terminate"}
}

// upload draws what a hook uploads into its bucket.
func (a *generator) upload(name string) []string {
	kind, folder := []string{"uploading", "mirroring"}[a.hooking.IntN(2)], []string{"files-a", "files-b", "files-c"}[a.hooking.IntN(3)]
	return []string{kind, "bucket-" + name, folder}
}

// failHooks lets hooks fail in the next round, and the functions that call them crash before, after and during the call. What hooks
// upload changes.
func (a *generator) failHooks() {
	for _, alarm := range a.alarms {
		a.add("alarm", alarm, []string{"OK", "OK", "ALARM", "INSUFFICIENT_DATA"}[a.hooking.IntN(4)])
	}
	for _, words := range a.uploading {
		if a.hooking.IntN(2) == 0 {
			a.add("hook", slices.Concat(words, a.upload(words[len(words)-1]))...)
		}
	}
	a.hookDeletion()
	for _, name := range a.hooks {
		if a.hooking.IntN(6) == 0 {
			a.add("fail-hook", name)
		}
		if kinds := []string{"crash-before", "crash-after", "answer-lost", "late-process", "throttled"}; a.hooking.IntN(4) == 0 && !a.plain {
			a.add("hook-fault", kinds[a.hooking.IntN(len(kinds))], name)
		}
	}
}

// hookDeletion adds a hook of a stack's deletion, and a deploy that records it and updates no stack because of it.
func (a *generator) hookDeletion() {
	if a.hooking == nil || len(a.last) == 0 || a.hooking.IntN(4) > 0 {
		return
	}
	name := fmt.Sprintf("h%d", len(a.hooks))
	a.add("hook", a.last[a.hooking.IntN(len(a.last))].name, "before_delete", name, "ignored")
	a.hooks = append(a.hooks, name)
	a.deploy(a.last)
	a.add("wait-idle")
}

// forgiveHooks lets no hook fail any more.
func (g *player) forgiveHooks() {
	if p, ok := g.backend.(*memoryBackend); ok {
		clear(p.Hooks.Fail)
		for alarm := range p.Hooks.Alarms {
			p.Hooks.Alarms[alarm] = "OK"
		}
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
		c, _, err := plan.CallOf(s.Step)
		if err != nil || c.Hook.Ignore {
			return
		}
		w.scaled(c, s.ID+" of run "+r.ID)
		if folder := c.Hook.Values["upload"].String(); folder != "" {
			w.uploaded(c.Hook, uploadedFiles(folder), s.ID+" of run "+r.ID)
		}
		if bucket := c.Hook.Values["empty_bucket"].String(); bucket != "" {
			w.holds(emptiedFirst, w.p.Hooks.Buckets[bucket] == 0, "%s of run %s is done, and %s has %d objects", s.ID, r.ID, bucket, w.p.Hooks.Buckets[bucket])
		}
	}
}

// scaled checks the Auto Scaling groups of the stack of a hook that was called for all of them.
func (w *monitor) scaled(c plan.HookCall, step string) {
	for _, suspends := range []bool{true, false} {
		key := map[bool]string{true: "suspend_scaling", false: "resume_scaling"}[suspends]
		if c.Hook.Values[key].String() != hook.OfStack {
			continue
		}
		for _, group := range w.p.Cloud.Groups(c.Target, c.StackName) {
			for _, process := range []string{"Launch", "Terminate"} {
				w.holds(scaledAll, slices.Contains(w.p.Hooks.Suspended[group], process) == suspends, "%s is done, and of %s %v are suspended", step, group, w.p.Hooks.Suspended[group])
			}
		}
	}
}

// uploaded checks the bucket into which a hook has uploaded files.
func (w *monitor) uploaded(h project.Hook, files map[string]string, step string) {
	bucket := h.Values["bucket"].String()
	held := maps.Clone(w.p.Hooks.Objects[bucket])
	maps.DeleteFunc(held, func(key, _ string) bool { return h.Loses == "" && files[key] == "" })
	w.holds(uploadedAll, maps.Equal(held, files), "%s is done, and %s has %v, not %v", step, bucket, held, files)
}

// updates checks the parameters that an update changes.
func (w *monitor) updates(t action.Task, before, after map[string]string) {
	w.restored(t, before, after)
	for _, name := range t.Node.IgnoreChanges {
		was, had := before[name]
		w.holds(keepsValues, !had || after[name] == was, "%s of run %s changes %s from %q to %q", t.Step.ID, t.Run, name, was, after[name])
	}
}

// prunedBy checks a request of a prune.
func (w *monitor) prunedBy(t action.Task) {
	r := w.p.Store.Lend(t.Run)
	if r.Operation != "prune" {
		return
	}
	p, _ := w.projectOf(r)
	former := w.p.Store.LendRecords(t.Project)[t.Step.Node].FormerName // of a stack that the obsolete one left behind
	w.holds(prunes, t.Step.Verb == plan.Delete && (p.IsObsolete(t.Step.Node) || p.IsObsolete(former)), "%s of run %s is requested, and its files call only %v obsolete", t.Step.ID, r.ID, p.Obsolete)
}

// pruningSeeds is of how many seeds one has obsolete stacks and parameters whose changes are ignored.
const pruningSeeds = 7

// prunes lets stacks of a scenario be obsolete and ignore changes.
func (a *generator) prunes(seed uint64) {
	if seed%pruningSeeds == 3 && !a.emulated && !a.contests && !a.levels && a.importing == nil && a.moving == nil {
		a.pruning = rand.New(rand.NewPCG(seed, 17))
	}
}

// anotherVersion draws a version of the same stack that is not the given one.
func (a *generator) anotherVersion(version string) string {
	all := slices.DeleteFunc([]string{"v1", "v2", "v3"}, func(v string) bool { return v == version })
	return all[a.pruning.IntN(len(all))]
}

// withPrunes makes stacks of a project obsolete, or lets them ignore changes of parameters.
func (a *generator) withPrunes(w stacks) stacks {
	if a.pruning == nil {
		return w
	}
	w = slices.Clone(w)
	for i := range w {
		switch a.pruning.IntN(5) {
		case 0:
			w[i].options = []string{"keeps"}
		case 1:
			if len(a.last) > 0 {
				w[i].options = []string{"obsolete"}
			}
		case 2:
			w[i].options = nil
		}
	}
	return w
}

// prune adds a prune of the last project, in which other stacks may be obsolete.
func (a *generator) prune() {
	if a.pruning == nil || len(a.last) == 0 {
		return
	}
	w := a.withPrunes(a.last)
	k := a.pruning.IntN(len(w))
	if a.pruning.IntN(2) == 0 { // what it depends on gets other outputs
		w[k].options = []string{"keeps"}
		for i := range w {
			w[i].version = a.anotherVersion(w[i].version)
		}
		a.add("deploy", w.words()...)
		a.last = w
		a.add("wait-idle")
		return
	}
	w[k].options = []string{"obsolete"}
	a.add("prune", w.words()...)
	a.add("wait-idle")
}

package project

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
)

// A Hook is something outside CloudFormation that a run calls at some moments: a Lambda function, a state machine and
// the like. Package hook has the types of hooks.
type Hook struct {
	Name     string          `json:"name"` // among the hooks of its stack, or of its project
	Moments  []Moment        `json:"moments"`
	Type     string          `json:"type"`
	Loses    string          `json:"loses,omitempty"`     // what data hooks of the type delete; empty for none
	Values   map[string]Text `json:"values"`              // by key; the key that is the name of the type says what is called
	Payload  map[string]Text `json:"payload,omitempty"`   // what the user passes on
	Timeout  Timeout         `json:"timeout,omitempty"`   // how long it may take; 0 is DefaultHookTimeout
	Ignore   bool            `json:"ignore,omitempty"`    // its failure fails nothing
	Files    string          `json:"files,omitempty"`     // the digest of the files of the project that it uses; empty for none
	CacheKey Text            `json:"cache_key,omitempty"` // of a stack: the hook is called when its value changes, also if the stack does not, and skipped while it is that of the last success; nil for none
}

// A Moment is when hooks are called.
type Moment string

// The moments of a stack.
const (
	BeforeCreate Moment = "before_create"
	AfterCreate  Moment = "after_create"
	BeforeUpdate Moment = "before_update"
	AfterUpdate  Moment = "after_update"
	BeforeDelete Moment = "before_delete" // permanently
	AfterDelete  Moment = "after_delete"
)

// The moments of a deploy, and of a stack that is created or updated.
const (
	BeforeDeploy Moment = "before_deploy"
	AfterDeploy  Moment = "after_deploy"
)

// The other moments of a project: those of a destroy of all its stacks, and of a deploy or destroy that fails.
const (
	BeforeDestroy Moment = "before_destroy"
	AfterDestroy  Moment = "after_destroy"
	OnFailure     Moment = "on_failure" // after all other steps, if one of them has failed
)

// The moments of a suspend and a resume of all stacks.
const (
	BeforeSuspend Moment = "before_suspend"
	AfterSuspend  Moment = "after_suspend"
	BeforeResume  Moment = "before_resume"
	AfterResume   Moment = "after_resume"
)

// StackMoments are the moments of a stack, each by what its key in files stands for.
func StackMoments() map[Moment][]Moment {
	all := map[Moment][]Moment{BeforeDeploy: {BeforeCreate, BeforeUpdate}, AfterDeploy: {AfterCreate, AfterUpdate}}
	for _, m := range []Moment{BeforeCreate, AfterCreate, BeforeUpdate, AfterUpdate, BeforeDelete, AfterDelete} {
		all[m] = []Moment{m}
	}
	return all
}

// Compare orders the moments of a stack as they are called: those of a deploy are around those of a creation and of an update.
func (m Moment) Compare(other Moment) int {
	rank := map[Moment]int{BeforeDeploy: -1, AfterDeploy: 1}
	return cmp.Or(cmp.Compare(rank[m], rank[other]), cmp.Compare(m, other))
}

// ProjectMoments are the moments of a project.
func ProjectMoments() map[Moment][]Moment {
	all := make(map[Moment][]Moment)
	for _, m := range []Moment{BeforeDeploy, AfterDeploy, BeforeDestroy, AfterDestroy, BeforeSuspend, AfterSuspend, BeforeResume, AfterResume, OnFailure} {
		all[m] = []Moment{m}
	}
	return all
}

// DefaultHookTimeout is how long a hook may take if its file does not say.
const DefaultHookTimeout = Timeout(15 * 60 * 1e9)

// The most hooks of a stack, or of a project, the most values in the payload of one, and the most bytes of the hooks of a
// project that operations without files call: its lock keeps them.
const (
	MaxHooks   = 20
	MaxPayload = 20
	MaxDestroy = 65536
)

// At returns the hooks of a moment, in their order.
func At(all []Hook, m Moment) []Hook {
	return slices.DeleteFunc(slices.Clone(all), func(h Hook) bool { return !slices.Contains(h.Moments, m) })
}

// HooksOfDeletion returns the hooks that are called when the stack is deleted. A deletion has no files that say them, so
// the record keeps those of the last deploy.
func HooksOfDeletion(all []Hook) []Hook { return only(all, BeforeDelete, AfterDelete) }

// only returns the hooks of some moments, each with these moments only.
func only(all []Hook, moments ...Moment) []Hook {
	var some []Hook
	for _, h := range all {
		if h.Moments = slices.DeleteFunc(slices.Clone(h.Moments), func(m Moment) bool { return !slices.Contains(moments, m) }); len(h.Moments) > 0 {
			some = append(some, h)
		}
	}
	return some
}

// A Destroy is what the files of a project say about its destroys, suspends and resumes: the hooks that these call, and the stacks that a
// destroy leaves alone. None of them has files, so the lock of the project keeps what the last files said.
type Destroy struct {
	Hooks   []Hook   `json:"hooks"`
	Home    Target   `json:"home"`              // where they are called
	Ignored []string `json:"ignored,omitempty"` // sorted
	Kind    Kind     `json:"kind,omitempty"`    // of the files
}

// OfDestroy returns what the files say about destroys; nil if they say nothing. The error is of kind Invalid if that is too
// large to be kept.
func (p Project) OfDestroy() (*Destroy, error) {
	some := only(p.Hooks, BeforeDestroy, AfterDestroy, BeforeSuspend, AfterSuspend, BeforeResume, AfterResume, OnFailure)
	if some == nil && len(p.Ignored) == 0 {
		return nil, nil
	}
	d := &Destroy{Hooks: some, Home: p.Home, Ignored: p.Ignored, Kind: p.Kind}
	text, err := json.Marshal(d)
	switch {
	case err != nil:
		return nil, fault.New(fault.Broken, "hooks: %w", err)
	case len(text) > MaxDestroy:
		return nil, fault.New(fault.Invalid, "the hooks before and after a destroy, a suspend and a resume, and on failure, and the names of the stacks that are left alone have %d bytes, at most %d are allowed: give the hooks less payload, or divide the project into several", len(text), MaxDestroy)
	}
	return d, nil
}

// Texts returns all texts of the hook, each by a name for messages.
func (h Hook) Texts() map[string]Text {
	all := maps.Clone(h.Values)
	if all == nil {
		all = make(map[string]Text)
	}
	for name, t := range h.Payload {
		all["payload "+name] = t
	}
	if h.CacheKey != nil {
		all["cache_key"] = h.CacheKey
	}
	return all
}

// Uploaded is a digest of the files that the hook uses, and of where they go; empty if it uses none.
func (h Hook) Uploaded() (string, error) {
	if h.Files == "" {
		return "", nil
	}
	return digest([]any{h.Files, h.Values})
}

// Sources lists the nodes whose outputs the hook refers to, sorted.
func (h Hook) Sources() []string {
	var all []string
	for _, t := range h.Texts() {
		for _, o := range t.Outputs() {
			all = append(all, o.Node)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// A ResolvedHook is the values of a hook, of which all outputs are known.
type ResolvedHook struct {
	Values, Payload map[string]string
	CacheKey        string // "" for none
}

// Resolve replaces the hook's references to outputs, as Node.Resolve does.
func (h Hook) Resolve(lookup func(node, output string) (string, error)) (ResolvedHook, error) {
	var r ResolvedHook
	var err error
	what := "hook " + h.Name + ":"
	if r.Values, err = resolve(what, h.Values, lookup); err != nil {
		return r, err
	}
	if r.Payload, err = resolve(what+" payload", h.Payload, lookup); err != nil {
		return r, err
	}
	r.CacheKey, err = h.Key(lookup)
	return r, err
}

// Key replaces the references of the hook's cache key to outputs; "" for none.
func (h Hook) Key(lookup func(node, output string) (string, error)) (string, error) {
	key, err := resolve("hook "+h.Name+":", map[string]Text{"cache_key": h.CacheKey}, lookup)
	return key["cache_key"], err
}

// A Situation is what the condition of a hook is about.
type Situation struct {
	Project     string
	Environment string
	Stack       Stack
}

// A Stack is the stack that the condition of a hook sees. Its name is empty for a hook of a deploy.
type Stack struct {
	Name    string `json:"name"`
	Target  string `json:"target"`
	Account string `json:"account"`
	Region  string `json:"region"`
}

// A Condition evaluates the condition of a hook: an expression in CEL. The error says what is wrong with it.
type Condition func(text string, s Situation) (bool, error)

// SameHooks reports whether a and b are the same hooks in the same order.
func SameHooks(a, b []Hook) bool {
	one, err := digest(append([]Hook{}, a...))
	other, otherErr := digest(append([]Hook{}, b...))
	return err == nil && otherErr == nil && one == other
}

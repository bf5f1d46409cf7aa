// Package policy checks plans by policies: expressions that are true if a plan violates them.
package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/expression"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// What expressions may cost, in steps of CEL: one evaluation, and all evaluations for a plan.
const (
	MaxCost      = 100_000
	MaxTotalCost = 20_000_000
)

// maxViolations is how many violations are reported.
const maxViolations = 1000

// A Stack is a stack as expressions see it.
type Stack struct {
	plan.StackChange
	Resources []Resource   `json:"resources"` // all that the stack has, may have or loses
	Desired   plan.Desired `json:"desired"`
}

// A Resource is a resource as expressions see it.
type Resource struct {
	plan.ResourceChange
	Desired map[string]any `json:"desired"` // its properties

	place string
}

// Unchanged is the action of a resource that does not differ.
const Unchanged difference.Action = "unchanged"

// planVariable is the variable of the whole plan.
const planVariable = "plan"

// variables are the variables of expressions, each with a value of its type.
var variables = map[string]any{
	planVariable: plan.Changes{}, "stack": Stack{}, "resource": Resource{}, "target": project.Target{},
	"project": "", "environment": "", "principal": "", "time": time.Time{},
}

// language is made once: that takes a few milliseconds, which a plan without policies saves.
var language = sync.OnceValues(func() (*expression.Language, error) { return expression.New(variables) })

// A compiled policy is checked once for the plan, for each stack or for each resource,
// whichever its expression needs.
type compiled struct {
	project.Policy
	when *expression.Expression
	each scope
}

type scope int

const (
	wholePlan scope = iota
	eachStack
	eachResource
)

// A Set is policies that are compiled.
type Set []compiled

// Compile compiles policies. The error is of kind Invalid and joins everything that is wrong
// with them, with its place.
func Compile(all []project.Policy) (Set, error) {
	l, err := language()
	if err != nil {
		return nil, fault.New(fault.Broken, "the language of policies: %w", err)
	}
	var set Set
	var wrong document.Errors
	for _, p := range all {
		when, err := l.Compile(p.When)
		if err != nil {
			wrong = append(wrong, problems(p, err)...)
			continue
		}
		one := compiled{Policy: p, when: when}
		switch {
		case when.Uses("resource"):
			one.each = eachResource
		case when.Uses("stack"), when.Uses("target"):
			one.each = eachStack
		}
		set = append(set, one)
	}
	if len(wrong) > 0 {
		return nil, fault.As(fault.Invalid, wrong)
	}
	return set, nil
}

// Each says for what the i-th policy is checked: plan, stack or resource.
func (s Set) Each(i int) string { return [...]string{"plan", "stack", "resource"}[s[i].each] }

// problems are what is wrong with an expression, each with its place in the file.
func problems(p project.Policy, err error) document.Errors {
	errs := []error{err}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		errs = many.Unwrap()
	}
	var all document.Errors
	for _, err := range errs {
		e := &document.Error{File: p.File, Line: p.Line, Column: p.Column}
		within := ""
		if one, ok := errors.AsType[*expression.Problem](err); ok && one.Line > 0 {
			if p.Exact {
				e.Column += one.Column - 1
			} else {
				within = fmt.Sprintf("line %d, column %d of the expression: ", one.Line, one.Column)
			}
		}
		e.Text = fmt.Sprintf("policy %s: %s: %s%v", p.Name, p.Level, within, err)
		all = append(all, e)
	}
	return all
}

// Check returns what the policies say about a plan, by stack and resource. The error is of
// kind Refused if they cost more than MaxTotalCost, and Unavailable if the context has ended.
func (s Set) Check(ctx context.Context, f plan.Facts, c plan.Changes) ([]plan.Violation, error) {
	return s.check(ctx, MaxTotalCost, f, c, stacksOf(c))
}

// stacksOf are the stacks of a plan, each with all its resources.
func stacksOf(c plan.Changes) iter.Seq[Stack] {
	return func(yield func(Stack) bool) {
		for _, change := range c.Stacks {
			if !yield(stackOf(change)) {
				return
			}
		}
	}
}

// stackOf is a stack with all its resources.
func stackOf(c plan.StackChange) Stack {
	s := Stack{StackChange: c, Desired: c.Desired(), Resources: []Resource{}}
	changed, otherwise := make(map[string]bool), Unchanged
	if c.Uncompared() {
		otherwise = difference.Dynamic
	}
	for _, r := range c.Resources {
		changed[r.ID] = true
		desired := s.Desired.Resources[r.ID]
		s.Resources = append(s.Resources, Resource{ResourceChange: r, Desired: desired.Properties, place: desired.Place})
	}
	for id, r := range s.Desired.Resources {
		if !changed[id] {
			s.Resources = append(s.Resources, Resource{ResourceChange: plan.ResourceChange{ID: id, Type: r.Type, Action: otherwise}, Desired: r.Properties, place: r.Place})
		}
	}
	slices.SortStableFunc(s.Resources, func(a, b Resource) int { return cmp.Compare(a.ID, b.ID) })
	return s
}

// A checking is a Check in progress.
type checking struct {
	ctx    context.Context
	values map[string]any
	most   uint64 // that all evaluations may cost
	left   uint64
	found  []plan.Violation
	more   map[project.PolicyLevel]int // violations beyond maxViolations
}

func (s Set) check(ctx context.Context, most uint64, f plan.Facts, c plan.Changes, stacks iter.Seq[Stack]) ([]plan.Violation, error) {
	x := &checking{ctx: ctx, most: most, left: most, more: make(map[project.PolicyLevel]int), values: map[string]any{
		"project": f.Project, "environment": f.Environment, "principal": f.Principal, "time": f.Time,
	}}
	if s.any(func(p compiled) bool { return p.when.Uses(planVariable) }) {
		x.values[planVariable] = expression.Plain(c)
	}
	x.unread(s, c)
	if err := x.all(s, wholePlan, plan.Violation{}); err != nil {
		return nil, err
	}
	byStack, byResource := s.any(func(p compiled) bool { return p.each == eachStack }), s.any(func(p compiled) bool { return p.each == eachResource })
	if byStack || byResource {
		for one := range stacks {
			if err := x.stack(s, one, byResource); err != nil {
				return nil, err
			}
		}
	}
	return slices.Concat(x.found, x.hidden()), nil
}

// hidden says how many violations of each level are not reported. A plan that only these deny
// is denied.
func (x *checking) hidden() []plan.Violation {
	var all []plan.Violation
	for _, level := range []project.PolicyLevel{project.Deny, project.Warn} {
		if n := x.more[level]; n > 0 {
			all = append(all, plan.Violation{Level: level, Message: fmt.Sprintf("not shown: %d more with level %s", n, level)})
		}
	}
	return all
}

func (s Set) any(is func(compiled) bool) bool { return slices.ContainsFunc(s, is) }

// unread adds a violation of each policy that may use the resources of a stack, for each stack
// whose template could not be read: a policy must not hold because nobody knows what it checks.
func (x *checking) unread(s Set, c plan.Changes) {
	for _, one := range c.Stacks {
		for _, p := range s {
			if err := one.Unread(); err != nil && (p.each != wholePlan || p.when.Uses(planVariable)) {
				x.add(p, plan.Violation{Stack: one.Stack, Unevaluated: true, Message: fmt.Sprintf("it cannot be checked, because the template of the stack cannot be read: %v", err)})
			}
		}
	}
}

// add adds a violation of p.
func (x *checking) add(p compiled, v plan.Violation) {
	if len(x.found) >= maxViolations {
		x.more[p.Level]++
		return
	}
	v.Policy, v.Level, v.Source = p.Name, p.Level, p.At()
	x.found = append(x.found, v)
}

// stack checks one stack and its resources.
func (x *checking) stack(s Set, one Stack, byResource bool) error {
	target := one.Desired.Target
	target.Name = cmp.Or(target.Name, one.Target)
	x.values["stack"], x.values["target"] = expression.Plain(one), expression.Plain(target)
	if err := x.all(s, eachStack, plan.Violation{Stack: one.Stack}); err != nil || !byResource {
		return err
	}
	for _, r := range one.Resources {
		x.values["resource"] = expression.Plain(r)
		if err := x.all(s, eachResource, plan.Violation{Stack: one.Stack, Resource: r.ID, Place: r.place}); err != nil {
			return err
		}
	}
	return nil
}

// all evaluates the policies of a scope. about says what they are evaluated for.
func (x *checking) all(s Set, each scope, about plan.Violation) error {
	for _, p := range s {
		if p.each != each {
			continue
		}
		violated, cost, err := p.when.Evaluate(x.ctx, x.values, min(MaxCost, x.left))
		x.left -= min(cost, x.left)
		message := p.Message
		about.Unevaluated = err != nil
		switch {
		case errors.Is(context.Cause(x.ctx), errSlow):
			return fault.New(fault.Refused, "%w for this plan, at last %s (%s): make their expressions simpler, or plan some of the stacks, with --only", errSlow, p.Name, p.At())
		case x.ctx.Err() != nil:
			return fault.New(fault.Unavailable, "check policies: %w", x.ctx.Err())
		case x.left == 0:
			return fault.New(fault.Refused, "the policies cost more than %d steps for this plan, at last %s (%s): make their expressions simpler, or plan some of the stacks, with --only", x.most, p.Name, p.At())
		case errors.Is(err, expression.ErrCost):
			message = fmt.Sprintf("its expression costs more than %d steps: make it simpler", MaxCost)
		case err != nil:
			message = fmt.Sprintf("its expression cannot be evaluated: %v: ask with has(…) or in whether there is a value before you use it", err)
		case !violated:
			continue
		}
		about.Message = message
		x.add(p, about)
	}
	return nil
}

// MaxTime is how long the checks of a plan may take. Their cost bounds that already, but not
// well for each function: a long pattern costs little and takes long.
const MaxTime = time.Minute

var errSlow = errors.New("the policies take too long")

// A Checker compiles policies and checks plans by them.
type Checker struct {
	MaxTime time.Duration // of the checks of a plan; 0 is MaxTime
	MaxCost uint64        // of all evaluations for a plan; 0 is MaxTotalCost
}

// Valid returns what is wrong with policies, as Compile does.
func (Checker) Valid(all []project.Policy) error {
	_, err := Compile(all)
	return err
}

// Check compiles policies and returns what they say about a plan, as Set.Check does. The error
// is of kind Refused, too, if that takes longer than MaxTime.
func (k Checker) Check(ctx context.Context, all []project.Policy, f plan.Facts, c plan.Changes) ([]plan.Violation, error) {
	set, err := Compile(all)
	if err != nil {
		return nil, err
	}
	ctx, done := context.WithTimeoutCause(ctx, cmp.Or(k.MaxTime, MaxTime), errSlow)
	defer done()
	return set.check(ctx, cmp.Or(k.MaxCost, MaxTotalCost), f, c, stacksOf(c))
}

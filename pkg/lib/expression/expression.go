// Package expression compiles and evaluates conditions in the Common Expression Language
// (CEL) over Go values. It has no function that reads a clock, a file or the network: the
// same values give the same result.
//
// It is made of the parts of cel-go, and not of its package cel, which links text/template:
// with that, the linker keeps every method of the program.
package expression

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cel.dev/cel-go/checker"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/containers"
	"cel.dev/cel-go/common/decls"
	"cel.dev/cel-go/common/stdlib"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/interpreter"
	"cel.dev/cel-go/parser"

	"github.com/stackwright/stackwright/pkg/lib/suggest"
)

// What one expression may have. Its cost is limited too, by the caller.
const (
	MaxText  = 4096 // letters
	maxDepth = 50
	maxNodes = 2000
)

// interruptEvery is after how many steps of a loop an evaluation checks that its context has
// not ended.
const interruptEvery = 100

// ErrCost is the error of an evaluation that costs more than its limit.
var ErrCost = errors.New("it costs too much")

// A Language is the variables that expressions may use, with their types. It does not
// change, and may be used from many goroutines.
type Language struct {
	types       *structs
	variables   map[string]*types.Type
	parser      *parser.Parser
	interpreter interpreter.Interpreter
}

// New returns the language with the given variables: each has the type of its value. A
// struct has the fields that it has in JSON.
func New(variables map[string]any) (*Language, error) {
	registry, err := types.NewRegistry()
	if err != nil {
		return nil, err
	}
	l := &Language{types: &structs{Provider: registry, fields: make(map[string]map[string]*types.FieldType)}, variables: make(map[string]*types.Type)}
	for name, value := range variables {
		if l.variables[name], err = l.types.typeOf(value); err != nil {
			return nil, fmt.Errorf("variable %s: %w", name, err)
		}
	}
	l.parser, err = parser.NewParser(parser.Macros(parser.AllMacros...), parser.MaxRecursionDepth(maxDepth), parser.MaxExpressionNodeCount(maxNodes),
		parser.ExpressionSizeCodePointLimit(MaxText), parser.ErrorReportingLimit(5))
	if err != nil {
		return nil, err
	}
	functions := interpreter.NewDispatcher()
	for _, f := range stdlib.Functions() {
		bindings, err := f.Bindings()
		if err == nil {
			err = functions.Add(bindings...)
		}
		if err != nil {
			return nil, err
		}
	}
	names := containers.DefaultContainer
	l.interpreter = interpreter.NewInterpreter(functions, names, l.types, registry, interpreter.NewAttributeFactory(names, registry, l.types))
	return l, nil
}

// A Problem is why an expression does not compile. Its line and column begin with 1; they are
// 0 if there is no place.
type Problem struct {
	Line, Column int
	Text         string
}

// Error is the text without the place.
func (p *Problem) Error() string { return p.Text }

// An Expression is a condition that was compiled. It may be used from many goroutines.
type Expression struct {
	program *interpreter.ObservableInterpretable
	uses    map[string]bool
}

// Compile compiles a condition: an expression that is true or false. The error joins a Problem
// for each thing that is wrong.
func (l *Language) Compile(text string) (*Expression, error) {
	source := common.NewTextSource(text)
	parsed, errs := l.parser.Parse(source)
	if err := problems(errs, syntax); err != nil {
		return nil, err
	}
	known := &namedFields{structs: l.types}
	env, err := checker.NewEnv(containers.DefaultContainer, known)
	if err != nil {
		return nil, err
	}
	var variables []*decls.VariableDecl
	for _, name := range slices.Sorted(maps.Keys(l.variables)) {
		variables = append(variables, decls.NewVariable(name, l.variables[name]))
	}
	if err := errors.Join(env.AddFunctions(stdlib.Functions()...), env.AddIdents(stdlib.Types()...), env.AddIdents(variables...)); err != nil {
		return nil, err
	}
	checked, errs := checker.Check(parsed, source, env)
	if err := problems(errs, l.explain(known)); err != nil {
		return nil, err
	}
	if t := checked.GetType(checked.Expr().ID()); !t.IsExactType(types.BoolType) {
		return nil, &Problem{1, 1, fmt.Sprintf("expected a condition, which is true or false, found a value of type %s", t)}
	}
	planned, err := l.interpreter.NewInterpretable(checked, interpreter.InterruptableEval(), interpreter.CostObserver(interpreter.CostTrackerFactory(newTracker)))
	if err != nil {
		return nil, &Problem{Text: err.Error()}
	}
	program, ok := planned.(*interpreter.ObservableInterpretable)
	if !ok {
		return nil, &Problem{Text: "its cost cannot be observed"}
	}
	return &Expression{program: program, uses: used(checked)}, nil
}

// Uses reports whether the expression uses a variable.
func (x *Expression) Uses(variable string) bool { return x.uses[variable] }

// used lists the variables that an expression uses.
func used(a *ast.AST) map[string]bool {
	all := make(map[string]bool)
	for _, reference := range a.ReferenceMap() {
		if reference.Name != "" {
			all[reference.Name] = true
		}
	}
	return all
}

// A tracker counts what an evaluation costs. Its limit is set before the first step.
func newTracker() (*interpreter.CostTracker, error) { return interpreter.NewCostTracker(nil) }

// Evaluate evaluates the condition with values that Plain has made of those of the variables
// it uses, and returns what that has cost. The error is ErrCost if it would cost more than
// most, and that of the context if it has ended.
func (x *Expression) Evaluate(ctx context.Context, values map[string]any, most uint64) (holds bool, cost uint64, err error) {
	var tracker *interpreter.CostTracker
	defer func() {
		if tracker != nil {
			cost = tracker.ActualCost()
		}
		switch stopped := recover().(type) {
		case nil:
		case interpreter.EvalCancelledError:
			holds, err = false, fmt.Errorf("%s", stopped.Message)
			if stopped.Cause == interpreter.CostLimitExceeded {
				err = ErrCost
			}
		default: // as cel-go's own programs do: a fault of a function is an error of the expression
			holds, err = false, fmt.Errorf("internal error: %v", stopped)
		}
	}()
	frame, err := interpreter.NewExecutionFrame(values)
	if err != nil {
		return false, 0, err
	}
	defer frame.Close()
	if err := frame.SetContext(ctx, interruptEvery); err != nil {
		return false, 0, err
	}
	result := x.program.ObserveExec(frame, func(state any) {
		if t, ok := state.(*interpreter.CostTracker); ok && tracker == nil {
			tracker, t.Limit = t, &most
		}
	})
	switch v := result.(type) {
	case types.Bool:
		return bool(v), 0, nil
	case *types.Err:
		if ctx.Err() != nil {
			return false, 0, ctx.Err()
		}
		return false, 0, errors.New(v.Error())
	}
	return false, 0, fmt.Errorf("its result is %s, and not true or false", result.Type().TypeName())
}

// problems are the errors of cel-go, each explained.
func problems(errs *common.Errors, explain func(string) string) error {
	var all []error
	for _, e := range errs.GetErrors() {
		p := &Problem{Text: explain(e.Message)}
		if l := e.Location; l != nil && l.Line() > 0 && l.Column() >= 0 {
			p.Line, p.Column = l.Line(), l.Column()+1
		}
		all = append(all, p)
	}
	return errors.Join(all...)
}

// explain says an error of the checker with the names that there are.
func (l *Language) explain(known *namedFields) func(string) string {
	return func(text string) string {
		if field, ok := between(text, "undefined field '", "'"); ok {
			for _, a := range known.missed {
				if a.field == field {
					return fmt.Sprintf("%s has no field %s%s", a.of, field, suggest.Hint(field, slices.Sorted(maps.Keys(l.types.fields[a.of]))))
				}
			}
		}
		if name, ok := between(text, "undeclared reference to '", "'"); ok {
			all := slices.Sorted(maps.Keys(l.variables))
			for _, f := range stdlib.Functions() {
				if f.Name() == name {
					return text
				}
			}
			return fmt.Sprintf("there is no variable or function %s%s", name, suggest.Hint(name, all))
		}
		if name, ok := between(text, "found no matching overload for '", "'"); ok {
			_, rest, _ := strings.Cut(text, " applied to '")
			return fmt.Sprintf("%s cannot be applied to %s", strings.Trim(name, "_"), strings.TrimSuffix(rest, "'"))
		}
		return text
	}
}

// syntax says an error of the parser.
func syntax(text string) string {
	text, is := strings.CutPrefix(text, "Syntax error: ")
	text, _, _ = strings.Cut(text, " expecting ")
	switch {
	case strings.Contains(text, "'<EOF>'"):
		return "the expression ends too early"
	case is:
		return "syntax error: " + text
	}
	return text
}

// between returns the text between two others; the first must begin it.
func between(text, before, after string) (string, bool) {
	rest, ok := strings.CutPrefix(text, before)
	if !ok {
		return "", false
	}
	found, _, ok := strings.Cut(rest, after)
	return found, ok
}

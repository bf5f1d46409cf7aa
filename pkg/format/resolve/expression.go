package resolve

import (
	"errors"
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/format/reference"
	"github.com/stackwright/stackwright/pkg/lib/function"
	"github.com/stackwright/stackwright/pkg/project"
)

// A computation computes the references and expressions of one value of a stack.
type computation struct {
	*resolver
	stack *Stack
	of    string // the value, such as "parameter VpcId"
	at    problem.Position
	in    function.Evaluation
	made  int // of what in has made, that is counted
}

// refer writes a reference.
func (c *computation) refer(w *writer, ref declared.Reference) error {
	result, err := c.reference(c.stack, c.of, c.at, ref)
	if err != nil {
		return err
	}
	if result.Parts != nil {
		return c.writeParts(w, result.Parts)
	}
	if result.Node == "" {
		text, err := plainText(result)
		w.literal(text)
		return err
	}
	c.use(result.Node, result.Output)
	w.output(result.Node, result.Output)
	return nil
}

// writeParts writes a text of another stack.
func (c *computation) writeParts(w *writer, text project.Text) error {
	if err := c.composed(text); err != nil {
		return err
	}
	for _, p := range text {
		switch {
		case p.Node != "":
			w.output(p.Node, p.Output)
		case p.Expression != nil:
			w.expression(p.Expression)
		case p.Source != nil:
			w.source(p.Source)
		default:
			w.literal(p.Literal)
		}
	}
	return c.useAll(text)
}

// composed counts a text of another stack, which may have one of a third stack, and so on: a
// few stacks would make a value of any size.
func (c *computation) composed(text project.Text) error {
	bytes, levels := text.AsTerm().Extent()
	if err := c.in.Count(bytes); err != nil {
		return err
	}
	if levels > function.MaxDepth {
		return fmt.Errorf("with the values of other stacks, the expression is nested too deep: at most %d levels", function.MaxDepth)
	}
	return c.limit()
}

// useAll adds the edges of a text, which the stack must not be one of the ends of.
func (c *computation) useAll(text project.Text) error {
	for _, o := range text.Outputs() {
		if o.Node == c.stack.Node.Name {
			return errors.New("the value uses an output of this stack itself, which exists only after it is deployed")
		}
		c.use(o.Node, o.Output)
	}
	return nil
}

// plainText is the text of a reference that is not in an expression.
func plainText(result reference.Result) (string, error) {
	if function.KindOf(result.Value) == function.Map || result.Text == "" && function.KindOf(result.Value) == function.List {
		return function.Joined(result.Value)
	}
	return result.Text, nil
}

// use adds the edge of an output.
func (c *computation) use(node, output string) {
	if node != c.stack.Node.Name {
		c.edge(Edge{Node: c.stack.Node.Name, Needs: node, Cause: Output, What: output, For: c.of}, c.at)
	}
}

// write writes an expression. Only a list that is the whole value, or an item of it, is joined.
func (c *computation) write(w *writer, x declared.Expression, whole bool) error {
	t, kind, err := c.compute(x, false)
	if err == nil {
		err = c.limit()
	}
	switch {
	case err != nil:
		return err
	case kind == function.Map || kind == function.List && (!whole || strings.HasPrefix(c.of, "tag ")):
		return fmt.Errorf("it is %s, and a text is expected: write %s", kind, map[function.Kind]string{
			function.Map: "json(…) for its text, or choose one of its values", function.List: "join(',', …) for its text, or choose one of its items",
		}[kind])
	case !t.Late():
		text, err := function.Joined(t.Known)
		w.literal(text)
		return err
	case t.Node != "":
		c.use(t.Node, t.Output)
		w.output(t.Node, t.Output)
		return nil
	case t.Source != nil:
		w.source(t.Source)
		return nil
	case t.Expression == nil: // a list
		t = project.Term{Expression: &project.Expression{Function: "join", Arguments: []project.Term{{Known: ","}, t}}}
	}
	for _, o := range (project.Text{{Expression: t.Expression}}).Outputs() {
		c.use(o.Node, o.Output)
	}
	w.expression(t.Expression)
	if !c.limits.text(c.in.Made) {
		return reference.ErrReported
	}
	return nil
}

// known returns the text of a part of an option.
func (c *computation) known(p declared.Part) (string, error) {
	if p.Reference != nil {
		result, err := c.reference(c.stack, c.of, c.at, *p.Reference)
		if err != nil {
			return "", err
		}
		return plainText(result)
	}
	t, kind, err := c.compute(*p.Expression, false)
	if err == nil {
		err = c.limit()
	}
	if err != nil {
		return "", err
	}
	if kind == function.List {
		return "", errors.New("it is a list, and a text is expected: write join(',', …) for its text, or choose one of its items")
	}
	return function.Joined(t.Known)
}

// limit counts what the expressions of all stacks make.
func (c *computation) limit() error {
	c.limits.made += c.in.Made - c.made
	if c.made = c.in.Made; c.limits.made > maxMade {
		c.limits.exceeded(c.at, "the functions in the values of all stacks make more than %d MB", maxMade>>20)
		return reference.ErrReported
	}
	return nil
}

// compute computes an expression as far as it is known, and says what kind of value it gives.
// optional is what has a default: an output that its stack certainly lacks does not exist.
func (c *computation) compute(x declared.Expression, optional bool) (project.Term, function.Kind, error) {
	if c.in.Files == nil {
		c.in.Files = lookup{c.resolver, c.stack, c.at}.File
	}
	err := c.in.Make(nil)
	var t project.Term
	kind := function.Any
	switch {
	case err != nil:
	case x.Reference != nil:
		t, kind, err = c.referred(x, optional)
	case x.Function == function.Default:
		return c.defaulted(x, optional)
	case x.Function != "":
		return c.call(x, optional)
	case x.Keys != nil:
		t, err = c.mapping(x, optional)
		kind = function.Map
	case x.List:
		t, err = c.list(x, optional)
		kind = function.List
	default:
		t.Known = x.Known
		kind = function.KindOf(x.Known)
	}
	return t, kind, placed(x, err)
}

// placed adds to an error where it is, unless it says that already.
func placed(x declared.Expression, err error) error {
	if _, is := errors.AsType[*placedError](err); err == nil || is || errors.Is(err, reference.ErrReported) {
		return err
	}
	return &placedError{x.Place, err}
}

type placedError struct {
	place declared.Place
	err   error
}

func (e *placedError) Error() string { return reference.Show(e.place) + ": " + e.err.Error() }
func (e *placedError) Unwrap() error { return e.err }

func (c *computation) referred(x declared.Expression, optional bool) (t project.Term, kind function.Kind, err error) {
	result, err := c.reference(c.stack, c.of, c.at, *x.Reference)
	switch {
	case err != nil:
		return t, kind, err
	case result.Node != "":
		if from := c.byNode[result.Node]; optional && from != nil && from.Template != nil && !from.Template.Macros() {
			if _, has := from.Template.Outputs[result.Output]; !has {
				return t, kind, function.Missing(fmt.Errorf("stack %s has no output %s", from.Name, result.Output))
			}
		}
		return project.Term{Node: result.Node, Output: result.Output}, function.Text, nil
	case result.Parts != nil:
		if t = result.Parts.AsTerm(); t.Late() {
			if err = c.composed(result.Parts); err == nil {
				err = c.useAll(result.Parts)
			}
			return t, function.Any, placed(x, err)
		}
	case result.Value != nil:
		t.Known = result.Value
	default:
		t.Known = result.Text
	}
	return t, function.KindOf(t.Known), c.in.Make(t.Known)
}

func (c *computation) list(x declared.Expression, optional bool) (project.Term, error) {
	items := make([]project.Term, 0, len(x.Items))
	known := make([]any, 0, len(x.Items))
	late := false
	for _, item := range x.Items {
		t, _, err := c.compute(item, optional)
		if err != nil {
			return t, err
		}
		late = late || t.Late()
		items, known = append(items, t), append(known, t.Known)
	}
	if late {
		return project.Term{List: items}, nil
	}
	return project.Term{Known: known}, nil
}

func (c *computation) mapping(x declared.Expression, optional bool) (project.Term, error) {
	items, known := make(map[string]project.Term, len(x.Keys)), make(map[string]any, len(x.Keys))
	late := false
	for i, key := range x.Keys {
		t, _, err := c.compute(x.Items[i], optional)
		if err != nil {
			return t, err
		}
		late = late || t.Late()
		items[key], known[key] = t, t.Known
	}
	if late {
		return project.Term{Map: items}, nil
	}
	return project.Term{Known: known}, nil
}

// defaulted computes a ?? b: the first of them that exists. Whether an output exists may be
// known only when its stack is deployed.
func (c *computation) defaulted(x declared.Expression, optional bool) (project.Term, function.Kind, error) {
	var left []project.Term
	kind := function.Null
	last := len(x.Items) - 1
	for i, item := range x.Items {
		t, of, err := c.compute(item, optional || i < last)
		if i < last && errors.Is(err, function.ErrMissing) {
			continue
		}
		if err != nil {
			return t, of, err
		}
		if left = append(left, t); len(left) == 1 {
			kind = of
		} else if of != kind {
			kind = function.Any
		}
		if !t.Late() {
			break
		}
	}
	if len(left) == 1 {
		return left[0], kind, nil
	}
	return project.Term{Expression: &project.Expression{Function: function.Default, Arguments: left}}, kind, nil
}

// call calls a function, or leaves it to the step if an argument is not known.
func (c *computation) call(x declared.Expression, optional bool) (t project.Term, kind function.Kind, err error) {
	f, ok := function.Named(x.Function)
	if !ok {
		return t, kind, placed(x, fmt.Errorf("there is no function %q%s", x.Function, function.Hint(x.Function)))
	}
	if err := f.Count(len(x.Items)); err != nil {
		return t, kind, placed(x, err)
	}
	args := make([]any, len(x.Items))
	later := project.Expression{Function: f.Name}
	late := false
	for i, item := range x.Items {
		arg, of, err := c.compute(item, optional)
		switch {
		case err != nil:
			return t, kind, err
		case !of.Fits(f.Takes[i]):
			return t, kind, placed(item, fmt.Errorf("%s: argument %d: expected %s, found %s", f.Syntax, i+1, f.Takes[i], of))
		case isDynamicTerm(arg):
			return t, kind, placed(item, fmt.Errorf("a text with {{resolve:…}}: %w", reference.ErrDynamic))
		case arg.Late() && f.Early:
			return t, kind, placed(item, fmt.Errorf("%s: argument %d must be known before any stack is deployed", f.Syntax, i+1))
		}
		late = late || arg.Late()
		args[i], later.Arguments = arg.Known, append(later.Arguments, arg)
	}
	if late {
		return project.Term{Expression: &later}, f.Gives, nil
	}
	v, err := c.in.Call(f, args)
	return project.Term{Known: v}, function.KindOf(v), placed(x, err)
}

// isDynamicTerm reports whether what is known of a term has a dynamic reference.
func isDynamicTerm(t project.Term) bool {
	for _, item := range t.List {
		if isDynamicTerm(item) {
			return true
		}
	}
	for key, item := range t.Map {
		if isDynamic(key) || isDynamicTerm(item) {
			return true
		}
	}
	if t.Expression != nil {
		return isDynamicTerm(project.Term{List: t.Expression.Arguments})
	}
	return isDynamic(t.Known)
}

// isDynamic reports whether a value has a dynamic reference, which CloudFormation resolves.
func isDynamic(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, "{{resolve:")
	case []any:
		for _, item := range v {
			if isDynamic(item) {
				return true
			}
		}
	case map[string]any:
		for key, item := range v {
			if isDynamic(key) || isDynamic(item) {
				return true
			}
		}
	}
	return false
}

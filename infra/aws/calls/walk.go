package calls

import (
	"errors"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/types/typeutil"
)

// A walk finds out which functions can be reached from a main.
//
// A main only wires: it creates values and functions, and passes one of the functions,
// the handler, to lambda.Start. The walk starts at the handler, and assumes more calls
// rather than fewer:
//   - an interface may hold every value that was converted to an interface so far
//   - a function that the main created may be called wherever its type fits
//   - a function that the handler creates is called
//   - a library calls every function it is given whose type names no type of this module,
//     and every method of a value that was converted to an interface of that library
type walk struct {
	all     *ssa.Program
	held    typeutil.Map           // types of which there are values in interfaces
	handed  map[*ssa.Function]bool // functions that were made by the wiring
	given   []*ssa.Function        // methods that were given away by it, in interfaces of others
	working bool
	reached map[*ssa.Function]bool // by the wiring, and then by the work
}

func newWalk(all *ssa.Program) *walk {
	return &walk{all: all, handed: make(map[*ssa.Function]bool)}
}

// wire returns what is done before the work.
func (w *walk) wire(roots ...*ssa.Function) []*ssa.Function { return w.reach(roots) }

// work returns what the handler does that the wiring hands to lambda.Start.
func (w *walk) work(wiring []*ssa.Function) ([]*ssa.Function, error) {
	var roots []*ssa.Function
	for _, f := range wiring {
		for _, b := range f.Blocks {
			for _, i := range b.Instrs {
				if call, ok := i.(*ssa.Call); ok && starts(call.Call.StaticCallee()) {
					if made, ok := call.Call.Args[0].(*ssa.MakeInterface); ok {
						roots = append(roots, w.fitting(made.X.Type())...)
					}
				}
			}
		}
	}
	if len(roots) == 0 {
		return nil, errors.New("its main passes no function to lambda.Start")
	}
	w.working = true
	for f := range w.handed {
		if foreign(f.Signature.Params()) && foreign(f.Signature.Results()) {
			roots = append(roots, f)
		}
	}
	return w.reach(append(roots, w.given...)), nil
}

// foreign reports whether there is no type of ours among some, so that others can
// have a function with these.
func foreign(all *types.Tuple) bool {
	for v := range all.Variables() {
		if strings.Contains(types.TypeString(v.Type(), nil), module) {
			return false
		}
	}
	return true
}

func starts(f *ssa.Function) bool {
	return f != nil && f.Object() != nil && f.Object().Pkg().Path() == "github.com/aws/aws-lambda-go/lambda" && f.Name() == "Start"
}

// reach returns some functions and all that follow from them. It goes over them
// again as long as it finds anything, for what is found last may be called by
// what was found first.
func (w *walk) reach(roots []*ssa.Function) []*ssa.Function {
	w.reached = make(map[*ssa.Function]bool)
	for _, f := range roots {
		w.reached[f] = true
	}
	size := func() int { return len(w.reached) + w.held.Len() + len(w.handed) }
	for known := -1; known < size(); {
		known = size()
		for _, f := range slices.Collect(maps.Keys(w.reached)) {
			for _, b := range f.Blocks {
				for _, i := range b.Instrs {
					w.instruction(i)
				}
			}
		}
	}
	return slices.Collect(maps.Keys(w.reached))
}

// instruction adds what an instruction calls to the reached functions, and records what it creates.
func (w *walk) instruction(i ssa.Instruction) {
	if made, ok := i.(*ssa.MakeInterface); ok {
		w.held.Set(made.X.Type(), true)
		w.give(made)
	}
	var called ssa.Value
	if call, ok := i.(ssa.CallInstruction); ok {
		called = call.Common().Value
		w.call(call.Common())
	}
	for _, o := range i.Operands(nil) {
		f, ok := (*o).(*ssa.Function)
		switch {
		case !ok || *o == called:
		case w.working:
			w.reached[f] = true
		default:
			w.handed[f] = true
		}
	}
}

// give records the methods of a value that is converted to an interface of another module.
func (w *walk) give(made *ssa.MakeInterface) {
	if strings.Contains(types.TypeString(made.Type(), nil), module) {
		return
	}
	for m := range made.Type().Underlying().(*types.Interface).Methods() {
		f := w.all.LookupMethod(made.X.Type(), m.Pkg(), m.Name())
		switch {
		case f == nil:
		case w.working:
			w.reached[f] = true
		case !slices.Contains(w.given, f):
			w.given = append(w.given, f)
		}
	}
}

// call reaches what may be called.
func (w *walk) call(c *ssa.CallCommon) {
	callee := c.StaticCallee()
	switch {
	case c.IsInvoke():
		of := c.Value.Type().Underlying().(*types.Interface)
		w.held.Iterate(func(t types.Type, _ any) {
			if types.Implements(t, of) {
				if m := w.all.LookupMethod(t, c.Method.Pkg(), c.Method.Name()); m != nil {
					w.reached[m] = true
				}
			}
		})
	case callee != nil:
		w.reached[callee] = true
	default:
		for _, f := range w.fitting(c.Value.Type()) {
			w.reached[f] = true
		}
	}
}

// fitting are the functions handed on by the wiring that a value of that type
// may be.
func (w *walk) fitting(t types.Type) []*ssa.Function {
	var all []*ssa.Function
	for f := range w.handed {
		// A method that was bound to its receiver has none in its signature.
		if s := f.Signature; types.Identical(types.NewSignatureType(nil, nil, nil, s.Params(), s.Results(), s.Variadic()), t.Underlying()) {
			all = append(all, f)
		}
	}
	return all
}

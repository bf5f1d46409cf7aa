// Package calls derives from the code which requests to AWS a function can make.
//
// It reads the module's own packages from source, and all others by their types only: the whole SDK would take minutes.
// It does not see what other packages do with a value that they are given, so it assumes that they call it.
package calls

import (
	"cmp"
	"fmt"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// A Call is a place in the code that calls AWS.
type Call struct {
	Operation string // of the SDK, as in "dynamodb.GetItem"
	Place     string // as in "pkg/aws/dynamodb/read.go:16"
}

// A Use is all that a function asks AWS for.
type Use struct {
	Calls  []Call   // in order, each once
	Fields []string // those of the SDK's types and ours that it sets, as in "s3.GetObjectInput.VersionId", and helpers that it makes
}

// Code is a module that was read.
type Code struct {
	root  string
	all   *ssa.Program
	own   []*ssa.Package
	mains map[string]*ssa.Package // of the functions, by name
}

const mode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo

// Read reads the module in a folder: its functions, and what they are made of.
func Read(root string) (*Code, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	loaded, err := packages.Load(&packages.Config{Mode: mode, Dir: root, BuildFlags: []string{"-tags=lambda.norpc"}}, "./functions/...", "./pkg/...")
	if err != nil {
		return nil, fmt.Errorf("read the code in %s: %w", root, err)
	}
	for _, p := range loaded {
		for _, e := range p.Errors {
			return nil, fmt.Errorf("read the code in %s: package %s: %w", root, p.PkgPath, e)
		}
	}
	all, own := ssautil.Packages(loaded, ssa.InstantiateGenerics)
	all.Build()
	c := &Code{root: root, all: all, own: own, mains: make(map[string]*ssa.Package)}
	for i, p := range loaded {
		if _, name, ok := strings.Cut(p.PkgPath, "/functions/"); ok && p.Name == "main" {
			c.mains[name] = own[i]
		}
	}
	if len(c.mains) == 0 {
		return nil, fmt.Errorf("read the code in %s: it has no functions", root)
	}
	return c, nil
}

// Functions are the names of the functions, sorted.
func (c *Code) Functions() []string {
	return slices.Sorted(maps.Keys(c.mains))
}

// Of returns what a function can call.
func (c *Code) Of(function string) (Use, error) {
	main, ok := c.mains[function]
	if !ok {
		return Use{}, fmt.Errorf("function %s: there is none of that name", function)
	}
	w := newWalk(c.all)
	before := w.wire(main.Func("main"), main.Func("init"))
	work, err := w.work(before)
	if err != nil {
		return Use{}, fmt.Errorf("function %s: %w", function, err)
	}
	var u Use
	for _, f := range slices.Concat(before, work) {
		for _, op := range operationsOf(f) {
			u.Calls = append(u.Calls, Call{op.name, c.place(op.at)})
		}
		u.Fields = append(u.Fields, fields(f)...)
	}
	return u.sorted(), nil
}

// sorted returns each call and each field once, in order. A call in a wrapper that the compiler made for a method has
// no position. It is left out if the same operation is called elsewhere.
func (u Use) sorted() Use {
	placed := make(map[string]bool)
	for _, c := range u.Calls {
		if c.Place != nowhere {
			placed[c.Operation] = true
		}
	}
	u.Calls = slices.DeleteFunc(u.Calls, func(c Call) bool { return c.Place == nowhere && placed[c.Operation] })
	slices.SortFunc(u.Calls, func(a, b Call) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Place, b.Place))
	})
	u.Calls = slices.Compact(u.Calls)
	slices.Sort(u.Fields)
	u.Fields = slices.Compact(u.Fields)
	return u
}

// Operations are the operations of a use, sorted, each once.
func (u Use) Operations() []string {
	var all []string
	for _, c := range u.Calls {
		all = append(all, c.Operation)
	}
	return slices.Compact(all)
}

// Clients are the operations of the client interfaces in the module's own packages, sorted.
func (c *Code) Clients() []string {
	var all []string
	for _, p := range c.own {
		scope := p.Pkg.Scope()
		for _, name := range scope.Names() {
			if of, ok := scope.Lookup(name).Type().Underlying().(*types.Interface); ok {
				for m := range of.Methods() {
					all = append(all, named(m)...)
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// nowhere is the place of a call without a position.
const nowhere = "a method that is passed on"

// place is a position, relative to the root of the module.
func (c *Code) place(at token.Pos) string {
	if !at.IsValid() {
		return nowhere
	}
	p := c.all.Fset.Position(at)
	if rel, err := filepath.Rel(c.root, p.Filename); err == nil {
		p.Filename = filepath.ToSlash(rel)
	}
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

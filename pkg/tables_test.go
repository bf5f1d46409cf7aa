package pkg

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// namesake lists folders and files that use the name of an operation, a command or a
// verb for something else, and for what.
var namesake = map[string]string{
	"infra/aws":                  "Lambda functions",
	"infra/local/cloudformation": "operations and their outcomes in CloudFormation",
	"infra/local/host":           "Lambda functions",
	"infra/local/s3":             "subresources of S3",
	"pkg/enginetest/sim":         "Lambda functions, and operations in CloudFormation",
	"pkg/wire":                   "Lambda functions",
	"pkg/entry/cli/commands.go":  "words of the command line, in examples",
	"pkg/entry/cli/flags.go":     "words of the command line",
	"pkg/project/approval.go":    "a level of approval",
	"pkg/aws/dynamodb":           "attributes of the table",
	"pkg/lib/budget":             "kinds of requests",
	"pkg/format":                 "keys of the project file",
	"pkg/lib/jinja":              "words of Jinja2",
	"pkg/policy":                 "a variable of expressions",
	"pkg/lib/difference":         "what happens to a resource",
	"examples/demo":              "words of the command line, and the steps that are expected",
}

// owners are the folders whose rows and constants have these names.
var owners = []string{"pkg/plan", "pkg/run"}

// branchedOn returns the expressions that a node of the syntax compares with another
// value, directly or as the entries of a list or map, and whether these are constants.
func branchedOn(n ast.Node) (all []ast.Expr, constants bool) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if n.Op == token.EQL || n.Op == token.NEQ {
			all = []ast.Expr{n.X, n.Y}
		}
	case *ast.CaseClause:
		all = n.List
	case *ast.CompositeLit:
		switch n.Type.(type) {
		case *ast.ArrayType, *ast.MapType:
			for _, e := range n.Elts {
				if pair, ok := e.(*ast.KeyValueExpr); ok {
					e = pair.Key
				}
				all = append(all, e)
			}
		}
	case *ast.ValueSpec:
		return n.Values, true
	}
	return all, false
}

// No code branches on the name of an operation, a command or a verb: it neither
// compares a value with one nor has a list of some of them. It reads a column of the
// row instead.
func TestNobodyBranchesOnNamesOfRows(t *testing.T) {
	names := run.ControlNames()
	for _, o := range plan.AllOperations() {
		names = append(names, o.Name)
	}
	for _, v := range action.All(nil, nil, nil, nil, nil) {
		names = append(names, string(v.Name))
	}
	literal := func(e ast.Expr) bool {
		l, ok := e.(*ast.BasicLit)
		if !ok {
			return false
		}
		text, err := strconv.Unquote(l.Value)
		return err == nil && slices.Contains(names, text)
	}
	constants := rowNames(t)
	eachFile(t, func(path string, set *token.FileSet, f *ast.File) {
		folder := filepath.ToSlash(filepath.Dir(path))
		other := false
		for known := range namesake {
			other = other || path == known || folder == known || strings.HasPrefix(folder, known+"/")
		}
		named := func(e ast.Expr) bool {
			switch e := e.(type) {
			case *ast.SelectorExpr:
				x, ok := e.X.(*ast.Ident)
				return ok && x.Name == "plan" && constants[e.Sel.Name]
			case *ast.Ident:
				return folder == "pkg/plan" && constants[e.Name]
			}
			return !other && literal(e)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			compared, declared := branchedOn(n)
			if declared && slices.Contains(owners, folder) {
				return true
			}
			if slices.ContainsFunc(compared, named) {
				t.Errorf("%s branches on the name of an operation, a command or a verb: read a column of its row", set.Position(n.Pos()))
			}
			return true
		})
	})
}

// rowNames returns the constants of package plan that name verbs and operations. There
// is one for each verb.
func rowNames(t *testing.T) map[string]bool {
	t.Helper()
	names, verbs := map[string]bool{"DeployName": true, "RollbackName": true}, make(map[plan.Verb]bool)
	eachFile(t, func(path string, _ *token.FileSet, f *ast.File) {
		if filepath.ToSlash(filepath.Dir(path)) != "pkg/plan" {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Verb" {
				for i, name := range spec.Names {
					value, err := strconv.Unquote(spec.Values[i].(*ast.BasicLit).Value)
					if err != nil {
						t.Fatal(err)
					}
					names[name.Name], verbs[plan.Verb(value)] = true, true
				}
			}
			return true
		})
	})
	for _, v := range action.All(nil, nil, nil, nil, nil) {
		if !verbs[v.Name] {
			t.Errorf("package plan has no constant for the verb %s", v.Name)
		}
	}
	return names
}

// The test above finds each form of a branch.
func TestBranchesAreFound(t *testing.T) {
	for code, want := range map[string]int{
		`if v == plan.Update {}`:           2,
		`if plan.Update != v {}`:           2,
		`switch v { case plan.Create: }`:   1,
		`_ = []plan.Verb{plan.Create}`:     1,
		`_ = map[plan.Verb]int{"wait": 1}`: 1,
		`_ = row{Name: plan.Create}`:       0,
		`f(plan.Create)`:                   0,
		`if v < plan.Create {}`:            0,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "", "package p; func _() { "+code+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		ast.Inspect(f, func(n ast.Node) bool {
			all, _ := branchedOn(n)
			got += len(all)
			return true
		})
		if got != want {
			t.Errorf("%s: %d expressions are compared, want %d", code, got, want)
		}
	}
}

// ofEachPlan are the fields of a view that the engine itself fills and reads. The others are those of facts.
var ofEachPlan = []string{"Desired", "Recorded", "Live", "Selection"}

// rowed matches the names of features that are rows of tables: kinds of backups and of what a suspend stops, facts, operations and verbs.
var rowed = regexp.MustCompile(`(?i:snapshot|backup|back\w*up|suspend|organizational)|\b[uU]nits?\b|AWS::\w+::`)

// The engine grows by no line when a new operation has to know something: what that is, is a row in package fact. So the engine names no feature that is a
// row, and no field of a view that not every plan is made from.
func TestEngineKnowsNoFact(t *testing.T) {
	fields := make(map[string]bool)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[plan.View]()) {
		fields[f.Name] = len(f.Index) == 1 && f.IsExported() && !slices.Contains(ofEachPlan, f.Name)
	}
	eachFile(t, func(path string, set *token.FileSet, f *ast.File) {
		if filepath.ToSlash(filepath.Dir(path)) != "pkg/engine" {
			return
		}
		text, err := os.ReadFile(filepath.Join("..", path))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if found := rowed.FindString(line); found != "" {
				t.Errorf("%s:%d names %s: make it a row of package fact, or a column of a row", path, i+1, found)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			for _, name := range ofView(n) {
				if fields[name] {
					t.Errorf("%s: the field %s of a view is that of a fact: fill and read it in package fact, or in the plan", set.Position(n.Pos()), name)
				}
			}
			return true
		})
	})
}

// ofView returns the names of fields that a node of the syntax takes from a view, which is called v or view, or puts into one.
func ofView(n ast.Node) (names []string) {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		if x, ok := n.X.(*ast.Ident); ok && (x.Name == "v" || x.Name == "view") {
			names = []string{n.Sel.Name}
		}
	case *ast.CompositeLit:
		if made, ok := n.Type.(*ast.SelectorExpr); ok && made.Sel.Name == "View" {
			for _, e := range n.Elts {
				if pair, ok := e.(*ast.KeyValueExpr); ok {
					if key, ok := pair.Key.(*ast.Ident); ok {
						names = append(names, key.Name)
					}
				}
			}
		}
	}
	return names
}

// The test above finds each form in which the engine may name a fact.
func TestFactsAreFound(t *testing.T) {
	for code, want := range map[string]int{"v.Snapshots = x": 1, "x = view.Found": 1, "x = plan.View{Desired: d, Retain: r}": 2, "x = w.Found": 0, "x = plan.Step{Node: n}": 0} {
		f, err := parser.ParseFile(token.NewFileSet(), "", "package p; func _() { "+code+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		ast.Inspect(f, func(n ast.Node) bool {
			got += len(ofView(n))
			return true
		})
		if got != want {
			t.Errorf("%s: %d fields are found, want %d", code, got, want)
		}
	}
	for line, want := range map[string]bool{"r.NoBackups": true, "e.BacksUp.Allow": true, "v.WhileSuspended": true, "e.Units": true, `"AWS::RDS::DBInstance"`: true, "// in a unit": true, "community": false, "e.Schedules": false} {
		if rowed.MatchString(line) != want {
			t.Errorf("%s: is a feature: %v", line, !want)
		}
	}
}

// reasonful are the names of fields that hold a reason or a message for people.
var reasonful = regexp.MustCompile(`^(Why|Reason|Messages)$`)

// readers may match reasons: adapters those that AWS gives, where AWS has no code
// for them; emulators and test doubles those that they check.
var readers = []string{"pkg/aws/", "infra/", "pkg/enginetest/", "examples/"}

// No code decides on the words of a reason: it matches none of them, and compares
// none with anything but the empty string.
func TestNobodyReadsReasons(t *testing.T) {
	reason := func(e ast.Expr) bool {
		if item, ok := e.(*ast.IndexExpr); ok {
			e = item.X
		}
		s, ok := e.(*ast.SelectorExpr)
		return ok && reasonful.MatchString(s.Sel.Name)
	}
	matchers := []string{"HasPrefix", "HasSuffix", "Contains", "CutPrefix", "CutSuffix", "TrimPrefix", "TrimSuffix", "EqualFold", "Cut", "Index", "MatchString"}
	eachFile(t, func(path string, set *token.FileSet, f *ast.File) {
		if slices.ContainsFunc(readers, func(folder string) bool { return strings.HasPrefix(path, folder) }) {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				called, ok := n.Fun.(*ast.SelectorExpr)
				if ok && len(n.Args) > 0 && slices.Contains(matchers, called.Sel.Name) && reason(n.Args[0]) {
					t.Errorf("%s matches the words of a reason: give it a typed field", set.Position(n.Pos()))
				}
			case *ast.BinaryExpr:
				for _, sides := range [][2]ast.Expr{{n.X, n.Y}, {n.Y, n.X}} {
					text, literal := sides[1].(*ast.BasicLit)
					if (n.Op == token.EQL || n.Op == token.NEQ) && reason(sides[0]) && literal && text.Value != `""` {
						t.Errorf("%s compares the words of a reason: give it a typed field", set.Position(n.Pos()))
					}
				}
			}
			return true
		})
	})
}

// eachFile calls do for every Go file of this module that is not a test.
func eachFile(t *testing.T, do func(path string, set *token.FileSet, f *ast.File)) {
	t.Helper()
	files := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || d.Name() == "build" || len(d.Name()) > 2 && d.Name()[0] == '.'):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files++
		do(strings.TrimPrefix(filepath.ToSlash(path), "../"), set, f)
		return nil
	})
	if err != nil || files < 100 {
		t.Fatalf("%d files are read: %v", files, err)
	}
}

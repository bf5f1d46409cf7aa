package pkg

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// namesake lists where a word that is also the name of an operation or a command names
// something else, and what it names there.
var namesake = map[string]string{
	"infra/aws":                  "Lambda functions",
	"infra/local/cloudformation": "outcomes of CloudFormation's operations",
	"infra/local/host":           "Lambda functions",
	"pkg/enginetest/sim":         "Lambda functions, and outcomes of CloudFormation's operations",
	"pkg/wire":                   "Lambda functions",
	"pkg/entry/cli/commands.go":  "words of the command line, in examples",
	"pkg/aws/dynamodb":           "attributes of the table",
	"pkg/format":                 "keys of the project file",
}

// owners are the folders that define the rows and constants with these names.
var owners = []string{"pkg/plan", "pkg/run"}

// No code compares a string with the name of an operation or a command, or lists some of
// these names. It reads a column of the operation's row instead.
func TestNobodyBranchesOnTheNameOfAnOperation(t *testing.T) {
	names := run.ControlNames()
	for _, o := range plan.AllOperations() {
		names = append(names, o.Name)
	}
	named := func(e ast.Expr) bool {
		switch e := e.(type) {
		case *ast.BasicLit:
			text, err := strconv.Unquote(e.Value)
			return err == nil && slices.Contains(names, text)
		case *ast.SelectorExpr:
			return e.Sel.Name == "DeployName" || e.Sel.Name == "RollbackName"
		case *ast.Ident:
			return e.Name == "DeployName" || e.Name == "RollbackName"
		}
		return false
	}
	eachFile(t, func(path string, set *token.FileSet, f *ast.File) {
		folder := filepath.ToSlash(filepath.Dir(path))
		for known := range namesake {
			if path == known || folder == known || strings.HasPrefix(folder, known+"/") {
				return
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			var compared []ast.Expr
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if n.Op == token.EQL || n.Op == token.NEQ {
					compared = []ast.Expr{n.X, n.Y}
				}
			case *ast.CaseClause:
				compared = n.List
			case *ast.CompositeLit:
				switch n.Type.(type) {
				case *ast.ArrayType, *ast.MapType:
					for _, e := range n.Elts {
						if pair, ok := e.(*ast.KeyValueExpr); ok {
							e = pair.Key
						}
						compared = append(compared, e)
					}
				}
			case *ast.ValueSpec:
				if !slices.Contains(owners, folder) {
					compared = n.Values
				}
			}
			if slices.ContainsFunc(compared, named) {
				t.Errorf("%s compares with the name of an operation or a command: use a property of its row", set.Position(n.Pos()))
			}
			return true
		})
	})
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

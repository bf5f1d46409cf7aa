package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// counts is the table of how many tests of each kind there are.
func counts(t *testing.T) string {
	t.Helper()
	scenarios, err := filepath.Glob(filepath.Join(root, "stepfn/testdata/*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	mutants := 0
	for entry := range strings.SplitSeq(read(t, "stepfn/mutants.txt"), "\n\n") {
		head, _, _ := strings.Cut(entry, "\n")
		if name, _, ok := strings.Cut(head, ": "); ok && name != "" {
			mutants++
		}
	}
	laws := 0
	goFiles(t, "pkg/enginetest/contract", func(_ string, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			if all, ok := n.(*ast.CompositeLit); ok {
				if of, ok := all.Type.(*ast.ArrayType); ok && fmt.Sprint(of.Elt) == "law" {
					laws += len(all.Elts)
				}
			}
			return true
		})
	})
	var b strings.Builder
	b.WriteString("| what | how many | where |\n|---|---:|---|\n")
	for _, row := range []struct {
		what  string
		n     int
		where string
	}{
		{"scenarios, each played in memory and on the emulators", len(scenarios), "`stepfn/testdata`"},
		{"safeguards with a mutant", mutants, "`stepfn/mutants.txt`"},
		{"laws of a store, which both the store in memory and DynamoDB's adapter obey", laws, "`pkg/enginetest/contract`"},
		{"fuzz targets", len(fuzzTargets(t)), "`pkg`"},
	} {
		if row.n == 0 {
			t.Errorf("there are no %s", row.what)
		}
		fmt.Fprintf(&b, "| %s | %d | %s |\n", row.what, row.n, row.where)
	}
	return b.String()
}

// invariants is the table of the invariants of random scenarios, sorted.
func invariants(t *testing.T) string {
	t.Helper()
	var rows []string
	goFiles(t, "stepfn", func(_ string, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || fmt.Sprint(v.Type) != "invariant" {
				return true
			}
			for _, value := range v.Values {
				text, err := strconv.Unquote(value.(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				name, says, _ := strings.Cut(text, ": ")
				rows = append(rows, "| "+name+" | "+says+" |\n")
			}
			return true
		})
	})
	if len(rows) == 0 {
		t.Error("there are no invariants")
	}
	return "| invariant | says |\n|---|---|\n" + strings.Join(slices.Sorted(slices.Values(rows)), "")
}

// fuzzTargets lists the fuzz targets, each as FOLDER/FuzzNAME.
func fuzzTargets(t *testing.T) (all []string) {
	t.Helper()
	goFiles(t, "pkg", func(path string, f *ast.File) {
		for _, d := range f.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Fuzz") && strings.HasSuffix(path, "_test.go") {
				all = append(all, strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "pkg/")+"/"+f.Name.Name)
			}
		}
	})
	return all
}

// goFiles calls see for each Go file in a folder of the repository.
func goFiles(t *testing.T, folder string, see func(path string, f *ast.File)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root), folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, parser.SkipObjectResolution)
		if err == nil {
			see(path, f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The page says of each fuzz target what it checks, and what the last fuzzing found.
func TestFuzzTargetsAreListed(t *testing.T) {
	page := read(t, "docs/proof.md")
	for _, target := range fuzzTargets(t) {
		folder, name, _ := strings.Cut(target, "/Fuzz")
		checks := strings.Contains(page, "/Fuzz"+name+"` |") || strings.Contains(page, "`Fuzz"+name+"` |")
		if figures := "| `" + target + "` | "; !checks || !strings.Contains(page, figures) {
			t.Errorf("docs/proof.md does not list %s of %s with what it checks and with its figures, in a row that begins with %s", "Fuzz"+name, folder, figures)
		}
	}
}

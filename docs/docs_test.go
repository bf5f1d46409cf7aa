// Package docs tests that the documentation is true of the code.
package docs

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
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

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

var update = flag.Bool("update", false, "write the generated parts of the pages, the tutorial's outputs and its screens")

// root is the folder of the repository.
const root = ".."

// pages returns all pages by path from root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"} {
		all[name] = read(t, name)
	}
	err := fs.WalkDir(os.DirFS(root), "docs", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".md") {
			all[name] = read(t, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 30 {
		t.Fatalf("only %d pages are found", len(all))
	}
	return all
}

// read returns a file by its path from root.
func read(t *testing.T, path string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	fence   = regexp.MustCompile("(?ms)^```.*?^```")
	odd     = regexp.MustCompile(`[^\pL\pN _-]`)
)

// anchors lists the anchors of a page's headings as GitHub makes them.
func anchors(page string) []string {
	var all []string
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		text := regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`).ReplaceAllString(m[1], "$1")
		all = append(all, strings.ReplaceAll(odd.ReplaceAllString(strings.ToLower(text), ""), " ", "-"))
	}
	return all
}

// Every link leads to a file, and to a heading of it if it names one.
func TestLinks(t *testing.T) {
	all := pages(t)
	for from, page := range all {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			path, anchor, _ := strings.Cut(m[1], "#")
			to := from
			if path != "" {
				to = filepath.ToSlash(filepath.Join(filepath.Dir(from), path))
			}
			if _, err := os.Stat(filepath.Join(root, to)); err != nil {
				t.Errorf("%s links to %s, which does not exist", from, m[1])
			} else if anchor != "" && !slices.Contains(anchors(all[to]), anchor) {
				t.Errorf("%s links to %s, but that page has no such heading", from, m[1])
			}
		}
	}
}

// Every page can be reached from the index.
func TestEveryPageIsListed(t *testing.T) {
	all := pages(t)
	index, decisions := all["docs/README.md"], all["docs/decisions/README.md"]
	for name := range all {
		short, inDocs := strings.CutPrefix(name, "docs/")
		decision, isDecision := strings.CutPrefix(short, "decisions/")
		switch {
		case !inDocs, short == "README.md", decision == "README.md":
		case isDecision && !strings.Contains(decisions, "("+decision+")"):
			t.Errorf("docs/decisions/README.md does not list %s", decision)
		case !isDecision && !strings.Contains(index, "("+short+")"):
			t.Errorf("docs/README.md does not list %s", short)
		}
	}
}

var (
	inCode   = regexp.MustCompile("`((?:pkg|functions|stepfn|infra|examples|events)/[^`\\s:*]+)`")
	nameIn   = regexp.MustCompile("`([A-Za-z]+(?:\\.[A-Za-z]+)?)` \\(`([^`]+\\.go)`\\)")
	variable = regexp.MustCompile(`[A-Z]{3,}|<|…|cdk\.out`)
)

// Every file and function that a page names exists.
func TestNamesOfTheCode(t *testing.T) {
	for name, page := range pages(t) {
		if name == "CHANGELOG.md" {
			continue
		}
		for _, m := range inCode.FindAllStringSubmatch(page, -1) {
			if variable.MatchString(m[1]) {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("%s names %s, which does not exist", name, m[1])
			}
		}
		for _, m := range nameIn.FindAllStringSubmatch(page, -1) {
			form := `(?m)^(?:func|type) ` + m[1] + `[(\[ ]`
			if receiver, method, ok := strings.Cut(m[1], "."); ok {
				form = `(?m)^func \(\w* ?\*?` + receiver + `\) ` + method + `\(`
			}
			if !regexp.MustCompile(form).MatchString(read(t, m[2])) {
				t.Errorf("%s says that %s is in %s, but it is not", name, m[1], m[2])
			}
		}
	}
	walk := nameIn.FindAllString(section(t, read(t, "docs/architecture.md"), "A request, from the command line to CreateStack"), -1)
	if len(walk) < 15 {
		t.Errorf("the walk of a request names only %d functions", len(walk))
	}
}

// section returns what stands below a heading of a page.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	_, after, ok := strings.Cut(page, "# "+heading+"\n")
	if !ok {
		t.Fatalf("there is no section %s", heading)
	}
	if end := regexp.MustCompile(`(?m)^#+ `).FindStringIndex(fence.ReplaceAllStringFunc(after, func(s string) string { return strings.Repeat(" ", len(s)) })); end != nil {
		after = after[:end[0]]
	}
	return after
}

// The generated parts of pages are those that the code gives.
func TestGenerated(t *testing.T) {
	for _, part := range []struct{ path, name, want string }{
		{"docs/architecture.md", "attributes", attributes(t)},
		{"docs/architecture.md", "imports", imports(t)},
		{"docs/proof.md", "counts", counts(t)},
		{"docs/proof.md", "invariants", invariants(t)},
	} {
		page := read(t, part.path)
		begin, end := "<!-- generated: "+part.name+" -->\n", "<!-- end -->"
		before, rest, ok := strings.Cut(page, begin)
		got, after, closed := strings.Cut(rest, end)
		switch {
		case !ok || !closed:
			t.Errorf("%s has no place for the %s", part.path, part.name)
		case got != part.want && *update:
			write(t, part.path, before+begin+part.want+end+after)
		case got != part.want:
			t.Errorf("the %s on %s differ from the code: run go test ./docs -update\ngot\n%s\nwant\n%s", part.name, part.path, got, part.want)
		}
	}
}

// write writes a file by its path from root.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// attributes lists the attributes of the items of the table.
func attributes(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| item | attributes |\n|---|---|\n")
	for _, of := range []struct{ item, folder, kind string }{
		{"run", "pkg/aws/dynamodb", "runItem"},
		{"step", "pkg/aws/dynamodb", "stepItem"},
		{"event", "pkg/aws/dynamodb", "eventItem"},
		{"history", "pkg/aws/dynamodb", "historyItem"},
		{"delivery", "pkg/aws/dynamodb", "deliveryItem"},
		{"lock", "pkg/run", "Lock"},
		{"record", "pkg/aws/dynamodb", "recordItem"},
		{"budget", "pkg/aws/dynamodb", "budgetItem"},
	} {
		fmt.Fprintf(&b, "| %s | `%s` |\n", of.item, strings.Join(keys(t, of.folder, of.kind), "` `"))
	}
	return b.String()
}

// keys lists the JSON keys of a structure, with those of what it embeds.
func keys(t *testing.T, folder, kind string) []string {
	t.Helper()
	var all []string
	for _, f := range structure(t, folder, kind).Fields.List {
		if len(f.Names) == 0 {
			from, embedded := folder, f.Type
			if s, ok := embedded.(*ast.SelectorExpr); ok {
				from, embedded = "pkg/"+s.X.(*ast.Ident).Name, s.Sel
			}
			all = append(all, keys(t, from, embedded.(*ast.Ident).Name)...)
			continue
		}
		if f.Tag == nil {
			t.Fatalf("%s.%s has no key", kind, f.Names[0])
		}
		key, _, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
		if key != "-" {
			all = append(all, key)
		}
	}
	return all
}

// structure finds a type in the files of a folder.
func structure(t *testing.T, folder, kind string) *ast.StructType {
	t.Helper()
	var found *ast.StructType
	for _, f := range parsed(t, folder) {
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok && s.Name.Name == kind {
				found, _ = s.Type.(*ast.StructType)
			}
			return true
		})
	}
	if found == nil {
		t.Fatalf("there is no structure %s in %s", kind, folder)
	}
	return found
}

// parsed reads the Go files of a folder, but for the tests.
func parsed(t *testing.T, folder string) []*ast.File {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all []*ast.File
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	return all
}

// imports lists which packages in pkg import which.
func imports(t *testing.T) string {
	const ours = "github.com/stackwright/stackwright/pkg/"
	graph := make(map[string]map[string]bool)
	err := filepath.WalkDir(filepath.Join(root, "pkg"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		from, err := filepath.Rel(filepath.Join(root, "pkg"), filepath.Dir(path))
		if graph[from] == nil {
			graph[from] = make(map[string]bool)
		}
		for _, i := range f.Imports {
			if to, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), ours); ok {
				graph[from][to] = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(graph) < 20 {
		t.Fatalf("only %d packages are found", len(graph))
	}
	var b strings.Builder
	b.WriteString("```\n")
	for _, from := range slices.Sorted(mapKeys(graph)) {
		to := "–"
		if len(graph[from]) > 0 {
			to = strings.Join(slices.Sorted(mapKeys(graph[from])), " ")
		}
		fmt.Fprintf(&b, "%-22s → %s\n", from, to)
	}
	b.WriteString("```\n")
	return b.String()
}

func mapKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// named lists what the first cells of a page's tables name between backquotes.
func named(page string) []string {
	var all []string
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		first, _, _ := strings.Cut(line[2:], " |")
		for i, part := range strings.Split(first, "`") {
			if i%2 == 1 {
				all = append(all, part)
			}
		}
	}
	slices.Sort(all)
	return all
}

// The page of events names every field of an event.
func TestEventsPage(t *testing.T) {
	want := keys(t, "pkg/aws/eventbridge", "Change")
	slices.Sort(want)
	if got := named(section(t, read(t, "docs/events.md"), "Fields of `detail`")); !slices.Equal(got, want) {
		t.Errorf("docs/events.md has the fields\n%v, the code\n%v", got, want)
	}
}

// The page of operations has every operation, command of runs and option.
func TestOperationsPage(t *testing.T) {
	page := read(t, "docs/operations.md")
	var names []string
	for _, o := range plan.AllOperations() {
		names = append(names, o.Name)
	}
	for _, o := range plan.Options() {
		names = append(names, string(o))
	}
	for _, name := range append(names, run.ControlNames()...) {
		if !regexp.MustCompile("(?m)^\\| ([^|]*, )?`" + name + "`[ ,]").MatchString(page) {
			t.Errorf("docs/operations.md has no row for %s", name)
		}
	}
	rows := 0
	for i, line := range strings.Split(page, "\n") {
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		rows++
		if why := wrongRow(line); why != "" {
			t.Errorf("docs/operations.md:%d: %s: %s", i+1, why, line)
		}
	}
	if rows < 50 {
		t.Errorf("docs/operations.md has only %d rows", rows)
	}
	const tools = " | – | – | – | – | – | – | – | – |"
	for _, row := range []string{
		"| `x` | y" + tools, "| `x`" + tools, "| `x` | y | `a` |" + tools, "| `x` | y | `a` | – |", "| `x` |  | `a` | – | – | – | – | – | – | – |",
		"| `x` | y | none | none | none | none | – | – | – | – |", "| `x` | y | – | – | – | – | – | none | – | – |",
	} {
		if wrongRow(row) == "" {
			t.Errorf("it does not notice that this row is wrong: %s", row)
		}
	}
}

// compared are the columns of the page of operations for other tools; the first five are those that every row has a name in, or none.
var compared = []string{"Sceptre", "Paco", "Heat", "Pulumi", "Kusion", "Terraform", "CDK", "StackSets"}

// wrongRow says what is wrong with a row of the page of operations; "" if nothing is.
func wrongRow(line string) string {
	cells := strings.Split(strings.Trim(line, "|"), "|")
	for i := range cells {
		if cells[i] = strings.TrimSpace(cells[i]); cells[i] == "" {
			return "a cell is empty"
		}
	}
	own := len(cells) - len(compared)
	if own != 1 && own != 2 {
		return fmt.Sprintf("it has %d cells, and each tool of %s has one", len(cells), strings.Join(compared, ", "))
	}
	none, dashes := 0, 0
	for i, c := range cells[own:] {
		switch {
		case c == "none" && i < 5:
			none++
		case c == "none":
			return "only the first five tools have none"
		case c == "–" && i < 5:
			dashes++
		}
	}
	switch {
	case none != 0 && none != 5:
		return "the first five tools all have none, or none of them has"
	case dashes == 5:
		return "the first five tools have dashes: write none into all five, if that is so"
	}
	return ""
}

// The page of metrics names every metric.
func TestMetricsPage(t *testing.T) {
	var want []string
	metric := regexp.MustCompile(`(?m)^\t[A-Z]\w+ += "([A-Z]\w+)"$`)
	_, names, _ := strings.Cut(read(t, "pkg/aws/cloudwatch/metric.go"), "Dimension = \"Installation\"\n)")
	for _, m := range metric.FindAllStringSubmatch(names, -1) {
		want = append(want, m[1])
	}
	slices.Sort(want)
	if got := named(section(t, read(t, "docs/metrics.md"), "Metrics")); len(want) < 8 || !slices.Equal(got, want) {
		t.Errorf("docs/metrics.md has the metrics\n%v, the code\n%v", got, want)
	}
}

var constant = regexp.MustCompile("\\| `(\\w+) = ([^`]+)` \\(`([^`]+)`\\) \\|\n")

// Every limit on the page of limits has the value that it has in the code.
func TestLimitsPage(t *testing.T) {
	found := constant.FindAllStringSubmatch(read(t, "docs/limits.md"), -1)
	if len(found) < 20 {
		t.Errorf("docs/limits.md cites only %d constants", len(found))
	}
	for _, m := range found {
		form := `(?m)^(?:const |\t)` + m[1] + ` *= *` + regexp.QuoteMeta(m[2]) + `(?: *//.*)?$`
		if !regexp.MustCompile(form).MatchString(read(t, m[3])) {
			t.Errorf("docs/limits.md says %s = %s, but %s does not", m[1], m[2], m[3])
		}
	}
}

// Every attack on the page of security names tests and a scenario that exist.
func TestSecurityPage(t *testing.T) {
	page := read(t, "docs/security.md")
	if _, err := os.Stat("../stepfn/testdata/targets-withheld.txt"); err != nil || !strings.Contains(page, "`targets-withheld`") {
		t.Error("the scenario of a target that is not for the project is missing: ", err)
	}
	exists := make(map[string]bool)
	if err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		body, err := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(string(body), -1) {
			exists[m[1]] = true
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(page, -1)
	if len(named) < 15 {
		t.Errorf("docs/security.md names only %d tests", len(named))
	}
	for _, m := range named {
		if !exists[m[1]] {
			t.Errorf("docs/security.md names the test %s, which does not exist", m[1])
		}
	}
}

// Every message on the troubleshooting page is one that the code prints, or a
// golden file has. An ellipsis stands for what differs.
func TestTroubleshootingPage(t *testing.T) {
	var quoted []string
	for line := range strings.Lines(read(t, "docs/how-to/troubleshoot.md")) {
		if strings.HasPrefix(line, "| `") {
			quoted = append(quoted, strings.SplitN(line, "`", 3)[1])
		}
	}
	if len(quoted) < 25 {
		t.Fatalf("docs/how-to/troubleshoot.md has only %d messages", len(quoted))
	}
	texts := texts(t)
	for _, message := range quoted {
		parts := strings.Split(message, "…")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(strings.TrimSpace(parts[i]))
		}
		form := regexp.MustCompile(strings.Join(parts, ".*"))
		if !slices.ContainsFunc(texts, form.MatchString) {
			t.Errorf("docs/how-to/troubleshoot.md: nothing prints %q", message)
		}
	}
}

// texts returns the string literals of the product's code and the lines of its
// golden files.
func texts(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, folder := range []string{"pkg", "infra/local", "infra/aws", "functions"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			golden := strings.Contains(path, "testdata") && (strings.HasSuffix(path, ".txt") || strings.HasSuffix(path, ".golden"))
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "node_modules":
				return fs.SkipDir
			case d.IsDir(), strings.HasSuffix(path, "_test.go"), !golden && !strings.HasSuffix(path, ".go"):
				return nil
			}
			body, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if golden {
				all = append(all, strings.Split(string(body), "\n")...)
				return nil
			}
			var s scanner.Scanner
			s.Init(token.NewFileSet().AddFile(path, -1, len(body)), body, nil, 0)
			for {
				_, kind, literal := s.Scan()
				if kind == token.EOF {
					return nil
				}
				if text, err := strconv.Unquote(literal); kind == token.STRING && err == nil {
					all = append(all, text)
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

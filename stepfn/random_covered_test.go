package stepfn_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// A count tells how often random scenarios did what: by invariant, how often it was checked; by kind of fault, how often it was injected; by operation,
// command, option and verb, how often it was used.
type count struct{ checked, injected, used map[string]int }

func newCount() count {
	return count{checked: make(map[string]int), injected: make(map[string]int), used: make(map[string]int)}
}

// add adds another count.
func (c count) add(other count) {
	for _, pair := range [][2]map[string]int{{c.checked, other.checked}, {c.injected, other.injected}, {c.used, other.used}} {
		for k, v := range pair[1] {
			pair[0][k] += v
		}
	}
}

// requests counts a request of an operation or a command, and its options.
func (c count) requests(q run.Request) {
	c.used[q.Operation]++
	body, err := json.Marshal(q)
	if err != nil {
		panic(err)
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(body, &given); err != nil {
		panic(err)
	}
	for option := range given {
		c.used["option "+option]++
	}
}

// A total adds up the counts of several workers.
type total struct {
	sync.Mutex
	count
}

func (a *total) add(c count) {
	a.Lock()
	defer a.Unlock()
	a.count.add(c)
}

// enough is the number of random scenarios that have everything: each operation, command, option and verb, and each invariant.
const enough = 1_000

// unrandom are the operations, options and verbs that no random scenario in memory has, and why.
var unrandom = map[string]string{
	"option skip": "no random fault lets a rollback fail again and again: the scenarios stuck_skipped and stuck_again do",
}

// have checks that random scenarios have everything.
func (c count) have(t *testing.T) {
	t.Helper()
	var all []string
	for _, o := range plan.AllOperations() {
		all = append(all, o.Name)
	}
	all = append(all, run.ControlNames()...)
	for _, o := range plan.Options() {
		all = append(all, "option "+string(o))
	}
	for name := range verbs {
		all = append(all, "verb "+string(name))
	}
	for _, what := range all {
		if why, not := unrandom[what]; (c.used[what] == 0) != not {
			t.Errorf("%s: random scenarios have used it %d times, and their exceptions say %q", what, c.used[what], why)
		}
	}
	for _, name := range invariants(t) {
		if c.checked[name] == 0 {
			t.Errorf("no random scenario has checked the invariant %q", name)
		}
	}
}

// invariants lists the names of the invariants that the tests of this package declare.
func invariants(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("random_*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if id, ok := v.Type.(*ast.Ident); ok && id.Name == "invariant" {
				for _, value := range v.Values {
					if lit, ok := value.(*ast.BasicLit); ok {
						text, err := strconv.Unquote(lit.Value)
						if err != nil {
							t.Fatal(err)
						}
						names = append(names, invariant(text).name())
					}
				}
			}
			return true
		})
	}
	return names
}

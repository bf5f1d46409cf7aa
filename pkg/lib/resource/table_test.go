package resource

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var (
	schemas       = flag.String("schemas", "", "the folder cfnlint/data/schemas of an installed cfn-lint")
	specification = flag.String("specification", "", "the file db.json.gz of an installed @aws-cdk/aws-service-spec")
	update        = flag.Bool("update", false, "write the table of types anew, from -schemas and -specification")
)

// maxTable is how many bytes the table may add to a program.
const maxTable = 300 << 10

func TestTableIsSmall(t *testing.T) {
	if len(compressed) > maxTable {
		t.Errorf("the table of types has %d bytes, at most %d are allowed", len(compressed), maxTable)
	}
	if n := len(Names()); n < 1500 {
		t.Errorf("the table has %d types", n)
	}
	if !slices.IsSorted(Names()) {
		t.Error("the types are not sorted")
	}
}

// The table is made from pinned versions of its sources: .ci/integration/requirements.txt
// names that of cfn-lint, .ci/integration/specification/package.json the other one. make
// types writes the table, make integration compares it.
func TestTableIsMadeFromSources(t *testing.T) {
	made := makeTable(readSources(t))
	if *update {
		var b bytes.Buffer
		w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, made); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("types.gz", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d types, %d bytes, %d compressed", strings.Count(made, "\n"), len(made), b.Len())
		return
	}
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := io.ReadAll(r); err != nil || string(kept) != made {
		t.Errorf("types.gz is not what its sources say: run make types (%v)", err)
	}
}

// makeTable makes the text of the table. Of two replacements, the worse one counts.
func makeTable(s sources) string {
	var b strings.Builder
	for _, name := range s.names() {
		marks := make(map[string]string)
		for path, mark := range s.schemas[name].marks() {
			marks[path] = mark
		}
		replacements := s.replacements(name)
		for path, r := range replacements {
			if !implied(replacements, path) {
				marks[path] += string(markOf[r])
			}
		}
		if s.schemas[name].Properties == nil {
			for _, path := range s.specification[name].names() {
				marks[path] += ""
			}
		}
		words := []string{name}
		for _, path := range slices.Sorted(maps.Keys(marks)) {
			words = append(words, path+marks[path])
		}
		fmt.Fprintln(&b, strings.Join(words, " "))
	}
	return b.String()
}

var markOf = map[Replacement]rune{Always: alwaysMark, Conditional: conditionalMark}

// implied reports whether the replacement of a path follows from that of a path above it.
func implied(all map[string]Replacement, path string) bool {
	for above := path; strings.Contains(above, "/"); {
		above = above[:strings.LastIndex(above, "/")]
		if r, ok := all[above]; ok && Worse(r, all[path]) == r {
			return true
		}
	}
	return false
}

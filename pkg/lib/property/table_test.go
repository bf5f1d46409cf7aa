package property

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	schemas = flag.String("schemas", "", "the folder cfnlint/data/schemas of an installed cfn-lint")
	update  = flag.Bool("update", false, "write the table of schemas anew, from -schemas")
)

// maxTable is how many bytes the table may add to a program.
const maxTable = 1 << 20

func TestTableIsSmall(t *testing.T) {
	if len(compressed) > maxTable {
		t.Errorf("the table of schemas has %d bytes, at most %d are allowed", len(compressed), maxTable)
	}
	if n := len(Names()); n < 1800 {
		t.Errorf("the table has %d types", n)
	}
	if !slices.IsSorted(Names()) {
		t.Error("the types are not sorted")
	}
}

// The table is made from the schemas of the cfn-lint that .ci/integration/requirements.txt names. make types writes
// the table, make integration compares it.
func TestTableIsMadeFromSchemas(t *testing.T) {
	if *schemas == "" {
		t.Skip("needs -schemas: make integration and make types give it")
	}
	made := readSchemas(t, *schemas)
	if *update {
		table := pack(t, made)
		if err := os.WriteFile("schemas.bin", table, 0o644); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d types, %d bytes", len(made), len(table))
		return
	}
	if !slices.Equal(Names(), slices.Sorted(maps.Keys(made))) {
		t.Fatal("schemas.bin does not have the types of its source: run make types")
	}
	for name, text := range made {
		is, _ := Named(name)
		if got := encode(t, is.root); got != text {
			t.Errorf("%s: schemas.bin is not what its source says: run make types", name)
		}
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// pack makes the table of the schemas, which are JSON.
func pack(t *testing.T, all map[string]string) []byte {
	t.Helper()
	names := slices.Sorted(maps.Keys(all))
	dictionary := dictionaryOf(all)
	deflate := func(text string, dictionary []byte) []byte {
		var b bytes.Buffer
		w, err := flate.NewWriterDict(&b, flate.BestCompression, dictionary)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	var head strings.Builder
	var body []byte
	for _, name := range names {
		one := deflate(all[name], dictionary)
		fmt.Fprintln(&head, name, len(one))
		body = append(body, one...)
	}
	first := deflate(head.String()+"\n"+string(dictionary), nil)
	return slices.Concat(binary.BigEndian.AppendUint32(nil, uint32(len(first))), first, body)
}

// window is how far back a compressed text can refer.
const window = 32 << 10

var properties = regexp.MustCompile(`"[^"]{3,}":\{[^{}]*\}`)

// dictionaryOf is what many schemas have in common, the most frequent last.
func dictionaryOf(all map[string]string) []byte {
	counts := make(map[string]int)
	for _, text := range all {
		found := properties.FindAllString(text, -1)
		slices.Sort(found)
		for _, one := range slices.Compact(found) {
			counts[one]++
		}
	}
	saved := func(text string) int { return (counts[text] - 1) * len(text) }
	texts := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(saved(a)-saved(b), strings.Compare(a, b))
	})
	joined := strings.Join(texts, "")
	return []byte(joined[len(joined)-window:])
}

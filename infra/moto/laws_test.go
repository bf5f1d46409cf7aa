package moto

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// A trial runs a law that moto may break. It keeps what the law finds.
type trial struct {
	testing.TB
	failures []string
}

func (t *trial) Helper() {}

func (t *trial) Error(all ...any) { t.failures = append(t.failures, fmt.Sprint(all...)) }

func (t *trial) Errorf(format string, all ...any) {
	t.failures = append(t.failures, fmt.Sprintf(format, all...))
}

func (t *trial) Fatal(all ...any) {
	t.Error(all...)
	runtime.Goexit()
}

func (t *trial) Fatalf(format string, all ...any) {
	t.Errorf(format, all...)
	runtime.Goexit()
}

// try runs a law, and returns what it finds.
func try(t testing.TB, law func(t *trial)) []string {
	one, done := &trial{TB: t}, make(chan struct{})
	go func() {
		defer close(done)
		law(one)
	}()
	<-done
	return one.failures
}

// A difference is a law that moto does not keep.
type difference struct {
	says string // a part of what the law finds
	why  string // what moto does, and what AWS's documentation says
}

// judged runs each law, and compares which of them moto does not keep with a table.
func judged(t *testing.T, laws map[string]func(*trial), differs map[string]difference) {
	t.Helper()
	kept := 0
	for _, name := range slices.Sorted(maps.Keys(laws)) {
		failures := try(t, laws[name])
		is, listed := differs[name]
		switch {
		case len(failures) == 0 && listed:
			t.Errorf("moto keeps the law %q, and the table says that it does not: remove it from the table, and what it says (%s)", name, is.why)
		case len(failures) > 0 && !listed:
			t.Errorf("moto does not keep the law %q, and no table says why: %s", name, failures[0])
		case len(failures) > 0 && !strings.Contains(strings.Join(failures, "\n"), is.says):
			t.Errorf("moto does not keep the law %q for another reason than the table says: %q, not %q", name, failures, is.says)
		case len(failures) == 0:
			kept++
		}
	}
	for name, is := range differs {
		if laws[name] == nil || is.says == "" || !strings.Contains(is.why, "https://docs.aws.amazon.com/") {
			t.Errorf("the table names %q: there is no such law, or the table does not say what differs and cites no documentation: %+v", name, is)
		}
	}
	fmt.Printf("moto keeps %d of %d laws of %s, and differs from AWS as listed in the others\n", kept, len(laws), strings.TrimPrefix(t.Name(), "TestMoto/"))
}

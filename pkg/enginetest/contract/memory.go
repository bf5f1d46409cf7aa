package contract

import (
	"runtime/metrics"
	"testing"
)

// Memory holds a reader to a limit: do, which reads n bytes, must not have
// allocated more than base + n*times bytes altogether when it is done.
// What other goroutines allocate meanwhile counts too, and what is small is
// counted in lumps of some kilobytes: base is for both.
func Memory(t testing.TB, n, base, times int, do func()) {
	t.Helper()
	before := allocated()
	do()
	if used, most := allocated()-before, uint64(base+n*times); used > most {
		t.Errorf("reading %d bytes took %d bytes of memory, want %d at most", n, used, most)
	}
}

// allocated is how many bytes this process has ever allocated on the heap. Unlike
// runtime.ReadMemStats, it does not stop the process.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

package s3

import "sync"

// mostRecent is how many bytes of objects a process keeps.
const mostRecent = 16 << 20

// recent are the specs and templates that a process has read last. They never change:
// they are kept by their digests. A step needs its spec when it starts and at each
// poll, and many stacks have one template.
type recent struct {
	mu    sync.Mutex
	bytes int
	kept  map[string][]byte
	order []string // the oldest first
}

// get returns an object that is kept. Callers must not change it.
func (r *recent) get(name string) ([]byte, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	body, ok := r.kept[name]
	return body, ok
}

// keep keeps an object, in place of the oldest ones if there are too many bytes.
func (r *recent) keep(name string, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.kept[name]; ok || len(body) > mostRecent {
		return
	}
	r.kept[name], r.order, r.bytes = body, append(r.order, name), r.bytes+len(body)
	for r.bytes > mostRecent {
		r.bytes -= len(r.kept[r.order[0]])
		delete(r.kept, r.order[0])
		r.order = r.order[1:]
	}
}

package config

import "github.com/stackwright/stackwright/pkg/lib/document"

// What all stacks may take together: each alone may be within its limits, and
// there may be thousands of them.
const (
	maxTexts  = 128 << 20 // bytes of parameters, tags and needs, in memory
	maxWeight = 2_000_000 // keys and values of templates
	maxValues = 512 << 20 // bytes that are made when templates are evaluated
)

// room says whether size more bytes may be kept, and counts them.
func (r *reader) room(size int) bool {
	r.size += size
	if r.size > maxTexts && !r.full {
		r.full = true
		r.add(place{file: r.file}, "the parameters, tags and needs of all stacks are more than %d MB: make several projects of it", maxTexts>>20)
	}
	return !r.full
}

// weigh says whether one more template may be read, and counts it.
func (r *reader) weigh(body []byte) bool {
	r.weight += document.Weight(body)
	if r.weight > maxWeight && !r.full {
		r.full = true
		r.add(place{file: r.file}, "the templates of all stacks have more than %d keys and values: make several projects of it", maxWeight)
	}
	return !r.full
}

// ends says whether to read no further: there is too much of it, or too much
// wrong with it. Once evaluating templates has taken all that it may, nothing
// that is found by it counts.
func (r *reader) ends() bool {
	if r.values.Full() && !r.full {
		r.full = true
		r.add(place{file: r.file}, "the values of the templates of all stacks take more than %d MB: make several projects of it", maxValues>>20)
	}
	return r.full || r.enough()
}

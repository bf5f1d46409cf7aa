package unit

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/stackwright/stackwright/pkg/project"
)

// How long a Recent keeps the list of a unit, and why it could not be listed; and how many lists it keeps at most: then it forgets all.
const (
	keptFor     = 30 * time.Second
	keptFailure = 5 * time.Second
	mostKept    = 100
)

// A Recent keeps lists of accounts for a short time, for readers that only show them, so that they request each list only so often, however many
// requests they get. Plans do not use it. It may be used concurrently. Its zero value needs Now.
type Recent struct {
	Now func() time.Time

	mu    sync.Mutex
	lists map[string]recentList
}

type recentList struct {
	found project.UnitAccounts
	err   error
	until time.Time
}

// Of returns an organization whose lists may be half a minute old.
func (r *Recent) Of(o Organization) Organization { return recently{o, r} }

type recently struct {
	Organization
	kept *Recent
}

// Accounts implements Organization. The lists are shared: nobody may change them.
func (o recently) Accounts(ctx context.Context, unit string) (project.UnitAccounts, error) {
	if l, known := o.kept.list(unit); known {
		return l.found, l.err
	}
	found, err := o.Organization.Accounts(ctx, unit)
	if ctx.Err() == nil && !errors.Is(err, context.Canceled) {
		o.kept.keep(unit, found, err)
	}
	return found, err
}

func (r *Recent) list(unit string) (recentList, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l, known := r.lists[unit]
	return l, known && r.Now().Before(l.until)
}

func (r *Recent) keep(unit string, found project.UnitAccounts, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lists == nil || len(r.lists) >= mostKept {
		r.lists = make(map[string]recentList)
	}
	l := recentList{found, err, r.Now().Add(keptFor)}
	if err != nil {
		l.until = r.Now().Add(keptFailure)
	}
	r.lists[unit] = l
}

package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
)

// Limits of the files of one project.
const (
	MaxFile  = 1 << 20 // bytes of one, which is the size of the largest template that CloudFormation accepts
	MaxFiles = 100
	MaxAll   = 10 << 20 // bytes of all together, as of the files of a project
)

// A File is what was at an address, or why it could not be had.
type File struct {
	Body    []byte
	Version string // of the object in S3 that was read; "" if it has none
	Wrong   string // why there is no body, for the user; "" if there is one
}

// Files are the files that a reader has, by the texts of their addresses, and those that it
// lacks. The zero value has none. A reader that lacks a file goes on without it, so that it finds all that it lacks, and
// what it has read is not complete.
type Files struct {
	Known  map[string]File
	lacked map[string]Address
}

// Find returns the file at an address. If it is not known, Find adds it to those that are lacked.
func (f *Files) Find(a Address) (File, bool) {
	one, ok := f.Known[a.Text]
	if !ok {
		if f.lacked == nil {
			f.lacked = map[string]Address{}
		}
		f.lacked[a.Text] = a
	}
	return one, ok
}

// Lacked lists the addresses that were not known, sorted.
func (f *Files) Lacked() []Address {
	var all []Address
	for _, a := range f.lacked {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b Address) int { return strings.Compare(a.Text, b.Text) })
	return all
}

// A Web gets files from web servers. Package lib/download has it.
type Web interface {
	// Get returns the file at an https URL, with at most most bytes. It asks permit about the URL and about each to which a server redirects,
	// before it sends a request.
	Get(ctx context.Context, url string, most int, permit func(url string) error) ([]byte, error)
}

// Get gets the file at an https address. It asks permit about each address to which a server redirects. An error is returned
// only if the context was cancelled; the file says what else is wrong.
func Get(ctx context.Context, w Web, a Address, permit func(Address) error) (File, error) {
	body, err := w.Get(ctx, a.String(), MaxFile, func(url string) error {
		to, err := Parse(url)
		switch {
		case err != nil:
			return fmt.Errorf("the server redirects to another URL, and that is refused: %w", err)
		case to.Scheme != HTTPS:
			return errors.New("the server redirects to a URL that is not https")
		case to == a:
			return nil
		}
		if err := permit(to); err != nil {
			return fmt.Errorf("the server redirects to %s: %w", to, err)
		}
		return nil
	})
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return File{}, fault.New(fault.Unavailable, "the request was given up: %w", ctx.Err())
	case err != nil:
		return File{Wrong: err.Error()}, nil
	}
	return File{Body: body}, nil
}

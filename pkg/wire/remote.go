package wire

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/remote"
	"github.com/stackwright/stackwright/pkg/run"
)

const (
	maxFetching   = time.Minute // of all files of a project; the function plan has five minutes
	maxRereadings = 5           // when others plan the same configuration at the same time
)

// kept are the files that were fetched for a configuration.
type kept interface {
	// RemoteFile returns the file of an address. It is Missing if none was kept.
	RemoteFile(ctx context.Context, of run.Source, a remote.Address) (remote.File, error)

	// KeepRemoteFile keeps a file unless one is kept, and returns the one that is kept.
	KeepRemoteFile(ctx context.Context, of run.Source, a remote.Address, f remote.File) (remote.File, error)
}

// remotes fetches the files that projects name by URLs. The first planner of a version of a configuration fetches them and
// keeps them; all others get what was kept.
type remotes struct {
	allowed remote.Allowed
	change  string // how to allow another address; the entry is %s
	kept    kept
	web     remote.Web
	objects interface {
		// Get returns an object of a listed bucket, with the version that was read.
		Get(context.Context, remote.Address) (remote.File, error)
	}
	own string // the bucket of the installation, which no project may read
}

// read reads the configuration of a run.
func (r remotes) read(ctx context.Context, of run.Source, id string, files archive.Files, o format.Options) (format.Loaded, error) {
	limited, cancel := context.WithTimeout(ctx, maxFetching)
	defer cancel()
	for range maxRereadings {
		var mu sync.Mutex
		fresh := map[remote.Address]remote.File{}
		known := map[string]remote.File{}
		for name, f := range o.Remote {
			known[name] = f
		}
		l, err := format.Fetch(files, o, func(lacked []remote.Address) (map[string]remote.File, error) {
			got, err := parallelly(lacked, func(a remote.Address) (remote.File, error) {
				f, err := r.kept.RemoteFile(ctx, of, a)
				if !fault.Is(err, fault.Missing) {
					return f, err
				}
				if f, err = r.fetch(limited, id, a); err == nil && f.Wrong == "" {
					mu.Lock()
					fresh[a] = f
					mu.Unlock()
				}
				return f, err
			})
			for name, f := range got {
				known[name] = f
			}
			return got, err
		})
		if err != nil {
			return l, err
		}
		same, err := r.keep(ctx, of, fresh, known)
		if err != nil || same {
			return l, err
		}
		o.Remote = known
	}
	return format.Loaded{}, fault.New(fault.Unavailable, "other functions fetch the files of %s, version %s, at the same time", of.Key, of.Version)
}

// keep keeps files, and puts those that others have kept meanwhile in their place among the known ones. It reports whether there are none.
func (r remotes) keep(ctx context.Context, of run.Source, fresh map[remote.Address]remote.File, known map[string]remote.File) (same bool, err error) {
	same = true
	for a, f := range fresh {
		now, err := r.kept.KeepRemoteFile(ctx, of, a, f)
		if err != nil {
			return false, fmt.Errorf("keep the file of %s: %w", a, err)
		}
		same = same && string(now.Body) == string(f.Body)
		known[a.String()] = now
	}
	return same, nil
}

// fetch gets a file that the installation allows to the project of an ID. The file says what is wrong with it; an error can be tried again.
func (r remotes) fetch(ctx context.Context, id string, a remote.Address) (remote.File, error) {
	if a.Scheme == remote.S3 && a.Host == r.own {
		return remote.File{Wrong: "this is the bucket of the installation, which no project may read: copy the object to another bucket"}, nil
	}
	if err := r.allowed.Permit(id, a, r.change); err != nil {
		return remote.File{Wrong: err.Error()}, nil
	}
	if a.Scheme == remote.S3 {
		return r.objects.Get(ctx, a)
	}
	return remote.Get(ctx, r.web, a, func(to remote.Address) error { return r.allowed.Permit(id, to, r.change) })
}

// parallelly calls get for each address, eight at the same time.
func parallelly(all []remote.Address, get func(remote.Address) (remote.File, error)) (map[string]remote.File, error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var errs []error
	got := map[string]remote.File{}
	slots := make(chan struct{}, parallel)
	for _, a := range all {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			f, err := get(a)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, fmt.Errorf("fetch %s: %w", a, err))
			}
			got[a.String()] = f
		})
	}
	wg.Wait()
	return got, errors.Join(errs...)
}

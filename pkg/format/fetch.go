package format

import (
	"maps"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/remote"
)

// maxRounds is how often files are fetched for one project: what was fetched can name other files.
const maxRounds = 5

// Fetch reads a project as Read does, and gets what it lacks from elsewhere with get, until nothing is lacked. get returns
// files by address, and if there is none, the project stays incomplete; its error ends Fetch. Problems of the project's own files are reported before anything is fetched.
func Fetch(f archive.Files, o Options, get func([]remote.Address) (map[string]remote.File, error)) (Loaded, error) {
	o.Remote = maps.Clone(o.Remote)
	if o.Remote == nil {
		o.Remote = map[string]remote.File{}
	}
	for range maxRounds {
		l, err := Read(f, o)
		if err != nil || len(l.Lacked) == 0 {
			return l, err
		}
		if n := len(o.Remote) + len(l.Lacked); n > remote.MaxFiles {
			return l, fault.New(fault.Invalid, "%d files are elsewhere: a project uses at most %d: save some of them in the project", n, remote.MaxFiles)
		}
		more, err := get(l.Lacked)
		if err != nil || len(more) == 0 {
			return l, err
		}
		maps.Copy(o.Remote, more)
		if size(o.Remote) > remote.MaxAll {
			return l, fault.New(fault.Invalid, "the files that are elsewhere have more than %d MB together: save some of them in the project", remote.MaxAll>>20)
		}
	}
	return Loaded{}, fault.New(fault.Invalid, "files that are elsewhere name other files more than %d times: save some of them in the project", maxRounds)
}

func size(files map[string]remote.File) (n int) {
	for _, f := range files {
		n += len(f.Body)
	}
	return n
}

package format

import (
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/remote"
)

// A Stored is a configuration that was uploaded before, and the project that it describes.
type Stored struct {
	Files     map[string][]byte
	Nodes     map[string]project.Node
	Templates map[string][]byte // by digest
	Unread    string            // why the project cannot be read; empty if it can be

	Unregistered []string // targets that are named and not registered, or whose accounts Options.Units lacks
}

// ReadStored reads a configuration that was uploaded under a key, to compare it: it fetches nothing from elsewhere, and checks no conditions. kept returns
// what was kept of a file from elsewhere, or an error of kind Missing. A project that cannot be read now, because a target is not registered
// any more, or because a file from elsewhere was not kept, still has its files.
func ReadStored(key string, body []byte, o Options, kept func(remote.Address) (remote.File, error)) (Stored, error) {
	files, err := archive.Unpack(key, body)
	if err != nil { // the run that read it was refused
		return Stored{}, fault.New(fault.Missing, "its archive cannot be read: %w", err)
	}
	o.Holds = func(string, project.Situation) (bool, error) { return true, nil }
	l, err := Fetch(files, o, func(lacked []remote.Address) (map[string]remote.File, error) {
		found := map[string]remote.File{}
		for _, a := range lacked {
			f, err := kept(a)
			if fault.Is(err, fault.Missing) {
				continue
			}
			if err != nil {
				return nil, err
			}
			found[a.String()] = f
		}
		return found, nil
	})
	all := Stored{Files: files, Nodes: l.Project.Nodes, Templates: l.Templates, Unregistered: l.Unregistered}
	switch {
	case fault.Is(err, fault.Invalid):
		all.Unread = strings.Join(fault.Messages(err), "; ")
	case err != nil:
		return all, err
	case len(l.Lacked) > 0:
		all.Unread = l.Lacked[0].String() + " is elsewhere and was not kept"
	}
	return all, nil
}

package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/lib/download"
	"github.com/stackwright/stackwright/pkg/remote"
)

// read reads a project. With --fetch, it fetches the files that the project names by https URLs, without the rules of an installation about hosts; it never
// reads S3. Without --fetch, and for S3, what is read lacks them.
func (c *call) read(ctx context.Context, files archive.Files, o format.Options) (format.Loaded, error) {
	if !c.flags.fetch {
		return format.Read(files, o)
	}
	if c.fetched == nil {
		c.fetched = make(map[string]remote.File)
	}
	o.Remote = c.fetched
	return format.Fetch(files, o, func(lacked []remote.Address) (map[string]remote.File, error) {
		got := make(map[string]remote.File)
		for _, a := range lacked {
			if a.Scheme != remote.HTTPS {
				continue
			}
			f, err := remote.Get(ctx, c.web(), a, func(remote.Address) error { return nil })
			if err != nil {
				return nil, err
			}
			got[a.String()], c.fetched[a.String()] = f, f
		}
		return got, nil
	})
}

// web gets files from web servers.
func (c *call) web() remote.Web {
	if c.Web != nil {
		return c.Web
	}
	return download.Client{}
}

// showLacked prints which files were not read because they are not in the project.
func (c *call) showLacked(lacked []remote.Address) {
	for _, a := range lacked {
		switch {
		case !strings.Contains(" "+c.command.flags+" ", " fetch "):
			fmt.Fprintf(c.Err, "%s is not in the project: the installation fetches it when it plans\n", a)
		case a.Scheme != remote.HTTPS:
			fmt.Fprintf(c.Err, "not read, because only the installation reads S3: %s\n", a)
		default:
			fmt.Fprintf(c.Err, "not read, because it is not in the project: %s: --fetch fetches it\n", a)
		}
	}
}

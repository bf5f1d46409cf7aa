package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A granted is what access prints as JSON.
type granted struct {
	Role     string         `json:"role"`
	Projects project.Grants `json:"projects"`
	To       string         `json:"to"`
	Line     int            `json:"line,omitempty"` // of the file
	Owner    bool           `json:"owner,omitempty"`
}

// listAccess lists what the access file of an installation grants, and its owner.
func listAccess(ctx context.Context, c *call) (int, error) {
	return c.show(ctx, []string{"ROLE", "PROJECTS", "TO", "LINE"}, func(s *session) (objects []any, cells [][]string, err error) {
		for _, o := range s.owner {
			objects = append(objects, granted{access.Admin.String(), project.Grants{"*@*"}, o, 0, true})
			cells = append(cells, []string{access.Admin.String(), "*@*", o, "owner"})
		}
		text, err := s.accessFile(ctx)
		if err == nil && text == nil {
			_, err = fmt.Fprintln(c.Err, s.owner.WithoutFile())
			return objects, cells, err
		}
		if err != nil {
			return nil, nil, err
		}
		f, err := access.Parse(access.Key, text)
		for _, r := range f.Rules() {
			objects = append(objects, granted{r.Role.String(), r.Projects, r.To(), r.Line, false})
			cells = append(cells, []string{r.Role.String(), r.Projects.String(), r.To(), fmt.Sprint(r.Line)})
		}
		return objects, cells, err
	})
}

// accessFile returns the access file of the installation, nil if it has none.
func (s *session) accessFile(ctx context.Context) ([]byte, error) {
	to, err := s.directly()
	if err != nil {
		return nil, err
	}
	text, err := to.objects.Current(ctx, access.Key)
	switch {
	case fault.Is(err, fault.Missing):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read who may do what: %w", err)
	}
	return append([]byte{}, text...), nil
}

// directly is the installation by its table and bucket: the access file and the policies are no part of its API.
func (s *session) directly() (direct, error) {
	if s.call.flags.api != "" {
		return direct{}, fault.New(fault.Invalid, "the access file and the policies are in the bucket, which only the owner of the installation writes: give --installation instead of --api")
	}
	return directly(s.site, s.who), nil
}

// checkAccess says whether an access file can be used, and what it changes.
func checkAccess(ctx context.Context, c *call) (int, error) {
	return c.in(ctx, c.openReadOnly, func(s *session) (int, error) {
		_, err := s.checkAccess(ctx, c.args[0])
		return s.refused(err)
	})
}

// putAccess checks an access file and puts it into the bucket.
func putAccess(ctx context.Context, c *call) (int, error) {
	return c.in(ctx, c.open, func(s *session) (int, error) {
		text, err := s.checkAccess(ctx, c.args[0])
		if err != nil || text == nil {
			return s.refused(err)
		}
		to, err := s.directly()
		if err != nil {
			return s.refused(err)
		}
		version, err := to.put(ctx, access.Key, text)
		if err == nil {
			_, err = fmt.Fprintf(c.Out, "%s is version %s; it applies to the next request\n", access.Key, version)
		}
		return s.refused(err)
	})
}

// refused is the end of a command about an access file.
func (s *session) refused(err error) (int, error) {
	if err != nil {
		return s.call.refuse(err)
	}
	return ExitOK, nil
}

// checkAccess reads an access file, and prints what it changes. It returns nothing if that is
// nothing. A file that cannot be used is refused, with all that is wrong.
func (s *session) checkAccess(ctx context.Context, name string) ([]byte, error) {
	text, err := readUpTo(name, access.MaxBytes)
	if err != nil {
		return nil, err
	}
	f, err := access.Parse(name, text)
	if err == nil {
		err = f.CheckOwner(s.owner)
	}
	if err != nil {
		return nil, err
	}
	was, err := s.accessFile(ctx)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(was, text) {
		_, err := fmt.Fprintf(s.call.Out, "%s is what %s has: nothing changes\n", name, s.label)
		return nil, err
	}
	return text, s.printChanges(name, was, f)
}

// printChanges prints what an access file grants that the one before does not, and the other way
// round.
func (s *session) printChanges(name string, was []byte, f access.File) error {
	var before access.File
	lines := []string{fmt.Sprintf("%s is valid: %s", name, term.Plural(len(f.Rules()), "grant"))}
	switch {
	case was == nil && len(s.owner) > 0:
		lines = append(lines, "there is no access file yet, so all but the owner and schedules are denied now")
	case was == nil:
		lines = append(lines, "there is no access file yet: with this one, what it does not grant is denied")
	default:
		var broken error
		if before, broken = access.Parse(access.Key, was); broken != nil {
			lines = append(lines, "the file before cannot be used, so all but the owner are denied now")
		}
	}
	_, err := fmt.Fprintln(s.call.Out, strings.Join(append(lines, f.Changes(before)...), "\n"))
	return err
}

// readUpTo reads a file, and no more than is needed to see that it is too large.
func readUpTo(name string, most int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fault.New(fault.Missing, "%w", err)
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most+1))
}

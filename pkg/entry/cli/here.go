package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/project"
)

// aboutProject calls f with the project and environment that the call is about: that of its folder, or the one that
// its flags choose. A function whose arguments name no folder takes them from the call before.
func (c *call) aboutProject(
	ctx context.Context, enter func(context.Context) (*session, error), f func(s *session, id string) (int, error),
) (int, error) {
	here, err := c.projectHere()
	if err == nil && here.name != "" {
		err = c.inEnvironment(here.files)
	}
	if err != nil {
		return c.refuse(err)
	}
	id := ""
	if here.name != "" {
		id = project.ID(here.name, c.flags.env)
		c.showUnread(here, "is about "+id)
	}
	return c.in(ctx, enter, func(s *session) (int, error) {
		if id == "" {
			id, err = s.oneProject(ctx)
		}
		if fault.Is(err, fault.Missing, fault.Invalid) {
			return c.refuse(err)
		}
		if err != nil {
			return ExitFailed, err
		}
		return f(s, id)
	})
}

// aboutProjects calls f with the projects and environments that a list is about: those of the folder of the call, or
// those that its flags choose. Without --env they are all environments.
func (c *call) aboutProjects(ctx context.Context, f func(s *session, ids []string) (int, error)) (int, error) {
	here, err := c.projectHere()
	if err != nil {
		return c.refuse(err)
	}
	c.take(here)
	return c.in(ctx, c.openReadOnly, func(s *session) (int, error) {
		ids, err := s.projects(ctx)
		switch {
		case err != nil:
			return ExitFailed, err
		case len(ids) == 0 && here.name == "" && c.flags.project != "":
			return c.refuse(s.noProject())
		}
		return f(s, ids)
	})
}

// A here is the project of a folder.
type here struct {
	name   string // "" if there is none
	path   string
	files  archive.Files
	unread error // why the files cannot be read, which say only the name
}

// projectHere is the project of the folder that the call names. If it names neither a folder nor a project, it is
// that of the current folder, as for deploy. It has no name if there is none.
func (c *call) projectHere() (here, error) {
	named := len(c.args) > 0
	switch {
	case named && c.flags.given["project"]:
		return here{}, fault.New(fault.Invalid, "--project: the project is that of %s: give one of them", quoted(c.args[0]))
	case !named && c.flags.project != "":
		return here{}, nil
	}
	path, err := c.folder()
	switch {
	case !named && fault.Is(err, fault.Missing):
		return here{}, nil
	case err != nil:
		return here{}, err
	}
	files, err := c.files(path)
	if err == nil {
		d := format.Declared(files)
		name := cmp.Or(d.Name, map[bool]string{true: projectName(path)}[!d.Kind.SaysName()])
		if name != "" {
			return here{name: name, path: path, files: files}, nil
		}
		_, err = format.Read(files, format.Options{Name: projectName(path)})
	}
	if name := nameIn(path); name != "" { // that is all that the command has to know
		return here{name: name, path: path, files: files, unread: err}, nil
	}
	c.explain(err)
	return here{}, fault.New(fault.Invalid, "this command needs the name of the project, and cannot read it from %s: "+
		"correct the errors there, or give --project and --env instead of a folder, as in --project shop --env prod", quoted(path))
}

// take makes the call about the project of a folder, in the environment of --env or in all.
func (c *call) take(h here) {
	switch {
	case h.name == "":
		return
	case c.flags.env == "":
		c.showUnread(h, "is about "+h.name)
	default:
		c.showUnread(h, "is about "+project.ID(h.name, c.flags.env))
	}
	c.flags.project = h.name
}

// showUnread says that the files of a project cannot be read, and what the command does nevertheless.
func (c *call) showUnread(h here, does string) {
	if h.unread == nil {
		return
	}
	why := fmt.Sprintf("has errors, which %s lists", c.commandLine("validate", h.path))
	if !fault.Is(h.unread, fault.Invalid) {
		why = fmt.Sprintf("cannot be read (%v)", h.unread)
	}
	fmt.Fprintf(c.Err, "%s %s: this command needs only the name of the project, and %s\n", quoted(h.path), why, does)
}

// inEnvironment chooses the environment of a command that is about one: that of --env, or else default, unless the
// files list others and not default. Then the user has to name one of them.
func (c *call) inEnvironment(files archive.Files) error {
	if c.flags.env != "" {
		return nil
	}
	names := format.Declared(files).EnvironmentNames()
	if len(names) == 0 || slices.Contains(names, project.DefaultEnvironment) {
		c.flags.env = project.DefaultEnvironment
		return nil
	}
	return fault.New(fault.Invalid, "the files list environments, and %s is not one of them: name one with --env: %s",
		project.DefaultEnvironment, some(names, 10))
}

// some lists at most so many words.
func some(words []string, most int) string {
	text := strings.Join(words[:min(len(words), most)], ", ")
	if more := len(words) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// oneProject is the only project and environment that the call's flags choose.
func (s *session) oneProject(ctx context.Context) (string, error) {
	all, err := s.projects(ctx)
	switch {
	case err != nil:
		return "", err
	case len(all) == 0:
		return "", s.noProject()
	case len(all) > 1:
		return "", fault.New(fault.Invalid, "%d projects and environments have had runs: give --project and --env: %s",
			len(all), some(all, 10))
	}
	return all[0], nil
}

// noProject says that the flags choose no project that has had a run.
func (s *session) noProject() error {
	return fault.New(fault.Missing, "there is no such project: it has had no run, or you may not read it: %s lists the runs of all",
		s.call.commandLine("runs"))
}

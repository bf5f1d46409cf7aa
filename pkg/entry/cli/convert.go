package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/convert"
)

// A conversion is what convert reports.
type conversion struct {
	Folder   string      `json:"folder"`
	Files    []string    `json:"files"`    // in the folder, sorted
	Projects []validated `json:"projects"` // each environment
	LeftOut  []string    `json:"left_out"` // stacks that operations leave alone, and that are not in the new project
}

// convertProject writes a project of another format as one with a project file. It sends no request, and replaces no file.
func convertProject(ctx context.Context, c *call) (int, error) {
	if c.flags.out == "" {
		return c.refuse(fault.New(fault.Invalid, "convert writes a new folder: name it, as in --out converted"))
	}
	path, err := c.folder()
	if err != nil {
		return ExitFailed, err
	}
	files, err := c.files(path)
	if err != nil {
		return c.refuse(err)
	}
	done, err := convert.Project(files, func(f archive.Files, environment string) (format.Loaded, error) {
		l, _, err := c.assumingIn(ctx, home().Target.Region, f, projectName(path), environment)
		return l, err
	})
	if err != nil {
		return c.refuse(err)
	}
	if err := writeNew(c.flags.out, done.Files); err != nil {
		return c.refuse(err)
	}
	shown := conversion{Folder: c.flags.out, Files: done.Files.Paths(), LeftOut: append([]string{}, done.LeftOut...)}
	for _, p := range done.Projects {
		shown.Projects = append(shown.Projects, validated{Project: p.ID(), Stacks: len(p.Nodes)})
	}
	if c.flags.output == "json" {
		return ExitOK, c.printJSON(shown)
	}
	if err := c.listFiles(c.flags.out, done.Files); err != nil {
		return ExitFailed, err
	}
	for _, p := range shown.Projects {
		fmt.Fprintf(c.Err, "%s has the same %s as before\n", p.Project, term.Plural(p.Stacks, "stack"))
	}
	if len(shown.LeftOut) > 0 {
		fmt.Fprintf(c.Err, "not written, because Sceptre ignores them and they cannot be read: %s: a deploy deletes those of them that Stackwright has deployed\n", strings.Join(shown.LeftOut, ", "))
	}
	fmt.Fprintf(c.Err, "see that a deploy would change nothing: %s\n", c.commandLine("plan", c.flags.out))
	return ExitOK, nil
}

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format/accept"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// An acceptance is what drift --accept reports.
type acceptance struct {
	Run     string          `json:"run"` // whose findings they are
	Folder  string          `json:"folder"`
	Files   []string        `json:"files"`   // in the folder, sorted
	Written []accept.Value  `json:"written"` // into these files
	Already []accept.Value  `json:"already"` // that the templates of the project have already
	Left    []accept.Left   `json:"left"`    // what could not be written
	Shared  []accept.Shared `json:"shared"`  // files that are templates in other environments, too
}

// drift detects drift. With --accept, it writes the live values into copies of the templates then; with --revert, it brings back what was
// detected before. What it would revert, only change sets say.
func drift(ctx context.Context, c *call) (int, error) {
	f := &c.flags
	switch {
	case f.accept && (f.revert || f.plan):
		return c.refuse(fault.New(fault.Invalid, "--accept takes the live values over, and --revert brings the others back: give one of them, and --plan only with --revert"))
	case f.accept:
		return acceptDrift(ctx, c)
	case f.given["out"], f.given["run"]:
		return c.refuse(fault.New(fault.Invalid, "--out and --run have an effect only with --accept: add --accept, or leave them out"))
	case f.plan && !f.revert:
		return c.refuse(fault.New(fault.Invalid, "--plan shows what --revert would change: add --revert"))
	}
	if f.exact = f.plan; f.revert {
		return request(ctx, c)
	}
	return examine(ctx, c)
}

// acceptDrift writes the live values of drifted stacks into copies of their templates. It changes no file of the project.
func acceptDrift(ctx context.Context, c *call) (int, error) {
	if err := c.checkAccept(); err != nil {
		return c.refuse(err)
	}
	l, err := c.load(ctx)
	if err == nil {
		err = c.checkFolder(l)
	}
	if err != nil {
		return c.refuse(err)
	}
	enter := c.open
	if c.flags.detected != "" {
		enter = c.openReadOnly
	}
	return c.in(ctx, enter, func(s *session) (int, error) {
		r, code, err := s.detected(ctx, l)
		switch {
		case fault.Is(err, fault.Refused, fault.Missing, fault.Invalid):
			return c.refuse(err)
		case err != nil, !r.State.Over(), code == ExitRefused, code == ExitInterrupted:
			return code, err
		}
		detected, uncompared := found(l.Project, r)
		result := accept.Project(l.files, l.Loaded, detected, uncompared)
		if err := writeCopies(c.flags.out, result.Files); err != nil {
			return c.refuse(err)
		}
		if code == ExitOK && len(result.Left) > 0 {
			code = ExitChanges
		}
		if err := c.showAccepted(r, result); err != nil {
			return ExitFailed, err
		}
		return code, nil
	})
}

// checkAccept refuses flags that do not go together.
func (c *call) checkAccept() error {
	f := c.flags
	if f.out == "" {
		return fault.New(fault.Invalid, "--accept writes copies of templates into a folder: name it, as in --out accepted")
	}
	if f.given["exit-code"] {
		return fault.New(fault.Invalid, "--exit-code has no effect with --accept, which ends with 5 if drift is left: leave it out")
	}
	for _, flag := range []string{"only", "refuse"} {
		if f.detected != "" && f.given[flag] {
			return fault.New(fault.Invalid, "--%s has no effect with --run, which requests no run: leave it out", flag)
		}
	}
	if f.given["run"] && f.detected == "" {
		return fault.New(fault.Invalid, "--run: name a run of drift, or leave it out")
	}
	return nil
}

// checkFolder refuses a folder in which copies would become stacks of a project without a project file.
func (c *call) checkFolder(l loaded) error {
	path, err := c.folder()
	if err == nil {
		path, err = filepath.Abs(path)
	}
	out, wrong := filepath.Abs(c.flags.out)
	if err = errors.Join(err, wrong); err != nil {
		return fault.New(fault.Invalid, "--out: %w", err)
	}
	within, err := filepath.Rel(path, out)
	if err != nil || l.Project.Kind != project.Templates || within == ".." || strings.HasPrefix(within, ".."+string(filepath.Separator)) {
		return nil
	}
	return fault.New(fault.Refused, "--out %s is in the folder of the project, which has no project file: the next deploy would take the copies for templates of new stacks. Name a folder beside it", c.flags.out)
}

// detected is the run whose findings are accepted: the one that the call names, or a new one, which it follows to its end. code is
// how the run ended.
func (s *session) detected(ctx context.Context, l loaded) (r run.Run, code int, err error) {
	c := s.call
	if c.flags.detected != "" {
		r, err = s.named(ctx, c.flags.detected)
		switch {
		case err != nil:
		case r.Operation != c.operation():
			err = fault.New(fault.Refused, "run %s is no %s: name one that has detected drift", described(r), c.operation())
		case r.Project != l.Project.ID():
			err = fault.New(fault.Refused, "run %s is not of %s: name the files of its project, and its environment with --env", described(r), l.Project.ID())
		case !r.State.Over():
			err = fault.New(fault.Refused, "run %s has not ended: wait for its end: %s", described(r), c.commandLine("status", r.ID, "--follow"))
		}
		return r, exit(r.State), err
	}
	body, err := archive.Pack(l.files)
	if err != nil {
		return r, ExitFailed, err
	}
	source, err := s.to.Store(ctx, l.Project.ID(), body)
	if err != nil {
		return r, ExitFailed, err
	}
	id, err := s.to.Request(ctx, s.newRequest(l.Project.ID(), source))
	if err != nil {
		return r, ExitFailed, err
	}
	if code, err = s.watch(ctx, watch{run: id}); err != nil || code == ExitInterrupted || code == ExitLost {
		return r, code, err
	}
	r, err = s.load(ctx, id)
	return r, code, err
}

// found is what the steps of a run have found, by node, and the stacks that it has not compared although they may exist.
func found(p project.Project, r run.Run) (detected map[string]accept.Detected, uncompared []string) {
	detected = map[string]accept.Detected{}
	here := map[string]bool{}
	for _, s := range r.Steps {
		here[s.Node] = true
		if s.Status != run.Done && len(s.Result.Findings) == 0 {
			uncompared = append(uncompared, s.Node)
			continue
		}
		detected[s.Node] = accept.Detected{Findings: s.Result.Findings, More: s.Result.More}
	}
	for _, node := range slices.Sorted(maps.Keys(p.Nodes)) {
		if r.Partial() && !here[node] {
			uncompared = append(uncompared, node)
		}
	}
	return detected, uncompared
}

// writeCopies writes files into a folder, unless one of them exists and differs.
func writeCopies(dir string, files archive.Files) error {
	var others []error
	for _, name := range files.Paths() {
		path := filepath.Join(dir, filepath.FromSlash(name))
		switch body, err := os.ReadFile(path); {
		case errors.Is(err, fs.ErrNotExist), err == nil && bytes.Equal(body, files[name]):
		case err == nil:
			others = append(others, fault.New(fault.Refused, "%s exists and differs: drift --accept replaces no file: name another folder", path))
		default:
			others = append(others, fault.New(fault.Denied, "%s cannot be read, and may be another file: %w", path, err))
		}
	}
	if len(others) > 0 {
		return errors.Join(others...)
	}
	for _, name := range files.Paths() {
		path := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		if err == nil {
			err = os.WriteFile(path, files[name], 0o666)
		}
		if err != nil {
			return fault.New(fault.Denied, "write the copy of %s: %w", name, err)
		}
	}
	return nil
}

// showAccepted prints what was written and what is left. Both are results, and go to the standard output.
func (c *call) showAccepted(r run.Run, result accept.Result) error {
	if c.flags.output == "json" {
		return c.printJSON(acceptance{
			Run: r.ID, Folder: c.flags.out, Files: append([]string{}, result.Files.Paths()...), Written: append([]accept.Value{}, result.Written...),
			Already: append([]accept.Value{}, result.Already...), Left: append([]accept.Left{}, result.Left...), Shared: append([]accept.Shared{}, result.Shared...),
		})
	}
	if err := c.listFiles(c.flags.out, result.Files); err != nil {
		return err
	}
	if len(result.Left) > 0 {
		if _, err := fmt.Fprintln(c.Out, "not written:"); err != nil {
			return err
		}
	}
	for _, l := range result.Left {
		if _, err := fmt.Fprintf(c.Out, "  %s\n", l); err != nil {
			return err
		}
	}
	for _, one := range result.Shared {
		fmt.Fprintf(c.Err, "%s is also the template of stacks in other environments, whose next deploy sets these values: %s\n", one.File, strings.Join(one.Environments, ", "))
	}
	c.sumUp(result)
	return nil
}

// sumUp says how much was written, and what to do next.
func (c *call) sumUp(result accept.Result) {
	if c.flags.quiet {
		return
	}
	written := fmt.Sprintf("%s written into the copies of %s", term.Plural(len(result.Written), "live value"), term.Plural(len(result.Files), "template"))
	if n := len(result.Already); n > 0 {
		written += fmt.Sprintf("; %s there already", term.Plural(n, "live value"))
	}
	fmt.Fprintf(c.Err, "%s; %d left\n", written, len(result.Left))
	path, err := c.folder()
	if in, wrong := os.Stat(path); err != nil || wrong != nil || !in.IsDir() || len(result.Files) == 0 {
		return
	}
	fmt.Fprintf(c.Err, "take the copies over, and deploy: cp -r %s %s\n", quoted(filepath.Join(c.flags.out, ".")+string(filepath.Separator)+"."), quoted(path))
}

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/sceptre"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// projectFile is the name of the project file.
const projectFile = "stackwright.yaml"

// folder is the path of the project that the call names: the given path, or the
// folder of the given project file. Without an argument it is the nearest folder,
// from the current one upwards, that has a project file, or else the current one if it
// is a project of Sceptre.
func (c *call) folder() (string, error) {
	given := c.flags.files
	if len(c.args) > 0 && !c.command.selects {
		given = c.args[0]
	}
	if given != "" {
		if filepath.Base(given) == projectFile {
			return filepath.Dir(given), nil
		}
		return given, nil
	}
	from, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the project: %w", err)
	}
	for dir := from; ; dir = filepath.Dir(dir) {
		_, err := os.Stat(filepath.Join(dir, projectFile))
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fault.New(fault.Denied, "find the project: %w", err)
		}
		if dir == filepath.Dir(dir) && isSceptre(from) {
			return from, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fault.New(fault.Missing, "there is no %s in %s or above it: name the project's folder, or a folder of templates", projectFile, from)
		}
	}
}

// isSceptre reports whether a folder is a project of Sceptre.
func isSceptre(dir string) bool {
	names := archive.Files{}
	for _, pattern := range []string{"sceptre.yaml", "config/config.yaml", "config/*/config.yaml"} {
		found, err := fs.Glob(os.DirFS(dir), pattern)
		if err != nil {
			return false
		}
		for _, name := range found {
			names[name] = nil
		}
	}
	return sceptre.Detect(names)
}

// cdkOut is the folder that cdk synth writes into that of the application.
const cdkOut = "cdk.out"

// projectName is the name of a project without a project file: the name of its folder
// or archive, or of the folder around cdk.out, with hyphens for other characters than letters and digits, from its first
// letter on. It is empty if there is no letter.
func projectName(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	name := filepath.Base(path)
	if name == cdkOut {
		name = filepath.Base(filepath.Dir(path))
	}
	for _, extension := range []string{".zip", ".tar.gz", ".tgz", ".yaml", ".yml"} {
		name = strings.TrimSuffix(name, extension)
	}
	name = strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '-'
	}, name)
	name = strings.TrimLeftFunc(name, func(r rune) bool { return !unicode.IsLetter(r) })
	return strings.TrimRight(name[:min(len(name), 64)], "-")
}

// A choice selects the run of a command without RUN.
type choice func(context.Context, *session) (run.Run, error)

// The choices of the commands that change a run: the newest run for which there is something to do.
var (
	openRun   = only(first, "every run has ended: there is nothing to do")
	pausedRun = only(paused, "no run is paused: name the one to continue")
	askingRun = only(open, "no run waits for approval: there is nothing to answer", func(r run.Run) bool { return len(r.Asks()) > 0 })
	failedRun = only(unrepeated, "no run has failed, or later ones have repeated or superseded all that failed: name the one to retry")
)

// open reports whether the run at i has not ended.
func open(runs []run.Run, i int) bool { return !runs[i].State.Over() }

// first reports whether the run at i has not ended, and does not wait in the queue for another one.
func first(runs []run.Run, i int) bool {
	ahead := func(other run.Run) bool {
		return other.Project == runs[i].Project && !other.State.Over() && other.State != run.StateQueued
	}
	return open(runs, i) && (runs[i].State != run.StateQueued || !slices.ContainsFunc(runs, ahead))
}

// paused reports whether the run at i is paused.
func paused(runs []run.Run, i int) bool {
	return runs[i].State == run.StateWaiting && runs[i].Command == run.Pause
}

// unrepeated reports whether the run at i has failed, and none of the newer runs repeats it, or has succeeded in what makes it needless.
func unrepeated(runs []run.Run, i int) bool {
	r := runs[i]
	return r.State == run.StateFailed && !slices.ContainsFunc(runs[:i], func(later run.Run) bool {
		repeats := later.Of == r.ID && later.Operation == r.Operation && later.State != run.StateRefused && later.State != run.StateCancelled
		return repeats || later.Project == r.Project && supersedes(later, r)
	})
}

// supersedes reports whether a run has succeeded that makes an older one of its project needless: it has brought all stacks, or the same
// ones, to a newer state, or has done the same.
func supersedes(later, r run.Run) bool {
	if later.State != run.StateSucceeded || later.Partial() && !later.Selection.Equal(r.Selection) {
		return false
	}
	o := plan.AllOperations().Of(later.Operation)
	return later.Operation == r.Operation || o.Writes && !o.Restores
}

// currentRun is the newest run. If it has ended, and an older run of its project waits for a person, it is that one: a
// plan, or a refused answer, hides no run that waits.
func currentRun(ctx context.Context, s *session) (run.Run, error) {
	runs, err := s.runs(ctx)
	if err != nil {
		return run.Run{}, err
	}
	if len(runs) == 0 {
		return run.Run{}, fault.New(fault.Missing, "there is no run yet: deploy a project")
	}
	current := runs[0]
	waits := func(r run.Run) bool { return r.Project == current.Project && r.State == run.StateWaiting }
	if i := slices.IndexFunc(runs, waits); i > 0 && current.State.Over() {
		if !s.call.flags.quiet {
			fmt.Fprintf(s.call.Err, "newer than the run that waits: %s\n", described(current))
		}
		current = runs[i]
	}
	return s.load(ctx, current.ID)
}

// only is the newest run that fits, if all that fit are of one project: a command without RUN must not change a project
// that the user does not think of. fits gets all runs, the newest first and without their steps, and which of them it is about; whole gets
// one with its steps. none is the text of the error if no run fits.
func only(fits func(runs []run.Run, i int) bool, none string, whole ...func(run.Run) bool) choice {
	return func(ctx context.Context, s *session) (run.Run, error) {
		runs, err := s.runs(ctx)
		if err != nil {
			return run.Run{}, err
		}
		var found []run.Run // the newest of each project
		for i, r := range runs {
			if slices.ContainsFunc(found, func(f run.Run) bool { return f.Project == r.Project }) || !fits(runs, i) {
				continue
			}
			if r, err = s.load(ctx, r.ID); err != nil {
				return r, err
			}
			if !slices.ContainsFunc(whole, func(fits func(run.Run) bool) bool { return !fits(r) }) {
				found = append(found, r)
			}
		}
		switch len(found) {
		case 0:
			return run.Run{}, fault.New(fault.Missing, "%s", none)
		case 1:
			return found[0], nil
		}
		return run.Run{}, fault.New(fault.Refused, "%d projects have a run that %s could mean: name the run, or give --project and --env: %s",
			len(found), s.call.command.name, ids(found))
	}
}

// chosen is the run that the call names by its ID or the beginning of its ID, or
// without RUN the run that the choice selects.
func (s *session) chosen(ctx context.Context, which choice) (run.Run, error) {
	if len(s.call.args) == 0 {
		return which(ctx, s)
	}
	return s.named(ctx, s.call.args[0])
}

// named is the run with an ID, or with an ID that begins with the word.
func (s *session) named(ctx context.Context, word string) (run.Run, error) {
	r, err := s.load(ctx, word)
	if !fault.Is(err, fault.Missing) {
		return r, err
	}
	runs, lost := s.runs(ctx)
	if lost != nil {
		return run.Run{}, lost
	}
	var found []run.Run
	for _, r := range runs {
		if word != "" && strings.HasPrefix(r.ID, strings.ToLower(word)) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return run.Run{}, fault.New(fault.Missing, "there is no run %s, and no run whose ID begins with it: %s lists them", quoted(word), s.call.commandLine("runs"))
	case 1:
		return s.load(ctx, found[0].ID)
	}
	return run.Run{}, fault.New(fault.Invalid, "%d runs begin with %s: give more of the ID: %s", len(found), word, ids(found))
}

// ids lists the IDs of at most five runs, each with its operation and state.
func ids(runs []run.Run) string {
	var all []string
	for _, r := range runs[:min(len(runs), 5)] {
		all = append(all, described(r))
	}
	if len(runs) > len(all) {
		all = append(all, fmt.Sprintf("and %d more", len(runs)-len(all)))
	}
	return strings.Join(all, ", ")
}

// described is a run in a sentence.
func described(r run.Run) string {
	return fmt.Sprintf("%s (%s of %s, %s)", r.ID, r.Operation, r.Project, r.State)
}

// runs lists the runs of the projects that the call's flags choose, newest first.
func (s *session) runs(ctx context.Context) ([]run.Run, error) {
	projects, err := s.projects(ctx)
	if err != nil {
		return nil, err
	}
	var all []run.Run
	for _, p := range projects {
		runs, err := s.to.List(ctx, p, 0)
		if err != nil {
			return nil, fmt.Errorf("list the runs of %s: %w", p, err)
		}
		all = append(all, runs...)
	}
	slices.SortStableFunc(all, func(a, b run.Run) int { return cmp.Or(b.Requested.Compare(a.Requested), strings.Compare(a.ID, b.ID)) })
	return all, nil
}

// nameIn is the name of the project whose folder or file is at path, although its files have errors. It is empty if it is not known.
func nameIn(path string) string {
	file := path
	if at, err := os.Stat(path); err == nil && at.IsDir() {
		file = filepath.Join(path, projectFile)
	}
	if ext := filepath.Ext(file); ext != ".yaml" && ext != ".yml" {
		return ""
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "" // the caller says why the project cannot be read
	}
	found := ""
	for line := range strings.Lines(string(text)) {
		value, names := strings.CutPrefix(line, "project:")
		if !names {
			continue
		}
		if value, _, _ = strings.Cut(value, " #"); found != "" {
			return "" // the file names two
		}
		found = strings.Trim(strings.TrimSpace(value), `"'`)
	}
	if !project.Name.MatchString(found) {
		return ""
	}
	return found
}

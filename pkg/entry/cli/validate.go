package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/packages"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/policy"
	"github.com/stackwright/stackwright/pkg/project"
)

// A validation is what validate reports.
type validation struct {
	Valid    bool              `json:"valid"`
	Projects []validated       `json:"projects"` // the environments without problems
	Problems []problem.Problem `json:"problems"`
	Warnings []problem.Problem `json:"warnings,omitempty"`
}

// A validated is an environment without problems.
type validated struct {
	Project string   `json:"project"`                   // as in "shop@prod"
	Stacks  int      `json:"stacks"`                    // without those whose templates were not fetched
	Assumed []string `json:"assumed_targets,omitempty"` // the targets that were not looked up
	NotRead []string `json:"not_read,omitempty"`        // the addresses of files that were not fetched
}

// validate reports what is wrong with a project, in all its environments. It sends no
// request: it accepts each target that has a valid name.
func validate(ctx context.Context, c *call) (int, error) {
	path, err := c.folder()
	if err != nil {
		return ExitFailed, err
	}
	files, err := c.files(path)
	if err != nil && !fault.Is(err, fault.Invalid) {
		return ExitFailed, err
	}
	v := validation{Projects: []validated{}, Problems: []problem.Problem{}}
	v.add(err)
	if err == nil {
		v.read(ctx, c, files, projectName(path), c.flags.env)
	}
	v.Valid = len(v.Problems) == 0
	if err := c.showValidation(v); err != nil {
		return ExitFailed, err
	}
	if !v.Valid {
		return ExitRefused, nil
	}
	return ExitOK, nil
}

// add adds the problems of an error, each once.
func (v *validation) add(err error) {
	seen := make(map[problem.Problem]bool)
	for _, p := range v.Problems {
		seen[p] = true
	}
	for _, p := range problem.All(err) {
		if !seen[p] {
			v.Problems = append(v.Problems, p)
		}
	}
}

// read reads one environment, or all. name is that of a project without a project file.
func (v *validation) read(ctx context.Context, c *call, files archive.Files, name, environment string) {
	environments := []string{environment}
	if environment == "" {
		environments = format.Environments(files)
	}
	for _, e := range environments {
		read, assumed, err := c.assuming(ctx, files, name, e)
		one := validated{Assumed: assumed}
		for _, w := range read.Warnings {
			if !slices.Contains(v.Warnings, w) {
				v.Warnings = append(v.Warnings, w)
			}
		}
		if err == nil {
			err = policy.Checker{}.Valid(read.Project.Policies)
		}
		if err != nil {
			v.add(err)
			continue
		}
		one.Project, one.Stacks = read.Project.ID(), len(read.Project.Nodes)
		for _, a := range read.Lacked {
			one.NotRead = append(one.NotRead, a.String())
		}
		c.showLacked(read.Lacked)
		v.Projects = append(v.Projects, one)
	}
	slices.SortStableFunc(v.Problems, func(a, b problem.Problem) int {
		if (a.File == "") != (b.File == "") { // how many more there are comes last
			return cmp.Compare(b.File, a.File)
		}
		return a.Compare(b.Position)
	})
}

// assuming reads one environment without a request, and returns the targets that it took to be registered. The target
// default is in the region of the environment variables, or in that of this laptop if the files fit only there.
func (c *call) assuming(ctx context.Context, files archive.Files, name, environment string) (read format.Loaded, assumed []string, err error) {
	here := home().Target.Region
	region := cmp.Or(c.Getenv("AWS_REGION"), c.Getenv("AWS_DEFAULT_REGION"), here)
	read, assumed, err = c.assumingIn(ctx, region, files, name, environment)
	if err != nil && region != here {
		if again, others, wrong := c.assumingIn(ctx, here, files, name, environment); wrong == nil {
			return again, others, nil
		}
	}
	return read, assumed, err
}

// assumingIn is assuming with the target default in a region.
func (c *call) assumingIn(
	ctx context.Context, region string, files archive.Files, name, environment string,
) (read format.Loaded, assumed []string, err error) {
	at := home().Target
	at.Region = region
	targets := map[string]project.Target{project.DefaultTarget: at}
	o := format.Options{Holds: policy.Holds, Name: name, Environment: environment, Targets: targets,
		Store:   packages.Store{Bucket: Name, Region: at.Region},
		Assumed: []project.Target{{Name: at.Name, Region: at.Region}}}
	read, err = c.read(ctx, files, o)
	if assumed = assume(targets, read.Unregistered, read.Required); len(assumed) > 0 {
		for _, name := range assumed {
			known := read.Required[name]
			o.Assumed = append(o.Assumed, project.Target{Name: name, Account: known.Account, Region: known.Region})
		}
		read, err = c.read(ctx, files, o)
	}
	return read, assumed, err
}

// assume adds a target for each name that a target may have, and returns these names,
// sorted. Each gets an account of its own, so that no two stacks collide there.
func assume(targets map[string]project.Target, names []string, required map[string]project.Target) []string {
	var all []string
	for _, name := range names {
		if project.TargetName.MatchString(name) {
			all = append(all, name)
			targets[name] = project.Target{Name: name, Account: cmp.Or(required[name].Account, fmt.Sprintf("%012d", len(all))), Region: cmp.Or(required[name].Region, Region)}
		}
	}
	slices.Sort(all)
	return all
}

// showValidation prints a validation: problems are its result, and so go to the
// standard output.
func (c *call) showValidation(v validation) error {
	if c.flags.output == "json" {
		return c.printJSON(v)
	}
	for _, p := range v.Problems {
		if _, err := fmt.Fprintln(c.Out, p); err != nil {
			return err
		}
	}
	for _, w := range v.Warnings {
		w.Text = "warning: " + w.Text
		if _, err := fmt.Fprintln(c.Out, w); err != nil {
			return err
		}
	}
	for _, one := range v.Projects {
		assumed := ""
		if n := len(one.Assumed); n > 0 {
			assumed = fmt.Sprintf("; the account and region of %s %s was not looked up", map[bool]string{true: "target", false: "targets"}[n == 1], strings.Join(one.Assumed, ", "))
		}
		if n := len(one.NotRead); n > 0 {
			assumed += fmt.Sprintf("; not read: %s elsewhere", term.Plural(n, "file"))
		}
		if _, err := fmt.Fprintf(c.Out, "%s is valid: %s%s\n", one.Project, term.Plural(one.Stacks, "stack"), assumed); err != nil {
			return err
		}
	}
	if !v.Valid {
		fmt.Fprintln(c.Err, "not valid: "+term.Plural(len(v.Problems), "problem"))
	}
	return nil
}

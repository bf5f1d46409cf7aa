package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/draft"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// initialize writes a project file, and templates if the folder has none. It replaces no file.
func initialize(ctx context.Context, c *call) (int, error) {
	dir := "."
	if len(c.args) > 0 {
		dir = c.args[0]
	}
	there, err := archive.Folder(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !fault.Is(err, fault.Missing) {
		return c.refuse(err)
	}
	for _, name := range there.Paths() {
		if base := filepath.Base(name); strings.EqualFold(base, projectFile) || strings.EqualFold(base, "stackwright.yml") {
			return c.refuse(fault.New(fault.Refused, "%s exists: init replaces no project file: change it, or name another folder", filepath.Join(dir, name)))
		}
	}
	name, err := c.newName(dir)
	if err != nil {
		return c.refuse(err)
	}
	files, stacks, err := c.drafted(ctx, name, there)
	if err != nil {
		return c.refuse(err)
	}
	files[projectFile] = draft.File(draft.Project{Name: name, Stacks: stacks})
	if err := writeNew(dir, files); err != nil {
		return c.refuse(err)
	}
	if err := c.listFiles(dir, files); err != nil {
		return ExitFailed, err
	}
	if c.flags.live != "" {
		c.listSecrets(stacks)
	}
	maps.Copy(files, there)
	var v validation
	v.read(ctx, c, files, name, "")
	for _, p := range v.Problems {
		fmt.Fprintln(c.Err, p)
	}
	next := "see what a deploy would do: " + c.commandLine("plan", dir)
	if c.flags.live != "" {
		next = "see whether the live stacks are as it says, and take them over: " + c.commandLine("adopt", dir, "--plan")
	}
	if n := len(v.Problems); n > 0 {
		next = fmt.Sprintf("fix the %s above, and check the project: %s", term.Plural(n, "problem"), c.commandLine("validate", dir))
	}
	fmt.Fprintf(c.Err, "project %s has %s; %s\n", name, term.Plural(len(stacks), "stack"), next)
	return ExitOK, nil
}

// listFiles prints the paths of files that were written into a folder.
func (c *call) listFiles(dir string, files archive.Files) error {
	for _, file := range files.Paths() {
		if _, err := fmt.Fprintln(c.Out, filepath.Join(dir, filepath.FromSlash(file))); err != nil {
			return err
		}
	}
	return nil
}

// listSecrets says which parameters of stacks that exist refer to secrets in place of their values.
func (c *call) listSecrets(stacks []draft.Stack) {
	for _, s := range stacks {
		for _, key := range slices.Sorted(maps.Keys(s.Parameters)) {
			if text := s.Parameters[key].Items[0]; strings.HasPrefix(text, "${secret:") {
				fmt.Fprintf(c.Err, "stack %s: the value of parameter %s cannot be read, because it is NoEcho: create the secret that %s refers to, %s, or write another reference\n", s.Name, key, projectFile, text)
			}
		}
	}
}

// newName is the name of a new project: the one of the flag --project, or the user's
// answer, or that which follows from the prefix of the stacks or the folder.
func (c *call) newName(dir string) (string, error) {
	name := c.flags.project
	if name == "" {
		name = cmp.Or(projectName(strings.TrimRight(c.flags.live, "-")+".zip"), "project")
		if c.flags.live == "" {
			name = cmp.Or(projectName(dir), "project")
		}
		if c.Asks {
			answer, err := c.prompt(fmt.Sprintf("name of the project [%s]: ", name))
			if err != nil {
				return "", err
			}
			name = cmp.Or(answer, name)
		}
	}
	if !project.Name.MatchString(name) {
		return "", fault.New(fault.Invalid, "%s is not the name of a project: use letters, digits and hyphens, a letter first, at most 64", quoted(name))
	}
	return name, nil
}

// drafted returns the stacks of a new project, and the files to write besides the
// project file: of live stacks, of the templates in the folder, or an example.
func (c *call) drafted(ctx context.Context, name string, there archive.Files) (archive.Files, []draft.Stack, error) {
	if c.flags.live != "" {
		live, err := c.live(ctx)
		if err != nil {
			return nil, nil, err
		}
		files, stacks := draft.From(name, c.flags.live, live)
		return files, stacks, nil
	}
	var list problem.List
	if stacks := draft.Of(there, &list); len(stacks) > 0 || list.Err() != nil {
		return archive.Files{}, stacks, list.Err()
	}
	files, stacks := draft.Example()
	return files, stacks, nil
}

// live reads the stacks whose names begin with the prefix, with their templates. It leaves
// out nested stacks, which their parents create, and stacks without resources.
func (c *call) live(ctx context.Context) (all []draft.Live, err error) {
	_, err = c.in(ctx, c.openReadOnly, func(s *session) (int, error) {
		client := cloudformation.NewFromConfig(s.config)
		err := eachStack(ctx, client, "describe the stacks", func(st types.Stack) {
			status := plan.Status(st.StackStatus)
			if strings.HasPrefix(aws.ToString(st.StackName), c.flags.live) && st.ParentId == nil && !status.Gone() && status != "REVIEW_IN_PROGRESS" {
				all = append(all, liveStack(st))
			}
		})
		if err == nil && len(all) == 0 {
			err = fault.New(fault.Missing, "no stack in account %s, region %s has a name that begins with %s", s.home.Account, s.home.Region, quoted(c.flags.live))
		}
		for i, l := range all {
			if err != nil {
				break
			}
			all[i].Template, err = liveTemplate(ctx, client, l.Name)
		}
		return ExitOK, err
	})
	return all, err
}

// liveTemplate reads the template of a live stack.
func liveTemplate(ctx context.Context, client *cloudformation.Client, name string) ([]byte, error) {
	out, err := client.GetTemplate(ctx, &cloudformation.GetTemplateInput{StackName: &name, TemplateStage: types.TemplateStageOriginal})
	if err != nil {
		return nil, awserr.Fault("read the template of", name, err, nil)
	}
	return []byte(aws.ToString(out.TemplateBody)), nil
}

// liveStack returns a described stack, without its template.
func liveStack(st types.Stack) draft.Live {
	l := draft.Live{
		Name: aws.ToString(st.StackName), Protected: aws.ToBool(st.EnableTerminationProtection), Parameters: map[string]string{}, Tags: map[string]string{},
	}
	for _, p := range st.Parameters {
		l.Parameters[aws.ToString(p.ParameterKey)] = aws.ToString(p.ParameterValue)
	}
	for _, t := range st.Tags {
		l.Tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	for _, capability := range st.Capabilities {
		l.Capabilities = append(l.Capabilities, string(capability))
	}
	slices.Sort(l.Capabilities)
	l.Notifications = slices.Sorted(slices.Values(st.NotificationARNs))
	if c := st.RollbackConfiguration; c != nil {
		l.Triggers.Minutes = int(aws.ToInt32(c.MonitoringTimeInMinutes))
		for _, t := range c.RollbackTriggers {
			if aws.ToString(t.Type) == "AWS::CloudWatch::CompositeAlarm" {
				l.Triggers.CompositeAlarms = append(l.Triggers.CompositeAlarms, aws.ToString(t.Arn))
			} else {
				l.Triggers.Alarms = append(l.Triggers.Alarms, aws.ToString(t.Arn))
			}
		}
	}
	return l
}

// writeNew writes files into a folder, the project file last, unless one of them exists.
func writeNew(dir string, files archive.Files) error {
	names := slices.DeleteFunc(files.Paths(), func(name string) bool { return name == projectFile })
	names = append(names, projectFile)
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return fault.New(fault.Refused, "%s exists: init, export and convert replace no file: name another folder", filepath.Join(dir, name))
		}
	}
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fault.New(fault.Denied, "write the project: %w", err)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err == nil {
			_, err = f.Write(files[name])
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return fault.New(fault.Denied, "write the project: %w", err)
		}
	}
	return nil
}

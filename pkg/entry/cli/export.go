package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format/draft"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// exportFormat is the number of the format of the document that export prints.
const exportFormat = 1

// An export is everything that is known about a project. docs/export.md describes it.
type export struct {
	Format      int                `json:"format"`
	Project     string             `json:"project"`
	Environment string             `json:"environment"`
	Lock        *report.QueueEntry `json:"lock,omitempty"` // if a run holds it
	Stacks      []exportedStack    `json:"stacks"`
	Schedules   []shownSchedule    `json:"schedules"`
	Runs        []report.Run       `json:"runs"` // newest first, without steps
}

// An exportedStack is a recorded stack, and what CloudFormation reports about it.
type exportedStack struct {
	report.Stack
	Live   *liveState `json:"live,omitempty"`   // none if the stack does not exist
	Unread string     `json:"unread,omitempty"` // why it could not be described
	live   draft.Live // the same stack, with its template if a folder is written
}

// liveState is what CloudFormation reports about a stack. The values of NoEcho parameters are never in it.
type liveState struct {
	Status       plan.Status       `json:"status"`
	Parameters   []liveParameter   `json:"parameters"`
	Tags         map[string]string `json:"tags"`
	Capabilities []string          `json:"capabilities"`
	Protected    bool              `json:"protected"`

	Notifications    []string                 `json:"notifications,omitempty"`    // ARNs of topics
	RollbackTriggers project.RollbackTriggers `json:"rollback_triggers,omitzero"` // alarms, and how long they are watched
}

// A liveParameter is a parameter of a live stack.
type liveParameter struct {
	Name   string `json:"name"`
	Value  string `json:"value,omitempty"`
	Secret bool   `json:"secret,omitempty"` // it is NoEcho: CloudFormation does not return the value
}

// noEcho is what CloudFormation returns for the value of a NoEcho parameter.
const noEcho = "****"

// exportProject prints everything that is known about a project, or writes it as a project folder.
func exportProject(ctx context.Context, c *call) (int, error) {
	return c.in(ctx, c.openReadOnly, func(s *session) (int, error) {
		id, err := s.exportedProject(ctx)
		if err != nil {
			return c.refuse(err)
		}
		e, err := s.export(ctx, id)
		if err != nil {
			return ExitFailed, err
		}
		if c.flags.folder != "" {
			return s.exportFolder(ctx, id, e)
		}
		return ExitOK, c.printJSON(e)
	})
}

// exportedProject is the project that the call names, or the only one.
func (s *session) exportedProject(ctx context.Context) (string, error) {
	all, err := s.to.Projects(ctx)
	if err != nil {
		return "", fmt.Errorf("list the projects: %w", err)
	}
	if len(s.call.args) == 0 && len(all) == 1 {
		return all[0], nil
	}
	known := strings.Join(all, ", ")
	if len(s.call.args) == 0 {
		return "", fault.New(fault.Refused, "name the project to export, as in shop@prod: the installation has %s", orNone(known))
	}
	id := s.call.args[0]
	if !strings.Contains(id, "@") {
		id = project.ID(id, project.DefaultEnvironment)
	}
	if !slices.Contains(all, id) {
		return "", fault.New(fault.Missing, "there is no project %s%s: the installation has %s", quoted(id), didYouMean(id, all), orNone(known))
	}
	return id, nil
}

func orNone(names string) string {
	if names == "" {
		return "none"
	}
	return names
}

// export reads everything that is known about a project.
func (s *session) export(ctx context.Context, id string) (export, error) {
	name, environment, _ := strings.Cut(id, "@")
	e := export{Format: exportFormat, Project: name, Environment: environment, Stacks: []exportedStack{}, Schedules: []shownSchedule{}, Runs: []report.Run{}}
	var err error
	if e.Lock, err = report.QueueEntryOf(ctx, s.to, id); err != nil {
		return e, err
	}
	records, err := s.to.Records(ctx, id)
	if err != nil {
		return e, fmt.Errorf("read the records of %s: %w", id, err)
	}
	for _, node := range slices.Sorted(maps.Keys(records)) {
		e.Stacks = append(e.Stacks, exportedStack{Stack: report.StackOf(records[node])})
	}
	if err := s.describeExported(ctx, e.Stacks); err != nil {
		return e, err
	}
	schedules, err := s.to.Schedules(ctx, id)
	if err != nil {
		return e, fmt.Errorf("schedules of %s: %w", id, err)
	}
	for _, k := range schedules {
		e.Schedules = append(e.Schedules, shownSchedule{Schedule: k.Schedule, Project: k.Project, Operation: k.Operation, Expression: k.Expression, Zone: k.Zone, Disabled: k.Off})
	}
	runs, err := s.to.List(ctx, id, 0)
	if err != nil {
		return e, fmt.Errorf("runs of %s: %w", id, err)
	}
	for _, r := range runs {
		e.Runs = append(e.Runs, report.Of(r, time.Now()))
	}
	return e, nil
}

// describeExported adds what CloudFormation reports about stacks, and their templates if a folder is written.
func (s *session) describeExported(ctx context.Context, stacks []exportedStack) error {
	byTarget := make(map[project.Target]map[string]*exportedStack)
	for i := range stacks {
		if byTarget[stacks[i].Target] == nil {
			byTarget[stacks[i].Target] = make(map[string]*exportedStack)
		}
		byTarget[stacks[i].Target][stacks[i].ID] = &stacks[i]
	}
	for target, byID := range byTarget {
		err := s.describeIn(ctx, target, byID)
		switch {
		case fault.Is(err, fault.Denied):
			for _, st := range byID {
				st.Unread = strings.Join(fault.Messages(err), "; ")
			}
		case err != nil:
			return err
		}
	}
	return nil
}

// describeIn is describeExported for the stacks of one target, by their IDs.
func (s *session) describeIn(ctx context.Context, target project.Target, byID map[string]*exportedStack) error {
	cfg, _, err := s.places.In(ctx, target)
	if err != nil {
		return fmt.Errorf("target %s: %w", target.Name, err)
	}
	client := cloudformation.NewFromConfig(cfg)
	err = eachStack(ctx, client, "describe the stacks of target "+target.Name, func(st types.Stack) {
		e, ok := byID[aws.ToString(st.StackId)]
		if !ok {
			return
		}
		e.live = liveStack(st)
		e.live.Recorded = draft.Recorded{Node: e.Stack.Stack, Target: e.Target, Needs: e.Needs, Outputs: e.Outputs, Digest: e.Digest, Approve: e.Approve}
		e.Live = &liveState{Status: plan.Status(st.StackStatus), Parameters: []liveParameter{}, Tags: e.live.Tags, Capabilities: append([]string{}, e.live.Capabilities...), Protected: e.live.Protected, Notifications: e.live.Notifications, RollbackTriggers: e.live.Triggers}
		for _, key := range slices.Sorted(maps.Keys(e.live.Parameters)) {
			p := liveParameter{Name: key, Value: e.live.Parameters[key]}
			if p.Value == noEcho {
				p.Value, p.Secret = "", true
			}
			e.Live.Parameters = append(e.Live.Parameters, p)
		}
	})
	if s.call.flags.folder == "" {
		return err
	}
	for _, e := range byID {
		if err != nil {
			break
		}
		if e.Live != nil {
			e.live.Template, err = liveTemplate(ctx, client, e.live.Name)
		}
	}
	return err
}

// exportFolder writes a project folder from the live stacks of a project. It replaces no file.
func (s *session) exportFolder(_ context.Context, id string, e export) (int, error) {
	c := s.call
	var live []draft.Live
	var missing []error
	for _, st := range e.Stacks {
		switch {
		case st.Unread != "":
			missing = append(missing, fault.New(fault.Refused, "stack %s cannot be read: %s", st.Stack.Stack, st.Unread))
		case st.Live == nil:
			missing = append(missing, fault.New(fault.Refused, "stack %s is recorded, and does not exist: deploy the project, or forget the stack", st.Stack.Stack))
		default:
			live = append(live, st.live)
		}
	}
	if len(e.Stacks) == 0 {
		missing = append(missing, fault.New(fault.Refused, "%s has no stacks", id))
	}
	if len(missing) > 0 {
		return c.refuse(errors.Join(missing...))
	}
	files, stacks, err := draft.Export(id, live)
	if err != nil {
		return c.refuse(err)
	}
	written := draft.Project{Name: e.Project, Stacks: stacks}
	if e.Environment != project.DefaultEnvironment {
		written.Environments = []draft.Environment{{Name: e.Environment}}
	}
	files[projectFile] = draft.File(written)
	dir := c.flags.folder
	if err := writeNew(dir, files); err != nil {
		return c.refuse(err)
	}
	if err := c.listFiles(dir, files); err != nil {
		return ExitFailed, err
	}
	c.listSecrets(stacks)
	fmt.Fprintln(c.Err, "not written, because no live stack shows them: variables, other environments, schedules, limits, timeouts, policies, and who approves")
	next := c.commandLine("plan", dir)
	if e.Environment != project.DefaultEnvironment {
		next = c.commandLine("plan", dir, "--env", e.Environment)
	}
	fmt.Fprintf(c.Err, "see whether a deploy of it would change anything: %s\n", next)
	return ExitOK, nil
}

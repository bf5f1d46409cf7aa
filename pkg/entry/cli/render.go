package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	bucket "github.com/stackwright/stackwright/pkg/aws/s3"
	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/suggest"
	"github.com/stackwright/stackwright/pkg/project"
)

// A rendering is what a deploy would send to CloudFormation.
type rendering struct {
	Project string     `json:"project"` // as in "shop@prod"
	Stacks  []rendered `json:"stacks"`  // sorted
}

// A rendered is what a deploy would send for one stack.
type rendered struct {
	Stack     string         `json:"stack"`
	Target    project.Target `json:"target"`
	Role      string         `json:"role,omitempty"` // that is assumed to send the request
	Needs     []string       `json:"needs"`
	LeftAlone bool           `json:"left_alone,omitempty"`
	Obsolete  bool           `json:"obsolete,omitempty"` // the next prune deletes it
	Source    string         `json:"source"`             // where the template is
	Digest    string         `json:"digest"`             // of the template
	Template  string         `json:"template"`
	Request   stackRequest   `json:"request"`
}

// A stackRequest is the input of CreateStack or UpdateStack without the template's bytes,
// in the shape of the AWS CLI's --cli-input-json. References to outputs are as the user
// writes them.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
type stackRequest struct {
	StackName                   string
	TemplateURL                 string `json:",omitempty"` // of a template that is too large for a request
	Parameters                  []sentParameter
	Tags                        []sentTag
	Capabilities                []string
	RoleARN                     string          `json:",omitempty"`
	NotificationARNs            []string        `json:",omitempty"`
	RollbackConfiguration       *sentTriggers   `json:",omitempty"`
	ResourceTypes               []string        `json:",omitempty"`
	RetainResources             []string        `json:",omitempty"` // of DeleteStack, if a deletion has failed because of them
	StackPolicyBody             string          `json:",omitempty"` // of SetStackPolicy, after the creation and each update
	StackPolicyDuringUpdateBody string          `json:",omitempty"` // of UpdateStack
	OnFailure                   string          `json:",omitempty"` // of CreateStack
	DisableRollback             bool            `json:",omitempty"` // of CreateStack, and of UpdateStack too if the stack has disable_rollback: true
	EnableTerminationProtection bool            // of CreateStack
	TimeoutInMinutes            int             `json:",omitempty"` // of CreateStack
	DeploymentConfig            *sentDeployment `json:",omitempty"`
}

// A sentParameter is a parameter of a stackRequest.
type sentParameter struct{ ParameterKey, ParameterValue string }

// A sentTag is a tag of a stackRequest.
type sentTag struct{ Key, Value string }

// A sentTriggers is the rollback triggers of a stackRequest.
type sentTriggers struct {
	RollbackTriggers        []sentTrigger
	MonitoringTimeInMinutes int
}

// A sentTrigger is an alarm of a stackRequest.
type sentTrigger struct{ Arn, Type string }

// A sentDeployment is the mode of a stackRequest.
type sentDeployment struct {
	Mode            string
	DisableRollback bool
}

// render shows what a deploy would send to CloudFormation.
func render(ctx context.Context, c *call) (int, error) {
	l, err := c.load(ctx)
	if err != nil {
		return c.refuse(err)
	}
	names, err := l.chosen(c.args[min(1, len(c.args)):])
	if err != nil {
		return c.refuse(err)
	}
	store, err := c.store(ctx)
	if err != nil {
		return ExitFailed, err
	}
	templates := bucket.New(nil, store.Bucket, store.Region)
	all := rendering{Project: l.Project.ID()}
	for _, name := range names {
		all.Stacks = append(all.Stacks, l.rendered(name, templates.URL))
	}
	if c.flags.out != "" {
		if err := all.write(c.flags.out); err != nil {
			return ExitFailed, err
		}
	}
	if c.flags.output == "json" {
		return ExitOK, c.printJSON(all)
	}
	for _, r := range all.Stacks {
		if _, err := fmt.Fprint(c.Out, r.text(c.flags.out)); err != nil {
			return ExitFailed, err
		}
	}
	return ExitOK, nil
}

// chosen lists the nodes that arguments name, sorted: a stack in all its targets, a
// stack in one target, or, with a slash at the end, all stacks below it. No argument
// means all nodes.
func (l loaded) chosen(args []string) ([]string, error) {
	all := slices.Sorted(maps.Keys(l.Project.Nodes))
	if len(args) == 0 {
		return all, nil
	}
	taken := make(map[string]bool)
	for _, arg := range args {
		found := false
		for _, node := range all {
			if node == arg || strings.HasPrefix(node, arg+"@") || strings.HasSuffix(arg, "/") && strings.HasPrefix(node, arg) {
				taken[node], found = true, true
			}
		}
		if !found {
			return nil, fault.New(fault.Invalid, "%s has no stack %s%s", l.Project.ID(), quoted(arg), suggest.Hint(arg, all))
		}
	}
	return slices.Sorted(maps.Keys(taken)), nil
}

// rendered is what is sent for a node.
func (l loaded) rendered(name string, url func(digest string) string) rendered {
	n, access := l.Project.Nodes[name], l.access[l.Project.Nodes[name].Target.Name]
	r := rendered{
		Stack: name, Target: n.Target, Role: access.Role, Needs: append([]string{}, n.Needs...),
		LeftAlone: l.Project.Ignores(name), Obsolete: l.Project.IsObsolete(name), Source: l.Sources[name], Digest: n.Template.Digest, Template: string(l.Templates[n.Template.Digest]),
		Request: stackRequest{
			StackName: n.Stack, Capabilities: append([]string{}, n.Capabilities...), RoleARN: access.Execution,
			EnableTerminationProtection: n.Protect, TimeoutInMinutes: n.Timeout.Minutes(), Parameters: []sentParameter{},
			NotificationARNs: n.Notifications, DisableRollback: n.KeepsFailed(),
			ResourceTypes: n.ResourceTypes, RetainResources: n.Retain, StackPolicyBody: n.StackPolicy.Body, StackPolicyDuringUpdateBody: n.DuringUpdate,
		},
	}
	if from := n.RollbackTriggers; !from.IsZero() {
		to := &sentTriggers{MonitoringTimeInMinutes: from.Minutes}
		for _, arn := range from.Alarms {
			to.RollbackTriggers = append(to.RollbackTriggers, sentTrigger{arn, "AWS::CloudWatch::Alarm"})
		}
		for _, arn := range from.CompositeAlarms {
			to.RollbackTriggers = append(to.RollbackTriggers, sentTrigger{arn, "AWS::CloudWatch::CompositeAlarm"})
		}
		r.Request.RollbackConfiguration = to
	}
	if n.OnFailure == project.DeleteFailed {
		r.Request.OnFailure = string(n.OnFailure)
	}
	if n.Template.Bytes > project.MaxInline {
		r.Request.TemplateURL = url(n.Template.Digest)
	}
	if n.Deployment == project.Express {
		r.Request.DeploymentConfig = &sentDeployment{Mode: strings.ToUpper(string(n.Deployment)), DisableRollback: n.KeepsFailed()}
		r.Request.DisableRollback = false
	}
	for _, key := range slices.Sorted(maps.Keys(n.Parameters)) {
		r.Request.Parameters = append(r.Request.Parameters, sentParameter{key, n.Parameters[key].String()})
	}
	tags := map[string]string{project.ProjectTag: l.Project.ID(), project.StackTag: name}
	for key, value := range n.Tags {
		tags[key] = value.String()
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		r.Request.Tags = append(r.Request.Tags, sentTag{key, tags[key]})
	}
	return r
}

// text shows a stack for people. If the files were written into a folder, it names the
// file of the template instead of showing the template.
func (r rendered) text(folder string) string {
	var b strings.Builder
	q := r.Request
	fmt.Fprintf(&b, "%s\n", r.Stack)
	line := func(label, value string) {
		if value != "" {
			fmt.Fprintf(&b, "  %-15s %s\n", label, value)
		}
	}
	line("enabled", map[bool]string{true: "no: a deploy leaves the stack alone, and sends nothing"}[r.LeftAlone && !r.Obsolete])
	line("obsolete", map[bool]string{true: "yes: a deploy leaves the stack alone, and sends nothing; stackwright prune deletes it"}[r.Obsolete])
	line("stack name", q.StackName)
	line("target", fmt.Sprintf("%s (account %s, region %s)", r.Target.Name, r.Target.Account, r.Target.Region))
	line("role", r.Role)
	line("execution role", q.RoleARN)
	line("after", strings.Join(r.Needs, ", "))
	line("capabilities", strings.Join(q.Capabilities, ", "))
	line("protect", map[bool]string{true: "termination protection"}[q.EnableTerminationProtection])
	line("notifications", strings.Join(q.NotificationARNs, ", "))
	if c := q.RollbackConfiguration; c != nil {
		for i, t := range c.RollbackTriggers {
			line(map[bool]string{true: "alarms"}[i == 0], t.Arn)
		}
		line("alarms watched", term.Plural(c.MonitoringTimeInMinutes, "minute"))
	}
	line("resource types", strings.Join(q.ResourceTypes, ", "))
	line("retain", strings.Join(q.RetainResources, ", "))
	line("stack policy", q.StackPolicyBody)
	line("during updates", q.StackPolicyDuringUpdateBody)
	line("on failure", q.OnFailure)
	line("rollback", map[bool]string{true: "disabled"}[q.DisableRollback])
	if q.TimeoutInMinutes > 0 {
		line("timeout", term.Plural(q.TimeoutInMinutes, "minute"))
	}
	if q.DeploymentConfig != nil {
		line("mode", q.DeploymentConfig.Mode)
	}
	for i, p := range q.Parameters {
		line(map[bool]string{true: "parameters"}[i == 0], p.ParameterKey+"="+p.ParameterValue)
	}
	for i, t := range q.Tags {
		line(map[bool]string{true: "tags"}[i == 0], t.Key+"="+t.Value)
	}
	line("template", fmt.Sprintf("%s, %d bytes, %s", r.Source, len(r.Template), cmp.Or(q.TemplateURL, "in the request")))
	if folder != "" {
		line("written to", filepath.Join(folder, filepath.FromSlash(r.file())))
		return b.String() + "\n"
	}
	for text := range strings.Lines(r.Template) {
		fmt.Fprintf(&b, "    %s\n", strings.TrimRight(text, "\r\n"))
	}
	return b.String() + "\n"
}

// file is the path of the template in the folder of --out.
func (r rendered) file() string {
	file, _, _ := strings.Cut(r.Source, ":")
	extension := path.Ext(file)
	if strings.HasPrefix(strings.TrimSpace(r.Template), "{") {
		extension = ".json"
	}
	return r.Stack + ".template" + extension
}

// write writes the template and the request of each stack into a folder.
func (all rendering) write(folder string) error {
	for _, r := range all.Stacks {
		request, err := json.MarshalIndent(r.Request, "", "  ")
		if err != nil {
			return fault.New(fault.Broken, "request of %s: %w", r.Stack, err)
		}
		for name, body := range map[string][]byte{r.file(): []byte(r.Template), r.Stack + ".request.json": append(request, '\n')} {
			file := filepath.Join(folder, filepath.FromSlash(name))
			err := os.MkdirAll(filepath.Dir(file), 0o777)
			if err == nil {
				err = os.WriteFile(file, body, 0o666)
			}
			if err != nil {
				return fault.New(fault.Denied, "write what is sent for %s: %w", r.Stack, err)
			}
		}
	}
	return nil
}

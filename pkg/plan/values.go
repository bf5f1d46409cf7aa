package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/loss"
	"github.com/stackwright/stackwright/pkg/lib/shorten"
	"github.com/stackwright/stackwright/pkg/project"
)

// hidden is what CloudFormation shows for the value of a parameter with NoEcho.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/parameters-section-structure.html
const hidden = "****"

// values puts the parameters, tags and options that differ into c, completes the
// parameters of the desired side, and returns those whose values are not known, with the
// reason.
func (d describer) values(c *StackChange, n project.Node, before, after difference.Side) map[string]string {
	live, uncertain := Live{}, make(map[string]string)
	if c.Action.Existing() {
		live = d.Live[n.Name]
	}
	values := after.Scope.Parameters // the defaults
	for name, text := range n.Parameters {
		value, why := d.value(text)
		if values[name] = value; why != "" {
			uncertain[name] = why
		}
	}
	for _, name := range n.Keeps(live.Parameters) {
		values[name] = live.Parameters[name]
		delete(uncertain, name)
	}
	secret := func(name string) bool {
		for _, s := range []difference.Side{before, after} {
			if s.Template != nil && s.Template.Parameters[name].NoEcho {
				return true
			}
		}
		return live.Parameters[name] == hidden
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(values)), maps.Keys(live.Parameters))
	slices.Sort(names)
	same := d.sameSecrets(n, live, secret)
	c.stale = len(n.Reads) > 0 && c.Action.Existing() && !same
	returned := loss.Undo(live.Parameters, values)
	maps.Copy(before.Scope.Parameters, returned)
	for _, name := range slices.Compact(names) {
		was, had := returned[name]
		is, has := values[name]
		v := change(name, was, had, is, has, uncertain[name])
		if after.Template == nil && !has { // it may have a default
			continue
		}
		if secret(name) {
			v.Before, v.After, v.Secret = nil, nil, true
			v.Known = had != has
			if had && has && (same || slices.Contains(n.IgnoreChanges, name)) {
				continue
			}
			if had && has {
				v.Why = "its value is secret"
				uncertain[name] = v.Why
			}
		}
		if had != has || was != is || v.Why != "" {
			c.Parameters = append(c.Parameters, v)
		}
	}
	d.tags(c, n, live)
	c.options(n, live, d.Recorded[n.Name])
	return uncertain
}

// value returns a text with the outputs that it refers to, or, if some are not known, as
// the user writes it, with the reason.
func (d describer) value(t project.Text) (value, why string) {
	value, err := t.Resolve(func(node, output string) (string, error) {
		if uncertain, ok := d.uncertain[node]; ok {
			if why = uncertain(output); why != "" {
				return "", project.ErrUnknown
			}
		}
		if value, ok := d.outputOf(node, output); ok {
			return value, nil
		}
		if _, changes := d.uncertain[node]; !changes && d.Recorded[node].StackID != "" {
			return "", fault.New(fault.Missing, "stack %s has no output %s", node, output)
		}
		why = fmt.Sprintf("known when %s is deployed", node)
		return "", project.ErrUnknown
	})
	if err != nil {
		return t.String(), cmp.Or(why, err.Error())
	}
	return value, ""
}

// change is a value that differs.
func change(name, was string, had bool, is string, has bool, why string) ValueChange {
	v := ValueChange{Name: name, Known: why == "", Why: why}
	if difference.Secret(was) || difference.Secret(is) {
		v.Secret = true
		return v
	}
	if had {
		v.Before = &was
	}
	if has {
		v.After = &is
	}
	return v
}

// sameSecrets reports whether the parameters with NoEcho, and the outputs that the template reads, are certainly as
// they were last deployed. CloudFormation does not return their values. But the digest of what was deployed is
// recorded: it is the digest of the live values with the desired secrets. That
// says nothing of a stack that somebody else has changed since.
func (d describer) sameSecrets(n project.Node, live Live, secret func(string) bool) bool {
	r := d.Recorded[n.Name]
	if d.changedOutside(n.Name) {
		return false
	}
	was := project.Node{Stack: r.Stack, Target: r.Target, Template: project.Template{Digest: r.Template}, Protect: live.Protected, Notifications: live.Notifications, StackPolicy: project.StackPolicy{Digest: r.Policy}, IgnoreChanges: n.IgnoreChanges}
	was.Tags, was.Reads = literals(d.whole(live.Tags, n.Tags)), n.Reads
	for _, all := range []bool{false, true} { // without and with the parameters that are no longer given
		was.Parameters = make(map[string]project.Text)
		for name, value := range d.whole(live.Parameters, n.Parameters) {
			text, given := n.Parameters[name]
			switch {
			case given && secret(name):
				value, _ = d.value(text)
				was.Parameters[name] = project.Literal(value)
			case given || all:
				was.Parameters[name] = project.Literal(value)
			}
		}
		got, err := was.Resolve(d.output)
		if err == nil && r.Digest != "" && got.Digest == r.Digest {
			return true
		}
	}
	return false
}

func literals(values map[string]string) map[string]project.Text {
	all := make(map[string]project.Text, len(values))
	for name, value := range values {
		all[name] = project.Literal(value)
	}
	return all
}

// tags adds the tags that differ.
func (d describer) tags(c *StackChange, n project.Node, live Live) {
	names := slices.Sorted(maps.Keys(n.Tags))
	for name := range live.Tags {
		if _, ok := n.Tags[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		was, had := live.Tags[name]
		text, has := n.Tags[name]
		is, why := d.value(text)
		if loss.Same(was, is) {
			was = is
		}
		if v := change(name, was, had, is, has, why); had != has || was != is || why != "" {
			c.Tags = append(c.Tags, v)
		}
	}
}

// options adds the options that differ. For a stack that is created, these are the ones that are not the default, and
// the capabilities: no stack has them, they belong to the request.
func (c *StackChange) options(n project.Node, live Live, recorded Record) {
	if live.AccessError != "" {
		return
	}
	existed := c.Action.Existing() && live.StackID != ""
	if !existed && len(n.Capabilities) > 0 {
		c.Options = append(c.Options, change("capabilities", "", false, strings.Join(n.Capabilities, ", "), true, ""))
	}
	if live.Protected != n.Protect {
		c.Options = append(c.Options, change("protect", strconv.FormatBool(live.Protected), existed, strconv.FormatBool(n.Protect), true, ""))
	}
	if !slices.Equal(live.Notifications, n.Notifications) {
		c.Options = append(c.Options, change("notifications", strings.Join(live.Notifications, ", "), len(live.Notifications) > 0, strings.Join(n.Notifications, ", "), len(n.Notifications) > 0, ""))
	}
	if was, is := live.Triggers.String(), n.RollbackTriggers.String(); was != is {
		c.Options = append(c.Options, change("rollback_triggers", was, was != "", is, is != "", ""))
	}
	for _, o := range []struct{ name, value string }{{"resource_types", strings.Join(n.ResourceTypes, ", ")}, {"on_failure", string(n.OnFailure)}, {"disable_rollback", map[bool]string{true: "true"}[n.DisableRollback]}} {
		if !existed && o.value != "" { // no stack has it, it belongs to the request
			c.Options = append(c.Options, change(o.name, "", false, o.value, true, ""))
		}
	}
	c.policies(n, existed, recorded)
	if retain, differs := retainChange(recorded.Retain, n.Retain); differs {
		c.Options = append(c.Options, retain)
	}
	if level := recorded.Approve; level != n.Approve {
		c.Options = append(c.Options, change("approve", level.String(), existed, n.Approve.String(), true, ""))
	}
}

// policies adds another stack policy, and the one during the update. A plan does not read the policy that a stack has.
func (c *StackChange) policies(n project.Node, existed bool, recorded Record) {
	if !existed {
		recorded.Policy = ""
	}
	if is := n.StackPolicy; is.Digest != recorded.Policy {
		c.Options = append(c.Options, change("stack_policy", "the policy of the last update", recorded.Policy != "", shorten.To(maxShown, is.Body), is.Digest != "", ""))
	}
	if existed && n.DuringUpdate != "" {
		c.Options = append(c.Options, change("stack_policy_during_update", "", false, shorten.To(maxShown, n.DuringUpdate), true, ""))
	}
}

// maxShown is how many bytes of a policy a plan shows.
const maxShown = 300

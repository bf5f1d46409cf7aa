package plan

import (
	"cmp"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/lib/loss"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Deployed is the template that CloudFormation has of a stack which is not certainly as Stackwright left it.
type Deployed struct {
	Digest     string   // under which the template is stored; empty if it cannot be read
	Unreadable string   // why it cannot be read
	Lost       []string // the places of its texts that may lack characters: CloudFormation does not return all
}

// Unproved lists the recorded nodes whose stacks exist and are not certainly as Stackwright left them: somebody else
// may have changed them, or their last operation failed. Their templates are read. The list is sorted.
func (v View) Unproved() []string {
	about, _ := v.selected()
	var all []string
	for _, name := range slices.Sorted(maps.Keys(v.Recorded)) {
		live := v.Live[name]
		if v.managed(name) && !v.inaccessible(name) && !live.Dead() && !v.Recorded[name].Current(live) &&
			(about == nil || about[name]) {
			all = append(all, name)
		}
	}
	return all
}

// Proves reports whether the live stack is as Stackwright left it, although somebody has updated it since: it has the
// template with the recorded digest, and everything that Stackwright has given it. The value of a parameter with
// NoEcho cannot be read, so nothing is proved about a stack that has one. Nor is it after a rollback: the person who
// continued it may have skipped resources.
func (r Record) Proves(live Live, template string) bool {
	return r.Digest != "" && r.Template != "" && r.Template == template && r.StackID == live.StackID &&
		live.Status.Good() && r.Settings.prove(live)
}

// Matches reports whether the live stack of a desired node is as Stackwright left it, by the digest of what was
// deployed. Unlike Record.Proves, it needs no settings of the record, but the files. The template is the one that the
// stack has, with its digest.
func (v View) Matches(name, digest string, t *template.Template) bool {
	n, r, live := v.Desired.Nodes[name], v.Recorded[name], v.Live[name]
	if n.Name == "" || r.Digest == "" || r.Template != digest || r.StackID != live.StackID || !live.Status.Good() ||
		live.Project != v.Desired.ID() {
		return false
	}
	n.Stack, n.Target, n.Protect, n.Notifications = r.Stack, r.Target, live.Protected, live.Notifications
	n.Template.Digest, n.StackPolicy.Digest, n.Tags = digest, r.Policy, literals(v.whole(live.Tags, n.Tags))
	given := make(map[string]project.Text)
	for parameter, value := range v.whole(live.Parameters, n.Parameters) {
		_, written := n.Parameters[parameter]
		switch ignored := slices.Contains(n.IgnoreChanges, parameter); {
		case value == hidden && !ignored:
			return false
		case written:
			given[parameter] = project.Literal(value)
		case !ignored && !loss.Same(value, defaults(t)[parameter]):
			return false
		}
	}
	n.Parameters = given
	got, err := n.Resolve(v.output)
	return err == nil && got.Digest == r.Digest
}

// TemplateOf returns the digest of the template of the stack of a recorded node, and why its resources are not
// certainly those of that template; "" if they are. Without a digest, nobody knows the template. All that asks what is
// deployed asks here.
func (v View) TemplateOf(name string) (digest, why string) {
	r, live, read := v.Recorded[name], v.Live[name], v.Deployed[name]
	switch ended := live.Status.Good() || live.Status.Restored(); {
	case r.Template != "" && r.Current(live):
		return r.Template, ""
	case read.Digest != "" && ended:
		return read.Digest, ""
	case read.Digest != "":
		return read.Digest, "it is " + live.Status.String()
	case v.changedOutside(name):
		why = "the stack was changed outside Stackwright"
	default:
		why = "what is deployed is not known"
	}
	if read.Unreadable != "" {
		why += " (its template cannot be read: " + read.Unreadable + ")"
	}
	return "", why
}

// WithDeployed returns the view with a template that was read again, because the stored one of a node was lost.
func (v View) WithDeployed(name string, d Deployed) View {
	if d.Digest == "" {
		return v // the plan says that it is not known
	}
	r, deployed := v.Recorded[name], maps.Clone(v.Deployed)
	if deployed == nil {
		deployed = make(map[string]Deployed)
	}
	r.Template, deployed[name] = d.Digest, d
	v.Recorded, v.Deployed = maps.Clone(v.Recorded), deployed
	v.Recorded[name] = r
	return v
}

// lastKnown is the digest of the template that the stack of a node has, or had when Stackwright last deployed it.
func (v View) lastKnown(name string) string {
	digest, _ := v.TemplateOf(name)
	return cmp.Or(digest, v.Recorded[name].Template)
}

// changedOutside reports whether somebody else has changed the live stack of a node since its record was written.
func (v View) changedOutside(name string) bool {
	r, live := v.Recorded[name], v.Live[name]
	return !live.Status.Gone() && live.AccessError == "" && r.StackID == live.StackID && !live.Status.Busy() &&
		!r.LastUpdated.Equal(live.LastUpdated)
}

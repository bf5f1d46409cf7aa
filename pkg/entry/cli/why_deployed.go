package cli

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"

	"github.com/stackwright/stackwright/pkg/aws/cloudformation"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/plan"
)

// deployedTemplates are the templates of the files, and those that some stacks have in CloudFormation.
type deployedTemplates struct {
	ctx    context.Context
	cloud  *cloudformation.Cloud
	loaded loaded
	bodies map[string][]byte // by digest
}

// of returns the template with a digest.
func (d deployedTemplates) of(digest string) (*template.Template, error) {
	for _, bodies := range []map[string][]byte{d.loaded.Templates, d.bodies} {
		if body, ok := bodies[digest]; ok {
			return template.Parse("template", body)
		}
	}
	return nil, fault.New(fault.Missing, "no stack that this one depends on has it")
}

// read reads the templates of a stack and of its dependencies from CloudFormation. In the view that it returns, a stack
// that was changed outside Stackwright, and is as Stackwright left it, is as recorded.
func (d deployedTemplates) read(v plan.View, name string) (plan.View, error) {
	v.Restore()
	for node, outputs := range v.Uncertain() { // what is not certain is what CloudFormation has returned
		v.Know(node, outputs, d.loaded.Templates[v.Recorded[node].Template])
		maps.DeleteFunc(v.Outputs[node], func(_ string, o plan.Output) bool { return !o.Certain })
	}
	v.Deployed, v.Recorded = make(map[string]plan.Deployed), maps.Clone(v.Recorded)
	done := make(map[string]bool)
	for next := []string{name}; len(next) > 0; {
		node := next[0]
		next = next[1:]
		if done[node] {
			continue
		}
		done[node] = true
		if err := d.readOne(v, node); err != nil {
			return v, err
		}
		next = append(next, v.Desired.Nodes[node].Needs...)
	}
	return v, nil
}

// readOne reads the template of the stack of a node into v, if it has one that is not among those of the files.
func (d deployedTemplates) readOne(v plan.View, node string) error {
	r, live := v.Recorded[node], v.Live[node]
	if r.StackID == "" || live.Status.Gone() || live.AccessError != "" {
		return nil
	}
	if _, known := d.loaded.Templates[r.Template]; known && r.Current(live) {
		return nil
	}
	at := r.Location()
	at.StackID = live.StackID
	body, err := d.cloud.DeployedTemplate(d.ctx, at)
	switch {
	case fault.Is(err, fault.Throttled, fault.Unavailable):
		return err
	case err != nil:
		v.Deployed[node] = plan.Deployed{Unreadable: err.Error()}
		return nil
	}
	body, lost := template.Restore(body, d.loaded.Templates[v.Desired.Nodes[node].Template.Digest])
	digest := fmt.Sprintf("%x", sha256.Sum256(body))
	d.bodies[digest] = body
	v.Deployed[node] = plan.Deployed{Digest: digest, Lost: lost}
	if t, err := template.Parse("template", body); err == nil && v.Matches(node, digest, t) {
		r.LastUpdated = live.LastUpdated
		v.Recorded[node] = r
	}
	return nil
}

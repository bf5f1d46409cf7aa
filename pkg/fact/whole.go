package fact

import (
	"context"
	"fmt"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/loss"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/plan"
)

// wholeFact is what the outputs are of which CloudFormation may not have returned all characters.
func wholeFact() Fact {
	return Fact{Complete: func(ctx context.Context, e Reading, v *plan.View) error {
		v.Restore()
		for node, outputs := range v.Uncertain() {
			if len(outputs) == 0 {
				continue
			}
			body, err := e.Changes.Template(ctx, v.Recorded[node].Template)
			if err != nil && !fault.Is(err, fault.Missing) {
				return fmt.Errorf("read the template of %s, whose outputs are used: %w", node, err)
			}
			v.Know(node, outputs, body)
		}
		return nil
	}}
}

// live is the template of a live stack.
type live struct {
	body       []byte
	unreadable string   // why it cannot be read; empty if it can
	lost       []string // the places of its texts that may lack characters
}

// liveTemplate reads the template of a live stack. CloudFormation loses characters of its texts: they are those of the
// stored templates with the digests, where these have the same texts but for such characters.
func (e Reading) liveTemplate(ctx context.Context, at plan.Location, digests ...string) (live, error) {
	body, err := e.Clouds.DeployedTemplate(ctx, at)
	switch {
	case fault.Is(err, fault.Throttled, fault.Unavailable):
		return live{}, err
	case err != nil:
		return live{unreadable: err.Error()}, nil
	case !loss.Possible(string(body)):
		return live{body: body}, nil
	}
	var known [][]byte
	for _, digest := range digests {
		if digest == "" {
			continue
		}
		stored, err := e.Changes.Template(ctx, digest)
		if err != nil && !fault.Is(err, fault.Missing) {
			return live{}, err
		}
		known = append(known, stored)
	}
	l := live{}
	l.body, l.lost = template.Restore(body, known...)
	return l, nil
}

// liveOf reads the template of the live stack of a node, which is a recorded or a desired one.
func (e Reading) liveOf(ctx context.Context, v plan.View, name string) (live, error) {
	n, desired := v.Desired.Nodes[name]
	at := v.Recorded[name].Location()
	if desired {
		at = plan.Location{Node: name, Stack: n.Stack, Target: n.Target}
	}
	at.StackID = v.Live[name].StackID
	return e.liveTemplate(ctx, at, v.Recorded[name].Template, n.Template.Digest, v.MovedTemplate(name))
}

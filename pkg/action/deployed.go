package action

import (
	"context"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// deployed returns the digest of the template of the live stack of t. It is empty if the template cannot be read, and
// is not read if the stack is certainly as recorded.
func (t Task) deployed(ctx context.Context, c Cloud, live plan.Live) (digest string, err error) {
	if t.Record.Current(live) {
		return t.Record.Template, nil
	}
	digest, err = c.TemplateDigest(ctx, t.Location(), t.Record.Template)
	if fault.Is(err, fault.Denied, fault.Missing, fault.Refused) {
		return "", nil // nothing is proved about the stack
	}
	return digest, err
}

package wire

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/smithy-go/middleware"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/aws/cloudwatch"
	"github.com/stackwright/stackwright/pkg/aws/sts"
)

type tallyKey struct{}

// forRun returns the context in which a function works for a run: roles of other
// accounts are assumed under the run's name, and requests to CloudFormation are
// counted. done writes the count.
func (h *App) forRun(ctx context.Context, run string) (_ context.Context, done func()) {
	t := &cloudwatch.Tally{}
	ctx = context.WithValue(sts.As(ctx, action.Prefix+run), tallyKey{}, t)
	return ctx, func() { h.meter.Called(ctx, run, t) }
}

// counting counts every request to CloudFormation, each time that it is sent.
func counting(o *cloudformation.Options) {
	o.APIOptions = append(o.APIOptions, func(s *middleware.Stack) error {
		return s.Deserialize.Add(middleware.DeserializeMiddlewareFunc("StackwrightCount", count), middleware.Before)
	})
}

// count counts a request, and whether CloudFormation throttled it.
func count(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
	out, meta, err := next.HandleDeserialize(ctx, in)
	t, _ := ctx.Value(tallyKey{}).(*cloudwatch.Tally)
	t.Add(throttles.IsErrorThrottle(err).Bool())
	return out, meta, err
}

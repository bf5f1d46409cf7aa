package wire

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/smithy-go/middleware"

	"github.com/stackwright/stackwright/pkg/aws/cloudwatch"
)

type tallyKey struct{}

// acting is for what a function does for a run: it is done in the run's name, in
// other accounts too, and what CloudFormation is asked is counted. The count is
// written by done.
func (h *App) acting(ctx context.Context, run string) (_ context.Context, done func()) {
	t := &cloudwatch.Tally{}
	ctx = context.WithValue(as(ctx, run), tallyKey{}, t)
	return ctx, func() { h.meter.Called(ctx, run, t) }
}

// counting has every request to CloudFormation be counted, each time that it is
// sent.
func counting(o *cloudformation.Options) {
	o.APIOptions = append(o.APIOptions, func(s *middleware.Stack) error {
		return s.Deserialize.Add(middleware.DeserializeMiddlewareFunc("StackwrightCount", count), middleware.Before)
	})
}

// count counts a request by what comes of it.
func count(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
	out, meta, err := next.HandleDeserialize(ctx, in)
	t, _ := ctx.Value(tallyKey{}).(*cloudwatch.Tally)
	t.Add(throttles.IsErrorThrottle(err).Bool())
	return out, meta, err
}

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// idleFor is how long no run has to go on before serve --until-idle ends.
const idleFor = 3

// serve serves everything until it is stopped.
func serve(ctx context.Context, c *call) (int, error) {
	how := c.hosting(c.flags.listen, false)
	how.Log, how.Yields = c.Err, c.flags.untilIdle
	h, err := c.Laptop.Stay(ctx, how)
	if _, taken := errors.AsType[*InUse](err); taken && c.flags.untilIdle {
		fmt.Fprintf(c.Err, "somebody else carries on: %v\n", err)
		return ExitOK, nil
	}
	if err != nil {
		return ExitFailed, err
	}
	if err := c.greet(h); err != nil {
		return ExitFailed, errors.Join(err, h.Close())
	}
	var idle <-chan time.Time
	if c.flags.untilIdle {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		idle = ticker.C
	}
	for calm := 0; calm < idleFor; {
		select {
		case <-ctx.Done():
			return ExitOK, h.Close()
		case <-c.Interrupts:
			if c.Obey != nil {
				c.Obey()
			}
			fmt.Fprintln(c.Err, "stopped: what was in flight goes on with the next serve")
			return ExitOK, h.Close()
		case err := <-h.Failed():
			return ExitFailed, errors.Join(fmt.Errorf("serve at %s: %w", h.URL(), err), h.Close())
		case <-idle:
			if calm++; !quiet(ctx, h) {
				calm = 0
			}
		}
	}
	return ExitOK, h.Close()
}

// greet says where the server is and what to do with it.
func (c *call) greet(h Host) error {
	if c.flags.output == "json" {
		return json.NewEncoder(c.Out).Encode(map[string]string{
			"endpoint": h.URL(), "bucket": Name, "table": Name, "state_machine": MachineARN(), "data": c.flags.data,
		})
	}
	_, err := fmt.Fprintf(c.Out, `Stackwright's AWS listens at %[1]s (account %[2]s, region %[3]s, state in %[4]s)

deploy:  %[5]s deploy DIR --endpoint %[1]s
or:      aws s3 cp shop.zip s3://%[6]s/projects/shop/prod.zip --endpoint-url %[1]s
watch:   %[5]s status --follow --endpoint %[1]s
         aws cloudformation describe-stacks --endpoint-url %[1]s
         curl --aws-sigv4 aws:amz:%[3]s:execute-api --user local:local %[1]s/projects/shop/prod/runs

The aws command wants any credentials: export AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_DEFAULT_REGION=%[3]s
Ctrl-C stops it; all is still there when it is started again.
`, h.URL(), Account, Region, c.flags.data, c.Self, Name)
	return err
}

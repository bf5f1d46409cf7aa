package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/stackwright/stackwright/infra/local/cloud"
)

// idleFor is how long no run has to go on before serve --until-idle ends.
const idleFor = 3

// serve serves everything until it is stopped.
func serve(ctx context.Context, c *call) (int, error) {
	h, err := c.stay(ctx, hosting{address: c.flags.listen, log: c.err, yields: c.flags.untilIdle})
	if _, taken := errors.AsType[*cloud.InUse](err); taken && c.flags.untilIdle {
		fmt.Fprintf(c.err, "somebody else carries on: %v\n", err)
		return exitOK, nil
	}
	if err != nil {
		return exitFailed, err
	}
	if err := c.greet(h); err != nil {
		return exitFailed, errors.Join(err, h.close())
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
			return exitOK, h.close()
		case <-c.interrupts:
			if c.obey != nil {
				c.obey()
			}
			fmt.Fprintln(c.err, "stopped: what was in flight goes on with the next serve")
			return exitOK, h.close()
		case err := <-h.failed:
			return exitFailed, errors.Join(fmt.Errorf("serve at %s: %w", h.url, err), h.close())
		case <-idle:
			if calm++; !h.quiet(ctx) {
				calm = 0
			}
		}
	}
	return exitOK, h.close()
}

// greet says where the server is and what to do with it.
func (c *call) greet(h *host) error {
	if c.flags.output == "json" {
		return json.NewEncoder(c.out).Encode(map[string]string{
			"endpoint": h.url, "bucket": name, "table": name, "state_machine": h.cloud.Machine, "data": c.flags.data,
		})
	}
	_, err := fmt.Fprintf(c.out, `Stackwright's AWS listens at %[1]s (account %[2]s, region %[3]s, state in %[4]s)

deploy:  %[5]s deploy DIR --endpoint %[1]s
or:      aws s3 cp shop.zip s3://%[6]s/projects/shop/prod.zip --endpoint-url %[1]s
watch:   %[5]s status --follow --endpoint %[1]s
         aws cloudformation describe-stacks --endpoint-url %[1]s
         curl --aws-sigv4 aws:amz:%[3]s:execute-api --user local:local %[1]s/projects/shop/prod/runs

The aws command wants any credentials: export AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_DEFAULT_REGION=%[3]s
Ctrl-C stops it; all is still there when it is started again.
`, h.url, account, region, c.flags.data, c.self, name)
	return err
}

package cli

import (
	"context"
	"fmt"
	"strings"
)

// invoke sends an event to a function's binary, and shows what it answers. An
// error of the function is an answer too.
func invoke(ctx context.Context, c *call) (int, error) {
	answer, failed, err := c.Laptop.Invoke(ctx, c.args[0], c.Err)
	if err != nil {
		return ExitFailed, err
	}
	if _, err := fmt.Fprintln(c.Out, strings.TrimSpace(string(answer))); err != nil || failed {
		return ExitFailed, err
	}
	return ExitOK, nil
}

package engine

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// RunID returns the ID of the run that the given words request: 20 base32 characters of
// their SHA-256. The same words give the same run.
func RunID(words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "\n")))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:run.IDLength]
}

// RollbackOf names the rollback that follows a run, if one does.
func RollbackOf(id string) string { return RunID(id, "rollback") }

// Start makes a run of a request and starts an execution for it, or carries out
// the command that the request gives to a run. A command that is refused becomes a
// refused run, because an event has no caller that could get the error. A request that
// is delivered twice is carried out once.
func (e *Engine) Start(ctx context.Context, q run.Request) error {
	if _, command := run.ControlNamed(q.Operation); command && len(q.Problems) == 0 {
		err := e.Command(ctx, q)
		if !fault.Is(err, fault.Refused, fault.Missing) {
			return err
		}
		q.Problems = fault.Messages(err)
	}
	messages := limitMessages(q.Problems)
	q.Problems = nil // they are stored as the messages of the run
	r, _, err := e.Store.CreateRun(ctx, run.Run{
		Request: q, Version: run.Version, Command: run.Continue, State: run.StatePending, Messages: messages, Requested: e.Now(), TokenKey: e.Nonce(),
	})
	switch {
	case err != nil:
		return fmt.Errorf("create run %s: %w", q.ID, err)
	case r.State != run.StatePending:
		return nil // the request was delivered before
	case r.Epoch > 0:
		return e.launch(ctx, r.ID, r.Epoch) // an earlier start may have failed after it raised the epoch
	}
	return e.startExecution(ctx, r)
}

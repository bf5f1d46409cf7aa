package dynamodb

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// A historyItem names a step that changed a stack, or tried to. It is written in the transaction that ends the step, so that the
// history of a stack is read without the other steps of its runs.
type historyItem struct {
	Run     string `json:"run"`
	Number  int    `json:"number"` // of the step
	Expires int64  `json:"expires"`
}

// historyPrefix begins the keys of the history of a stack. A stack's name has no "#".
func historyPrefix(node string) string { return "HISTORY#" + node + "#" }

// remembering returns the write of the history that a change makes, if it ends a step that was started and that does more than to read
// the stack: a refresh each night would fill the history.
func remembering(c engine.Change) []write {
	s := c.Step
	if !s.Over() || s.Attempt == 0 || s.Node == "" || s.Reads() {
		return nil
	}
	at := key{"PROJECT#" + c.Project, historyPrefix(s.Node) + fmt.Sprintf("%s#%s#%05d", stamp(s.Ended), c.Run, s.Number)}
	return []write{{key: at, put: historyItem{Run: c.Run, Number: s.Number, Expires: time.Now().Add(retention).Unix()}}}
}

// History returns a page of the steps that changed a stack of a project, or tried to, newest first: each with its run, which has no
// steps. before is the cursor of the page before this one, "" for the first page; none follows the last page.
func (t *Table) History(ctx context.Context, project, node, before string, most int) (page []run.StepOf, next string, err error) {
	of := prefixed("PROJECT#"+project, historyPrefix(node))
	of.newest, of.most = true, most+1
	if before != "" {
		of.to, of.most = historyPrefix(node)+before, most+2 // with the entry that the cursor names
	}
	items, err := t.query(ctx, of)
	if err != nil {
		return nil, "", err
	}
	if len(items) > 0 && items[0].text("SK") == of.to {
		items = items[1:]
	}
	if len(items) > most {
		items = items[:most]
		next = strings.TrimPrefix(items[most-1].text("SK"), historyPrefix(node))
	}
	page, err = t.stepsOf(ctx, items)
	return page, next, err
}

// stepsOf reads the steps that items of a history name, with their runs. It leaves out those that have expired.
func (t *Table) stepsOf(ctx context.Context, items []item) ([]run.StepOf, error) {
	named, err := decodeAll[historyItem](items)
	if err != nil {
		return nil, err
	}
	var keys []key
	for _, n := range named {
		keys = append(keys, runKey(n.Run), stepKey(n.Run, n.Number))
	}
	got, err := t.all(ctx, keys)
	if err != nil {
		return nil, err
	}
	var all []run.StepOf
	for _, n := range named {
		r, err := decodeRun(n.Run, got[runKey(n.Run)])
		step := got[stepKey(n.Run, n.Number)]
		if fault.Is(err, fault.Missing) || len(step) == 0 {
			continue
		}
		if err != nil {
			return nil, err
		}
		s, err := decodeStep(step)
		if err != nil {
			return nil, err
		}
		all = append(all, run.StepOf{Run: r.run(), Step: s})
	}
	return all, nil
}

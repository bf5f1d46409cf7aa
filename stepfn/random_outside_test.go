package stepfn_test

import (
	"cmp"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// Random scenarios in which a user adds a table to a stack of ours without Stackwright. They are among those with tables,
// whose templates in memory are templates of CloudFormation.

const (
	said    invariant = "said: no data is lost that the plan did not say"
	unknown invariant = "unknown: nothing is unknown that can be read"
)

// addedOutside begins the names of tables that a user has added to our stacks.
const addedOutside = "x-"

// addTable adds that a user adds a table to a stack of ours.
func (a *generator) addTable() {
	if a.outside == nil || len(a.last) == 0 || a.outside.IntN(2) > 0 {
		return
	}
	a.add("add-table", a.last[a.outside.IntN(len(a.last))].name)
}

// addTable lets a user add a table to a stack of the last deploy, if it has none. No run is open.
func (g *player) addTable(l line) {
	p := g.backend.(*memoryBackend)
	s := g.last.named(l[1])
	has, given := p.Cloud.Template(s.physical)
	if s.physical == "" || !p.Cloud.Status(s.physical).Good() || strings.Contains(has, "TableName:") || !strings.Contains(has, "Resources:") {
		return
	}
	g.injected["table added"]++
	g.changedOutside[s.physical] = true
	g.saved.changed = append(g.saved.changed, s.physical)
	s.table, s.unkept = addedOutside+s.name, true
	p.Cloud.Update(s.physical, strings.TrimRight(has, "\n")+"\n"+s.tableText(), given)
	g.Pass(10 * time.Second) // descriptions of stacks lag less: no plan says what nobody can see
}

// checkLosses checks what a run has lost with tables that users have added, and that its plan has said it.
func (g *player) checkLosses(r run.Run) {
	p, memory := g.backend.(*memoryBackend)
	reference := cmp.Or(r.Changes, r.Plan)
	if !memory || reference == "" {
		return
	}
	stacks := make(map[string]plan.StackChange)
	for _, c := range g.Planned(run.Run{Changes: reference}).Stacks {
		stacks[c.Stack] = c
		for _, caveat := range c.Caveats {
			g.holds(unknown, caveat != "the stack was changed outside Stackwright, so its template is not compared", "the plan of run %s says of %s: %s", r.ID, c.Stack, caveat)
		}
	}
	for _, d := range p.Cloud.Deletions {
		if name, added := strings.CutPrefix(d.Table, addedOutside); added && d.By == r.ID {
			c := stacks[name]
			g.holds(said, c.DataLoss || c.PossibleDataLoss || c.UnknownDataLoss, "run %s has deleted the table of %s, and its plan says %+v", r.ID, name, c)
		}
	}
}

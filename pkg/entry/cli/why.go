package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"github.com/stackwright/stackwright/pkg/aws/cloudformation"
	accounts "github.com/stackwright/stackwright/pkg/aws/sts"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// explainStack says what decides whether a deploy of the files changes a stack. It requests no run, and reads CloudFormation with the
// permissions of the user.
func explainStack(ctx context.Context, c *call) (int, error) {
	name := c.args[0]
	c.args = c.args[1:]
	l, err := c.load(ctx)
	if err != nil {
		return c.refuse(err)
	}
	return c.in(ctx, c.openReadOnly, func(s *session) (int, error) {
		w, err := s.why(ctx, l, name)
		switch {
		case fault.Is(err, fault.Missing):
			return c.refuse(err)
		case err != nil:
			return ExitFailed, err
		case c.flags.output == "json":
			return ExitOK, c.printJSON(w)
		}
		return ExitOK, c.printWhy(w)
	})
}

// why says what decides whether a deploy of a loaded project changes a stack.
func (s *session) why(ctx context.Context, l loaded, name string) (report.Why, error) {
	p := l.Project
	all, err := s.to.Records(ctx, p.ID())
	if err != nil {
		return report.Why{}, fmt.Errorf("read the records of %s: %w", p.ID(), err)
	}
	records, caveats := withoutHooks(p, all, name)
	recorded, _, _ := plan.Rename(p, records, plan.Selection{})
	cloud := cloudformation.New(clientsOf(s.places), nil)
	v := plan.View{Desired: p, Recorded: recorded, Selection: s.call.flags.selection()}
	if v.Live, err = observed(ctx, cloud, plan.Locations(p, recorded)); err != nil {
		return report.Why{}, fmt.Errorf("read the stacks of %s: %w", p.ID(), err)
	}
	v.Desired.Nodes, caveats = withoutImports(p, name, caveats)
	templates := deployedTemplates{ctx, cloud, l, make(map[string][]byte)}
	if v, err = templates.read(v, name); err != nil {
		return report.Why{}, err
	}
	next, err := v.Why(name, templates.of)
	if err != nil {
		return report.Why{}, err
	}
	next.Caveats = append(next.Caveats, caveats...)
	past, err := s.to.History(ctx, p.ID(), name)
	if err != nil {
		return report.Why{}, fmt.Errorf("read the history of %s: %w", name, err)
	}
	w := report.WhyOf(p.ID(), name, all, past)
	w.Next = &next
	w.Needs, w.Users = neighbours(l, name, w.Needs, w.Users)
	return w, nil
}

// withoutHooks returns the records with what no list of stacks shows as the files have it, and says what is not compared for a stack
// because of that.
func withoutHooks(p project.Project, all map[string]plan.Record, name string) (records map[string]plan.Record, caveats []string) {
	records = maps.Clone(all)
	for node, r := range records {
		r.Hooks, r.Pending = project.HooksOfDeletion(p.Nodes[node].Hooks), nil
		records[node] = r
	}
	if len(p.Nodes[name].Hooks) > 0 {
		caveats = append(caveats, "its hooks are not compared: only a plan does so")
	}
	return records, caveats
}

// withoutImports returns the nodes without the resources that they import, of which only a plan looks up whether their stacks have them.
func withoutImports(p project.Project, name string, caveats []string) (map[string]project.Node, []string) {
	nodes := maps.Clone(p.Nodes)
	for node, n := range nodes {
		if node == name && len(n.Import)+len(n.MoveFrom) > 0 {
			caveats = append(caveats, "the resources that it imports, or that move into it, are not looked up: only a plan does so")
		}
		n.Import, n.MoveFrom = nil, nil
		nodes[node] = n
	}
	return nodes, caveats
}

// observed reads the live stacks. A stack that the user may not read has an AccessError, even if there is no other.
func observed(ctx context.Context, cloud *cloudformation.Cloud, locations []plan.Location) (map[string]plan.Live, error) {
	live, err := cloud.Observe(ctx, locations)
	if !fault.Is(err, fault.Denied) {
		return live, err
	}
	live = make(map[string]plan.Live, len(locations))
	for _, at := range locations {
		live[at.Node] = plan.Live{AccessError: "your credentials may not read it"}
	}
	return live, nil
}

// clientsOf returns the clients of CloudFormation in the targets, with the user's own permissions.
func clientsOf(places *accounts.Accounts) cloudformation.TargetClients {
	return func(ctx context.Context, t project.Target) (cloudformation.TargetClient, error) {
		cfg, execution, err := places.In(ctx, t)
		if err != nil {
			return cloudformation.TargetClient{}, err
		}
		return cloudformation.TargetClient{Client: sdk.NewFromConfig(cfg), Role: execution}, nil
	}
}

// neighbours says why a stack depends on others, and others on it, by the files.
func neighbours(l loaded, name string, needs, users []report.Neighbour) (allNeeds, allUsers []report.Neighbour) {
	was := make(map[string]bool)
	for i, side := range [][]report.Neighbour{needs, users} {
		for _, n := range side {
			was[fmt.Sprint(i, n.Stack)] = true
		}
	}
	allNeeds, allUsers = []report.Neighbour{}, []report.Neighbour{}
	for _, e := range l.Edges {
		switch name {
		case e.Node:
			allNeeds = append(allNeeds, report.Neighbour{Stack: e.Needs, Because: e.String(), Place: e.Place, Recorded: was["0"+e.Needs]})
		case e.Needs:
			allUsers = append(allUsers, report.Neighbour{Stack: e.Node, Because: e.String(), Place: e.Place, Recorded: was["1"+e.Node]})
		}
	}
	return merged(allNeeds, needs), merged(allUsers, users)
}

// merged adds those that are only recorded, and sorts all.
func merged(all, recorded []report.Neighbour) []report.Neighbour {
	for _, r := range recorded {
		if !slices.ContainsFunc(all, func(n report.Neighbour) bool { return n.Stack == r.Stack }) {
			r.Because = "when it was last deployed, and no longer"
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b report.Neighbour) int {
		return cmp.Or(cmp.Compare(a.Stack, b.Stack), cmp.Compare(a.Because, b.Because), cmp.Compare(a.Place, b.Place))
	})
	return all
}

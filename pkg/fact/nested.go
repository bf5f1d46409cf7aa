package fact

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A plan reads what nested stacks export of so many stacks, and of so many nested in each, at any depth: two requests
// for each. Of others, CloudFormation may refuse to give up an export.
const (
	maxNesting = 50
	maxNested  = 50
)

// nestedType is the type of a stack that is nested in another one.
const nestedType = "AWS::CloudFormation::Stack"

// readNested adds what nested stacks export to the exports of the stacks around them, by the logical IDs that lead
// there, as "Network.Subnets.Id": DescribeStacks lists with each stack only its own. nodes are the recorded stacks
// that may give up exports.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html
func readNested(ctx context.Context, e Reading, v *plan.View, nodes []string) error {
	nodes, err := nesting(ctx, e, *v, nodes)
	if err != nil || len(nodes) > maxNesting {
		return err
	}
	all := make([]map[string]string, len(nodes))
	err = e.Parallel(ctx, len(nodes), func(ctx context.Context, i int) (err error) {
		all[i], err = nestedExports(ctx, e, *v, nodes[i])
		return err
	})
	if err != nil {
		return fmt.Errorf("find what nested stacks export: %w", err)
	}
	for i, name := range nodes {
		live := v.Live[name]
		live.Exports = maps.Clone(live.Exports)
		if live.Exports == nil {
			live.Exports = make(map[string]string)
		}
		maps.Copy(live.Exports, all[i])
		v.Live[name] = live
	}
	return nil
}

// nesting lists those of some nodes whose templates, as they are deployed, have nested stacks.
func nesting(ctx context.Context, e Reading, v plan.View, nodes []string) ([]string, error) {
	digests := make(map[string]bool)
	for _, name := range nodes {
		if digest, _ := v.TemplateOf(name); digest != "" {
			digests[digest] = true
		}
	}
	if len(digests) > maxCompared {
		return nil, nil
	}
	templates, err := e.Templates(ctx, slices.Sorted(maps.Keys(digests)))
	if err != nil {
		return nil, fmt.Errorf("find nested stacks: %w", err)
	}
	return slices.DeleteFunc(slices.Clone(nodes), func(name string) bool {
		digest, _ := v.TemplateOf(name)
		t, err := templates(digest)
		if digest == "" || err != nil {
			return true // the plan says that the template is not known
		}
		for _, r := range t.Resources {
			if r.Type == nestedType {
				return false
			}
		}
		return true
	}), nil
}

// nestedExports returns what the stacks nested in that of a node export.
func nestedExports(ctx context.Context, e Reading, v plan.View, node string) (map[string]string, error) {
	at := v.Recorded[node].Location()
	at.Node, at.StackID = "", v.Live[node].StackID
	var found []plan.Location // each Node is the logical IDs that lead to it, with a point after each
	for next := []plan.Location{at}; len(next) > 0 && len(found) <= maxNested; next = next[1:] {
		below, err := e.Clouds.Resources(ctx, next[0])
		switch {
		case fault.Is(err, fault.Missing): // it was deleted since
			continue
		case err != nil:
			return nil, err
		}
		for _, id := range slices.Sorted(maps.Keys(below)) {
			if isStackID(below[id]) {
				one := plan.Location{
					Node: next[0].Node + id + ".", Stack: nameIn(below[id]), StackID: below[id], Target: at.Target,
				}
				next, found = append(next, one), append(found, one)
			}
		}
	}
	if len(found) > maxNested {
		return nil, nil
	}
	live, err := e.Clouds.Observe(ctx, found)
	if err != nil {
		return nil, err
	}
	all := make(map[string]string)
	for _, one := range found {
		for output, export := range live[one.Node].Exports {
			all[one.Node+output] = export
		}
	}
	return all, nil
}

// isStackID reports whether a physical ID is the ID of a stack, as that of a nested one is.
// An ID is arn:aws:cloudformation:REGION:ACCOUNT:stack/NAME/UUID.
func isStackID(physicalID string) bool {
	_, path, found := strings.Cut(physicalID, "stack/")
	return found && strings.HasPrefix(physicalID, "arn:") && strings.Count(path, "/") == 1
}

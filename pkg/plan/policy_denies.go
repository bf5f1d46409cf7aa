package plan

import (
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/stackpolicy"
	"github.com/stackwright/stackwright/pkg/project"
)

// updateActions are the actions of stack policies by what becomes of a resource.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/protect-stack-resources.html
var updateActions = map[difference.Action]string{
	difference.Modify: "Update:Modify", difference.Replace: "Update:Replace", difference.Remove: "Update:Delete",
}

// policyDenies warns of changes that the stack policy denies which counts during the update: the node's own one for
// updates, or the one that the stack was given last. That is known only if the files still have it. Somebody may have set
// another one since, so it is a warning, and what the change would lose is said all the same.
func policyDenies(c StackChange, n project.Node, r Record) []string {
	body := n.DuringUpdate
	if body == "" && r.Policy == n.StackPolicy.Digest {
		body = n.StackPolicy.Body
	}
	if c.Action != ActionUpdate || body == "" {
		return nil
	}
	policy, err := stackpolicy.Parse(body)
	if err != nil { // the reader of the files refuses it
		return nil
	}
	var all []string
	for _, one := range c.Resources {
		action := updateActions[one.Action]
		if action == "" || one.Possible || one.Refused != "" {
			continue
		}
		if why := policy.Denial(action, one.ID, one.Type); why != "" {
			all = append(all, fmt.Sprintf("CloudFormation will refuse the update of %s: %s: allow it once with "+
				"stack_policy_during_update:, or deploy another stack_policy: before", one.ID, strings.TrimSuffix(why, ";")))
		}
	}
	return all
}

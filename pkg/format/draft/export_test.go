package draft_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format/draft"
	"github.com/stackwright/stackwright/pkg/project"
)

const exportedTemplate = `Parameters:
  Size: { Type: String, Default: small }
  Class: { Type: String, Default: basic }
  Vpc: { Type: String }
  Password: { Type: String, NoEcho: true, Default: none }
Resources:
  Nothing: { Type: AWS::CloudFormation::WaitConditionHandle }
`

// The recorded digest tells which of the parameters with their default were given. A value that exactly one output of a
// dependency has is a reference.
func TestExportOfParameters(t *testing.T) {
	sum := sha256.Sum256([]byte(exportedTemplate))
	live := func(node string) draft.Live {
		return draft.Live{
			Name: "shop-" + node, Template: []byte(exportedTemplate), Parameters: map[string]string{"Size": "small", "Class": "basic", "Vpc": "vpc-1", "Password": "****"},
			Tags: map[string]string{"team": "orders"}, Recorded: draft.Recorded{Node: node, Target: project.Target{Name: project.DefaultTarget}, Needs: []string{"bus", "vpc"}},
		}
	}
	deployed := project.Node{
		Stack: "shop-db", Template: project.Template{Digest: hex.EncodeToString(sum[:])}, Target: project.Target{Name: project.DefaultTarget},
		Parameters: map[string]project.Text{"Vpc": project.Literal("vpc-1"), "Class": project.Literal("basic")}, Tags: map[string]project.Text{"team": project.Literal("orders")},
	}
	r, err := deployed.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	db, unknown := live("db"), live("unknown")
	db.Recorded.Digest, db.Recorded.Approve = r.Digest, project.ApproveAlways
	vpc := draft.Live{Name: "other", Recorded: draft.Recorded{Node: "vpc", Target: project.Target{Name: "eu"}, Outputs: map[string]string{"Id": "vpc-1", "Cidr": "10.0.0.0/8"}}}
	bus := draft.Live{Name: "shop-bus", Recorded: draft.Recorded{Node: "bus", Target: project.Target{Name: project.DefaultTarget}}}
	_, stacks, err := draft.Export("shop@default", []draft.Live{unknown, db, vpc, bus})
	if err != nil {
		t.Fatal(err)
	}
	none, team := map[string]draft.Value{}, map[string]draft.Value{"team": draft.Literal("orders")}
	vpcID := draft.Reference("${vpc.Id}")
	want := []draft.Stack{
		{Name: "bus", Template: "templates/bus.yaml", Parameters: none, Tags: none},
		{Name: "db", Template: "templates/db.yaml", Parameters: map[string]draft.Value{"Class": draft.Literal("basic"), "Vpc": vpcID}, Tags: team, Needs: []string{"bus"}, Approve: project.ApproveAlways},
		{Name: "unknown", Template: "templates/unknown.yaml", Parameters: map[string]draft.Value{"Vpc": vpcID, "Password": draft.Reference("${secret:shop-unknown/Password}")}, Tags: team, Needs: []string{"bus"}},
		{Name: "vpc", StackName: "other", Template: "templates/vpc.yaml", Parameters: none, Tags: none, Targets: []string{"eu"}},
	}
	for i := range stacks {
		if len(stacks[i].Needs) == 0 {
			stacks[i].Needs = nil
		}
	}
	if d := cmp.Diff(want, stacks); d != "" {
		t.Error(d)
	}
	if file := string(draft.File(draft.Project{Name: "shop", Stacks: stacks})); strings.Count(file, "    approve: always\n") != 1 || strings.Count(file, "approve") != 1 {
		t.Error(file)
	}
}

// A stack that is the same in two targets is one stack of the project. One that differs cannot be written.
func TestExportOfTargets(t *testing.T) {
	in := func(target, value string) draft.Live {
		return draft.Live{
			Name: "shop-vpc", Template: []byte(exportedTemplate), Parameters: map[string]string{"Vpc": value},
			Recorded: draft.Recorded{Node: "vpc@" + target, Target: project.Target{Name: target}},
		}
	}
	_, stacks, err := draft.Export("shop@default", []draft.Live{in("us", "a"), in("eu", "a")})
	if err != nil || len(stacks) != 1 || !cmp.Equal(stacks[0].Targets, []string{"eu", "us"}) || stacks[0].StackName != "" {
		t.Errorf("%+v %v", stacks, err)
	}
	_, _, err = draft.Export("shop@default", []draft.Live{in("eu", "a"), in("us", "b")})
	if got := fault.Messages(err); !fault.Is(err, fault.Refused) || len(got) != 1 || got[0] != "stack vpc differs between vpc@eu and vpc@us, and one stack of a project cannot be written for both: write the project by hand" {
		t.Errorf("%q", got)
	}
}

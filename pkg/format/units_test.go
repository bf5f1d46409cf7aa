package format

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/project"
)

// withUnits reads a project file with the units org, both and none. The first has some accounts, of which one that begins with a minus is closed; the second
// has the first of them.
func withUnits(text string, accounts ...string) (Loaded, [][]string, error) {
	unit := func(name string) project.Access {
		return project.Access{Target: project.Target{Name: name, Region: "eu-west-1"}, Unit: "ou-abcd-12345678"}
	}
	var listed []project.Account
	for _, id := range accounts {
		a := project.Account{ID: strings.TrimPrefix(id, "-"), Name: "shop", State: project.AccountActive}
		if a.ID != id {
			a.State = project.AccountSuspended
		}
		listed = append(listed, a)
	}
	files := archive.Files{"stackwright.yaml": []byte("project: shop\n" + text)}
	for _, name := range []string{"net", "app"} {
		files[name+".yaml"] = []byte("Parameters: { From: { Type: String, Default: x } }\nResources: { T: { Type: AWS::SNS::Topic } }\nOutputs: { Arn: { Value: !Ref T } }\n")
	}
	var l Loaded
	var named [][]string
	err := WithUnits(Options{Targets: here(), Units: []string{"org", "both", "none"}}, func(o Options) (unregistered []string, err error) {
		l, err = Read(files, o)
		return l.Unregistered, err
	}, func(names []string) (all project.Members, err error) {
		named = append(named, names)
		for _, name := range names {
			switch of, _, member := project.UnitOf(name); {
			case name == "org", member && of == "org":
				all.Add(unit("org"), listed)
			case name == "both":
				all.Add(unit("both"), listed[:1])
			case name == "none":
				all.Add(unit("none"), nil)
			}
		}
		return all, nil
	})
	return l, named, err
}

// A stack in a unit has a node for each of its accounts, whose name has the account also if it is the only one.
func TestUnits(t *testing.T) {
	for name, c := range map[string]struct {
		text     string
		accounts []string
		want     string // the nodes with what they need, or the error
	}{
		"no account":          {"stacks: { net: { template: net.yaml, targets: [org] }, app: { template: app.yaml } }", nil, "app; net is deployed nowhere: unit ou-abcd-12345678 (target org) has no accounts: move one to it, or take the target out of the project"},
		"one account":         {"stacks: { net: { template: net.yaml, targets: [org] }, app: { template: app.yaml, targets: [org], needs: [net] } }", []string{"111111111111"}, "app@org-111111111111<net@org-111111111111 net@org-111111111111"},
		"two accounts":        {"stacks: { net: { template: net.yaml, targets: [org] }, app: { template: app.yaml, targets: [org, default], parameters: { From: \"x\" } } }", []string{"111111111111", "222222222222"}, "app@default app@org-111111111111 app@org-222222222222 net@org-111111111111 net@org-222222222222"},
		"one by its name":     {"stacks: { net: { template: net.yaml, targets: [org-111111111111] } }", []string{"111111111111", "222222222222"}, "net"},
		"an output by name":   {"stacks: { net: { template: net.yaml, targets: [org] }, app: { template: app.yaml, parameters: { From: \"${net.Arn@org-111111111111}\" } } }", []string{"111111111111"}, "stack app: parameter From: ${net.Arn@org-111111111111}"},
		"an output":           {"stacks: { net: { template: net.yaml, targets: [org] }, app: { template: app.yaml, parameters: { From: \"${net@org-111111111111.Arn}\" } } }", []string{"111111111111"}, "app<net@org-111111111111 net@org-111111111111"},
		"which is not said":   {"stacks: { net: { template: net.yaml, targets: [org] }, app: { template: app.yaml, needs: [net] } }", []string{"111111111111"}, "stack app: needs: net: stack net is deployed to org-111111111111, and this stack to default: name one of them, such as net@org-111111111111"},
		"of an empty unit":    {"stacks: { net: { template: net.yaml, targets: [org] }, app: { template: app.yaml, needs: [net] } }", nil, "stack app: needs: net: stack net is not in environment default: unit ou-abcd-12345678 (target org) has no accounts: move one to it, or take the target out of the project"},
		"two empty units":     {"stacks: { net: { template: net.yaml, targets: [org, none] } }", nil, "; net is deployed nowhere: unit ou-abcd-12345678 (target org) has no accounts: move one to it, or take the target out of the project; unit ou-abcd-12345678 (target none) has no accounts: move one to it, or take the target out of the project"},
		"a unit twice":        {"stacks: { net: { template: net.yaml, targets: [org, org] } }", []string{"111111111111"}, "stack net: targets: org is listed twice: remove one"},
		"an account twice":    {"stacks: { net: { template: net.yaml, targets: [org-111111111111, org] } }", []string{"111111111111"}, "stack net: targets: org-111111111111 is listed twice, first at stackwright.yaml:2:48, and here as an account of org: remove one"},
		"an account after":    {"stacks: { net: { template: net.yaml, targets: [org, org-111111111111] } }", []string{"111111111111"}, "stack net: targets: org-111111111111 is listed twice, first at stackwright.yaml:2:48 as an account of org, and here: remove one"},
		"not in the unit":     {"stacks: { net: { template: net.yaml, targets: [org-333333333333] } }", []string{"111111111111"}, "target org-333333333333: account 333333333333 is not under the unit of target org, or is left out (--except): stackwright targets lists its accounts"},
		"a closed account":    {"stacks: { net: { template: net.yaml, targets: [org-333333333333] }, app: { template: app.yaml } }", []string{"-333333333333"}, "app; net is deployed nowhere: account 333333333333 (shop) is SUSPENDED: AWS has suspended or closed it, and can reinstate it for 90 days after a closure"},
		"one of two closed":   {"stacks: { net: { template: net.yaml, targets: [org-333333333333, default] } }", []string{"-333333333333"}, "net@default; net@org-333333333333 is deployed nowhere: account 333333333333 (shop) is SUSPENDED: AWS has suspended or closed it, and can reinstate it for 90 days after a closure"},
		"of a closed account": {"stacks: { net: { template: net.yaml, targets: [org-333333333333] }, app: { template: app.yaml, needs: [net] } }", []string{"-333333333333"}, "stack app: needs: net: stack net is not in environment default: account 333333333333 (shop) is SUSPENDED"},
		"all are closed":      {"stacks: { net: { template: net.yaml, targets: [org] }, app: { template: app.yaml } }", []string{"-333333333333"}, "app; net is deployed nowhere: unit ou-abcd-12345678 (target org) has no active account that is not left out: 1 closed, suspended or not activated, 0 left out (--except): stackwright targets lists them"},
		"in two units":        {"stacks: { net: { template: net.yaml, targets: [org, both] } }", []string{"111111111111"}, "stack net: its targets org-111111111111 and both-111111111111 are the same account and region: name one of them; or leave account 111111111111 out of the unit of target both: register that again with its options and --except 111111111111"},
		"waves":               {"stacks: { net: { template: net.yaml, targets: [org], rollout: { order: [org-111111111111, \"*\"] } } }", []string{"111111111111", "222222222222"}, "net@org-111111111111 net@org-222222222222"},
		"waves of an account": {"stacks: { net: { template: net.yaml, targets: [org], rollout: { order: [org-111111111111, \"*\"] } } }", []string{"222222222222"}, "net@org-222222222222"},
		"not registered":      {"stacks: { net: { template: net.yaml, targets: [ogr] } }", []string{"111111111111"}, "target ogr is not registered: did you mean org? Otherwise register it with stackwright targets add ogr"},
	} {
		l, _, err := withUnits(c.text, c.accounts...)
		if err != nil {
			if !fault.Is(err, fault.Invalid) || c.want == "" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got the error %v, want %q", name, err, c.want)
			}
			continue
		}
		var got []string
		for _, node := range slices.Sorted(maps.Keys(l.Project.Nodes)) {
			got = append(got, strings.TrimSuffix(node+"<"+strings.Join(l.Project.Nodes[node].Needs, ","), "<"))
		}
		said := strings.Join(got, " ")
		for _, stack := range slices.Sorted(maps.Keys(l.Project.Unplaced)) {
			said += "; " + stack + " is deployed nowhere: " + l.Project.Unplaced[stack]
		}
		if said != c.want {
			t.Errorf("%s: got %q, want %q", name, said, c.want)
		}
	}
}

// The accounts of a unit are listed only if the project names it, and once. If they cannot be listed, the project is not read.
func TestUnitsAreListedIfNamed(t *testing.T) {
	if _, named, err := withUnits("stacks: { net: { template: net.yaml } }"); err != nil || len(named) > 0 {
		t.Errorf("a project without units lists %v (%v)", named, err)
	}
	if _, named, err := withUnits("stacks: { net: { template: net.yaml, targets: [org] } }", "111111111111"); err != nil || fmt.Sprint(named) != "[[org]]" {
		t.Errorf("a project with a unit lists %v (%v)", named, err)
	}
	lost := fault.New(fault.Throttled, "slow down")
	err := WithUnits(Options{Targets: here()}, func(Options) ([]string, error) { return []string{"org"}, nil }, func([]string) (project.Members, error) { return project.Members{}, lost })
	if !fault.Is(err, fault.Throttled) {
		t.Errorf("a list that cannot be read: %v", err)
	}
}

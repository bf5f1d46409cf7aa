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

// withUnits reads a project file with the units org and none, of which the first has some accounts.
func withUnits(text string, accounts ...string) (Loaded, [][]string, error) {
	unit := project.Access{Target: project.Target{Name: "org", Region: "eu-west-1"}, Unit: "ou-abcd-12345678"}
	files := archive.Files{"stackwright.yaml": []byte("project: shop\n" + text)}
	for _, name := range []string{"net", "app"} {
		files[name+".yaml"] = []byte("Parameters: { From: { Type: String, Default: x } }\nResources: { T: { Type: AWS::SNS::Topic } }\nOutputs: { Arn: { Value: !Ref T } }\n")
	}
	var l Loaded
	var named [][]string
	err := WithUnits(Options{Targets: here()}, func(o Options) (unregistered []string, err error) {
		l, err = Read(files, o)
		return l.Unregistered, err
	}, func(names []string) (map[string][]project.Target, error) {
		named = append(named, names)
		all := map[string][]project.Target{}
		for _, name := range names {
			if of, _, member := project.UnitOf(name); name == "org" || member && of == "org" {
				all["org"] = []project.Target{}
				for _, a := range accounts {
					all["org"] = append(all["org"], unit.Member(a).Target)
				}
			} else if name == "none" {
				all[name] = []project.Target{}
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
		"no account":          {"stacks: { net: { template: net.yaml, targets: [org] }, app: { template: app.yaml } }", nil, "app"},
		"one account":         {"stacks: { net: { template: net.yaml, targets: [org] }, app: { template: app.yaml, targets: [org], needs: [net] } }", []string{"111111111111"}, "app@org-111111111111<net@org-111111111111 net@org-111111111111"},
		"two accounts":        {"stacks: { net: { template: net.yaml, targets: [org] }, app: { template: app.yaml, targets: [org, default], parameters: { From: \"x\" } } }", []string{"111111111111", "222222222222"}, "app@default app@org-111111111111 app@org-222222222222 net@org-111111111111 net@org-222222222222"},
		"one by its name":     {"stacks: { net: { template: net.yaml, targets: [org-111111111111] } }", []string{"111111111111", "222222222222"}, "net"},
		"an output by name":   {"stacks: { net: { template: net.yaml, targets: [org] }, app: { template: app.yaml, parameters: { From: \"${net.Arn@org-111111111111}\" } } }", []string{"111111111111"}, "stack app: parameter From: ${net.Arn@org-111111111111}"},
		"an output":           {"stacks: { net: { template: net.yaml, targets: [org] }, app: { template: app.yaml, parameters: { From: \"${net@org-111111111111.Arn}\" } } }", []string{"111111111111"}, "app<net@org-111111111111 net@org-111111111111"},
		"which is not said":   {"stacks: { net: { template: net.yaml, targets: [org] }, app: { template: app.yaml, needs: [net] } }", []string{"111111111111"}, "stack app: needs: net: stack net is deployed to org-111111111111, and this stack to default: name one of them, such as net@org-111111111111"},
		"of an empty unit":    {"stacks: { net: { template: net.yaml, targets: [org] }, app: { template: app.yaml, needs: [net] } }", nil, "stack app: needs: net: stack net is not in environment default: no account of org is active at present"},
		"two empty units":     {"stacks: { net: { template: net.yaml, targets: [org, none] } }", nil, ""},
		"a unit twice":        {"stacks: { net: { template: net.yaml, targets: [org, org] } }", []string{"111111111111"}, "stack net: targets: org is listed twice: remove one"},
		"an account twice":    {"stacks: { net: { template: net.yaml, targets: [org-111111111111, org] } }", []string{"111111111111"}, "stack net: targets: org-111111111111 is listed twice: remove one"},
		"not in the unit":     {"stacks: { net: { template: net.yaml, targets: [org-333333333333] } }", []string{"111111111111"}, "target org-333333333333: account 333333333333 is not active under the unit for which target org stands, or left out: stackwright targets lists its accounts"},
		"waves":               {"stacks: { net: { template: net.yaml, targets: [org], rollout: { order: [org-111111111111, \"*\"] } } }", []string{"111111111111", "222222222222"}, "net@org-111111111111 net@org-222222222222"},
		"waves of an account": {"stacks: { net: { template: net.yaml, targets: [org], rollout: { order: [org-111111111111, \"*\"] } } }", []string{"222222222222"}, "net@org-222222222222"},
		"not registered":      {"stacks: { net: { template: net.yaml, targets: [ogr] } }", []string{"111111111111"}, "target ogr is not registered: register it with stackwright targets add ogr"},
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
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
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
	err := WithUnits(Options{Targets: here()}, func(Options) ([]string, error) { return []string{"org"}, nil }, func([]string) (map[string][]project.Target, error) { return nil, lost })
	if !fault.Is(err, fault.Throttled) {
		t.Errorf("a list that cannot be read: %v", err)
	}
}

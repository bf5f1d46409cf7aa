package format

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/resolve"
	"github.com/stackwright/stackwright/pkg/project"
)

// widdix returns the templates of widdix/aws-cf-templates. STACKWRIGHT_INPUTS is their folder.
func widdix(t *testing.T) archive.Files {
	t.Helper()
	inputs := os.Getenv("STACKWRIGHT_INPUTS")
	if inputs == "" {
		t.Skip("STACKWRIGHT_INPUTS names no folder of templates")
	}
	all, err := archive.Folder(inputs)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Templates that were written for other tools get their edges from their imports
// and exports.
func TestEdgesOfImports(t *testing.T) {
	all := widdix(t)
	file, err := os.ReadFile("../../testdata/widdix/stackwright.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all["stackwright.yaml"] = file
	l, err := Read(all, Options{Targets: here()})
	if err != nil {
		t.Fatal(err)
	}
	isConsistent(t, l)
	want := map[string]string{
		"access-log":        "",
		"alert":             "",
		"bastion":           "alert vpc zone",
		"cache":             "alert bastion client key vpc zone",
		"client":            "vpc",
		"ecs/cluster":       "access-log alert bastion client vpc",
		"ecs/service":       "alert ecs/cluster zone",
		"endpoint/dynamodb": "vpc",
		"endpoint/s3":       "vpc",
		"fargate/cluster":   "access-log alert vpc zone",
		"fargate/service":   "alert client fargate/cluster vpc zone",
		"flow-logs":         "vpc",
		"key":               "alert",
		"nat-a":             "alert vpc",
		"nat-b":             "alert vpc",
		"secret":            "key",
		"table":             "alert key",
		"trail":             "alert key",
		"vpc":               "",
		"wordpress":         "alert bastion vpc zone",
		"zone":              "vpc",
	}
	got := map[string]string{}
	large := 0
	for name, n := range l.Project.Nodes {
		got[name] = strings.Join(n.Needs, " ")
		if n.Template.Bytes > project.MaxInline {
			large++
		}
		if !n.Template.Pinned {
			t.Errorf("%s: its template is not pinned, so every deploy would update it", name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(- want, + got):\n%s", diff)
	}
	if len(got) < 18 || large < 2 {
		t.Errorf("%d stacks with %d large templates, want 18 with 2 at least", len(got), large)
	}
	for _, e := range l.Edges {
		if e.Cause != resolve.Imported {
			t.Errorf("an edge that is not from an import: %s", e)
		}
	}
	if names := slices.Sorted(maps.Keys(all)); len(names) < 18 {
		t.Errorf("%d files", len(names))
	}
}

// The same templates are a project without a project file: their parameters are in files
// of the AWS CLI's shapes, and their edges are those of the project file.
func TestPlainTemplates(t *testing.T) {
	all := widdix(t)
	for stack, given := range map[string]string{
		"ecs/cluster":                   `{"Parameters": {"ParentVPCStack": "w-vpc-vpc-2azs"}}`,
		"ecs/service-cluster-alb":       `["ParentClusterStack=w-ecs-cluster", "Image=nginx"]`,
		"fargate/cluster":               `[{"ParameterKey": "ParentVPCStack", "ParameterValue": "w-vpc-vpc-2azs"}]`,
		"fargate/service-dedicated-alb": `["ParentVPCStack=w-vpc-vpc-2azs", "ParentClusterStack=w-fargate-cluster"]`,
		"state/client-sg":               `["ParentVPCStack=w-vpc-vpc-2azs"]`,
		"state/dynamodb":                `["PartitionKeyName=id"]`,
		"state/elasticache-redis":       `["ParentVPCStack=w-vpc-vpc-2azs", "ParentClientStack=w-state-client-sg", "EngineVersion=7.0"]`,
		"state/rds-mysql":               `["ParentVPCStack=w-vpc-vpc-2azs", "ParentClientStack=w-state-client-sg", "EngineVersion=8.0.32"]`,
		"vpc/vpc-endpoint-dynamodb":     `["ParentVPCStack=w-vpc-vpc-2azs"]`,
		"vpc/vpc-endpoint-s3":           `["ParentVPCStack=w-vpc-vpc-2azs"]`,
		"vpc/vpc-flow-logs":             `["ParentVPCStack=w-vpc-vpc-2azs"]`,
		"vpc/vpc-nat-gateway":           `["ParentVPCStack=w-vpc-vpc-2azs"]`,
		"vpc/vpc-ssh-bastion":           `["ParentVPCStack=w-vpc-vpc-2azs"]`,
		"vpc/zone-private":              `["ParentVPCStack=w-vpc-vpc-2azs", "Name=example.com"]`,
		"wordpress/wordpress-ha": `["ParentVPCStack=w-vpc-vpc-2azs", "ParentZoneStack=w-vpc-zone-private", "CloudFrontAcmCertificate=c", "ElbAcmCertificate=e",
			"BlogAdminPassword={{resolve:ssm-secure:pw:1}}", "BlogAdminEMail=ann@example.com"]`,
	} {
		all["parameters/"+stack+".json"] = []byte(given)
	}
	l, err := Read(all, Options{Name: "w", Targets: here()})
	if err != nil {
		t.Fatal(strings.Join(fault.Messages(err), "\n"))
	}
	isConsistent(t, l)
	for name, want := range map[string]string{
		"vpc/vpc-2azs": "", "ecs/cluster": "vpc/vpc-2azs", "ecs/service-cluster-alb": "ecs/cluster", "state/client-sg": "vpc/vpc-2azs",
		"state/elasticache-redis": "state/client-sg vpc/vpc-2azs", "vpc/zone-private": "vpc/vpc-2azs", "wordpress/wordpress-ha": "vpc/vpc-2azs vpc/zone-private",
	} {
		if got := strings.Join(l.Project.Nodes[name].Needs, " "); got != want {
			t.Errorf("%s needs %q, want %q", name, got, want)
		}
	}
	if len(l.Project.Nodes) != 21 {
		t.Errorf("%d stacks, want 21", len(l.Project.Nodes))
	}
}

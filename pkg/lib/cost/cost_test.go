package cost_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/cost"
	"github.com/stackwright/stackwright/pkg/lib/golden"
	"github.com/stackwright/stackwright/pkg/lib/price"
	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// estimate estimates a template in a region, with values for some of its parameters.
func estimate(t *testing.T, text, region string, parameters map[string]string) cost.Estimate {
	t.Helper()
	read, err := template.Parse("t.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return cost.Of(read.In(template.Scope{Region: region, Parameters: parameters}), read, region, nil)
}

// shown writes an estimate.
func shown(e cost.Estimate) string {
	var b strings.Builder
	for _, r := range e.Resources {
		fmt.Fprintf(&b, "%s %s %s\n", r.ID, r.Type, r.Monthly())
		for _, p := range r.Parts {
			fmt.Fprintf(&b, "  %s = %s\n", p.What, p.Monthly)
		}
		for _, a := range r.Assumed {
			fmt.Fprintln(&b, "  assumes:", a)
		}
		for _, u := range r.Unknown {
			fmt.Fprintln(&b, "  unknown:", u)
		}
		if r.Usage != "" {
			fmt.Fprintln(&b, "  by use:", r.Usage)
		}
	}
	fmt.Fprintln(&b, "total", e.Monthly())
	return b.String()
}

// Each template in testdata is estimated in us-east-1, without values for parameters that have no default.
func TestTemplates(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		read, err := template.Parse(file, text)
		if err != nil {
			t.Fatal(err)
		}
		golden.Same(t, strings.TrimSuffix(file, "yaml")+"txt", shown(estimate(t, string(text), "us-east-1", read.Defaults())))
	}
}

// A price is a count times the price of an hour times 730, or times that of a month.
func TestArithmetic(t *testing.T) {
	for text, want := range map[string]price.Dollars{
		"{Type: AWS::EC2::NatGateway}": price.Of(0.045 * 730),
		"{Type: AWS::KMS::Key}":        price.Of(1),
		"{Type: AWS::EC2::Volume, Properties: {Size: 100, VolumeType: gp3, Iops: 4000, Throughput: 225}}":                                                           price.Of(100*0.08 + 1000*0.005 + 100*0.04),
		"{Type: AWS::EC2::Volume, Properties: {Size: '100', VolumeType: io2, Iops: 1000}}":                                                                          price.Of(100*0.125 + 1000*0.065),
		"{Type: AWS::RDS::DBInstance, Properties: {DBInstanceClass: db.m5.large, Engine: postgres, MultiAZ: true, AllocatedStorage: '20', StorageType: gp3}}":       price.Of(2*0.178*730 + 2*20*0.115),
		"{Type: AWS::DynamoDB::Table, Properties: {ProvisionedThroughput: {ReadCapacityUnits: 10, WriteCapacityUnits: 5}}}":                                         price.Of((10*0.00013 + 5*0.00065) * 730),
		"{Type: AWS::ElastiCache::ReplicationGroup, Properties: {CacheNodeType: cache.t3.micro, NumNodeGroups: 2, ReplicasPerNodeGroup: 2}}":                        price.Of(6 * 0.017 * 730),
		"{Type: AWS::EC2::VPCEndpoint, Properties: {VpcEndpointType: Interface, SubnetIds: [a, b, c]}}":                                                             price.Of(3 * 0.01 * 730),
		"{Type: AWS::EC2::VPCEndpoint, Properties: {VpcEndpointType: Interface, SubnetIds: [!Ref P, !If [Maybe, a, b]]}}":                                           price.Of(2 * 0.01 * 730),
		"{Type: AWS::EC2::Instance, Properties: {InstanceType: m5.large, NetworkInterfaces: [{AssociatePublicIpAddress: true}, {}]}}":                               price.Of((0.096 + 0.005) * 730),
		"{Type: AWS::WAFv2::WebACL, Properties: {Rules: [{Name: a}, {Name: b}]}}":                                                                                   price.Of(7),
		"{Type: AWS::EC2::Instance, Properties: {InstanceType: m5.large, BlockDeviceMappings: [{DeviceName: a, Ebs: {VolumeSize: 50, VolumeType: gp3}}]}}":          price.Of(0.096*730 + 50*0.08),
		"{Type: AWS::EC2::Instance, Properties: {InstanceType: m5.large, ImageId: '/aws/service/ami-windows-latest/Windows_Server-2022', BlockDeviceMappings: []}}": price.Of(0.188 * 730),
	} {
		e := estimate(t, "Parameters:\n  P: {Type: String}\nConditions:\n  Maybe: !Equals [!Ref P, x]\nResources:\n  X: "+text+"\n", "us-east-1", nil)
		if len(e.Resources) != 1 || e.Monthly() != want || len(e.Resources[0].Unknown) > 0 {
			t.Errorf("%s: want %s, got\n%s", text, want, shown(e))
		}
	}
}

// What is not known is said, and is never nothing.
func TestUnknown(t *testing.T) {
	const head = "Transform: AWS::Serverless-2016-10-31\nParameters:\n  P: {Type: String}\nConditions:\n  Maybe: !Equals [!Ref P, x]\nResources:\n  X: "
	for text, want := range map[string]string{
		"{Type: AWS::EC2::Instance, Properties: {InstanceType: !Ref P}}":                                                                                                                                      "InstanceType is not known: it is !Ref P",
		"{Type: AWS::EC2::Instance, Properties: {InstanceType: m9.enormous}}":                                                                                                                                 "no price is known for m9.enormous, linux in us-east-1",
		"{Type: AWS::EC2::Instance, Properties: {InstanceType: m5.large, Tenancy: host}}":                                                                                                                     "its tenancy is host",
		"{Type: AWS::EC2::Instance, Properties: {LaunchTemplate: {LaunchTemplateId: lt-1, Version: '1'}}}":                                                                                                    "its launch template is not in the template",
		"{Type: AWS::EC2::Instance, Properties: {InstanceType: '{{resolve:ssm:/type}}'}}":                                                                                                                     "InstanceType is not known: it is a dynamic reference",
		"{Type: AWS::EC2::Volume, Properties: {SnapshotId: s}}":                                                                                                                                               "it is as large as its snapshot",
		"{Type: AWS::EC2::Volume, Properties: {Size: many}}":                                                                                                                                                  "Size is not a number that has a price",
		"{Type: AWS::EC2::Volume, Properties: {Size: NaN}}":                                                                                                                                                   "Size is not a number that has a price",
		"{Type: AWS::EC2::Volume, Properties: {Size: 1e9, VolumeType: io1, Iops: 1}}":                                                                                                                         "so many of GB of io1 volume have no price",
		"{Type: AWS::EC2::Volume, Properties: {Size: -5}}":                                                                                                                                                    "Size is not a number that has a price",
		"{Type: AWS::EC2::Volume, Condition: Maybe, Properties: {Size: 5}}":                                                                                                                                   "whether it exists is not known: Maybe is a condition with unknown values",
		"{Type: AWS::EC2::Volume, Properties: !If [Maybe, {Size: 1}, {Size: 2}]}":                                                                                                                             "Size is not known: it is !If [Maybe, {Size: 1}, {Size: 2}]",
		"{Type: AWS::RDS::DBInstance, Properties: {DBInstanceClass: db.m5.large, DBSnapshotIdentifier: s}}":                                                                                                   "its engine is that of a snapshot or instance that is not in the template",
		"{Type: AWS::RDS::DBInstance, Properties: {DBInstanceClass: db.m5.large, Engine: oracle-se2, AllocatedStorage: '20'}}":                                                                                "no price is known for engine oracle-se2, license model not given",
		"{Type: AWS::RDS::DBInstance, Properties: {DBInstanceClass: db.m5.large, Engine: mysql, MultiAZ: !Ref P, AllocatedStorage: '20'}}":                                                                    "MultiAZ is not known: it is !Ref P",
		"{Type: AWS::RDS::DBInstance, Properties: {DBInstanceClass: '****', Engine: mysql, AllocatedStorage: '20'}}":                                                                                          "DBInstanceClass is a secret",
		"{Type: AWS::RDS::DBInstance, Properties: {DBInstanceClass: db.m5.large, Engine: mysql}}":                                                                                                             "it has no AllocatedStorage",
		"{Type: AWS::AutoScaling::AutoScalingGroup, Properties: {MinSize: '2', MaxSize: '2', MixedInstancesPolicy: {}}}":                                                                                      "it mixes instance types, by MixedInstancesPolicy",
		"{Type: AWS::ECS::Service, Properties: {LaunchType: FARGATE, TaskDefinition: 'arn:x'}}":                                                                                                               "its task definition is not in the template",
		"{Type: AWS::EC2::VPCEndpoint, Properties: {VpcEndpointType: Interface, SubnetIds: !Split [',', !Ref P]}}":                                                                                            "SubnetIds is not known: it is !Split [\",\", !Ref P]",
		"{Type: AWS::EC2::VPCEndpoint, Properties: {VpcEndpointType: Interface, SubnetIds: [!If [Maybe, a, !Ref 'AWS::NoValue'], b]}}":                                                                        "SubnetIds is not known: it is [!If [Maybe, a, !Ref AWS::NoValue], b]",
		"{Type: AWS::CloudWatch::Alarm, Properties: {Metrics: [!If [Maybe, {Id: a, MetricStat: {}}, {Id: a, Expression: b}], {Id: c, MetricStat: {}}]}}":                                                      "Metrics is not known: it is [!If [Maybe, {Id: a, MetricStat: {}}, {Expression: b, Id: a}], {Id: c, MetricSta…",
		"{Type: AWS::WAFv2::WebACL, Properties: {Rules: [!If [Maybe, {Name: a}, !If [Maybe, {Name: b}, !Ref 'AWS::NoValue']]]}}":                                                                              "Rules is not known: it is [!If [Maybe, {Name: a}, !If [Maybe, {Name: b}, !Ref AWS::NoValue]]]",
		"{Type: AWS::SecretsManager::Secret, Properties: {ReplicaRegions: [!If [Maybe, !Ref 'AWS::NoValue', {Region: a}]]}}":                                                                                  "ReplicaRegions is not known: it is [!If [Maybe, !Ref AWS::NoValue, {Region: a}]]",
		"{Type: AWS::EC2::Instance, Properties: {InstanceType: ''}}":                                                                                                                                          "InstanceType is empty",
		"{Type: AWS::EC2::Instance, Properties: {InstanceType: !Ref P, Tags: []}}":                                                                                                                            "InstanceType is not known: it is !Ref P",
		"{Type: AWS::Serverless::Api, Properties: {StageName: a, CacheClusterEnabled: true}}":                                                                                                                 "no price is known for the cache of a stage",
		"{Type: AWS::Serverless::Function, Properties: {ProvisionedConcurrencyConfig: {ProvisionedConcurrentExecutions: 2}}}":                                                                                 "no price is known for provisioned concurrency",
		"{Type: AWS::Lambda::Alias, Properties: {ProvisionedConcurrencyConfig: {ProvisionedConcurrentExecutions: 2}}}":                                                                                        "no price is known for provisioned concurrency",
		"{Type: AWS::OpenSearchServerless::Collection, Properties: {Name: a}}":                                                                                                                                "no price is known for the least capacity, which collections share",
		"{Type: AWS::CloudFront::Distribution, Properties: {DistributionConfig: {ViewerCertificate: {SslSupportMethod: vip}}}}":                                                                               "no price is known for IP addresses of its own (SslSupportMethod vip)",
		"{Type: AWS::Route53::HealthCheck}":                                                                                                                                                                   "no price is known for health checks",
		"{Type: AWS::OpenSearchService::Domain, Properties: {ClusterConfig: {InstanceType: m5.large.search}, EBSOptions: {EBSEnabled: true, VolumeSize: 10, VolumeType: gp3, Iops: 4000}}}":                   "no price is known for IOPS above 3000 of gp3 storage",
		"{Type: AWS::OpenSearchService::Domain, Properties: {ClusterConfig: {InstanceType: m5.large.search}, EBSOptions: {EBSEnabled: true, VolumeSize: 10, VolumeType: gp3, Throughput: 250}}}":              "no price is known for throughput above 125 MBps of gp3 storage",
		"{Type: AWS::RDS::DBInstance, Properties: {DBInstanceClass: db.m5.large, Engine: mysql, AllocatedStorage: '400', StorageType: gp3, StorageThroughput: 600}}":                                          "no price is known for the throughput of gp3 storage",
		"{Type: AWS::ECS::Service, Properties: {LaunchType: FARGATE, TaskDefinition: !Ref T}}\n  T: {Type: AWS::ECS::TaskDefinition, Properties: {Cpu: 256, Memory: 512, EphemeralStorage: {SizeInGiB: 50}}}": "no price is known for ephemeral storage above 20 GiB",
		"{Type: AWS::EKS::Nodegroup, Properties: {InstanceTypes: m9.huge}}":                                                                                                                                   "no price is known for m9.huge, linux in us-east-1",
		"{Type: AWS::EKS::Nodegroup, Properties: {}}":                                                                                                                                                         "no price is known for the volumes of its nodes",
		"{Type: AWS::DynamoDB::GlobalTable, Properties: {BillingMode: PROVISIONED}}":                                                                                                                          "no price is known for the capacity of a global table",
		"{Type: AWS::SSM::Parameter, Properties: {Tier: Advanced}}":                                                                                                                                           "no price is known for parameters of tier Advanced",
		"{Type: AWS::EC2::Instance, Properties: {InstanceType: m5.large, LaunchTemplate: {LaunchTemplateId: lt-1, Version: '1'}}}":                                                                            "its launch template is not in the template, so what that adds is not known",
		"{Type: AWS::EC2::Instance, Properties: {InstanceType: m5.large, NetworkInterfaces: [{AssociatePublicIpAddress: !Ref P}]}}":                                                                           "NetworkInterfaces.AssociatePublicIpAddress is not known: it is !Ref P",
		"{Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: x}}":                                                                                                                                    "what it makes is not in the template",
		"{Type: 'Custom::Thing', Properties: {ServiceToken: x}}":                                                                                                                                              "what it makes is not in the template",
		"{Type: AWS::WorkSpaces::Workspace, Properties: {}}":                                                                                                                                                  "Stackwright has no price for this type",
		"{Type: AWS::EC2::NatGateway, Properties: !If [Maybe, {}, {}], Condition: Maybe}":                                                                                                                     "whether it exists is not known: Maybe is a condition with unknown values",
	} {
		e := estimate(t, head+text+"\n", "us-east-1", nil)
		if len(e.Resources) == 0 || !slices.Contains(e.Resources[len(e.Resources)-1].Unknown, want) {
			t.Errorf("%s: want %q, got\n%s", text, want, shown(e))
		}
	}
	if e := estimate(t, head+"{Type: AWS::EC2::NatGateway}\n", "cn-north-1", nil); len(e.Resources) != 1 || e.Monthly() != 0 || len(e.Resources[0].Unknown) != 1 {
		t.Errorf("in China:\n%s", shown(e))
	}
	if e := estimate(t, "Transform: Some-Macro\nResources:\n  X: {Type: AWS::SNS::Topic}\n", "us-east-1", nil); e.Resources[len(e.Resources)-1].ID != "transform Some-Macro" || len(e.Resources[1].Unknown) != 1 {
		t.Errorf("with a macro:\n%s", shown(e))
	}
}

// Where a region has no price of its own, the price says that it is that of us-east-1.
func TestOtherRegions(t *testing.T) {
	const text = "Resources:\n  I: {Type: AWS::EC2::Instance, Properties: {InstanceType: m5.large, BlockDeviceMappings: []}}\n  N: {Type: AWS::EC2::NatGateway}\n"
	e := estimate(t, text, "eu-central-1", nil)
	if len(e.Resources) != 2 || e.Resources[0].Monthly() != price.Of(0.115*730) || slices.Contains(e.Resources[0].Assumed, "the price of us-east-1") || !slices.Contains(e.Resources[1].Assumed, "the price of us-east-1") {
		t.Error(shown(e))
	}
}

// A resource whose condition is false costs nothing, and parameters decide.
func TestParameters(t *testing.T) {
	const text = "Parameters:\n  Size: {Type: String}\nConditions:\n  Large: !Equals [!Ref Size, large]\nResources:\n  N: {Type: AWS::EC2::NatGateway, Condition: Large}\n" +
		"  V: {Type: AWS::EC2::Volume, Properties: {VolumeType: gp3, Size: !If [Large, 100, 10]}}\n"
	small, large := estimate(t, text, "us-east-1", map[string]string{"Size": "small"}), estimate(t, text, "us-east-1", map[string]string{"Size": "large"})
	if small.Monthly() != price.Of(0.8) || large.Monthly() != price.Of(8+0.045*730) {
		t.Errorf("small:\n%slarge:\n%s", shown(small), shown(large))
	}
}

// The types that have prices, and those that are free, are types of CloudFormation, and no type is both.
func TestTypesExist(t *testing.T) {
	priced, free := cost.Types()
	for _, name := range slices.Concat(priced, free) {
		if _, ok := resource.Named(name); !ok && !strings.HasPrefix(name, "AWS::Serverless::") && name != "AWS::CDK::Metadata" {
			t.Errorf("there is no type %s", name)
		}
	}
	for _, name := range free {
		if slices.Contains(priced, name) {
			t.Errorf("%s is free, and has a price", name)
		}
	}
}

// What a price leaves out is said: the size that a group begins with, an address that a subnet may give, and CPU credits of burstable types only.
func TestAssumed(t *testing.T) {
	const text = "Resources:\n  G: {Type: AWS::AutoScaling::AutoScalingGroup, Properties: {MinSize: 0, MaxSize: 4}}\n  I: {Type: AWS::EC2::Instance, Properties: {InstanceType: m5.large}}\n  T: {Type: AWS::EC2::Instance, Properties: {InstanceType: t3.micro, NetworkInterfaces: [{AssociatePublicIpAddress: false}]}}\n"
	e := estimate(t, text, "us-east-1", nil)
	const address = "no public IPv4 address, which its subnet may give"
	if g, i, b := e.Resources[0], e.Resources[1], e.Resources[2]; !slices.Contains(g.Assumed, "MinSize") || !slices.Contains(i.Assumed, address) || i.Usage != "traffic" || slices.Contains(b.Assumed, address) || b.Usage != "traffic, and CPU credits" {
		t.Error(shown(e))
	}
}

// What the Globals section of AWS::Serverless sets counts for each resource.
func TestGlobals(t *testing.T) {
	const text = "Transform: AWS::Serverless-2016-10-31\nGlobals:\n  Function: {ProvisionedConcurrencyConfig: {ProvisionedConcurrentExecutions: 1}}\n  Api: {CacheClusterEnabled: true}\nResources:\n  A: {Type: AWS::Serverless::Api}\n  F: {Type: AWS::Serverless::Function}\n"
	if e := estimate(t, text, "us-east-1", nil); len(e.Resources) != 2 || len(e.Resources[0].Unknown) != 1 || len(e.Resources[1].Unknown) != 1 {
		t.Error(shown(e))
	}
}

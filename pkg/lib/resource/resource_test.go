package resource

import (
	"slices"
	"strings"
	"testing"
)

// What a change of a property means, as the reference of each type says under "Update
// requires": No interruption, Some interruptions, or Replacement.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-template-resource-type-ref.html
func TestReplacementAsDocumented(t *testing.T) {
	for _, test := range []struct {
		typ, path string
		want      Replacement
	}{
		{"AWS::DynamoDB::Table", "TableName", Always},
		{"AWS::DynamoDB::Table", "KeySchema", Always},
		{"AWS::DynamoDB::Table", "KeySchema/0/AttributeName", Always},
		{"AWS::DynamoDB::Table", "BillingMode", Never},
		{"AWS::DynamoDB::Table", "ProvisionedThroughput/ReadCapacityUnits", Never},
		{"AWS::S3::Bucket", "BucketName", Always},
		{"AWS::S3::Bucket", "VersioningConfiguration/Status", Never},
		{"AWS::SQS::Queue", "QueueName", Always},
		{"AWS::SQS::Queue", "FifoQueue", Always},
		{"AWS::SQS::Queue", "VisibilityTimeout", Never},
		{"AWS::SNS::Topic", "TopicName", Always},
		{"AWS::SNS::Topic", "DisplayName", Never},
		{"AWS::RDS::DBInstance", "MasterUsername", Always},
		{"AWS::RDS::DBInstance", "StorageEncrypted", Always},
		{"AWS::RDS::DBInstance", "DBInstanceClass", Never},
		{"AWS::RDS::DBInstance", "AllocatedStorage", Never},
		{"AWS::RDS::DBInstance", "Engine", Conditional},
		{"AWS::RDS::DBInstance", "BackupRetentionPeriod", Never},
		{"AWS::RDS::DBCluster", "DatabaseName", Always},
		{"AWS::EC2::Instance", "ImageId", Always},
		{"AWS::EC2::Instance", "SubnetId", Always},
		{"AWS::EC2::Instance", "InstanceType", Conditional},
		{"AWS::EC2::Instance", "UserData", Conditional},
		{"AWS::EC2::VPC", "CidrBlock", Always},
		{"AWS::EC2::VPC", "EnableDnsSupport", Never},
		{"AWS::EC2::Subnet", "CidrBlock", Always},
		{"AWS::EC2::Subnet", "MapPublicIpOnLaunch", Never},
		{"AWS::EC2::SecurityGroup", "GroupDescription", Always},
		{"AWS::EC2::SecurityGroup", "SecurityGroupIngress/0/CidrIp", Never},
		{"AWS::EFS::FileSystem", "Encrypted", Always},
		{"AWS::EFS::FileSystem", "ThroughputMode", Never},
		{"AWS::Lambda::Function", "FunctionName", Always},
		{"AWS::Lambda::Function", "MemorySize", Never},
		{"AWS::IAM::Role", "RoleName", Always},
		{"AWS::IAM::Role", "Path", Always},
		{"AWS::IAM::Role", "AssumeRolePolicyDocument", Never},
		{"AWS::Logs::LogGroup", "LogGroupName", Always},
		{"AWS::Logs::LogGroup", "RetentionInDays", Never},
		{"AWS::ECR::Repository", "RepositoryName", Always},
		{"AWS::Kinesis::Stream", "Name", Always},
		{"AWS::Kinesis::Stream", "ShardCount", Never},
		{"AWS::KMS::Alias", "AliasName", Always},
		{"AWS::ECS::TaskDefinition", "ContainerDefinitions/0/Image", Always},
		{"AWS::ECS::Service", "DesiredCount", Never},
		{"AWS::ElasticLoadBalancingV2::LoadBalancer", "Scheme", Always},
		{"AWS::ElasticLoadBalancingV2::TargetGroup", "Port", Always},
		{"AWS::SecretsManager::Secret", "Name", Always},
	} {
		typ, ok := Named(test.typ)
		if !ok {
			t.Errorf("the table has no type %s", test.typ)
			continue
		}
		path := strings.Split(test.path, "/")
		if !typ.Has(path[0]) {
			t.Errorf("%s has no property %s", test.typ, path[0])
		}
		if got := typ.Replacement(path); got != test.want {
			t.Errorf("a change of %s of %s: replacement %s, want %s", test.path, test.typ, got, test.want)
		}
	}
}

func TestUnorderedLists(t *testing.T) {
	group, _ := Named("AWS::EC2::SecurityGroup")
	for path, want := range map[string]bool{"SecurityGroupIngress": true, "SecurityGroupIngress/0": false, "VpcId": false} {
		if got := group.Unordered(strings.Split(path, "/")); got != want {
			t.Errorf("%s has no order: %v, want %v", path, got, want)
		}
	}
	service, _ := Named("AWS::ECS::Service")
	if !service.Unordered([]string{"NetworkConfiguration", "AwsvpcConfiguration", "Subnets"}) {
		t.Error("the subnets of a service have an order")
	}
}

// A misspelt type in the list of stateful types would be overlooked silently. Types that
// AWS no longer offers are not in the table.
func TestStatefulTypesExist(t *testing.T) {
	retired := []string{"AWS::QLDB::Ledger", "AWS::SDB::Domain", "AWS::MediaStore::Container"}
	for _, typ := range []string{"AWS::APS::Workspace", "AWS::Grafana::Workspace", "AWS::QLDB::Ledger", "AWS::Events::Archive",
		"AWS::SageMaker::NotebookInstance", "AWS::Backup::BackupVault", "AWS::QBusiness::Index", "AWS::CloudHSM::Cluster"} {
		if _, ok := Stateful(typ); !ok {
			t.Errorf("%s holds no data", typ)
		}
	}
	for typ := range losses() {
		if _, ok := Named(typ); !ok && !strings.HasPrefix(typ, "AWS::Serverless::") && !slices.Contains(retired, typ) {
			t.Errorf("the table has no type %s", typ)
		}
	}
	if lost, ok := Stateful("AWS::S3::Bucket"); !ok || lost != "objects" {
		t.Errorf("a bucket loses %q, %v", lost, ok)
	}
	if _, ok := Stateful("AWS::IAM::Role"); ok {
		t.Error("a role holds data")
	}
}

func TestPublicTypes(t *testing.T) {
	for name, want := range map[string]bool{"AWS::S3::Bucket": true, "Custom::Thing": false, "Acme::S3::Bucket::MODULE": false, "AWS::X::Y::MODULE": false, "Datadog::Monitors::Monitor": false} {
		if Public(name) != want {
			t.Errorf("%s is public: %v", name, !want)
		}
	}
}

func BenchmarkTable(b *testing.B) {
	for b.Loop() {
		typ, _ := Named("AWS::S3::Bucket")
		_ = typ.Replacement([]string{"BucketName"})
	}
}

// What identifies a resource of each type, as the reference of the types says under "Return values" and "primary
// identifier". A type that CloudFormation cannot read cannot be imported.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/resource-import-supported-resources.html
func TestIdentifiers(t *testing.T) {
	for name, want := range map[string]string{
		"AWS::DynamoDB::Table": "TableName", "AWS::S3::Bucket": "BucketName", "AWS::SQS::Queue": "QueueUrl", "AWS::SNS::Topic": "TopicArn",
		"AWS::EC2::Instance": "InstanceId", "AWS::RDS::DBInstance": "DBInstanceIdentifier", "AWS::IAM::Role": "RoleName",
		"AWS::ApiGateway::Stage": "RestApiId StageName", "AWS::CloudFormation::CustomResource": "", "AWS::CloudFormation::WaitCondition": "",
	} {
		typ, _ := Named(name)
		if got := strings.Join(typ.Identifier, " "); got != want {
			t.Errorf("%s is identified by %q, want %q", name, got, want)
		}
	}
	importable := 0
	for _, name := range Names() {
		typ, _ := Named(name)
		for _, property := range typ.Identifier {
			if !typ.Has(strings.Split(property, "/")[0]) {
				t.Errorf("%s has no property %s", name, property)
			}
		}
		if len(typ.Identifier) > 0 {
			importable++
		}
	}
	if importable < 1700 || importable == len(Names()) {
		t.Errorf("%d of %d types can be imported", importable, len(Names()))
	}
}

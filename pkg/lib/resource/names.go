package resource

import (
	"slices"
	"strings"
	"sync"
)

// naming lists types whose resources have names that no two of them share, although AWS identifies them otherwise: by an
// ARN or an ID that it makes. The first path is that of the name; the others are of what the name is unique in. All types
// that a property identifies have such names without this list: "If the primary identifier is specified by the user, a
// create handler must return AlreadyExists".
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-name.html
// https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-test-contract.html
const naming = `
AWS::AmazonMQ::Broker                        BrokerName
AWS::ApiGateway::ApiKey                      Name
AWS::AppRunner::Service                      ServiceName
AWS::Backup::Framework                       FrameworkName
AWS::Batch::ComputeEnvironment               ComputeEnvironmentName
AWS::Batch::JobQueue                         JobQueueName
AWS::CloudFormation::StackSet                StackSetName
AWS::CloudFront::Function                    Name
AWS::CodeArtifact::Domain                    DomainName
AWS::CodeArtifact::Repository                RepositoryName DomainName
AWS::CodeBuild::Project                      Name
AWS::DAX::Cluster                            ClusterName
AWS::DocDB::DBCluster                        DBClusterIdentifier
AWS::DocDB::DBInstance                       DBInstanceIdentifier
AWS::EC2::LaunchTemplate                     LaunchTemplateName
AWS::EC2::SecurityGroup                      GroupName VpcId
AWS::ECS::Service                            ServiceName Cluster
AWS::EKS::Nodegroup                          NodegroupName ClusterName
AWS::ElasticLoadBalancingV2::LoadBalancer    Name
AWS::ElasticLoadBalancingV2::TargetGroup     Name
AWS::Elasticsearch::Domain                   DomainName
AWS::Events::Rule                            Name EventBusName
AWS::Glue::Database                          DatabaseInput/Name CatalogId
AWS::Glue::Table                             TableInput/Name DatabaseName CatalogId
AWS::IAM::ManagedPolicy                      ManagedPolicyName
AWS::MSK::Cluster                            ClusterName
AWS::MSK::ServerlessCluster                  ClusterName
AWS::MediaStore::Container                   ContainerName
AWS::NetworkFirewall::Firewall               FirewallName
AWS::NetworkFirewall::FirewallPolicy         FirewallPolicyName
AWS::NetworkFirewall::RuleGroup              RuleGroupName
AWS::OpenSearchServerless::Collection        Name
AWS::QLDB::Ledger                            Name
AWS::S3Outposts::Bucket                      BucketName OutpostId
AWS::S3Tables::TableBucket                   TableBucketName
AWS::S3Vectors::Index                        IndexName VectorBucketName VectorBucketArn
AWS::S3Vectors::VectorBucket                 VectorBucketName
AWS::SNS::Topic                              TopicName
AWS::SQS::Queue                              QueueName
AWS::SageMaker::Endpoint                     EndpointName
AWS::SageMaker::EndpointConfig               EndpointConfigName
AWS::SageMaker::Model                        ModelName
AWS::SageMaker::NotebookInstance             NotebookInstanceName
AWS::SecretsManager::Secret                  Name
AWS::StepFunctions::Activity                 Name
AWS::StepFunctions::StateMachine             StateMachineName
`

var namings = sync.OnceValue(func() map[string][]string {
	all := make(map[string][]string)
	for line := range strings.Lines(naming) {
		if words := strings.Fields(line); len(words) > 1 {
			all[words[0]] = words[1:]
		}
	}
	return all
})

// Naming returns the paths of the properties that together name a resource of this type, so that AWS has no other one of
// the same name; the first one is the name itself. It is empty if AWS alone names the resources.
func (t Type) Naming() []string {
	if paths, ok := namings()[t.Name]; ok {
		return paths
	}
	for _, path := range t.Identifier {
		if !slices.Contains(t.createOnly, path) {
			return nil
		}
	}
	all := slices.Clone(t.Identifier)
	kind := t.Name[strings.LastIndex(t.Name, ":")+1:]
	slices.SortStableFunc(all, func(a, b string) int { return suits(kind, b) - suits(kind, a) })
	return all
}

// suits rates how well a property suits as the name among those that identify a resource.
func suits(kind, path string) int {
	switch {
	case path == kind+"Name":
		return 4
	case path == "Name":
		return 3
	case strings.HasSuffix(path, "Name"):
		return 2
	case strings.HasSuffix(path, "Identifier"):
		return 1
	}
	return 0
}

// A Reach is where no two resources of a type have the same name.
type Reach int

// The reaches.
const (
	InRegion  Reach = iota // of an account
	InAccount              // in all regions
	Anywhere
)

// Reach returns where names of the type are unique.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
func (t Type) Reach() Reach {
	switch {
	case t.Name == "AWS::S3::Bucket":
		return Anywhere
	case strings.HasPrefix(t.Name, "AWS::IAM::"), strings.HasPrefix(t.Name, "AWS::CloudFront::"):
		return InAccount
	}
	return InRegion
}

// Called returns the name that its properties give a resource of this type, and what tells it from all others of the
// type. It reports false if they do not, or if a part of it is not known. The properties have plain values.
func (t Type) Called(properties map[string]any) (name, key string, ok bool) {
	_, optional := namings()[t.Name]
	for i, path := range t.Naming() {
		v := valueAt(properties, path)
		text, plain := v.(string)
		switch {
		case v != nil && !plain, (i == 0 || !optional) && text == "":
			return "", "", false
		case i == 0:
			name = text
		}
		key += "\x00" + text
	}
	return name, t.Name + key, name != ""
}

// valueAt is the value at a path of the table; nil if there is none.
func valueAt(properties map[string]any, path string) any {
	var v any = properties
	for _, key := range strings.Split(path, "/") {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

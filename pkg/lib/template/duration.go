package template

import "time"

// ordinary is how long CloudFormation creates a resource that is not in slow: the request,
// and the reads until the resource is stable.
const ordinary = 5 * time.Second

// slow are resources whose creation takes long, with typical durations. The figures are
// estimates: AWS documents few of them, and they differ between regions and days. They
// only decide in which order stacks start while nothing is known about the stacks
// themselves, and how long a first deploy seems to take.
var slow = map[string]time.Duration{
	"AWS::ACMPCA::CertificateAuthority":           30 * time.Second,
	"AWS::AmazonMQ::Broker":                       15 * time.Minute,
	"AWS::AutoScaling::AutoScalingGroup":          2 * time.Minute,
	"AWS::Batch::ComputeEnvironment":              time.Minute,
	"AWS::Cassandra::Keyspace":                    time.Minute,
	"AWS::Cassandra::Table":                       time.Minute,
	"AWS::CertificateManager::Certificate":        5 * time.Minute, // until its domain is validated
	"AWS::CloudFormation::CustomResource":         30 * time.Second,
	"AWS::CloudFormation::Stack":                  2 * time.Minute,
	"AWS::CloudFormation::WaitCondition":          5 * time.Minute,
	"AWS::CloudFront::Distribution":               5 * time.Minute,
	"AWS::CloudHSM::Cluster":                      5 * time.Minute,
	"AWS::Cognito::UserPoolDomain":                time.Minute,
	"AWS::DAX::Cluster":                           10 * time.Minute,
	"AWS::DMS::ReplicationInstance":               10 * time.Minute,
	"AWS::DirectoryService::MicrosoftAD":          30 * time.Minute,
	"AWS::DirectoryService::SimpleAD":             10 * time.Minute,
	"AWS::DocDB::DBCluster":                       2 * time.Minute,
	"AWS::DocDB::DBInstance":                      8 * time.Minute,
	"AWS::DynamoDB::GlobalTable":                  time.Minute,
	"AWS::DynamoDB::Table":                        30 * time.Second,
	"AWS::EC2::ClientVpnEndpoint":                 time.Minute,
	"AWS::EC2::ClientVpnTargetNetworkAssociation": 8 * time.Minute,
	"AWS::EC2::Instance":                          time.Minute,
	"AWS::EC2::NatGateway":                        2 * time.Minute,
	"AWS::EC2::TransitGateway":                    2 * time.Minute,
	"AWS::EC2::TransitGatewayAttachment":          time.Minute,
	"AWS::EC2::TransitGatewayVpcAttachment":       time.Minute,
	"AWS::EC2::VPCEndpoint":                       time.Minute,
	"AWS::EC2::VPNConnection":                     4 * time.Minute,
	"AWS::EC2::VPNGateway":                        time.Minute,
	"AWS::ECS::CapacityProvider":                  20 * time.Second,
	"AWS::ECS::Service":                           3 * time.Minute,
	"AWS::EFS::MountTarget":                       90 * time.Second,
	"AWS::EKS::Addon":                             2 * time.Minute,
	"AWS::EKS::Cluster":                           10 * time.Minute,
	"AWS::EKS::FargateProfile":                    2 * time.Minute,
	"AWS::EKS::Nodegroup":                         3 * time.Minute,
	"AWS::EMR::Cluster":                           8 * time.Minute,
	"AWS::ElastiCache::CacheCluster":              6 * time.Minute,
	"AWS::ElastiCache::ReplicationGroup":          10 * time.Minute,
	"AWS::ElastiCache::ServerlessCache":           2 * time.Minute,
	"AWS::ElasticBeanstalk::Environment":          5 * time.Minute,
	"AWS::ElasticLoadBalancing::LoadBalancer":     30 * time.Second,
	"AWS::ElasticLoadBalancingV2::LoadBalancer":   3 * time.Minute,
	"AWS::Elasticsearch::Domain":                  20 * time.Minute,
	"AWS::FSx::FileSystem":                        20 * time.Minute,
	"AWS::GlobalAccelerator::Accelerator":         time.Minute,
	"AWS::IAM::InstanceProfile":                   2 * time.Minute,
	"AWS::IAM::Policy":                            15 * time.Second,
	"AWS::IAM::Role":                              20 * time.Second,
	"AWS::KinesisFirehose::DeliveryStream":        time.Minute,
	"AWS::KMS::ReplicaKey":                        time.Minute,
	"AWS::Lambda::EventSourceMapping":             20 * time.Second,
	"AWS::MSK::Cluster":                           30 * time.Minute,
	"AWS::MSK::ServerlessCluster":                 3 * time.Minute,
	"AWS::MWAA::Environment":                      25 * time.Minute,
	"AWS::MemoryDB::Cluster":                      10 * time.Minute,
	"AWS::Neptune::DBCluster":                     2 * time.Minute,
	"AWS::Neptune::DBInstance":                    8 * time.Minute,
	"AWS::NetworkFirewall::Firewall":              6 * time.Minute,
	"AWS::OpenSearchServerless::Collection":       2 * time.Minute,
	"AWS::OpenSearchService::Domain":              20 * time.Minute,
	"AWS::RDS::DBCluster":                         3 * time.Minute,
	"AWS::RDS::DBInstance":                        8 * time.Minute,
	"AWS::RDS::DBProxy":                           6 * time.Minute,
	"AWS::Redshift::Cluster":                      5 * time.Minute,
	"AWS::RedshiftServerless::Workgroup":          4 * time.Minute,
	"AWS::Route53::HostedZone":                    45 * time.Second,
	"AWS::Route53::RecordSet":                     45 * time.Second,
	"AWS::Route53::RecordSetGroup":                45 * time.Second,
	"AWS::SageMaker::Endpoint":                    6 * time.Minute,
	"AWS::SageMaker::NotebookInstance":            4 * time.Minute,
	"AWS::ServiceDiscovery::PrivateDnsNamespace":  time.Minute,
	"AWS::Transfer::Server":                       3 * time.Minute,
	"AWS::WorkSpaces::Workspace":                  20 * time.Minute,
}

// CreationTime estimates how long CloudFormation takes to create the resources: the
// longest chain of resources that wait for one another, whatever the conditions.
func (t *Template) CreationTime() time.Duration {
	until := make(map[string]time.Duration, len(t.order))
	var longest time.Duration
	for _, name := range t.order {
		var after time.Duration
		for _, need := range t.needs[name] {
			after = max(after, until[need])
		}
		took, ok := slow[t.Resources[name].Type]
		if !ok {
			took = ordinary
		}
		until[name] = after + took
		longest = max(longest, until[name])
	}
	return longest
}

package cloudformation

import (
	"slices"

	schema "github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// resourceType is what the emulator knows of a resource type.
type resourceType struct {
	name       string            // the property that names the resource
	id         string            // the physical ID, if it is not the name
	lower      bool              // names are in small letters
	attributes map[string]string // of Fn::GetAtt; "[]a,b" is a list
	replaces   []string          // properties whose change replaces the resource, where the schemas of AWS leave it open
	changes    []string          // the only properties that can be changed; all if it is empty
	fixed      string            // why others cannot be
}

// resourceTypes are the types whose IDs and attributes have the same form as on AWS; for all others see Service.guess.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-template-resource-type-ref.html
var resourceTypes = map[string]resourceType{
	"AWS::EC2::VPC": {id: "vpc-{hex}", attributes: map[string]string{
		"VpcId": "{id}", "DefaultSecurityGroup": "sg-{hex}", "DefaultNetworkAcl": "acl-{hex}",
		"CidrBlockAssociations": "[]vpc-cidr-assoc-{hex}", "Ipv6CidrBlocks": "[]2600:1f18:{hex4}:{hex2}00::/56"}},
	"AWS::EC2::Subnet": {id: "subnet-{hex}", attributes: map[string]string{
		"SubnetId": "{id}", "AvailabilityZone": "{.AvailabilityZone}", "Ipv6CidrBlocks": "[]2600:1f18:{hex4}:{hex2}00::/64"}},
	"AWS::EC2::SecurityGroup": {id: "sg-{hex}",
		attributes: map[string]string{"GroupId": "{id}", "VpcId": "{.VpcId}"}},
	"AWS::EC2::SecurityGroupIngress":        {id: "sgr-{hex}"},
	"AWS::EC2::SecurityGroupEgress":         {id: "sgr-{hex}"},
	"AWS::EC2::InternetGateway":             {id: "igw-{hex}"},
	"AWS::EC2::EgressOnlyInternetGateway":   {id: "eigw-{hex}"},
	"AWS::EC2::NatGateway":                  {id: "nat-{hex}", attributes: map[string]string{"NatGatewayId": "{id}"}},
	"AWS::EC2::RouteTable":                  {id: "rtb-{hex}", attributes: map[string]string{"RouteTableId": "{id}"}},
	"AWS::EC2::NetworkAcl":                  {id: "acl-{hex}"},
	"AWS::EC2::SubnetRouteTableAssociation": {id: "rtbassoc-{hex}"},
	"AWS::EC2::SubnetNetworkAclAssociation": {id: "aclassoc-{hex}"},
	"AWS::EC2::VPCCidrBlock":                {id: "vpc-cidr-assoc-{hex}"},
	"AWS::EC2::VPCEndpoint":                 {id: "vpce-{hex}"},
	"AWS::EC2::FlowLog":                     {id: "fl-{hex}"},
	// "The only properties that can be updated are the volume size, type, and IOPS." https://github.com/awsdocs/aws-cloudformation-user-guide/pull/556
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ec2-volume.html
	"AWS::EC2::Volume": {id: "vol-{hex}", changes: []string{"AutoEnableIO", "Iops", "Size", "Tags", "Throughput", "VolumeType"},
		fixed: "Volume properties other than AutoEnableIO, type, size, and IOPS cannot be updated. Change the properties back to previous values and update the stack again."},
	"AWS::EC2::NetworkInterface": {id: "eni-{hex}"},
	"AWS::EC2::LaunchTemplate":   {id: "lt-{hex}", attributes: map[string]string{"LatestVersionNumber": "1", "DefaultVersionNumber": "1"}},
	"AWS::EC2::EIP":              {id: "198.51.100.{byte}", attributes: map[string]string{"AllocationId": "eipalloc-{hex}", "PublicIp": "{id}"}},
	"AWS::EC2::Instance": {id: "i-{hex}", attributes: map[string]string{
		"PrivateIp": "10.0.0.{byte}", "PublicIp": "203.0.113.{byte}", "PrivateDnsName": "ip-10-0-0-{byte}.ec2.internal",
		"PublicDnsName": "ec2-203-0-113-{byte}.compute-1.amazonaws.com", "AvailabilityZone": "{region}a"}},
	"AWS::S3::Bucket": {name: "BucketName", lower: true, attributes: map[string]string{
		"Arn": "arn:aws:s3:::{id}", "DomainName": "{id}.s3.amazonaws.com", "RegionalDomainName": "{id}.s3.{region}.amazonaws.com",
		"WebsiteURL": "http://{id}.s3-website-{region}.amazonaws.com", "DualStackDomainName": "{id}.s3.dualstack.{region}.amazonaws.com"}},
	"AWS::DynamoDB::Table": {name: "TableName", attributes: map[string]string{
		"Arn":       "arn:aws:dynamodb:{region}:{account}:table/{id}",
		"StreamArn": "arn:aws:dynamodb:{region}:{account}:table/{id}/stream/2026-01-01T00:00:00.000"}},
	"AWS::DynamoDB::GlobalTable": {name: "TableName", attributes: map[string]string{
		"Arn":       "arn:aws:dynamodb:{region}:{account}:table/{id}",
		"StreamArn": "arn:aws:dynamodb:{region}:{account}:table/{id}/stream/2026-01-01T00:00:00.000"}},
	"AWS::SQS::Queue": {name: "QueueName", id: "https://sqs.{region}.amazonaws.com/{account}/{name}",
		attributes: map[string]string{"Arn": "arn:aws:sqs:{region}:{account}:{name}", "QueueName": "{name}", "QueueUrl": "{id}"}},
	"AWS::SNS::Topic": {name: "TopicName", id: "arn:aws:sns:{region}:{account}:{name}",
		attributes: map[string]string{"TopicName": "{name}", "TopicArn": "{id}"}},
	"AWS::SNS::Subscription": {id: "arn:aws:sns:{region}:{account}:{name}:{guid}"},
	"AWS::Lambda::Function": {name: "FunctionName",
		attributes: map[string]string{"Arn": "arn:aws:lambda:{region}:{account}:function:{id}"}},
	"AWS::IAM::Role": {name: "RoleName", attributes: map[string]string{"Arn": "arn:aws:iam::{account}:role/{id}", "RoleId": "ARO{CAPS}"}},
	"AWS::IAM::User": {name: "UserName", attributes: map[string]string{"Arn": "arn:aws:iam::{account}:user/{id}"}},
	"AWS::IAM::InstanceProfile": {name: "InstanceProfileName",
		attributes: map[string]string{"Arn": "arn:aws:iam::{account}:instance-profile/{id}"}},
	"AWS::IAM::ManagedPolicy": {name: "ManagedPolicyName", id: "arn:aws:iam::{account}:policy/{name}"},
	"AWS::KMS::Key":           {id: "{guid}", attributes: map[string]string{"Arn": "arn:aws:kms:{region}:{account}:key/{id}", "KeyId": "{id}"}},
	"AWS::KMS::Alias":         {name: "AliasName"},
	"AWS::Logs::LogGroup": {name: "LogGroupName",
		attributes: map[string]string{"Arn": "arn:aws:logs:{region}:{account}:log-group:{id}:*"}},
	"AWS::AutoScaling::AutoScalingGroup": {name: "AutoScalingGroupName"},
	"AWS::CloudWatch::Alarm":             {name: "AlarmName", attributes: map[string]string{"Arn": "arn:aws:cloudwatch:{region}:{account}:alarm:{id}"}},
	"AWS::CloudWatch::CompositeAlarm":    {name: "AlarmName", attributes: map[string]string{"Arn": "arn:aws:cloudwatch:{region}:{account}:alarm:{id}"}},
	"AWS::Events::Rule":                  {name: "Name", attributes: map[string]string{"Arn": "arn:aws:events:{region}:{account}:rule/{id}"}},
	"AWS::RDS::DBInstance": {name: "DBInstanceIdentifier", lower: true, replaces: []string{"Engine"},
		attributes: map[string]string{"Endpoint.Address": "{id}.{hex16}.{region}.rds.amazonaws.com", "Endpoint.Port": "3306",
			"DBInstanceArn":              "arn:aws:rds:{region}:{account}:db:{id}",
			"MasterUserSecret.SecretArn": "arn:aws:secretsmanager:{region}:{account}:secret:rds!db-{guid}-{caps6}"}},
	"AWS::RDS::DBCluster": {name: "DBClusterIdentifier", lower: true, replaces: []string{"Engine", "MasterUsername"},
		attributes: map[string]string{"Endpoint.Address": "{id}.cluster-{hex16}.{region}.rds.amazonaws.com", "Endpoint.Port": "3306",
			"ReadEndpoint.Address": "{id}.cluster-ro-{hex16}.{region}.rds.amazonaws.com", "DBClusterArn": "arn:aws:rds:{region}:{account}:cluster:{id}",
			"MasterUserSecret.SecretArn": "arn:aws:secretsmanager:{region}:{account}:secret:rds!cluster-{guid}-{caps6}"}},
	"AWS::Neptune::DBCluster": {name: "DBClusterIdentifier", lower: true,
		attributes: map[string]string{"Endpoint": "{id}.cluster-{hex16}.{region}.neptune.amazonaws.com", "ReadEndpoint": "{id}.cluster-ro-{hex16}.{region}.neptune.amazonaws.com", "Port": "8182"}},
	"AWS::DocDB::DBCluster": {name: "DBClusterIdentifier", lower: true, replaces: []string{"MasterUsername"},
		attributes: map[string]string{"Endpoint": "{id}.cluster-{hex16}.{region}.docdb.amazonaws.com", "ReadEndpoint": "{id}.cluster-ro-{hex16}.{region}.docdb.amazonaws.com", "Port": "27017"}},
	"AWS::Neptune::DBInstance":         {name: "DBInstanceIdentifier", lower: true},
	"AWS::DocDB::DBInstance":           {name: "DBInstanceIdentifier", lower: true},
	"AWS::Redshift::Cluster":           {name: "ClusterIdentifier", lower: true, attributes: map[string]string{"Endpoint.Address": "{id}.{hex16}.{region}.redshift.amazonaws.com", "Endpoint.Port": "5439"}},
	"AWS::SageMaker::NotebookInstance": {name: "NotebookInstanceName", lower: true, id: "arn:aws:sagemaker:{region}:{account}:notebook-instance/{lower}", attributes: map[string]string{"NotebookInstanceName": "{given}"}},
	"AWS::SageMaker::Endpoint":         {name: "EndpointName", lower: true, id: "arn:aws:sagemaker:{region}:{account}:endpoint/{name}", attributes: map[string]string{"EndpointName": "{name}"}},
	"AWS::RDS::DBSubnetGroup":          {name: "DBSubnetGroupName", lower: true},
	"AWS::ElastiCache::ReplicationGroup": {name: "ReplicationGroupId", lower: true, attributes: map[string]string{
		"PrimaryEndPoint.Address": "master.{id}.{hex4}.use1.cache.amazonaws.com", "PrimaryEndPoint.Port": "6379",
		"ConfigurationEndPoint.Address": "clustercfg.{id}.{hex4}.use1.cache.amazonaws.com", "ConfigurationEndPoint.Port": "6379"}},
	"AWS::ECS::Cluster": {name: "ClusterName", attributes: map[string]string{"Arn": "arn:aws:ecs:{region}:{account}:cluster/{id}"}},
	"AWS::ECS::Service": {name: "ServiceName", id: "arn:aws:ecs:{region}:{account}:service/{cluster}/{name}",
		attributes: map[string]string{"Name": "{name}", "ServiceArn": "{id}"}},
	"AWS::ECS::TaskDefinition": {name: "Family", id: "arn:aws:ecs:{region}:{account}:task-definition/{name}:1"},
	"AWS::ElasticLoadBalancingV2::LoadBalancer": {name: "Name", id: "arn:aws:elasticloadbalancing:{region}:{account}:loadbalancer/app/{name}/{hex16}",
		attributes: map[string]string{"DNSName": "lb-{hex16}.{region}.elb.amazonaws.com", "CanonicalHostedZoneID": "Z35SXDOTRQ7X7K",
			"LoadBalancerArn": "{id}", "LoadBalancerFullName": "{path}"}},
	"AWS::ElasticLoadBalancingV2::TargetGroup": {name: "Name", id: "arn:aws:elasticloadbalancing:{region}:{account}:targetgroup/{name}/{hex16}",
		attributes: map[string]string{"TargetGroupArn": "{id}", "TargetGroupFullName": "targetgroup/{path}"}},
	"AWS::ElasticLoadBalancingV2::Listener":     {id: "arn:aws:elasticloadbalancing:{region}:{account}:listener/app/{name}/{hex16}/{hex16}"},
	"AWS::ElasticLoadBalancingV2::ListenerRule": {id: "arn:aws:elasticloadbalancing:{region}:{account}:listener-rule/app/{name}/{hex16}/{hex16}"},
	"AWS::Route53::HostedZone": {id: "{CAPS}",
		attributes: map[string]string{"NameServers": "[]ns-1.awsdns-01.com,ns-2.awsdns-02.net,ns-3.awsdns-03.org,ns-4.awsdns-04.co.uk"}},
	"AWS::Route53::RecordSet":     {name: "Name", replaces: []string{"Name"}},
	"AWS::SecretsManager::Secret": {name: "Name", id: "arn:aws:secretsmanager:{region}:{account}:secret:{name}-{hex4}"},
	"AWS::SSM::Parameter":         {name: "Name"},
	"AWS::CloudFront::Distribution": {id: "{CAPS}",
		attributes: map[string]string{"DomainName": "{lower}.cloudfront.net"}},
	"AWS::EFS::FileSystem":     {id: "fs-{hex}"},
	"AWS::EFS::MountTarget":    {id: "fsmt-{hex}"},
	"AWS::ApiGatewayV2::Api":   {id: "{hex4}{hex4}ab", attributes: map[string]string{"ApiEndpoint": "https://{id}.execute-api.{region}.amazonaws.com"}},
	"AWS::ApiGateway::RestApi": {id: "{hex4}{hex4}cd", attributes: map[string]string{"RootResourceId": "{hex4}{hex2}"}},
	"AWS::Cognito::UserPool":   {id: "{region}_{hex4}{hex4}"},
	"AWS::ECR::Repository":     {name: "RepositoryName", lower: true},
	"AWS::Kinesis::Stream":     {name: "Name"},
	"AWS::StepFunctions::StateMachine": {name: "StateMachineName", id: "arn:aws:states:{region}:{account}:stateMachine:{name}",
		attributes: map[string]string{"Arn": "{id}", "Name": "{name}"}},
	"AWS::CloudFormation::WaitConditionHandle": {id: "https://cloudformation-waitcondition-{region}.s3.amazonaws.com/{name}"},
	"AWS::CloudFormation::Stack":               {id: "arn:aws:cloudformation:{region}:{account}:stack/{name}/{guid}"},
}

// typeOf is what the schemas of AWS say of the type of a resource with its update policy: whether an update has to replace
// the resource. If they leave it open, the update replaces the resource only for the properties in the table above.
func typeOf(e *template.Evaluation, declared template.Resource) schema.Type {
	t, _ := schema.Named(declared.Type)
	return t.Under(e.Reduce(declared.UpdatePolicy))
}

func (v valueChange) replacement(t schema.Type) schema.Replacement {
	return t.Change(v.path, v.before, v.after)
}

// refused says why an update from one state of a resource to another fails: it changes a property that CloudFormation cannot change.
func (r *resource) refused(will *resource) string {
	kind := resourceTypes[r.Type]
	if kind.changes == nil || r.Properties == will.Properties {
		return ""
	}
	t, _ := schema.Named(will.Type)
	for _, v := range propertyChanges(t, r.Properties, will.Properties) {
		if !slices.Contains(kind.changes, v.path[0]) {
			return kind.fixed
		}
	}
	return ""
}

// mustReplace reports whether an update from one state of a resource to another replaces the resource.
func mustReplace(t schema.Type, is, will *resource) bool {
	if is.Properties == will.Properties {
		return false
	}
	for _, v := range propertyChanges(t, is.Properties, will.Properties) {
		if v.replacement(t) == schema.Always || slices.Contains(resourceTypes[will.Type].replaces, v.path[0]) {
			return true
		}
	}
	return false
}

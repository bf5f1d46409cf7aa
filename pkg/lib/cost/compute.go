package cost

import (
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/price"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// compute are the types that compute.
var compute = map[string]row{
	"AWS::EC2::Instance":                 {"traffic", instance},
	"AWS::AutoScaling::AutoScalingGroup": {"traffic, and the instances that scaling adds", group},
	"AWS::EC2::CapacityReservation":      {"", reservation},
	"AWS::ECS::Service":                  {"traffic, and the tasks that scaling adds", service},
	"AWS::EKS::Cluster":                  {"what is beyond standard support, and automatic compute", flatly("cluster", "eks-cluster")},
	"AWS::EKS::Nodegroup":                {"traffic, and the nodes that scaling adds", nodes},
	"AWS::EKS::FargateProfile":           {"the pods that it runs", nil},
	"AWS::Lambda::Function":              {"requests and duration", nil},
	"AWS::Lambda::Alias":                 {"requests and duration", unpriced("ProvisionedConcurrencyConfig", "provisioned concurrency")},
	"AWS::Lambda::Version":               {"requests and duration", unpriced("ProvisionedConcurrencyConfig", "provisioned concurrency")},
	"AWS::Serverless::Function":          {"requests and duration", serverlessFunction},
	"AWS::Serverless::StateMachine":      {"transitions or requests", nil},
	"AWS::Batch::JobDefinition":          {"the jobs that it runs", nil},
	"AWS::ECS::TaskDefinition":           {"the tasks that run", nil},
	"AWS::Glue::Job":                     {"the time that it runs", nil},
	"AWS::CodeBuild::Project":            {"the minutes that it builds", nil},
	"AWS::StepFunctions::StateMachine":   {"transitions or requests", nil},
	"AWS::AppRunner::Service":            {"the instances that run, and their requests", never("the memory of instances that wait for requests")},
}

// launch is what an instance is launched with: properties of its own come before those of its launch template.
type launch struct{ own, template object }

// at returns the object that has a key.
func (l launch) at(key string) object {
	if l.own.has(key) || !l.template.has(key) {
		return l.own
	}
	return l.template
}

// launched returns what a reference to a launch template in a property leads to. It reports false, and has said why, if
// that is not in the template.
func (p *pricing) launched(own object, reference object) (launch, bool) {
	for _, key := range []string{"LaunchTemplateId", "LaunchTemplateName"} {
		if r, ok := reference.target(key); ok && r.Type == "AWS::EC2::LaunchTemplate" {
			return launch{own, p.stack.object(r).in("LaunchTemplateData")}, true
		}
	}
	return launch{own: own}, false
}

// system says which operating system an image has, as far as its name says it.
func (p *pricing) system(from object) string {
	v, _ := from.at("ImageId")
	image := strings.ToLower(template.Compact(v))
	switch {
	case strings.Contains(image, "windows"):
		return "windows"
	case strings.Contains(image, "rhel"):
		return "rhel"
	}
	p.assume("Linux")
	return "linux"
}

// unpriced says that the price of what a property configures is not known.
func unpriced(key, what string) func(*pricing) {
	return func(p *pricing) {
		if p.has(key) {
			p.unknown("no price is known for " + what)
		}
	}
}

// never says that a fixed price is not known.
func never(what string) func(*pricing) {
	return func(p *pricing) { p.unknown("no price is known for " + what) }
}

func serverlessFunction(p *pricing) {
	if p.has("ProvisionedConcurrencyConfig") || p.global("Function", "ProvisionedConcurrencyConfig") {
		p.unknown("no price is known for provisioned concurrency")
	}
}

// global reports whether the Globals section of AWS::Serverless has a property for a kind of resources.
func (s *stack) global(kind, key string) bool { return slices.Contains(s.t.Globals[kind], key) }

// burstable are the families of instances that may use CPU credits.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/burstable-performance-instances.html
var burstable = []string{"t2", "t3", "t3a", "t4g"}

// addresses adds the public IPv4 addresses of n instances. Whether a subnet gives one is not in the properties of an instance.
func (p *pricing) addresses(n float64, l launch) {
	from := []object{l.at("AssociatePublicIpAddress")} // of a launch configuration
	interfaces, is := l.at("NetworkInterfaces").list("NetworkInterfaces")
	if is == unknown {
		p.lacks(l.at("NetworkInterfaces"), "NetworkInterfaces")
		return
	}
	said := false
	for _, o := range append(from, interfaces...) {
		if !o.has("AssociatePublicIpAddress") {
			continue
		}
		said = true
		if public, ok := p.yes(o, "AssociatePublicIpAddress"); ok && public {
			p.flat(n, "public IPv4 address", "public-ipv4")
		}
	}
	if !said {
		p.assume("no public IPv4 address, which its subnet may give")
	}
}

// machines adds n instances of EC2, their volumes and their addresses.
func (p *pricing) machines(n float64, l launch) {
	if l.at("InstanceMarketOptions").has("InstanceMarketOptions") || l.at("SpotPrice").has("SpotPrice") {
		p.unknown("it uses Spot instances, whose price changes")
		return
	}
	tenancy, ok := p.text(l.at("Tenancy"), "Tenancy", "default")
	if placement := l.at("Placement").in("Placement"); placement.has("Tenancy") {
		tenancy, ok = p.text(placement, "Tenancy", "")
	}
	if ok && tenancy != "default" {
		p.unknown("its tenancy is " + tenancy)
		return
	}
	if l.at("InstanceRequirements").has("InstanceRequirements") {
		p.unknown("EC2 chooses its instance type, by InstanceRequirements")
		return
	}
	if name, ok := p.text(l.at("InstanceType"), "InstanceType", ""); ok {
		p.instances(n, price.EC2, p.system(l.at("ImageId")), name)
		if family, _, _ := strings.Cut(name, "."); slices.Contains(burstable, family) {
			p.out.Usage += ", and CPU credits"
		}
	}
	p.addresses(n, l)
	p.mapped(n, l.at("BlockDeviceMappings"))
}

// mapped adds the volumes of n instances.
func (p *pricing) mapped(n float64, from object) {
	devices, is := from.list("BlockDeviceMappings")
	switch is {
	case unknown:
		p.lacks(from, "BlockDeviceMappings")
	case absent:
		p.assume("no volumes but those of the image, which are not counted")
	}
	for _, d := range devices {
		ebs := d.in("Ebs")
		switch {
		case !d.has("Ebs"): // an instance store, or no device
		case !ebs.has("VolumeSize"):
			p.assume("volumes without a size are not counted: they are as large as their snapshot")
		default:
			p.volume(n, ebs, "VolumeSize", "VolumeType", "Iops", "Throughput")
		}
	}
}

func instance(p *pricing) {
	l, ok := p.launched(p.object, p.in("LaunchTemplate"))
	switch {
	case !ok && p.has("LaunchTemplate") && !p.has("InstanceType"):
		p.unknown("its launch template is not in the template")
		return
	case !ok && !p.has("InstanceType"):
		l.own.all = maps.Clone(l.own.all)
		if l.own.all == nil {
			l.own.all = make(map[string]any)
		}
		if l.own.hole == nil {
			l.own.all["InstanceType"] = "m1.small" // the default of CloudFormation
		}
	case !ok && p.has("LaunchTemplate"):
		p.unknown("its launch template is not in the template, so what that adds is not known")
	}
	p.machines(1, l)
}

// group prices the instances that a group has when it is made.
func group(p *pricing) {
	size := "DesiredCapacity"
	if !p.has(size) {
		size = "MinSize"
	}
	n, ok := p.number(p.object, size, needed)
	if !ok {
		return
	}
	p.assume(size)
	if n == 0 {
		return
	}
	if p.has("MixedInstancesPolicy") {
		p.unknown("it mixes instance types, by MixedInstancesPolicy")
		return
	}
	if r, ok := p.target("LaunchConfigurationName"); ok {
		p.machines(n, launch{own: p.stack.object(r)})
		return
	}
	own := object{s: p.stack}
	l, ok := p.launched(own, p.in("LaunchTemplate"))
	if !ok {
		p.unknown("its launch template or launch configuration is not in the template")
		return
	}
	p.machines(n, l)
}

func reservation(p *pricing) {
	n, ok := p.number(p.object, "InstanceCount", needed)
	name, typed := p.text(p.object, "InstanceType", "")
	platform, named := p.text(p.object, "InstancePlatform", "")
	if !ok || !typed || !named {
		return
	}
	kind := map[string]string{"Linux/UNIX": "linux", "Windows": "windows", "Red Hat Enterprise Linux": "rhel"}[platform]
	if kind == "" {
		p.unknown("no price is known for " + shorten(platform))
		return
	}
	p.assume("no instance uses it: what one uses costs only once")
	p.instances(n, price.EC2, kind, name)
}

// nodes prices the instances of a managed node group.
func nodes(p *pricing) {
	n, ok := p.number(p.in("ScalingConfig"), "DesiredSize", 2) // the default of EKS
	if !ok || n == 0 {
		return
	}
	if capacity, ok := p.text(p.object, "CapacityType", "ON_DEMAND"); !ok || capacity == "SPOT" {
		p.unknown("it uses Spot instances, whose price changes")
		return
	}
	names, is := p.at("InstanceTypes")
	list, several := names.([]any)
	if is == known && !several { // CloudFormation takes a single value for a list of one
		list = []any{names}
	}
	l, launches := p.launched(object{s: p.stack}, func() object {
		ref := p.in("LaunchTemplate")
		if v, ok := ref.all["Id"]; ok {
			ref.all = map[string]any{"LaunchTemplateId": v}
		} else if v, ok := ref.all["Name"]; ok {
			ref.all = map[string]any{"LaunchTemplateName": v}
		}
		return ref
	}())
	kind := "linux"
	if ami, _ := p.at("AmiType"); strings.Contains(template.Compact(ami), "WINDOWS") {
		kind = "windows"
	}
	switch {
	case is == unknown:
		p.lacks(p.object, "InstanceTypes")
	case len(list) > 0:
		name, ok := list[0].(string)
		if !ok {
			p.unknown("InstanceTypes is not known: it is " + shorten(template.Compact(list[0])))
			return
		}
		if len(list) > 1 {
			p.assume("the first of its instance types")
		}
		p.instances(n, price.EC2, kind, name)
	case launches:
		if name, ok := p.text(l.at("InstanceType"), "InstanceType", ""); ok {
			p.instances(n, price.EC2, kind, name)
		}
	case p.has("LaunchTemplate"):
		p.unknown("its launch template is not in the template")
	default:
		p.instances(n, price.EC2, kind, "t3.medium") // the default of EKS
	}
	switch {
	case launches:
		p.addresses(n, l)
		p.mapped(n, l.at("BlockDeviceMappings"))
	default:
		p.unknown("no price is known for the volumes of its nodes")
	}
}

// service prices the tasks of a service on Fargate. On EC2 they cost nothing more than the instances.
func service(p *pricing) {
	if _, is := p.list("CapacityProviderStrategy"); is != absent {
		p.unknown("its price depends on its capacity providers")
		return
	}
	kind, ok := p.text(p.object, "LaunchType", "EC2")
	if !ok || kind == "EC2" {
		return
	}
	if kind != "FARGATE" {
		p.unknown("its launch type is " + kind)
		return
	}
	n, ok := p.number(p.object, "DesiredCount", 1)
	if !ok || n == 0 {
		return
	}
	r, ok := p.target("TaskDefinition")
	if !ok || r.Type != "AWS::ECS::TaskDefinition" {
		p.unknown("its task definition is not in the template")
		return
	}
	task := p.stack.object(r)
	cpu, ok := p.units(task, "Cpu", "vcpu")
	memory, sized := p.units(task, "Memory", "gb")
	if !ok || !sized {
		return
	}
	arm := ""
	if platform := task.in("RuntimePlatform"); platform.has("CpuArchitecture") {
		text, ok := p.text(platform, "CpuArchitecture", "")
		if !ok {
			return
		}
		if text == "ARM64" {
			arm = "arm-"
		}
	}
	if system, _ := task.in("RuntimePlatform").at("OperatingSystemFamily"); strings.HasPrefix(template.Compact(system), "WINDOWS") {
		p.unknown("no price is known for Windows on Fargate")
		return
	}
	if storage := task.in("EphemeralStorage"); task.has("EphemeralStorage") {
		if size, ok := p.number(storage, "SizeInGiB", needed); ok && size > 20 { // 20 GiB have no charge
			p.unknown("no price is known for ephemeral storage above 20 GiB")
		}
	}
	p.flat(n*cpu/1024, "vCPU of Fargate", "fargate-"+arm+"vcpu")
	p.flat(n*memory/1024, "GB of memory of Fargate", "fargate-"+arm+"gb")
}

// units reads the size of a task, in 1024ths: a number, or a number with a unit.
func (p *pricing) units(task object, key, unit string) (float64, bool) {
	text, ok := p.text(task, key, "")
	if !ok {
		return 0, false
	}
	fields := strings.Fields(strings.ToLower(strings.TrimSuffix(strings.ToLower(strings.TrimSpace(text)), unit)))
	scale := 1.0
	if strings.HasSuffix(strings.ToLower(strings.TrimSpace(text)), unit) {
		scale = 1024
	}
	if len(fields) != 1 {
		p.unknown(key + " of its task definition is not a size")
		return 0, false
	}
	n, ok := p.number(object{s: p.stack, name: key, all: map[string]any{"value": fields[0]}}, "value", needed)
	return n * scale, ok
}

// free are types of resources without a price of their own. The services of freeServices have only such types.
var free = []string{
	"AWS::ApplicationAutoScaling::ScalableTarget", "AWS::ApplicationAutoScaling::ScalingPolicy",
	"AWS::ApiGateway::Account", "AWS::ApiGateway::Authorizer", "AWS::ApiGateway::BasePathMapping", "AWS::ApiGateway::Deployment", "AWS::ApiGateway::DomainName", "AWS::ApiGateway::GatewayResponse",
	"AWS::ApiGateway::Method", "AWS::ApiGateway::Model", "AWS::ApiGateway::RequestValidator", "AWS::ApiGateway::Resource", "AWS::ApiGateway::UsagePlan", "AWS::ApiGateway::UsagePlanKey", "AWS::ApiGateway::ApiKey",
	"AWS::ApiGatewayV2::ApiMapping", "AWS::ApiGatewayV2::Authorizer", "AWS::ApiGatewayV2::Deployment", "AWS::ApiGatewayV2::DomainName", "AWS::ApiGatewayV2::Integration", "AWS::ApiGatewayV2::Route", "AWS::ApiGatewayV2::Stage",
	"AWS::AutoScaling::LaunchConfiguration", "AWS::AutoScaling::LifecycleHook", "AWS::AutoScaling::ScalingPolicy", "AWS::AutoScaling::ScheduledAction",
	"AWS::Batch::JobQueue", "AWS::CertificateManager::Certificate", "AWS::CloudFormation::WaitCondition", "AWS::CloudFormation::WaitConditionHandle", "AWS::CDK::Metadata",
	"AWS::CloudFront::CachePolicy", "AWS::CloudFront::CloudFrontOriginAccessIdentity", "AWS::CloudFront::OriginAccessControl", "AWS::CloudFront::OriginRequestPolicy", "AWS::CloudFront::ResponseHeadersPolicy",
	"AWS::Cognito::IdentityPool", "AWS::Cognito::IdentityPoolRoleAttachment", "AWS::Cognito::UserPoolClient", "AWS::Cognito::UserPoolDomain", "AWS::Cognito::UserPoolGroup", "AWS::Cognito::UserPoolResourceServer",
	"AWS::EC2::CustomerGateway", "AWS::EC2::DHCPOptions", "AWS::EC2::EIPAssociation", "AWS::EC2::EgressOnlyInternetGateway", "AWS::EC2::InternetGateway", "AWS::EC2::KeyPair", "AWS::EC2::LaunchTemplate",
	"AWS::EC2::NetworkAcl", "AWS::EC2::NetworkAclEntry", "AWS::EC2::NetworkInterface", "AWS::EC2::NetworkInterfaceAttachment", "AWS::EC2::PlacementGroup", "AWS::EC2::PrefixList", "AWS::EC2::Route", "AWS::EC2::RouteTable",
	"AWS::EC2::SecurityGroup", "AWS::EC2::SecurityGroupEgress", "AWS::EC2::SecurityGroupIngress", "AWS::EC2::Subnet", "AWS::EC2::SubnetCidrBlock", "AWS::EC2::SubnetNetworkAclAssociation", "AWS::EC2::SubnetRouteTableAssociation",
	"AWS::EC2::TransitGateway", "AWS::EC2::TransitGatewayRoute", "AWS::EC2::TransitGatewayRouteTable", "AWS::EC2::TransitGatewayRouteTableAssociation", "AWS::EC2::TransitGatewayRouteTablePropagation",
	"AWS::EC2::VPC", "AWS::EC2::VPCCidrBlock", "AWS::EC2::VPCDHCPOptionsAssociation", "AWS::EC2::VPCGatewayAttachment", "AWS::EC2::VPCPeeringConnection", "AWS::EC2::VPNGateway", "AWS::EC2::VPNGatewayRoutePropagation", "AWS::EC2::VPNConnectionRoute",
	"AWS::EC2::VolumeAttachment", "AWS::ECS::CapacityProvider", "AWS::ECS::Cluster", "AWS::ECS::ClusterCapacityProviderAssociations", "AWS::EFS::AccessPoint", "AWS::EFS::MountTarget",
	"AWS::EKS::AccessEntry", "AWS::EKS::Addon", "AWS::EKS::IdentityProviderConfig", "AWS::EKS::PodIdentityAssociation",
	"AWS::ElastiCache::ParameterGroup", "AWS::ElastiCache::SubnetGroup", "AWS::ElastiCache::SecurityGroup", "AWS::ElastiCache::User", "AWS::ElastiCache::UserGroup",
	"AWS::ElasticLoadBalancingV2::Listener", "AWS::ElasticLoadBalancingV2::ListenerCertificate", "AWS::ElasticLoadBalancingV2::ListenerRule", "AWS::ElasticLoadBalancingV2::TargetGroup",
	"AWS::Events::Rule", "AWS::Events::EventBusPolicy", "AWS::KMS::Alias", "AWS::Lambda::EventInvokeConfig", "AWS::Lambda::EventSourceMapping", "AWS::Lambda::LayerVersion", "AWS::Lambda::LayerVersionPermission", "AWS::Lambda::Permission", "AWS::Lambda::Url",
	"AWS::Logs::LogStream", "AWS::Logs::MetricFilter", "AWS::Logs::ResourcePolicy", "AWS::Logs::SubscriptionFilter", "AWS::MSK::Configuration", "AWS::NetworkFirewall::FirewallPolicy", "AWS::NetworkFirewall::LoggingConfiguration", "AWS::NetworkFirewall::RuleGroup",
	"AWS::OpenSearchServerless::AccessPolicy", "AWS::OpenSearchServerless::SecurityPolicy",
	"AWS::RDS::DBClusterParameterGroup", "AWS::RDS::DBParameterGroup", "AWS::RDS::DBSecurityGroup", "AWS::RDS::DBSubnetGroup", "AWS::RDS::EventSubscription", "AWS::RDS::OptionGroup",
	"AWS::Redshift::ClusterParameterGroup", "AWS::Redshift::ClusterSubnetGroup", "AWS::Redshift::ClusterSecurityGroup",
	"AWS::Route53::RecordSet", "AWS::Route53::RecordSetGroup", "AWS::Route53Resolver::ResolverRule", "AWS::Route53Resolver::ResolverRuleAssociation",
	"AWS::S3::BucketPolicy", "AWS::SNS::Subscription", "AWS::SNS::TopicPolicy", "AWS::SQS::QueuePolicy", "AWS::Scheduler::ScheduleGroup",
	"AWS::SecretsManager::ResourcePolicy", "AWS::SecretsManager::RotationSchedule", "AWS::SecretsManager::SecretTargetAttachment", "AWS::Serverless::LayerVersion",
	"AWS::ServiceDiscovery::HttpNamespace", "AWS::WAFv2::IPSet", "AWS::WAFv2::RegexPatternSet", "AWS::WAFv2::WebACLAssociation", "AWS::WAFv2::LoggingConfiguration", "AWS::ECR::RepositoryCreationTemplate", "AWS::Glue::Database",
}

// freeServices are services all of whose types are free.
var freeServices = []string{"AWS::IAM::", "AWS::Organizations::", "AWS::ResourceGroups::", "AWS::RAM::", "AWS::ServiceCatalogAppRegistry::", "AWS::CodeStarConnections::", "AWS::CodeDeploy::", "AWS::Budgets::", "AWS::SSO::"}

func isFree(name string) bool {
	return slices.Contains(free, name) || slices.ContainsFunc(freeServices, func(s string) bool { return strings.HasPrefix(name, s) })
}

// isMade reports whether a type of resources makes others, which the template does not show.
func isMade(name string) bool {
	return strings.HasPrefix(name, "Custom::") || strings.HasSuffix(name, "::MODULE") || slices.Contains([]string{"AWS::CloudFormation::Stack", "AWS::CloudFormation::StackSet", "AWS::CloudFormation::CustomResource", "AWS::CloudFormation::Macro", "AWS::Serverless::Application"}, name)
}

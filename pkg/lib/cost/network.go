package cost

import "strings"

// networks are the types of networks.
var networks = map[string]row{
	"AWS::EC2::NatGateway":                        {"processed data", flatly("NAT gateway", "nat-gateway")},
	"AWS::EC2::EIP":                               {"", flatly("public IPv4 address", "public-ipv4")},
	"AWS::EC2::VPCEndpoint":                       {"", endpoint},
	"AWS::EC2::TransitGatewayAttachment":          {"processed data", flatly("attachment", "transit-gateway-attachment")},
	"AWS::EC2::TransitGatewayVpcAttachment":       {"processed data", flatly("attachment", "transit-gateway-attachment")},
	"AWS::EC2::VPNConnection":                     {"traffic", flatly("connection", "vpn-connection")},
	"AWS::EC2::ClientVpnEndpoint":                 {"its connections", nil},
	"AWS::EC2::ClientVpnTargetNetworkAssociation": {"", flatly("association", "client-vpn-association")},
	"AWS::EC2::FlowLog":                           {"the logs that it writes", nil},
	"AWS::ElasticLoadBalancingV2::LoadBalancer":   {"capacity units", loadBalancer},
	"AWS::ElasticLoadBalancing::LoadBalancer":     {"processed data", flatly("Classic Load Balancer", "classic-load-balancer")},
	"AWS::NetworkFirewall::Firewall":              {"processed data", firewall},
	"AWS::GlobalAccelerator::Accelerator":         {"transferred data", flatly("accelerator", "accelerator")},
	"AWS::Route53::HostedZone":                    {"queries", flatly("hosted zone", "hosted-zone")},
	"AWS::Route53Resolver::ResolverEndpoint":      {"queries", resolver},
	"AWS::Route53::HealthCheck":                   {"", never("health checks")},
	"AWS::ServiceDiscovery::PrivateDnsNamespace":  {"queries", flatly("hosted zone", "hosted-zone")},
	"AWS::ServiceDiscovery::PublicDnsNamespace":   {"queries", flatly("hosted zone", "hosted-zone")},
	"AWS::ServiceDiscovery::Service":              {"registered instances and requests", nil},
	"AWS::CloudFront::Distribution":               {"requests and traffic", distribution},
	"AWS::CloudFront::Function":                   {"calls", nil},
	"AWS::ApiGateway::RestApi":                    {"requests", nil},
	"AWS::ApiGateway::Stage":                      {"requests", stage},
	"AWS::ApiGatewayV2::Api":                      {"requests", nil},
	"AWS::Serverless::Api":                        {"requests", serverlessAPI},
	"AWS::Serverless::HttpApi":                    {"requests", nil},
	"AWS::AppSync::GraphQLApi":                    {"requests", nil},
}

// endpoint prices a VPC endpoint by its Availability Zones. One of type Gateway is free.
func endpoint(p *pricing) {
	kind, ok := p.text(p.object, "VpcEndpointType", "Gateway")
	if !ok || kind == "Gateway" {
		return
	}
	p.out.Usage = "processed data"
	name := map[string]string{"Interface": "vpc-endpoint", "GatewayLoadBalancer": "gateway-load-balancer-endpoint"}[kind]
	if n, ok := p.count("SubnetIds"); ok {
		p.flat(n, "endpoint of type "+shorten(kind)+" in an Availability Zone", name)
	}
}

// count is how many items a list has.
func (p *pricing) count(key string) (float64, bool) {
	items, is := p.list(key)
	if is != known {
		p.lacks(p.object, key)
		return 0, false
	}
	return float64(len(items)), true
}

func loadBalancer(p *pricing) {
	kind, ok := p.text(p.object, "Type", "application")
	if !ok {
		return
	}
	p.flat(1, shorten(kind)+" load balancer", kind+"-load-balancer")
	if scheme, ok := p.text(p.object, "Scheme", "internet-facing"); ok && scheme == "internet-facing" && kind != "gateway" {
		p.assume("its public IPv4 addresses are not counted")
	}
}

func firewall(p *pricing) {
	key := "SubnetMappings"
	if !p.has(key) && p.has("AvailabilityZoneMappings") {
		key = "AvailabilityZoneMappings"
	}
	if n, ok := p.count(key); ok {
		p.flat(n, "endpoint", "network-firewall-endpoint")
	}
}

func resolver(p *pricing) {
	if n, ok := p.count("IpAddresses"); ok {
		p.flat(n, "network interface", "resolver-interface")
	}
}

// distribution says that the price of IP addresses of its own is not known.
// https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/cnames-https-dedicated-ip-or-sni.html
func distribution(p *pricing) {
	certificate := p.in("DistributionConfig").in("ViewerCertificate")
	if support, ok := p.text(certificate, "SslSupportMethod", "sni-only"); ok && support != "sni-only" {
		p.unknown("no price is known for IP addresses of its own (SslSupportMethod " + shorten(support) + ")")
	}
}

func serverlessAPI(p *pricing) {
	if !p.has("CacheClusterEnabled") && p.global("Api", "CacheClusterEnabled") {
		p.unknown("no price is known for the cache of a stage")
		return
	}
	stage(p)
}

// stage says that the price of a cache is not known.
func stage(p *pricing) {
	if cached, ok := p.text(p.object, "CacheClusterEnabled", "false"); ok && strings.EqualFold(cached, "true") {
		p.unknown("no price is known for the cache of a stage")
	}
}

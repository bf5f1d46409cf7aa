package cost

// others are the types of all other services.
var others = map[string]row{
	"AWS::KMS::Key":                          {"requests, and up to two rotations", flatly("key", "kms-key")},
	"AWS::KMS::ReplicaKey":                   {"requests, and up to two rotations", flatly("key", "kms-key")},
	"AWS::SecretsManager::Secret":            {"requests", secret},
	"AWS::CloudWatch::Alarm":                 {"", alarm},
	"AWS::CloudWatch::CompositeAlarm":        {"", flatly("composite alarm", "composite-alarm")},
	"AWS::CloudWatch::Dashboard":             {"", flatly("dashboard", "dashboard")},
	"AWS::CloudWatch::MetricStream":          {"metric updates", nil},
	"AWS::Synthetics::Canary":                {"runs", nil},
	"AWS::WAFv2::WebACL":                     {"requests, and the fees of managed rules", acl},
	"AWS::ACMPCA::CertificateAuthority":      {"certificates", authority},
	"AWS::Transfer::Server":                  {"transferred data", transfer},
	"AWS::Cognito::UserPool":                 {"active users", nil},
	"AWS::CloudTrail::Trail":                 {"data events, and further copies", nil},
	"AWS::Config::ConfigRule":                {"evaluations", nil},
	"AWS::Config::ConfigurationRecorder":     {"recorded configurations", nil},
	"AWS::GuardDuty::Detector":               {"analyzed events and logs", nil},
	"AWS::Athena::WorkGroup":                 {"scanned data", nil},
	"AWS::Glue::Crawler":                     {"the time that it runs", nil},
	"AWS::Glue::Table":                       {"stored objects and requests", nil},
	"AWS::SES::ConfigurationSet":             {"messages", nil},
	"AWS::CodePipeline::Pipeline":            {"active pipelines, or minutes of actions", nil},
	"AWS::XRay::Group":                       {"traces", nil},
	"AWS::Bedrock::Agent":                    {"tokens of its model", nil},
	"AWS::SageMaker::EndpointConfig":         {"the instances of its endpoints", nil},
	"AWS::CloudFormation::HookVersion":       {"operations of handlers", nil},
	"AWS::CloudFormation::ResourceVersion":   {"operations of handlers", nil},
	"AWS::CloudFormation::PublicTypeVersion": {"operations of handlers", nil},
}

// secret prices a secret and its replicas.
func secret(p *pricing) {
	replicas, is := p.list("ReplicaRegions")
	if is == unknown {
		p.lacks(p.object, "ReplicaRegions")
	}
	p.flat(float64(1+len(replicas)), "secret", "secret")
}

// alarm prices an alarm by its metrics.
func alarm(p *pricing) {
	n := 1.0
	if metrics, is := p.list("Metrics"); is == unknown {
		p.lacks(p.object, "Metrics")
		return
	} else if is == known {
		n = 0
		for _, m := range metrics {
			if m.hole != nil {
				p.lacks(p.object, "Metrics")
				return
			}
			if m.has("MetricStat") {
				n++
			}
		}
		if n == 0 { // a query, whose metrics are not known
			p.unknown("how many metrics it watches is not known")
			return
		}
	}
	period, ok := p.number(p.object, "Period", 60)
	switch {
	case !ok:
	case period < 60:
		p.flat(n, "metric of a high-resolution alarm", "alarm-high-resolution")
	default:
		p.flat(n, "metric of an alarm", "alarm")
	}
}

func acl(p *pricing) {
	p.flat(1, "web ACL", "web-acl")
	rules, is := p.list("Rules")
	if is == unknown {
		p.lacks(p.object, "Rules")
	}
	p.flat(float64(len(rules)), "rule", "web-acl-rule")
}

func authority(p *pricing) {
	mode, ok := p.text(p.object, "UsageMode", "GENERAL_PURPOSE")
	if !ok {
		return
	}
	name := "private-ca"
	if mode == "SHORT_LIVED_CERTIFICATE" {
		name = "private-ca-short-lived"
	}
	p.flat(1, "certificate authority", name)
}

func transfer(p *pricing) {
	n := 1.0 // SFTP is the default
	if p.has("Protocols") {
		var ok bool
		if n, ok = p.count("Protocols"); !ok {
			return
		}
	}
	p.flat(n, "protocol", "transfer-protocol")
}

package cost

// storage are the types of storage and of streams.
var storage = map[string]row{
	"AWS::EC2::Volume":                     {"snapshots", func(p *pricing) { p.volume(1, p.object, "Size", "VolumeType", "Iops", "Throughput") }},
	"AWS::S3::Bucket":                      {"stored data, requests and traffic", nil},
	"AWS::ECR::Repository":                 {"stored images and traffic", nil},
	"AWS::EFS::FileSystem":                 {"stored data and throughput", provisioned},
	"AWS::Backup::BackupVault":             {"stored backups", nil},
	"AWS::Kinesis::Stream":                 {"records", stream},
	"AWS::KinesisFirehose::DeliveryStream": {"data", nil},
	"AWS::MSK::Cluster":                    {"traffic", brokers},
	"AWS::MSK::ServerlessCluster":          {"partition hours, and data", never("the hours of a cluster")},
	"AWS::SQS::Queue":                      {"requests", nil},
	"AWS::SNS::Topic":                      {"messages", nil},
	"AWS::Events::EventBus":                {"events", nil},
	"AWS::Events::Archive":                 {"stored events", nil},
	"AWS::Pipes::Pipe":                     {"requests", nil},
	"AWS::Scheduler::Schedule":             {"invocations", nil},
	"AWS::Logs::LogGroup":                  {"logs that are written and stored", nil},
	"AWS::SSM::Parameter":                  {"requests with a higher throughput", advanced},
}

// What volumes of gp3 have without a charge.
// https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html
const (
	freeIOPS       = 3000
	freeThroughput = 125 // MBps
)

// volume adds n volumes of EBS, whose properties have the given names.
func (p *pricing) volume(n float64, o object, size, kind, iops, throughput string) {
	if !o.has(size) && o.has("SnapshotId") {
		p.unknown("it is as large as its snapshot")
		return
	}
	gigabytes, ok := p.number(o, size, needed)
	of, typed := p.text(o, kind, "gp2")
	if !ok || !typed {
		return
	}
	p.flat(n*gigabytes, "GB of "+shorten(of)+" volume", "ebs-"+of)
	switch of {
	case "gp3":
		if have, ok := p.number(o, iops, freeIOPS); ok && have > freeIOPS {
			p.flat(n*(have-freeIOPS), "IOPS above 3000", "ebs-gp3-iops")
		}
		if have, ok := p.number(o, throughput, freeThroughput); ok && have > freeThroughput {
			p.flat(n*(have-freeThroughput), "MBps above 125", "ebs-gp3-throughput")
		}
	case "io1", "io2":
		have, ok := p.number(o, iops, needed)
		switch {
		case !ok:
		case of == "io2" && have > 32_000:
			p.unknown("no price is known for more than 32,000 IOPS of io2")
		default:
			p.flat(n*have, "IOPS", "ebs-"+of+"-iops")
		}
	}
}

func provisioned(p *pricing) {
	if mode, ok := p.text(p.object, "ThroughputMode", "bursting"); ok && mode == "provisioned" {
		p.unknown("no price is known for provisioned throughput")
	}
}

func stream(p *pricing) {
	mode, ok := p.text(p.in("StreamModeDetails"), "StreamMode", "PROVISIONED")
	if !ok {
		return
	}
	if mode == "ON_DEMAND" {
		p.out.Usage = "data"
		p.unknown("no price is known for the hours of a stream on demand")
		return
	}
	if n, ok := p.number(p.object, "ShardCount", 1); ok {
		p.flat(n, "shard", "kinesis-shard")
	}
}

func advanced(p *pricing) {
	if tier, ok := p.text(p.object, "Tier", "Standard"); ok && tier != "Standard" {
		p.unknown("no price is known for parameters of tier " + shorten(tier))
	}
}

func brokers(p *pricing) {
	n, ok := p.number(p.object, "NumberOfBrokerNodes", needed)
	group := p.in("BrokerNodeGroupInfo")
	class, typed := p.text(group, "InstanceType", "")
	if !ok || !typed {
		return
	}
	p.flat(n, shorten(class), class)
	if volume := group.in("StorageInfo").in("EBSStorageInfo"); volume.has("VolumeSize") {
		if size, ok := p.number(volume, "VolumeSize", needed); ok {
			p.flat(n*size, "GB of storage", "msk-storage")
		}
	}
}

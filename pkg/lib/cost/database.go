package cost

import (
	"cmp"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/price"
)

// databases are the types of databases and caches.
var databases = map[string]row{
	"AWS::RDS::DBInstance":                  {"backups beyond the size of the database, and traffic", databaseInstance},
	"AWS::RDS::DBCluster":                   {"storage, I/O and backups", databaseCluster},
	"AWS::ElastiCache::CacheCluster":        {"backups and traffic", cacheCluster},
	"AWS::ElastiCache::ReplicationGroup":    {"backups and traffic", replicationGroup},
	"AWS::ElastiCache::ServerlessCache":     {"stored data and processing units", never("the least data that is charged")},
	"AWS::OpenSearchService::Domain":        {"snapshots and traffic", searchDomain},
	"AWS::OpenSearchServerless::Collection": {"capacity units and stored data", never("the least capacity, which collections share")},
	"AWS::Redshift::Cluster":                {"managed storage of RA3 nodes, backups, and queries of Spectrum", redshift},
	"AWS::RedshiftServerless::Workgroup":    {"processing units", nil},
	"AWS::RedshiftServerless::Namespace":    {"stored data", nil},
	"AWS::DynamoDB::Table":                  {"stored data, backups and streams", table},
	"AWS::DynamoDB::GlobalTable":            {"requests or capacity in each region, and stored data", globalTable},
	"AWS::Serverless::SimpleTable":          {"requests and stored data", simpleTable},
	"AWS::Timestream::Table":                {"writes, queries and stored data", nil},
	"AWS::Cassandra::Table":                 {"requests or capacity, and stored data", keyspaces},
	"AWS::SDB::Domain":                      {"machine hours and stored data", nil},
}

// databaseInstance prices an instance of RDS. One of a cluster has the engine of the cluster, and no storage of its own.
func databaseInstance(p *pricing) {
	engine, cluster, ok := p.engine()
	if !ok {
		return
	}
	class, ok := p.text(p.object, "DBInstanceClass", "")
	if !ok {
		return
	}
	inCluster := p.has("DBClusterIdentifier")
	if inCluster {
		p.out.Usage = "traffic"
	}
	switch {
	case class == "db.serverless" && cluster != nil:
		p.capacity(*cluster)
		return
	case class == "db.serverless":
		p.unknown("its capacity is that of its cluster, which is not in the template")
		return
	case inCluster && cluster != nil && cluster.has("StorageType"):
		if kind, ok := p.text(*cluster, "StorageType", ""); !ok || kind == "aurora-iopt1" {
			p.unknown("no price is known for Aurora I/O-Optimized")
			return
		}
	}
	license, ok := "", true
	if p.has("LicenseModel") {
		license, ok = p.text(p.object, "LicenseModel", "")
	}
	if !ok {
		return
	}
	kind, priced := price.Engine(engine, license)
	if !priced {
		p.unknown("no price is known for engine " + shorten(engine) + ", license model " + shorten(cmp.Or(license, "not given")))
		return
	}
	copies, ok := p.copies(engine, inCluster)
	if !ok {
		return
	}
	p.instances(copies, price.RDS, kind, class)
	if !inCluster {
		p.databaseStorage(copies)
	}
}

// engine is the engine of an instance, that of its cluster or its source, and the properties of its cluster if the template has it.
func (p *pricing) engine() (engine string, cluster *object, ok bool) {
	if r, found := p.target("DBClusterIdentifier"); found {
		o := p.stack.object(r)
		if engine, ok = p.text(o, "Engine", ""); !ok {
			return "", nil, false
		}
		return engine, &o, true
	}
	if !p.has("Engine") {
		if r, found := p.target("SourceDBInstanceIdentifier"); found {
			engine, ok = p.text(p.stack.object(r), "Engine", "")
			return engine, nil, ok
		}
		if p.has("DBSnapshotIdentifier") || p.has("SourceDBInstanceIdentifier") {
			p.unknown("its engine is that of a snapshot or instance that is not in the template")
			return "", nil, false
		}
	}
	engine, ok = p.text(p.object, "Engine", "")
	return engine, nil, ok
}

// copies is how many instances are paid for.
func (p *pricing) copies(engine string, inCluster bool) (float64, bool) {
	multiple, ok := p.yes(p.object, "MultiAZ")
	switch {
	case !ok:
		return 0, false
	case !multiple || inCluster:
		return 1, true
	case strings.HasPrefix(engine, "sqlserver"):
		p.unknown("no price is known for SQL Server in several Availability Zones")
		return 0, false
	}
	p.assume("two instances for MultiAZ")
	return 2, true
}

// databaseStorage adds the storage of an instance of RDS.
func (p *pricing) databaseStorage(copies float64) {
	if !p.has("AllocatedStorage") && (p.has("DBSnapshotIdentifier") || p.has("SourceDBInstanceIdentifier")) {
		p.unknown("its storage is as large as that of its snapshot or source")
		return
	}
	size, ok := p.number(p.object, "AllocatedStorage", needed)
	if !ok {
		return
	}
	instead := "gp2"
	if p.has("Iops") {
		instead = "io1"
	}
	kind, ok := p.text(p.object, "StorageType", instead)
	if !ok {
		return
	}
	p.flat(copies*size, "GB of "+shorten(kind)+" storage", "rds-"+kind)
	switch {
	case kind == "io1":
		if iops, ok := p.number(p.object, "Iops", needed); ok {
			p.flat(copies*iops, "IOPS", "rds-io1-iops")
		}
	case p.has("Iops"):
		p.unknown("no price is known for the IOPS of " + shorten(kind) + " storage")
	}
	if p.has("StorageThroughput") {
		p.unknown("no price is known for the throughput of " + shorten(kind) + " storage")
	}
}

// capacity adds the least capacity of an instance of Aurora Serverless v2.
func (p *pricing) capacity(cluster object) {
	least, ok := p.number(cluster.in("ServerlessV2ScalingConfiguration"), "MinCapacity", needed)
	if !ok {
		return
	}
	p.out.Usage = "capacity units above the minimum"
	p.assume("the least capacity")
	p.flat(least, "Aurora capacity unit", "aurora-capacity-unit")
}

// databaseCluster prices what a cluster costs without its instances.
func databaseCluster(p *pricing) {
	engine, ok := p.text(p.object, "Engine", "")
	if ok && !strings.HasPrefix(engine, "aurora") {
		p.unknown("no price is known for Multi-AZ DB clusters of " + shorten(engine))
	}
	if mode, ok := p.text(p.object, "EngineMode", "provisioned"); ok && mode == "serverless" {
		p.unknown("no price is known for Aurora Serverless v1")
	}
}

// cacheEngine is the engine of a cache, if its prices are known.
func (p *pricing) cacheEngine(instead string) (string, bool) {
	engine, ok := p.text(p.object, "Engine", instead)
	return strings.ToLower(engine), ok
}

func cacheCluster(p *pricing) {
	engine, ok := p.cacheEngine("")
	class, typed := p.text(p.object, "CacheNodeType", "")
	n, counted := p.number(p.object, "NumCacheNodes", needed)
	if ok && typed && counted {
		p.instances(n, price.ElastiCache, engine, class)
	}
}

func replicationGroup(p *pricing) {
	engine, ok := p.cacheEngine("redis")
	class, typed := p.text(p.object, "CacheNodeType", "")
	if !ok || !typed {
		return
	}
	if p.has("NodeGroupConfiguration") && !p.has("NumNodeGroups") && !p.has("NumCacheClusters") {
		p.unknown("the number of its nodes follows from NodeGroupConfiguration")
		return
	}
	n, counted := p.number(p.object, "NumCacheClusters", 1)
	if !p.has("NumCacheClusters") {
		shards, ok := p.number(p.object, "NumNodeGroups", 1)
		replicas, known := p.number(p.object, "ReplicasPerNodeGroup", 0)
		n, counted = shards*(1+replicas), ok && known
	}
	if counted {
		p.instances(n, price.ElastiCache, engine, class)
	}
}

func searchDomain(p *pricing) {
	cluster := p.in("ClusterConfig")
	n, ok := p.number(cluster, "InstanceCount", 1)
	class, typed := p.text(cluster, "InstanceType", "")
	if ok && typed {
		p.instances(n, price.OpenSearch, "", class)
	}
	if dedicated, known := p.yes(cluster, "DedicatedMasterEnabled"); known && dedicated {
		masters, ok := p.number(cluster, "DedicatedMasterCount", needed)
		class, typed := p.text(cluster, "DedicatedMasterType", "")
		if ok && typed {
			p.instances(masters, price.OpenSearch, "", class)
		}
	}
	if warm, known := p.yes(cluster, "WarmEnabled"); !known || warm {
		p.unknown("no price is known for warm nodes")
	}
	volumes := p.in("EBSOptions")
	if enabled, known := p.yes(volumes, "EBSEnabled"); known && enabled && ok {
		size, sized := p.number(volumes, "VolumeSize", needed)
		kind, typed := p.text(volumes, "VolumeType", "gp2")
		if sized && typed {
			p.flat(n*size, "GB of "+shorten(kind)+" storage", "opensearch-"+kind)
			if most, ok := p.number(volumes, "Iops", freeIOPS); ok && kind == "gp3" && most > freeIOPS {
				p.unknown("no price is known for IOPS above 3000 of gp3 storage")
			}
			if most, ok := p.number(volumes, "Throughput", freeThroughput); ok && kind == "gp3" && most > freeThroughput {
				p.unknown("no price is known for throughput above 125 MBps of gp3 storage")
			}
		}
	}
}

func redshift(p *pricing) {
	class, ok := p.text(p.object, "NodeType", "")
	n, counted := p.number(p.object, "NumberOfNodes", 1)
	if ok && counted {
		p.flat(n, shorten(class), "redshift-"+class)
	}
}

// table prices the capacity of a table that is provisioned.
func table(p *pricing) {
	mode, ok := p.text(p.object, "BillingMode", "PROVISIONED")
	if !ok {
		return
	}
	if mode == "PAY_PER_REQUEST" {
		p.out.Usage = "requests, stored data, backups and streams"
		return
	}
	p.out.Usage = "stored data, backups and streams"
	indexes, is := p.list("GlobalSecondaryIndexes")
	if is == unknown {
		p.lacks(p.object, "GlobalSecondaryIndexes")
	}
	for _, o := range slices.Concat([]object{p.object}, indexes) {
		p.throughput(o.in("ProvisionedThroughput"))
	}
	p.assume("the provisioned capacity, without what scaling adds")
}

// throughput adds the provisioned capacity of a table or an index.
func (p *pricing) throughput(capacity object) {
	if reads, ok := p.number(capacity, "ReadCapacityUnits", needed); ok {
		p.flat(reads, "read capacity unit", "dynamodb-read-unit")
	}
	if writes, ok := p.number(capacity, "WriteCapacityUnits", needed); ok {
		p.flat(writes, "write capacity unit", "dynamodb-write-unit")
	}
}

// simpleTable prices the capacity of a table of AWS::Serverless, which has none unless it is given.
func simpleTable(p *pricing) {
	if p.has("ProvisionedThroughput") {
		p.throughput(p.in("ProvisionedThroughput"))
	}
}

func globalTable(p *pricing) {
	if mode, ok := p.text(p.object, "BillingMode", "PROVISIONED"); ok && mode != "PAY_PER_REQUEST" {
		p.unknown("no price is known for the capacity of a global table")
	}
}

func keyspaces(p *pricing) {
	if mode, ok := p.text(p.in("BillingMode"), "Mode", "ON_DEMAND"); ok && mode != "ON_DEMAND" {
		p.unknown("no price is known for provisioned capacity")
	}
}

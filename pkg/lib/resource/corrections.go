package resource

import (
	"slices"
	"strings"
	"sync"
)

// correctionTable lists what AWS's documentation says of a property where both sources of the table say something else:
// they are less definite, or older. A page, below
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/ if it is a name, and its type;
// then, for each property, the replacement that it says. It holds for everything below the path, too. never is an
// exception from what is said of a path above.
const correctionTable = `
# "explicitly setting it to GRAPHQL in a template/stack update will result in an API replacement"
page aws-resource-appsync-graphqlapi.html AWS::AppSync::GraphQLApi
conditional ApiType
conditional Visibility

# "A local secondary index can only be created when its parent table is created."
page aws-properties-dynamodb-table-localsecondaryindex.html AWS::DynamoDB::Table
always LocalSecondaryIndexes

# A group is resized in place.
page aws-properties-elasticmapreduce-cluster-instancegroupconfig.html AWS::EMR::Cluster
never Instances/CoreInstanceGroup/AutoScalingPolicy
never Instances/CoreInstanceGroup/InstanceCount
page aws-properties-elasticmapreduce-cluster-instancefleetconfig.html AWS::EMR::Cluster
never Instances/CoreInstanceFleet/TargetOnDemandCapacity
never Instances/CoreInstanceFleet/TargetSpotCapacity

# "CloudFormation will replace your existing DB cluster with a new, empty one"
page aws-resource-neptune-dbinstance.html AWS::Neptune::DBInstance
conditional AllowMajorVersionUpgrade

# Replacement without an update policy: see upgrades.
page aws-resource-opensearchservice-domain.html AWS::OpenSearchService::Domain
always EngineVersion
page aws-resource-elasticsearch-domain.html AWS::Elasticsearch::Domain
always ElasticsearchVersion
page aws-resource-elasticache-replicationgroup.html AWS::ElastiCache::ReplicationGroup
always NumNodeGroups

# "Update requires: Some interruptions", which is not a replacement.
page aws-resource-rds-dbinstance.html AWS::RDS::DBInstance
never AutoMinorVersionUpgrade
never BackupRetentionPeriod
never DBParameterGroupName
never MultiAZ
never PreferredMaintenanceWindow
never StorageType

# "Enable Object Lock on an existing S3 bucket"
page https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-lock-configure.html AWS::S3::Bucket
never ObjectLockEnabled
`

// A correction is one line of the table.
type correction struct {
	path        string
	replacement Replacement
}

var corrections = sync.OnceValue(func() map[string][]correction {
	all, typ := make(map[string][]correction), ""
	for line := range strings.Lines(correctionTable) {
		switch word, rest, _ := strings.Cut(strings.TrimSpace(line), " "); word {
		case "", "#":
		case "page":
			_, typ, _ = strings.Cut(rest, " ")
		default:
			all[typ] = append(all[typ], correction{rest, Replacement(word)})
		}
	}
	return all
})

// correct makes the corrections of the type.
func (t *Type) correct() {
	for _, c := range corrections()[t.Name] {
		switch c.replacement {
		case Always:
			t.createOnly = append(t.createOnly, c.path)
		case Conditional:
			t.conditional = append(t.conditional, c.path)
		case Never:
			below := func(p string) bool { return under(c.path, p) }
			t.createOnly = slices.DeleteFunc(t.createOnly, below)
			t.conditional = slices.DeleteFunc(t.conditional, below)
			t.inPlace = append(t.inPlace, c.path)
		}
	}
	for path := range names[t.Name] {
		if !slices.Contains(t.unordered, path) {
			t.unordered = append(t.unordered, path)
		}
	}
}

// upgrades are properties that an update policy has CloudFormation change in place.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-updatepolicy.html
var upgrades = map[string][]struct{ path, policy string }{
	"AWS::OpenSearchService::Domain": {{"EngineVersion", "EnableVersionUpgrade"}},
	"AWS::Elasticsearch::Domain":     {{"ElasticsearchVersion", "EnableVersionUpgrade"}},
	"AWS::ElastiCache::ReplicationGroup": {
		{"NumNodeGroups", "UseOnlineResharding"}, {"NodeGroupConfiguration", "UseOnlineResharding"},
	},
}

// names are the lists whose items have a name of their own, and no order: the key of the name, by type and property.
var names = map[string]map[string]string{
	"AWS::DynamoDB::Table":       {"AttributeDefinitions": "AttributeName"},
	"AWS::DynamoDB::GlobalTable": {"AttributeDefinitions": "AttributeName"},
}

// A rule says what a change of a property means where that depends on the values. The path is that of the part that
// changes, below the property.
type rule func(path []string, before, after any) Replacement

// rule is the rule of the property at the path, or nil.
func (t Type) rule(path []string) rule {
	if len(path) == 0 {
		return nil
	}
	switch t.Name + "." + path[0] {
	case "AWS::DynamoDB::Table.AttributeDefinitions":
		return definition
	case "AWS::DynamoDB::GlobalTable.AttributeDefinitions":
		return func(path []string, before, after any) Replacement {
			if definition(path, before, after) != Never { // its page does not say what an edit does
				return Conditional
			}
			return Never
		}
	case "AWS::OpenSearchService::Domain.VPCOptions", "AWS::Elasticsearch::Domain.VPCOptions":
		return network
	}
	return nil
}

// definition is the rule of the attributes of a table: "Replacement if you edit an existing AttributeDefinition." One
// that is added or removed, for an index, is no replacement.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-dynamodb-table.html
func definition(path []string, before, after any) Replacement {
	item, _ := before.(map[string]any)
	if before == nil {
		item, _ = after.(map[string]any)
	}
	_, named := item["AttributeName"].(string)
	switch {
	case len(path) > 1 && path[1] == "AttributeType":
		return Always
	case len(path) < 2 && (before == nil || after == nil) && (named || len(path) == 0):
		return Never
	}
	return Conditional
}

// network is the rule of the VPC of a domain: "If you remove this entity altogether, along with its associated
// properties, it causes a replacement."
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-opensearchservice-domain.html
func network(path []string, before, after any) Replacement {
	switch {
	case len(path) == 0 && before != nil && after == nil:
		return Always
	case len(path) == 0 && before == nil: // the documentation does not say
		return Conditional
	}
	return Never
}

package difference

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// parse reads a template; an empty text is no template.
func parse(t testing.TB, text string, parameters map[string]string) Side {
	t.Helper()
	if text == "" {
		return Side{}
	}
	read, err := template.Parse("t.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	all := read.Defaults()
	for name, value := range parameters {
		all[name] = value
	}
	return Side{read, template.Scope{Parameters: all, Region: "eu-west-1", AccountID: "111122223333", StackName: "s"}}
}

// String writes a difference, one thing a line.
func (d Difference) String() string {
	var b strings.Builder
	for _, r := range d.Resources {
		fmt.Fprintf(&b, "%s %s %s", r.Action, r.ID, r.Replacement)
		if r.Possible {
			b.WriteString(" possible")
		}
		if r.Refused != "" {
			b.WriteString(" refused")
		}
		if r.Loses != "" {
			fmt.Fprintf(&b, " loses %s", r.Loses)
		}
		if r.Kept != "" {
			fmt.Fprintf(&b, " kept by %s", r.Kept)
		}
		b.WriteByte('\n')
		for _, p := range r.Properties {
			fmt.Fprintf(&b, "  %s %s", p.Path, p.Replacement)
			if always := p.Replacement == resource.Always; p.CreateOnly != always {
				fmt.Fprintf(&b, " create-only=%v", p.CreateOnly)
			}
			switch {
			case p.Secret:
				b.WriteString(" secret")
			case p.Because != "":
				b.WriteString(" because " + p.Because)
			default:
				fmt.Fprintf(&b, " %s → %s", orNone(p.Before), orNone(p.After))
			}
			b.WriteByte('\n')
		}
	}
	for _, o := range d.Outputs {
		fmt.Fprintf(&b, "output %s %s", o.Action, o.Name)
		if o.NoLonger {
			b.WriteString(" export " + o.Export + " is deleted")
		}
		b.WriteByte('\n')
	}
	if d.Hidden {
		b.WriteString("hidden resources\n")
	}
	return b.String()
}

func orNone(s *string) string {
	if s == nil {
		return "(none)"
	}
	return *s
}

// resources makes a template of resources, and of more sections.
func resources(text string, more ...string) string {
	return "Resources:\n" + indent(text) + strings.Join(more, "")
}

func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("  " + line)
	}
	return b.String() + "\n"
}

const (
	table  = "T:\n  Type: AWS::DynamoDB::Table\n  Properties: {TableName: a, KeySchema: [{AttributeName: id, KeyType: HASH}]}"
	bucket = "B:\n  Type: AWS::S3::Bucket\n"

	cluster  = "D:\n  Type: AWS::RDS::DBCluster\n"
	extended = "Transform: AWS::LanguageExtensions\nParameters: {Keep: {Type: String, Default: Delete}, Secret: {Type: String, Default: Retain, NoEcho: true}}\nConditions: {Yes: !Equals [a, a]}\n"
)

func TestDifferences(t *testing.T) {
	for _, test := range []struct{ name, before, after, want string }{
		{"nothing differs", resources(table), resources(table), ""},
		{"a table gets another name: its data is lost", resources(table), resources(strings.Replace(table, "TableName: a", "TableName: b", 1)),
			"replace T always loses a table\n  TableName always a → b\n"},
		{"a table gets another key", resources(table), resources(strings.Replace(table, "AttributeName: id", "AttributeName: sk", 1)),
			"replace T always refused\n  KeySchema[0].AttributeName always id → sk\n"},
		{"a bucket is removed", resources(bucket + "Q:\n  Type: AWS::SNS::Topic"), resources("Q:\n  Type: AWS::SNS::Topic"),
			"remove B never loses objects\n"},
		{"a bucket is removed and retained", resources(bucket + "  DeletionPolicy: Retain\nQ:\n  Type: AWS::SNS::Topic"), resources("Q:\n  Type: AWS::SNS::Topic"),
			"remove B never kept by Retain\n"},
		{"a volume is removed, and a snapshot made", resources("V:\n  Type: AWS::EC2::Volume\n  DeletionPolicy: Snapshot\nQ:\n  Type: AWS::SNS::Topic"),
			resources("Q:\n  Type: AWS::SNS::Topic"), "remove V never kept by Snapshot\n"},
		{"a bucket is added", resources("Q:\n  Type: AWS::SNS::Topic"), resources(bucket + "Q:\n  Type: AWS::SNS::Topic"), "add B never\n"},
		{"a stack is deleted", resources(bucket), "", "remove B never loses objects\n"},
		{"a database cluster is removed: the default is a snapshot", resources("D:\n  Type: AWS::RDS::DBCluster\nQ:\n  Type: AWS::SNS::Topic"),
			resources("Q:\n  Type: AWS::SNS::Topic"), "remove D never kept by Snapshot\n"},
		{"a policy that is a function", resources(cluster+"  DeletionPolicy: !Ref Keep\nQ:\n  Type: AWS::SNS::Topic", extended), resources("Q:\n  Type: AWS::SNS::Topic"), "remove D never loses a database\n"},
		{"a policy that is a function with the value Retain", resources(cluster+"  DeletionPolicy: !If [Yes, Retain, Delete]\nQ:\n  Type: AWS::SNS::Topic", extended),
			resources("Q:\n  Type: AWS::SNS::Topic"), "remove D never kept by Retain\n"},
		{"a policy whose value is not known", resources(cluster+"  DeletionPolicy: !Ref Secret\nQ:\n  Type: AWS::SNS::Topic", extended),
			resources("Q:\n  Type: AWS::SNS::Topic"), "remove D never loses a database\n"},
		{"a policy that is AWS::NoValue", resources(cluster+"  DeletionPolicy: !Ref AWS::NoValue\nQ:\n  Type: AWS::SNS::Topic", extended),
			resources("Q:\n  Type: AWS::SNS::Topic"), "remove D never kept by Snapshot\n"},
		{"a policy for replacements that is a function", resources(bucket+"  UpdateReplacePolicy: !Ref Keep", extended), resources(bucket+"  UpdateReplacePolicy: !Ref Keep\n  Properties: {BucketName: x}", extended),
			"replace B always loses objects\n  BucketName always (none) → x\n"},
		{"the value of a policy changes", resources(bucket+"  DeletionPolicy: !Ref Keep", extended), resources(bucket+"  DeletionPolicy: !Ref Keep", strings.Replace(extended, "Delete", "Retain", 1)),
			"modify B never\n  DeletionPolicy never Delete → Retain\n"},
		{"a loop over tables loses one",
			extended + "Resources:\n  Fn::ForEach::Tables: [Name, [A, B], {'T${Name}': {Type: AWS::DynamoDB::Table, Properties: {TableName: !Ref Name}}}]\n",
			extended + "Resources:\n  Fn::ForEach::Tables: [Name, [A], {'T${Name}': {Type: AWS::DynamoDB::Table, Properties: {TableName: !Ref Name}}}]\n",
			"modify Fn::ForEach::Tables never\n  Collection[1] never B → (none)\nhidden resources\n"},
		{"a loop is deleted", extended + "Resources:\n  Fn::ForEach::Tables: [Name, [A], {'T${Name}': {Type: AWS::DynamoDB::Table}}]\n", "", "remove Fn::ForEach::Tables never\nhidden resources\n"},
		{"a loop is created", "", extended + "Resources:\n  Fn::ForEach::Tables: [Name, [A], {'T${Name}': {Type: AWS::DynamoDB::Table}}]\n", "add Fn::ForEach::Tables never\n"},
		{"a table of a serverless application is deleted", "Transform: AWS::Serverless-2016-10-31\n" + resources("T:\n  Type: AWS::Serverless::SimpleTable\n"), "", "remove T never loses a table\nhidden resources\n"},
		{"a nested stack is deleted", resources("N:\n  Type: AWS::CloudFormation::Stack\n"), "", "remove N never\nhidden resources\n"},
		{"a nested stack is created", "", resources("N:\n  Type: AWS::CloudFormation::Stack\n"), "add N never\n"},
		{"a nested stack changes", resources("N:\n  Type: AWS::CloudFormation::Stack\n  Properties: {TemplateURL: a}"), resources("N:\n  Type: AWS::CloudFormation::Stack\n  Properties: {TemplateURL: b}"),
			"modify N never\n  TemplateURL never a → b\nhidden resources\n"},
		{"tags are reordered", resources(bucket + "  Properties: {Tags: [{Key: a, Value: 1}, {Key: b, Value: 2}]}"),
			resources(bucket + "  Properties: {Tags: [{Value: '2', Key: b}, {Key: a, Value: '1'}]}"), ""},
		{"a tag changes", resources(bucket + "  Properties: {Tags: [{Key: a, Value: 1}, {Key: b, Value: 2}]}"),
			resources(bucket + "  Properties: {Tags: [{Key: b, Value: 3}, {Key: a, Value: 1}]}"), "modify B never\n  Tags[b].Value never 2 → 3\n"},
		{"actions of a policy are reordered",
			resources("P:\n  Type: AWS::IAM::Policy\n  Properties: {PolicyName: p, PolicyDocument: {Statement: [{Effect: Allow, Action: [a:B, a:C], Resource: '*'}]}}"),
			resources("P:\n  Type: AWS::IAM::Policy\n  Properties: {PolicyName: p, PolicyDocument: {Statement: [{Effect: Allow, Action: [a:C, a:B], Resource: ['*']}]}}"), ""},
		{"the order of a list matters", resources("F:\n  Type: AWS::Lambda::Function\n  Properties: {Layers: [a, b]}"), resources("F:\n  Type: AWS::Lambda::Function\n  Properties: {Layers: [b, a]}"),
			"modify F never\n  Layers[0] never a → b\n  Layers[1] never b → a\n"},
		{"a function in another form is the same", resources(bucket + "  Properties: {BucketName: !Sub '${AWS::StackName}-x'}"),
			resources(bucket + "  Properties: {BucketName: !Join ['-', [!Ref AWS::StackName, x]]}"), ""},
		{"a join is the same as a sub", resources(bucket + "Q:\n  Type: AWS::SNS::Topic\n  Properties: {DisplayName: !Sub 'of ${B.Arn}'}"),
			resources(bucket + "Q:\n  Type: AWS::SNS::Topic\n  Properties: {DisplayName: !Join ['', ['of ', !GetAtt B.Arn]]}"), ""},
		{"another type", resources(bucket), resources("B:\n  Type: AWS::SNS::Topic"), "modify B never refused\n"},
		{"a policy is added", resources(bucket), resources(bucket + "  DeletionPolicy: Retain"), "modify B never\n  DeletionPolicy never (none) → Retain\n"},
		{"a replaced resource that is retained", resources(bucket + "  UpdateReplacePolicy: Retain"), resources(bucket + "  UpdateReplacePolicy: Retain\n  Properties: {BucketName: x}"),
			"replace B always kept by Retain\n  BucketName always (none) → x\n"},
		{"a reference to a replaced resource", resources("V:\n  Type: AWS::EC2::VPC\n  Properties: {CidrBlock: 10.0.0.0/16}\nS:\n  Type: AWS::EC2::Subnet\n  Properties: {VpcId: !Ref V}"),
			resources("V:\n  Type: AWS::EC2::VPC\n  Properties: {CidrBlock: 10.1.0.0/16}\nS:\n  Type: AWS::EC2::Subnet\n  Properties: {VpcId: !Ref V}"),
			"replace V always\n  CidrBlock always 10.0.0.0/16 → 10.1.0.0/16\nreplace S always\n  VpcId always because V is replaced\n"},
		{"metadata that refers to a replaced resource", resources(bucket + "I:\n  Type: AWS::EC2::LaunchTemplate\n  Metadata: {Config: !Sub 'in ${B}'}"),
			resources(bucket + "  Properties: {BucketName: x}\nI:\n  Type: AWS::EC2::LaunchTemplate\n  Metadata: {Config: !Sub 'in ${B}'}"),
			"replace B always loses objects\n  BucketName always (none) → x\ndynamic I never\n  Metadata.Config never because B is replaced\n"},
		{"an attribute of a changed resource", resources("L:\n  Type: AWS::EC2::LaunchTemplate\n  Properties: {LaunchTemplateData: {ImageId: a}}\nA:\n  Type: AWS::AutoScaling::AutoScalingGroup\n  Properties: {LaunchTemplate: {LaunchTemplateId: !Ref L, Version: !GetAtt L.LatestVersionNumber}}"),
			resources("L:\n  Type: AWS::EC2::LaunchTemplate\n  Properties: {LaunchTemplateData: {ImageId: b}}\nA:\n  Type: AWS::AutoScaling::AutoScalingGroup\n  Properties: {LaunchTemplate: {LaunchTemplateId: !Ref L, Version: !GetAtt L.LatestVersionNumber}}"),
			"modify L never\n  LaunchTemplateData.ImageId never a → b\ndynamic A conditional\n  LaunchTemplate.Version conditional because L changes\n"},
		{"an export is deleted", resources(bucket, "Outputs: {Name: {Value: !Ref B, Export: {Name: x}}, Other: {Value: 1}}"), resources(bucket, "Outputs: {Other: {Value: 1}}"),
			"output remove Name export x is deleted\n"},
		{"an output of a replaced resource", resources(bucket, "Outputs: {Name: {Value: !Ref B}}"), resources(bucket+"  Properties: {BucketName: x}", "Outputs: {Name: {Value: !Ref B}}"),
			"replace B always loses objects\n  BucketName always (none) → x\noutput dynamic Name\n"},
		{"a custom resource", resources("C:\n  Type: Custom::X\n  Properties: {ServiceToken: a, V: 1}"), resources("C:\n  Type: Custom::X\n  Properties: {ServiceToken: a, V: 2}"),
			"modify C conditional\n  V conditional 1 → 2\n"},
		{"an instance of a cluster has no data of its own", resources("D:\n  Type: AWS::RDS::DBInstance\n  Properties: {DBClusterIdentifier: c, MasterUsername: a}"),
			resources("D:\n  Type: AWS::RDS::DBInstance\n  Properties: {DBClusterIdentifier: c, MasterUsername: b}"), "replace D always\n  MasterUsername always a → b\n"},
		{"a secret", resources("D:\n  Type: AWS::RDS::DBInstance\n  Properties: {MasterUserPassword: '{{resolve:secretsmanager:a}}'}"),
			resources("D:\n  Type: AWS::RDS::DBInstance\n  Properties: {MasterUserPassword: '{{resolve:secretsmanager:b}}'}"), "modify D never\n  MasterUserPassword never secret\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Of(parse(t, test.before, nil), parse(t, test.after, nil), Uncertain{}).String(); got != test.want {
				t.Errorf("got\n%swant\n%s", got, test.want)
			}
		})
	}
}

func TestConditionsDecide(t *testing.T) {
	text := resources("B:\n  Type: AWS::S3::Bucket\n  Condition: Keep\nQ:\n  Type: AWS::SNS::Topic\n  Properties: {DisplayName: !If [Keep, a, b]}",
		"Parameters: {Keep: {Type: String}}\nConditions: {Keep: !Equals [!Ref Keep, 'yes']}\n")
	yes, no := map[string]string{"Keep": "yes"}, map[string]string{"Keep": "no"}
	got := Of(parse(t, text, yes), parse(t, text, no), Uncertain{})
	if s := got.String(); s != "remove B never loses objects\nmodify Q never\n  DisplayName never a → b\n" {
		t.Errorf("a condition that becomes false: %s", s)
	}
	uncertain := Of(parse(t, text, yes), parse(t, text, nil), Uncertain{Parameters: map[string]string{"Keep": "Keep may change"}})
	if s := uncertain.String(); s != "dynamic B never possible loses objects\n  Condition never because its condition is not known\ndynamic Q never\n  DisplayName never because Keep may change\n" {
		t.Errorf("a condition that is not known: %s", s)
	}
}

// A resource whose data may be lost is never one whose data is certainly lost.
func TestPossibleLoss(t *testing.T) {
	const database = "D:\n  Type: AWS::RDS::DBInstance\n  Properties: {Engine: mysql}\n"
	conditional := resources("B:\n  Type: AWS::S3::Bucket\n  Condition: Keep\nQ:\n  Type: AWS::SNS::Topic",
		"Parameters: {Keep: {Type: String}}\nConditions: {Keep: !Equals [!Ref Keep, 'yes']}\n")
	retained := strings.Replace(conditional, "Condition: Keep", "Condition: Keep\n    DeletionPolicy: Retain", 1)
	yes := map[string]string{"Keep": "yes"}
	for _, test := range []struct {
		name              string
		before, after     Side
		certain, possible bool
	}{
		{"a table that is replaced", parse(t, resources(table), nil), parse(t, resources(strings.Replace(table, "TableName: a", "TableName: b", 1)), nil), true, false},
		{"a database that may be replaced", parse(t, resources(database), nil), parse(t, resources(strings.Replace(database, "mysql", "postgres", 1)), nil), false, true},
		{"a bucket whose condition is no longer known", parse(t, conditional, yes), parse(t, conditional, nil), false, true},
		{"a bucket that the stack may have, and that is removed", parse(t, conditional, nil), parse(t, resources("Q:\n  Type: AWS::SNS::Topic"), nil), false, true},
		{"a retained bucket whose condition is no longer known", parse(t, retained, yes), parse(t, retained, nil), false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			uncertain := make(map[string]string)
			if test.after.Template.Parameters["Keep"].Type != "" && test.after.Scope.Parameters["Keep"] == "" {
				uncertain["Keep"] = "Keep may change"
			}
			d := Of(test.before, test.after, Uncertain{Parameters: uncertain})
			if r := d.Resources[0]; r.LosesData() != test.certain || r.MayLoseData() != test.possible {
				t.Errorf("certain %v, possible %v:\n%s", r.LosesData(), r.MayLoseData(), d)
			}
		})
	}
}

// An import of an export that may change is a change, as is a reference to a parameter.
func TestUncertainExportIsDynamic(t *testing.T) {
	text := resources("S:\n  Type: AWS::EC2::Subnet\n  Properties: {VpcId: !ImportValue net-vpc, Tags: [{Key: v, Value: !Sub ['in ${V}', {V: !ImportValue net-name}]}]}")
	got := Of(parse(t, text, nil), parse(t, text, nil), Uncertain{Exports: map[string]string{"net-vpc": "export net-vpc of net may change"}}).String()
	if want := "dynamic S conditional\n  VpcId conditional create-only=true because export net-vpc of net may change\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// CloudFormation gives the tags of a stack to its resources. Some types must be replaced
// for that.
// https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/2270
func TestTagsOfStackMayReplaceResources(t *testing.T) {
	text := resources("C:\n  Type: AWS::OpenSearchServerless::Collection\n  Properties: {Name: a}\n" + bucket)
	got := Of(parse(t, text, nil), parse(t, text, nil), Uncertain{Tags: true}).String()
	if want := "dynamic C conditional\n  Tags conditional create-only=true because CloudFormation adds the tags of the stack, which change\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// The work of a comparison grows with the templates, not with their square. A comparison
// makes a text for each path that it visits, so the number of texts shows the work.
func TestComparisonIsLinear(t *testing.T) {
	allocations := func(n int) float64 {
		properties := "Properties: {Environment: {Variables: {"
		for i := range n {
			properties += fmt.Sprintf("V%d: !Ref T, ", i)
		}
		text := resources("F:\n  Type: AWS::Lambda::Function\n  " + properties + "}}}\nT:\n  Type: AWS::SNS::Topic\n  Properties: {TopicName: a}\n")
		before, after := parse(t, text, nil), parse(t, strings.Replace(text, "TopicName: a", "TopicName: b", 1), nil)
		return testing.AllocsPerRun(1, func() { Of(before, after, Uncertain{}) })
	}
	if small, large := allocations(200), allocations(2000); large > 20*small {
		t.Errorf("ten times the references need %.0f allocations instead of %.0f", large, small)
	}
}

// Items of a list without order are compared with those of the same name.
func BenchmarkRenamedTags(b *testing.B) {
	tags := func(prefix string) string {
		var all strings.Builder
		for i := range 5000 {
			fmt.Fprintf(&all, "{Key: %s%d, Value: a}, ", prefix, i)
		}
		return resources(bucket + "  Properties: {Tags: [" + all.String() + "]}")
	}
	before, after := parse(b, tags("a"), nil), parse(b, tags("b"), nil)
	for b.Loop() {
		Of(before, after, Uncertain{})
	}
}

func TestUncertainParameterIsDynamic(t *testing.T) {
	text := resources("S:\n  Type: AWS::EC2::Subnet\n  Properties: {VpcId: !Ref Vpc, Tags: [{Key: v, Value: !Sub 'in ${Vpc}'}]}", "Parameters: {Vpc: {Type: String}}\n")
	got := Of(parse(t, text, map[string]string{"Vpc": "vpc-1"}), parse(t, text, nil), Uncertain{Parameters: map[string]string{"Vpc": "network/vpc.Id may change"}}).String()
	want := "dynamic S conditional\n  Tags[0].Value never because network/vpc.Id may change\n  VpcId conditional create-only=true because network/vpc.Id may change\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

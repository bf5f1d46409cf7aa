package property_test

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/property"
)

func text(s string) property.Value { return property.Value{Kind: property.Text, Text: s} }

func mapping(pairs ...any) property.Value {
	v := property.Value{Kind: property.Mapping}
	for i := 0; i < len(pairs); i += 2 {
		v.Keys, v.Items = append(v.Keys, pairs[i].(string)), append(v.Items, pairs[i+1].(property.Value))
	}
	return v
}

func list(items ...property.Value) property.Value {
	return property.Value{Kind: property.List, Items: items}
}

func TestCheck(t *testing.T) {
	unknown := property.Value{}
	absent := property.Value{Kind: property.Absent}
	either := func(items ...property.Value) property.Value {
		return property.Value{Kind: property.Either, Items: items}
	}
	for _, c := range []struct {
		what, kind string
		properties property.Value
		want       string // PATH: TEXT | REASON, one line for each
	}{
		{"all is right", "AWS::SQS::Queue", mapping("DelaySeconds", text("10"), "FifoQueue", text("true")), ""},
		{"a misspelt property", "AWS::SQS::Queue", mapping("DelaySecond", unknown),
			"DelaySecond: there is no such property: did you mean DelaySeconds?\n" +
				"#: extraneous key [DelaySecond] is not permitted"},
		{"below a list", "AWS::SQS::Queue", mapping("Tags", list(mapping("Key", text("a"), "Values", text("b")))),
			"Tags.Values: there is no such property: did you mean Value?\n" +
				"#/Tags/0: extraneous key [Values] is not permitted\n" +
				"Tags.Value: the property is required, and missing\n" +
				"#/Tags/0: required key [Value] not found"},
		{"a property without a value is not there", "AWS::SNS::Subscription", mapping("TopicArn", absent,
			"Protocol", text("sqs"), "Nothing", absent),
			"TopicArn: the property is required, and missing\n" +
				"#: required key [TopicArn] not found"},
		{"a property that may be there", "AWS::SNS::Subscription",
			mapping("TopicArn", either(absent, unknown), "Protocol", text("sqs")), ""},
		{"a list for a text", "AWS::SQS::Queue", mapping("QueueName", list(text("a"))),
			"QueueName: expected text, found a list\n" +
				"#/QueueName: expected type: String, found: JSONArray"},
		{"a text for a list", "AWS::SQS::Queue", mapping("Tags", text("a")),
			"Tags: expected a list, found text (a)\n" +
				"#/Tags: expected type: JSONArray, found: String"},
		{"no number", "AWS::SQS::Queue", mapping("DelaySeconds", text("ten")),
			"DelaySeconds: expected a whole number, found text (ten)\n" +
				"#/DelaySeconds: expected type: Integer, found: String"},
		{"a number that is too large", "AWS::SQS::Queue", mapping("DelaySeconds", text("901")),
			"DelaySeconds: 901 is too large: at most 900 is allowed\n" +
				"#/DelaySeconds: failed validation constraint for keyword [maximum]"},
		{"a value that is not allowed", "AWS::Lambda::Function",
			mapping("Role", unknown, "Code", unknown, "PackageType", text("Zipp")),
			`PackageType: "Zipp" is none of the values that are allowed: did you mean Zip?` + "\n" +
				"#/PackageType: failed validation constraint for keyword [enum]"},
		{"a newer runtime", "AWS::Lambda::Function",
			mapping("Role", unknown, "Code", unknown, "Runtime", text("python3.99")), ""},
		{"a text that is too long", "AWS::SQS::Queue",
			mapping("Tags", list(mapping("Key", text(strings.Repeat("a", 129)), "Value", text("b")))),
			"Tags.Key: the text has 129 characters: at most 128 are allowed\n" +
				"#/Tags/0/Key: expected maxLength: 128, actual: 129"},
		{"one of several values", "AWS::SQS::Queue", mapping("DelaySeconds", either(text("1"), text("1000"))),
			"DelaySeconds: 1000 is too large: at most 900 is allowed\n" +
				"#/DelaySeconds: failed validation constraint for keyword [maximum]"},
		{"a name that does not match", "AWS::Lambda::Function",
			mapping("Role", unknown, "Code", unknown,
				"Environment", mapping("Variables", mapping("A", text("b"), "AB", text("c")))),
			"Environment.Variables.A: the name does not match the pattern [a-zA-Z][a-zA-Z0-9_]+\n" +
				"#/Environment/Variables: extraneous key [A] is not permitted"},
		{"a file that is packaged", "AWS::Lambda::Function", mapping("Role", unknown, "Code", text("src")), ""},
	} {
		typ, ok := property.Named(c.kind)
		if !ok {
			t.Fatal("there is no type", c.kind)
		}
		var got []string
		for _, m := range typ.Check(c.properties) {
			got = append(got, m.Name()+": "+m.Text, m.Reason)
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.what, strings.Join(got, "\n"), c.want)
		}
	}
}

func TestPublic(t *testing.T) {
	for name, want := range map[string]bool{
		"AWS::SQS::Queu": true, "AWS::CloudFormation::CustomResource": false, "Custom::Thing": false,
		"Org::Service::Resource": false, "Org::Service::Resource::MODULE": false, "AWS::Serverless::Function": false,
		"Alexa::ASK::Skill": true, "AWS::S3::Bucket::MODULE": false,
	} {
		if got := property.Public(name); got != want {
			t.Errorf("Public(%s) = %v", name, got)
		}
	}
}

// The types of a service that AWS is ending are known, and nothing of them is judged.
func TestTypeWithoutASchema(t *testing.T) {
	typ, ok := property.Named("AWS::OpsWorksCM::Server")
	if !ok || typ.Check(mapping("Any", text("a"))) != nil {
		t.Error("AWS::OpsWorksCM::Server is judged")
	}
}

func TestListAttribute(t *testing.T) {
	for _, c := range []struct {
		kind, attribute string
		want            bool
	}{{"AWS::EC2::VPC", "CidrBlockAssociations", true}, {"AWS::EC2::VPC", "VpcId", false},
		{"AWS::EC2::VPCEndpoint", "DnsEntries", true}} {
		if typ, _ := property.Named(c.kind); typ.ListAttribute(c.attribute) != c.want {
			t.Errorf("ListAttribute(%s) of %s is not %v", c.attribute, c.kind, c.want)
		}
	}
}

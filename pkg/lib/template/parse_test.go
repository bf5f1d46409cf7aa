package template_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

func load(t *testing.T, file string) *template.Template {
	t.Helper()
	body, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, string(body))
}

func parsed(t *testing.T, body string) *template.Template {
	t.Helper()
	read, err := template.Parse("t", []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// one is a template with a resource R of the given properties.
func one(properties string) string {
	return "Resources: {R: {Type: 'A::B::C', Properties: " + properties + "}}\n"
}

// What CloudFormation's ValidateTemplate refuses, as far as it is known in its words:
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ValidateTemplate.html
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/troubleshooting.html
func TestRefusedTemplates(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"a list":                 {"[a]", "t:1:1: Template format error: unsupported structure."},
		"an alias":               {"Resources: {A: &a {Type: 'A::B::C'}, B: *a}", "t:1:41: Template error: YAML aliases are not allowed in CloudFormation templates"},
		"no resources":           {"Description: x", "t:1:1: Template format error: At least one Resources member must be defined."},
		"a version":              {"AWSTemplateFormatVersion: '2011'\n" + one("{}"), "t:1:27: Template format error: unsupported value for AWSTemplateFormatVersion."},
		"a section":              {"Resource: {}\n" + one("{}"), "t:1:1: Template format error: Invalid template property or properties [Resource]"},
		"a null section":         {"Parameters:\n" + one("{}"), "t:1:12: Template format error: [/Parameters] 'null' values are not allowed in templates"},
		"a null":                 {one("{a: }"), "t:1:50: Template format error: 'null' values are not allowed in templates"},
		"no type":                {"Resources:\n  R: {Properties: {}}", "t:2:3: Template format error: [/Resources/R] Every Resources object must contain a Type member."},
		"a type":                 {"Resources:\n  R: {Type: Bucket}", "t:2:6: Template format error: Unrecognized resource types: [Bucket]"},
		"SAM without its macro":  {"Resources:\n  R: {Type: 'AWS::Serverless::Function'}", "t:2:6: Template format error: Unrecognized resource types: [AWS::Serverless::Function]"},
		"a resource's name":      {"Resources:\n  R-1: {Type: 'A::B::C'}", "t:2:3: Template format error: Resource name R-1 is non alphanumeric."},
		"an attribute":           {"Resources:\n  R: {Type: 'A::B::C', Property: {}}", "t:2:24: Invalid template resource property 'Property'"},
		"a deletion policy":      {"Resources:\n  R: {Type: 'A::B::C', DeletionPolicy: Keep}", "t:2:40: Template format error: Unrecognized DeletionPolicy Keep"},
		"a Ref":                  {one("{a: !Ref X}"), "t:1:50: Template format error: Unresolved resource dependencies [X] in the Resources block of the template"},
		"a Ref in an output":     {one("{}") + "Outputs: {O: {Value: !Ref X}}", "t:2:22: Template format error: Unresolved resource dependencies [X] in the Outputs block of the template"},
		"a Ref in a condition":   {one("{}") + "Conditions: {C: !Equals [!Ref R, x]}", "t:2:26: Template format error: Unresolved dependencies [R]. Cannot reference resources in the Conditions block of the template"},
		"a DependsOn":            {"Resources:\n  R: {Type: 'A::B::C', DependsOn: [X]}", "t:2:3: Template format error: Unresolved resource dependencies [X] in the Resources block of the template"},
		"a GetAtt":               {one("{a: !GetAtt X.Arn}"), "t:1:50: Template error: instance of Fn::GetAtt references undefined resource X"},
		"a GetAtt of one":        {one("{a: !GetAtt X}"), "t:1:50: Template error: every Fn::GetAtt object requires two non-empty parameters, the resource name and the resource attribute"},
		"a name in Sub":          {one("{a: !Sub '${X}'}"), "t:1:50: Template format error: Unresolved resource dependencies [X] in the Resources block of the template"},
		"an attribute in Sub":    {one("{a: !Sub '${X.Arn}'}"), "t:1:50: Template error: instance of Fn::GetAtt references undefined resource X"},
		"a strange name in Sub":  {one("{a: !Sub '${a b}'}"), "t:1:50: Template error: variable names in Fn::Sub syntax must contain only alphanumeric characters, underscores, periods, and colons: ${a b}"},
		"a Sub of three":         {one("{a: !Sub [a, {}, b]}"), "t:1:50: Template error: One or more Fn::Sub intrinsic functions don't specify expected arguments. Specify a string as first argument, and an optional second argument to specify a mapping of values to replace in the string"},
		"a Join of one":          {one("{a: !Join [a]}"), "t:1:50: Template error: every Fn::Join object requires two parameters, (1) a string delimiter and (2) a list of strings to be joined or a function that returns a list of strings (such as Fn::GetAZs) to be joined."},
		"an Or of one":           {one("{}") + "Conditions: {C: !Or [!Equals [a, b]]}", "t:2:17: Template error: every Fn::Or object requires a list of at least 2 and at most 10 boolean parameters."},
		"a function":             {one("{a: !Reff x}"), "t:1:50: Template format error: Unrecognized function Fn::Reff"},
		"a function with others": {one("{a: {'Fn::Join': ['', []], b: 1}}"), "t:1:51: Template format error: Fn::Join must be the only key of its mapping"},
		"an extension":           {one("{a: {'Fn::Length': [1]}}"), "t:1:65: Template error: Fn::Length requires the transform AWS::LanguageExtensions"},
		"a condition":            {one("{a: !If [C, 1, 2]}"), "t:1:50: Template format error: Unresolved condition dependency C in the Resources block of the template"},
		"a resource's condition": {"Resources:\n  R: {Type: 'A::B::C', Condition: C}", "t:2:3: Template format error: Unresolved condition dependency C in the Resources block of the template"},
		"circular conditions":    {one("{}") + "Conditions:\n  A: !Not [!Condition B]\n  B: !Not [!Condition A]", "t:3:6: Template format error: Circular dependency between conditions: [A, B]"},
		"circular resources":     {"Resources:\n  A: {Type: 'A::B::C', DependsOn: B}\n  B: {Type: 'A::B::C', Properties: {x: !Sub '${C.x}'}}\n  C: {Type: 'A::B::C', Properties: {x: !Ref A}}\n  D: {Type: 'A::B::C', DependsOn: C}", "t:2:3: Circular dependency between resources: [A, B, C]"},
		"a resource in itself":   {one("{a: !Ref R}"), "t:1:13: Circular dependency between resources: [R]"},
		"a mapping":              {one("{a: !FindInMap [M, a, b]}"), "t:1:50: Template error: Mapping named 'M' is not present in the 'Mappings' section of template."},
		"a mapping's key":        {one("{a: !FindInMap [M, a, b]}") + "Mappings: {M: {a: {c: 1}}}", "t:1:50: Template error: Unable to get mapping for M::a::b"},
		"a function in mappings": {one("{}") + "Mappings: {M: {a: {b: !FindInMap [M, a, b]}}}", "t:2:23: Template format error: Every Mappings attribute must be a String or a List."},
		"an import of resources": {one("{a: !ImportValue {Ref: S}}") + "  \n", "t:1:50: Template format error: Unresolved resource dependencies [S] in the Resources block of the template"},
		"an import by resource":  {"Resources: {S: {Type: 'A::B::C'}, R: {Type: 'A::B::C', Properties: {a: !ImportValue {Ref: S}}}}", "t:1:72: Template error: the attribute in Fn::ImportValue must not depend on any resources, imported values, or Fn::GetAZs"},
		"an export by resource":  {one("{}") + "Outputs: {O: {Value: 1, Export: {Name: !Ref R}}}", "t:2:40: Template error: Output O is malformed. The Name field of every Export member must not depend on any resources, imported values, or Fn::GetAZs."},
		"an output's value":      {one("{}") + "Outputs: {O: {Description: x}}", "t:2:11: Template format error: Every Outputs member must contain a Value object"},
		"a parameter's type":     {one("{}") + "Parameters: {P: {Type: Text}}", "t:2:14: Template format error: Unrecognized parameter type: Text"},
		"a parameter's key":      {one("{}") + "Parameters: {P: {Type: String, Defualt: x}}", "t:2:32: Template format error: Invalid template parameter property 'Defualt'"},
		"all at once":            {"Foo: 1\nBar: 2\n" + one("{a: !Ref X}"), "t:1:1: Template format error: Invalid template property or properties [Foo]\nt:2:1: Template format error: Invalid template property or properties [Bar]\nt:3:50: Template format error: Unresolved resource dependencies [X] in the Resources block of the template"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := template.Parse("t", []byte(c.body))
			if err == nil {
				t.Fatalf("read, want %s", c.want)
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Error(diff)
			}
			if list := (document.Errors)(nil); !errors.As(err, &list) {
				t.Errorf("%T is not document.Errors", err)
			}
		})
	}
}

// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
func TestLimits(t *testing.T) {
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, c := range map[string]struct{ body, want string }{
		"resources":  {"Resources: {" + many(501, "R%d: {Type: 'A::B::C'},") + "}", "Number of resources, 501, is greater than maximum allowed, 500"},
		"parameters": {one("{}") + "Parameters: {" + many(201, "P%d: {Type: String},") + "}", "Number of parameters, 201, is greater than maximum allowed, 200"},
		"outputs":    {one("{}") + "Outputs: {" + many(201, "O%d: {Value: 1},") + "}", "Number of outputs, 201, is greater than maximum allowed, 200"},
		"bytes":      {one("{}") + strings.Repeat("#", template.MaxBytes), "CloudFormation reads at most 1000000"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := template.Parse("t", []byte(c.body))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %.200v, want %s", err, c.want)
			}
		})
	}
}

func TestListingsStandAsWrittenAndOrderFollowsNeeds(t *testing.T) {
	network := load(t, "network.yaml")
	for name, c := range map[string]struct{ got, want []string }{
		"parameters": {network.ParameterNames(), []string{"Block", "Zone"}},
		"resources":  {network.ResourceNames(), []string{"PrivateSubnet", "Network", "PublicSubnet", "PrivateZone"}},
		"order":      {network.Order(), []string{"Network", "PrivateSubnet", "PublicSubnet", "PrivateZone"}},
		"needs":      {network.Needs("PrivateZone"), []string{"PublicSubnet"}},
		"outputs":    {network.OutputNames(), []string{"Network", "Subnets", "Zone"}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html (Capabilities)
func TestCapabilities(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"none":                       {one("{}"), ""},
		"a role":                     {"Resources: {R: {Type: 'AWS::IAM::Role'}}", "CAPABILITY_IAM"},
		"a named role":               {"Resources: {R: {Type: 'AWS::IAM::Role', Properties: {RoleName: x}}}", "CAPABILITY_NAMED_IAM"},
		"a policy's name is its own": {"Resources: {R: {Type: 'AWS::IAM::Policy', Properties: {PolicyName: x}}}", "CAPABILITY_IAM"},
		"a transform":                {"Transform: AWS::LanguageExtensions\n" + one("{}"), "CAPABILITY_AUTO_EXPAND"},
		"a macro with a role":        {"Resources: {R: {Type: 'AWS::IAM::User', Properties: {'Fn::Transform': {Name: M}}}}", "CAPABILITY_AUTO_EXPAND CAPABILITY_IAM"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(parsed(t, c.body).Capabilities(), " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	role := parsed(t, "Resources: {R: {Type: 'AWS::IAM::Role'}, S: {Type: 'AWS::IAM::Group'}}")
	if got, want := role.CapabilitiesReason(), "The following resource(s) require capabilities: [AWS::IAM::Group, AWS::IAM::Role]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWhatIsNotPinned(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"plain":               {one("{a: '{{resolve:ssm:/x:3}}', b: '{{resolve:secretsmanager:arn:aws:s:SecretString:k::v1}}'}"), ""},
		"a parameter":         {one("{a: '{{resolve:ssm:/x}}'}"), "{{resolve:ssm:/x}}"},
		"a secret":            {one("{a: !Sub '{{resolve:secretsmanager:${AWS::StackName}:SecretString:k}}'}"), "{{resolve:secretsmanager:${AWS::StackName}:SecretString:k}}"},
		"a stored parameter":  {one("{P: !Ref P}") + "Parameters: {P: {Type: 'AWS::SSM::Parameter::Value<String>'}}", "parameter P of type AWS::SSM::Parameter::Value<String>"},
		"one only in a rule":  {one("{}") + "Parameters: {P: {Type: 'AWS::SSM::Parameter::Value<String>'}}\nRules: {R: {Assertions: [{Assert: !Equals [!Ref P, '6']}]}}", ""},
		"one in a condition":  {one("{}") + "Parameters: {P: {Type: 'AWS::SSM::Parameter::Value<String>'}}\nConditions: {C: !Equals [!Ref P, '6']}", "parameter P of type AWS::SSM::Parameter::Value<String>"},
		"a default":           {one("{}") + "Parameters: {P: {Type: String, Default: '{{resolve:secretsmanager:db}}'}}", "{{resolve:secretsmanager:db}}"},
		"a nested stack":      {"Resources: {S: {Type: 'AWS::CloudFormation::Stack'}}", "TemplateURL of nested stack S"},
		"a module":            {"Resources: {S: {Type: 'A::B::C::MODULE'}}", "module A::B::C::MODULE"},
		"a transform":         {"Transform: [AWS::Serverless-2016-10-31, Ours]\n" + one("{}"), "transform Ours"},
		"SAM":                 {"Transform: AWS::Serverless-2016-10-31\n" + one("{}"), ""},
		"an application":      {"Transform: AWS::Serverless-2016-10-31\nResources: {A: {Type: 'AWS::Serverless::Application', Properties: {Location: 'https://x'}}}", "TemplateURL of nested stack A"},
		"an include":          {one("{'Fn::Transform': {Name: 'AWS::Include', Parameters: {Location: s3}}}"), "Fn::Transform"},
		"language extensions": {"Transform: AWS::LanguageExtensions\n" + one("{}"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			read := parsed(t, c.body)
			var loose []string
			for _, l := range read.Loose() {
				loose = append(loose, l.What)
			}
			if got := strings.Join(loose, " "); got != c.want || read.Pinned() != (c.want == "") {
				t.Errorf("got %q (pinned %t), want %q", got, read.Pinned(), c.want)
			}
		})
	}
}

func TestWhatATemplateDoesNotList(t *testing.T) {
	for body, want := range map[string]bool{
		one("{}"): false,
		"Resources: {D: {Type: 'AWS::RDS::DBInstance'}, M: {Type: 'Ours::Data::Database::MODULE'}}": true,
		"Resources: {M: {Type: 'Custom::MODULE'}}":                                                  true,
		"Transform: Ours\n" + one("{}"):                                                             true,
		"Transform: AWS::LanguageExtensions\n" + one("{}"):                                          false,
		"Resources: {S: {Type: 'AWS::CloudFormation::Stack'}}":                                      false,
	} {
		if got := parsed(t, body).Opaque(); got != want {
			t.Errorf("%s: %t", body, got)
		}
	}
}

func TestWhatAMacroMayBringIsNotRefused(t *testing.T) {
	read := parsed(t, `
Transform: AWS::Serverless-2016-10-31
Globals: {Function: {Timeout: 3}}
Resources:
  F: {Type: 'AWS::Serverless::Function'}
Outputs:
  Role: {Value: !GetAtt FRole.Arn, Export: {Name: !Sub '${AWS::StackName}-Role'}}
`)
	if !read.Macros() {
		t.Error("it has macros")
	}
	e := read.In(template.Scope{StackName: "s", GetAtt: func(string, string) (any, bool) { return "x", true }})
	if v, err := e.Value(read.Outputs["Role"].Value); err != nil || template.Known(v) {
		t.Errorf("the role is %v, %v", v, err)
	}
	if exports := e.Exports(); len(exports) != 1 || exports[0].Name != "s-Role" {
		t.Errorf("exports %v", exports)
	}
}

// CloudFormation takes a template in which a key stands twice, in YAML and in JSON: the last one counts. cfn-lint
// issue 35 saw it in production, go-to-k/cdk-real-drift issue 1074 in the answers of ValidateTemplate.
func TestRepeatedKeys(t *testing.T) {
	for name, text := range map[string]string{
		"YAML": "Resources:\n  A: {Type: AWS::SNS::Topic}\n  A:\n    Type: AWS::SQS::Queue\n    Properties:\n" +
			"      QueueName: a\n      QueueName: b\n",
		"JSON": `{"Resources": {"A": {"Type": "AWS::SNS::Topic"},
			"A": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "a", "DelaySeconds": 1, "QueueName": "b"}}}}`,
		"thrice": "Resources:\n  A: {Type: AWS::SQS::Queue, Properties: {QueueName: x, QueueName: a, QueueName: b}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			parsed, err := template.Parse("t", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			r := parsed.Resources["A"]
			if got, _ := r.Property("QueueName").Literal(); r.Type != "AWS::SQS::Queue" || got != "b" ||
				len(parsed.ResourceNames()) != 1 {
				t.Errorf("%s named %q, %q", r.Type, got, parsed.ResourceNames())
			}
			if all := parsed.Warnings(); len(all) != 2 || all[0].Line == 0 || !strings.Contains(all[0].Text,
				"a second time: this one counts") {
				t.Errorf("warnings: %v", all)
			}
		})
	}
}

// A circle in what a macro reads is none in what it makes: the macro may turn an event into a permission of its own.
// https://github.com/aws-cloudformation/cfn-lint/issues/2501
func TestCirclesOfMacros(t *testing.T) {
	const circle = "Resources:\n  A: {Type: %s, Properties: {X: !Ref B}}\n  B: {Type: AWS::SQS::Queue, Properties: {QueueName: !GetAtt A.X}}\n"
	for _, c := range []struct {
		before, kind string
		ok           bool
	}{
		{"", "AWS::SNS::Topic", false},
		{"Transform: AWS::LanguageExtensions\n", "AWS::SNS::Topic", false},
		{"Transform: AWS::Serverless-2016-10-31\n", "AWS::Serverless::Function", true},
		{"Transform: [AWS::LanguageExtensions, Mine]\n", "AWS::SNS::Topic", true},
	} {
		parsed, err := template.Parse("t", []byte(c.before+fmt.Sprintf(circle, c.kind)))
		if (err == nil) != c.ok {
			t.Errorf("%s%s: %v", c.before, c.kind, err)
		}
		if c.ok && len(parsed.Order()) != 2 {
			t.Errorf("order %q", parsed.Order())
		}
	}
}

// aws/aws-cdk pull request 10522 and the templates of AWS CodeStar.
func TestDescriptionOfAResource(t *testing.T) {
	if _, err := template.Parse("t",
		[]byte("Resources: {A: {Type: AWS::SNS::Topic, Description: for alarms}}")); err != nil {
		t.Error(err)
	}
}

func TestMalformedJSON(t *testing.T) {
	_, err := template.Parse("t.json",
		[]byte("{\n  \"Resources\": {\n    \"A\": {\"Type\": \"AWS::SNS::Topic\"},\n  }\n}\n"))
	if err == nil || !strings.HasPrefix(err.Error(), "t.json:4:3: Template format error: JSON not well-formed") {
		t.Error(err)
	}
}

package cloudformation_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
)

const topic = `Resources: {Topic: {Type: 'AWS::SNS::Topic'}}`

// A stack with an operation in progress refuses others, with the messages of CloudFormation.
// https://repost.aws/knowledge-center/cloudformation-stack-stuck-progress
func TestBusyStacksRefuse(t *testing.T) {
	scenario(t, func(w *account) {
		id := *w.create("q", queue).StackId
		_, err := w.tryUpdate("q", topic)
		w.refused(err, "ValidationError", "Stack:"+id+" is in CREATE_IN_PROGRESS state and can not be updated.")
		w.wait("q", types.StackStatusCreateComplete)

		w.update("q", queue, updateWith("Delay", "6"))
		_, err = w.tryUpdate("q", topic)
		w.refused(err, "ValidationError", "is in UPDATE_IN_PROGRESS state and can not be updated.")
		w.refused(w.tryRemove("q"), "ValidationError", "Stack [q] cannot be deleted while in status UPDATE_IN_PROGRESS")
		_, err = w.client.ContinueUpdateRollback(w.Context(), &cfn.ContinueUpdateRollbackInput{StackName: aws.String("q")})
		w.refused(err, "ValidationError", "is in UPDATE_IN_PROGRESS state")
		w.wait("q", types.StackStatusUpdateComplete)

		_, err = w.client.CancelUpdateStack(w.Context(), &cfn.CancelUpdateStackInput{StackName: aws.String("q")})
		w.refused(err, "ValidationError", "CancelUpdateStack cannot be called from current stack status")

		w.remove("q")
		_, err = w.tryUpdate("q", topic)
		w.refused(err, "ValidationError", "is in DELETE_IN_PROGRESS state and can not be updated.")
		_, err = w.tryCreate("q", topic)
		w.refused(err, "AlreadyExistsException", "Stack [q] already exists")
		w.remove("q") // again is no error
		w.wait(id, types.StackStatusDeleteComplete)
	})
}

// A stack being created can be deleted.
func TestDeleteWhileCreating(t *testing.T) {
	scenario(t, func(w *account) {
		id := *w.create("q", queue).StackId
		w.remove("q")
		w.wait(id, types.StackStatusDeleteComplete)
	})
}

// A deleted stack is found only by its ID, and its name can be used again.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html
func TestAbsentStacks(t *testing.T) {
	scenario(t, func(w *account) {
		_, err := w.tryUpdate("q", topic)
		w.refused(err, "ValidationError", "Stack [q] does not exist")
		w.remove("q") // of what is not there succeeds
		_, err = w.client.DescribeStacks(w.Context(), &cfn.DescribeStacksInput{StackName: aws.String("q")})
		w.refused(err, "ValidationError", "Stack with id q does not exist")
		_, err = w.client.DescribeStackEvents(w.Context(), &cfn.DescribeStackEventsInput{StackName: aws.String("q")})
		w.refused(err, "ValidationError", "Stack [q] does not exist")
		_, err = w.client.GetTemplate(w.Context(), &cfn.GetTemplateInput{StackName: aws.String("q")})
		w.refused(err, "ValidationError", "Stack with id q does not exist")

		first := w.up("q", topic)
		_, err = w.tryCreate("q", queue)
		w.refused(err, "AlreadyExistsException", "Stack [q] already exists")
		w.remove("q")
		w.wait(first, types.StackStatusDeleteComplete)
		_, err = w.client.DescribeStacks(w.Context(), &cfn.DescribeStacksInput{StackName: aws.String("q")})
		w.refused(err, "ValidationError", "Stack with id q does not exist")
		if second := w.up("q", topic); second == first {
			t.Error("the new stack has the old one's ID")
		}
		if got := w.stack(first).StackStatus; got != types.StackStatusDeleteComplete {
			t.Errorf("by its ID the first is %s", got)
		}
	})
}

// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/troubleshooting.html#troubleshooting-errors-no-updates-to-perform
func TestNoUpdates(t *testing.T) {
	scenario(t, func(w *account) {
		w.up("q", queue, createWith("Delay", "7"))
		for name, change := range map[string]func(*cfn.UpdateStackInput){
			"the same values": updateWith("Delay", "7"),
			"the previous ones": func(in *cfn.UpdateStackInput) {
				in.TemplateBody, in.UsePreviousTemplate = nil, aws.Bool(true)
				in.Parameters = []types.Parameter{{ParameterKey: aws.String("Delay"), UsePreviousValue: aws.Bool(true)}}
			},
			"another comment": func(in *cfn.UpdateStackInput) {
				in.TemplateBody = aws.String("# a comment" + queue)
				in.Parameters = given("Delay", "7")
			},
		} {
			_, err := w.tryUpdate("q", queue, change)
			if err == nil {
				t.Errorf("%s: not refused", name)
				continue
			}
			w.refused(err, "ValidationError", "No updates are to be performed.")
		}
		w.update("q", queue, updateWith("Delay", "7"), func(in *cfn.UpdateStackInput) {
			in.Tags = []types.Tag{{Key: aws.String("team"), Value: aws.String("a")}}
		})
		w.wait("q", types.StackStatusUpdateComplete)
		// Tags that are not given stay; an empty list removes them.
		_, err := w.tryUpdate("q", queue, updateWith("Delay", "7"))
		w.refused(err, "ValidationError", "No updates are to be performed.")
		w.update("q", queue, updateWith("Delay", "7"), func(in *cfn.UpdateStackInput) { in.Tags = []types.Tag{} })
		if st := w.wait("q", types.StackStatusUpdateComplete); len(st.Tags) != 0 {
			t.Errorf("tags left: %v", st.Tags)
		}
		w.update("q", queue) // without the parameter its default is meant, not its previous value
		if got := *w.wait("q", types.StackStatusUpdateComplete).Parameters[0].ParameterValue; got != "5" {
			t.Errorf("Delay is %s", got)
		}
	})
}

// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/parameters-section-structure.html
func TestParameters(t *testing.T) {
	const template = `
Parameters:
  Size: {Type: String, AllowedValues: [small, large]}
  Password: {Type: String, NoEcho: true, MinLength: 8}
Resources:
  DB: {Type: AWS::RDS::DBInstance, Properties: {DBInstanceClass: !Ref Size, MasterUserPassword: !Ref Password}}
`
	scenario(t, func(w *account) {
		for _, c := range []struct{ parameters, message string }{
			{"Size=small", "Parameters: [Password] must have values"},
			{"", "Parameters: [Size, Password] must have values"},
			{"Size=small Password=longenough Sise=x", "Parameters: [Sise] do not exist in the template"},
			{"Size=medium Password=longenough", "Parameter 'Size' must be one of AllowedValues"},
			{"Size=small Password=short", "Parameter 'Password' must contain at least 8 characters"},
		} {
			var values []string
			for _, one := range strings.Fields(c.parameters) {
				key, value, _ := strings.Cut(one, "=")
				values = append(values, key, value)
			}
			_, err := w.tryCreate("db", template, createWith(values...))
			w.refused(err, "ValidationError", c.message)
		}
		w.up("db", template, createWith("Size", "small", "Password", "longenough"))
		for _, p := range w.stack("db").Parameters {
			if *p.ParameterKey == "Password" && *p.ParameterValue != "****" {
				t.Errorf("NoEcho gives %s", *p.ParameterValue)
			}
		}
		for _, e := range w.stackEvents("db") {
			if strings.Contains(aws.ToString(e.ResourceProperties), "longenough") {
				t.Errorf("event %s %s contains the password", *e.LogicalResourceId, e.ResourceStatus)
			}
		}
		_, err := w.tryUpdate("db", template, func(in *cfn.UpdateStackInput) {
			in.TemplateBody = aws.String(strings.Replace(template, "Resources:", "  New: {Type: String}\nResources:", 1))
			in.Parameters = []types.Parameter{{ParameterKey: aws.String("New"), UsePreviousValue: aws.Bool(true)}}
		})
		w.refused(err, "ValidationError", "Cannot specify usePreviousValue as true for a parameter key not in the previous template")
	})
}

// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
func TestRefusedRequests(t *testing.T) {
	role := `Resources: {R: {Type: 'AWS::IAM::Role', Properties: {AssumeRolePolicyDocument: {}}}}`
	named := `Resources: {R: {Type: 'AWS::IAM::Role', Properties: {RoleName: x, AssumeRolePolicyDocument: {}}}}`
	iam := func(in *cfn.CreateStackInput) { in.Capabilities = []types.Capability{types.CapabilityCapabilityIam} }
	tags := func(pairs ...string) func(*cfn.CreateStackInput) {
		return func(in *cfn.CreateStackInput) {
			for i := 0; i < len(pairs); i += 2 {
				in.Tags = append(in.Tags, types.Tag{Key: &pairs[i], Value: &pairs[i+1]})
			}
		}
	}
	var many []string
	for i := range 51 {
		many = append(many, fmt.Sprint("k", i), "v")
	}
	big := topic + strings.Repeat(" ", 51_200)
	cases := []struct {
		name, template string
		change         func(*cfn.CreateStackInput)
		code, message  string
	}{
		{"x", role, nil, "InsufficientCapabilitiesException", "Requires capabilities : [CAPABILITY_IAM]"},
		{"x", named, iam, "InsufficientCapabilitiesException", "Requires capabilities : [CAPABILITY_NAMED_IAM]"},
		{"x", big, nil, "ValidationError", "at 'templateBody' failed to satisfy constraint: Member must have length less than or equal to 51200"},
		{"a_b", topic, nil, "ValidationError", "1 validation error detected: Value 'a_b' at 'stackName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z][-a-zA-Z0-9]*"},
		{strings.Repeat("a", 129), topic, nil, "ValidationError", "Member must have length less than or equal to 128"},
		{"x", topic, tags("aws:x", "y"), "ValidationError", "aws: prefixed tag key names are not allowed for external use."},
		{"x", topic, tags(many...), "ValidationError", "at 'tags' failed to satisfy constraint: Member must have length less than or equal to 50"},
		{"x", topic, createToken("a b"), "ValidationError", "at 'clientRequestToken'"},
		{"x", "Resources: [", nil, "ValidationError", "Template format error: YAML not well-formed. (line "},
		{"x", "{}", nil, "ValidationError", "Template format error: At least one Resources member must be defined."},
		{"x", `Resources: {T: {Type: 'AWS::SNS::Topic', Properties: {TopicName: !Ref Nobody}}}`, nil, "ValidationError",
			"Template format error: Unresolved resource dependencies [Nobody] in the Resources block of the template"},
	}
	scenario(t, func(w *account) {
		for _, c := range cases {
			if c.change == nil {
				c.change = func(*cfn.CreateStackInput) {}
			}
			_, err := w.tryCreate(c.name, c.template, c.change)
			w.refused(err, c.code, c.message)
		}
		if out, err := w.client.ListStacks(w.Context(), &cfn.ListStacksInput{}); err != nil || len(out.StackSummaries) > 0 {
			t.Errorf("left behind: %v %v", out.StackSummaries, err)
		}
		w.create("role", role, func(in *cfn.CreateStackInput) {
			in.Capabilities = []types.Capability{types.CapabilityCapabilityNamedIam} // says more than CAPABILITY_IAM
		})
	})
}

// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-protect-stacks.html
func TestTerminationProtection(t *testing.T) {
	scenario(t, func(w *account) {
		id := w.up("q", topic, func(in *cfn.CreateStackInput) { in.EnableTerminationProtection = aws.Bool(true) })
		w.refused(w.tryRemove("q"), "ValidationError", "Stack [q] cannot be deleted while TerminationProtection is enabled")
		if !*w.stack("q").EnableTerminationProtection {
			t.Error("the protection does not show")
		}
		if _, err := w.client.UpdateTerminationProtection(w.Context(), &cfn.UpdateTerminationProtectionInput{
			StackName: aws.String("q"), EnableTerminationProtection: aws.Bool(false)}); err != nil {
			t.Fatal(err)
		}
		w.remove("q")
		w.wait(id, types.StackStatusDeleteComplete)
	})
}

// Templates are read from S3 by URLs of either style, up to 1 MB.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html
func TestTemplateURL(t *testing.T) {
	objects := map[string]string{"my.bucket/a/b.yaml@": topic, "my.bucket/a/b.yaml@v1": queue, "my.bucket/big@": topic + strings.Repeat(" ", 1_000_001)}
	options := cloudformation.Options{Fetch: func(_ context.Context, bucket, key, version string) ([]byte, error) {
		body, ok := objects[bucket+"/"+key+"@"+version]
		if !ok {
			return nil, fmt.Errorf("Access Denied")
		}
		return []byte(body), nil
	}}
	scenarioIn(t, "", options, func(w *account) {
		for i, at := range []string{
			"https://my.bucket.s3.amazonaws.com/a/b.yaml", "https://my.bucket.s3.eu-west-1.amazonaws.com/a/b.yaml",
			"https://my.bucket.s3-eu-west-1.amazonaws.com/a/b.yaml", "https://s3.amazonaws.com/my.bucket/a/b.yaml",
			"https://s3.eu-west-1.amazonaws.com/my.bucket/a/b.yaml", "https://s3-eu-west-1.amazonaws.com/my.bucket/a/b.yaml",
			"http://127.0.0.1:4566/my.bucket/a/b.yaml", "https://my.bucket.s3.amazonaws.com/a/b.yaml?versionId=v1",
		} {
			name := fmt.Sprint("q", i)
			w.create(name, "", func(in *cfn.CreateStackInput) { in.TemplateBody, in.TemplateURL = nil, &at })
			w.wait(name, types.StackStatusCreateComplete)
			if outputs := len(w.stack(name).Outputs); (outputs > 0) != strings.Contains(at, "versionId") {
				t.Errorf("%s: %d outputs", at, outputs)
			}
		}
		for at, message := range map[string]string{
			"https://example.amazonaws.com/x/y":      "TemplateURL must be a supported URL.",
			"file:///x":                              "TemplateURL must be a supported URL.",
			"https://my.bucket.s3.amazonaws.com/no":  "S3 error: Access Denied",
			"https://my.bucket.s3.amazonaws.com/big": "Template may not exceed 1000000 bytes in size.",
		} {
			_, err := w.tryCreate("x", "", func(in *cfn.CreateStackInput) { in.TemplateBody, in.TemplateURL = nil, &at })
			w.refused(err, "ValidationError", message)
		}
	})
}

// CloudFormation does not change the type of a resource.
// https://github.com/aws-quickstart/quickstart-amazon-eks/issues/361
func TestUpdateOfTypeIsRefused(t *testing.T) {
	scenario(t, func(w *account) {
		w.create("s", "Resources: {A: {Type: 'AWS::SNS::Topic'}, B: {Type: 'AWS::SNS::Topic'}}")
		w.wait("s", types.StackStatusCreateComplete)
		_, err := w.tryUpdate("s", "Resources: {A: {Type: 'AWS::SQS::Queue'}, B: {Type: 'AWS::SNS::Topic'}}")
		w.refused(err, "ValidationError", "Update of resource type is not permitted. The new template modifies resource type of the following resources: [A]")
		w.wait("s", types.StackStatusCreateComplete)
	})
}

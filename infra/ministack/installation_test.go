package ministack

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// bootstrap is the template of what the CDK needs in an account before it installs anything: cdk bootstrap makes these, besides
// roles. An older version was installed from the bucket of the usual qualifier.
// https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html
const (
	bootstrap = `{"Resources": {
		"Assets": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "` + assets + `"}},
		"Version": {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Name": "/cdk-bootstrap/stkwright/version", "Value": "21"}},
		"OlderAssets": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "cdk-hnb659fds` + in + `"}},
		"OlderVersion": {"Type": "AWS::SSM::Parameter",
			"Properties": {"Type": "String", "Name": "/cdk-bootstrap/hnb659fds/version", "Value": "21"}}}}`
	assets = "cdk-stkwright" + in
	in     = "-assets-" + account + "-" + region
)

// A template is one that the CDK has written, with its assets.
type template struct {
	body      []byte
	Resources map[string]struct {
		Type           string
		DeletionPolicy string
		Properties     map[string]any
	}
}

// synthesized reads the template in the folder of a version.
func synthesized(t *testing.T, folder string) template {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(folder, "synth", "Stackwright.template.json"))
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, body)
}

// parse reads a template.
func parse(t *testing.T, body []byte) template {
	t.Helper()
	parsed := template{body: body}
	if err := json.Unmarshal(body, &parsed); err != nil {
		t.Fatal(err)
	}
	return parsed
}

// with is a template with one more resource.
func (t template) with(test *testing.T, name string, resource map[string]any) []byte {
	test.Helper()
	var all map[string]any
	if err := json.Unmarshal(t.body, &all); err != nil {
		test.Fatal(err)
	}
	all["Resources"].(map[string]any)[name] = resource
	body, err := json.Marshal(all)
	if err != nil {
		test.Fatal(err)
	}
	return body
}

// kept lists the resources that stay when the stack is deleted.
func (t template) kept() (names []string) {
	for name, r := range t.Resources {
		if strings.HasPrefix(r.DeletionPolicy, "Retain") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// uploadFunctions puts the functions in the folder of a version where a template expects their assets.
func (s *server) uploadFunctions(all template, folder string) {
	s.Helper()
	client := s3.NewFromConfig(s.config, pathStyle)
	for name, r := range all.Resources {
		if r.Type != "AWS::Lambda::Function" {
			continue
		}
		code := r.Properties["Code"].(map[string]any)
		function := strings.TrimPrefix(r.Properties["FunctionName"].(string), "stackwright-")
		var body bytes.Buffer
		w := zip.NewWriter(&body)
		err := w.AddFS(os.DirFS(filepath.Join(folder, "functions", function)))
		if err = errors.Join(err, w.Close()); err != nil {
			s.Fatal(err)
		}
		key := code["S3Key"].(string)
		bucket := strings.NewReplacer("${AWS::AccountId}", account, "${AWS::Region}", region).
			Replace(code["S3Bucket"].(map[string]any)["Fn::Sub"].(string))
		if _, err := client.PutObject(s.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: bytes.NewReader(body.Bytes())}); err != nil {
			s.Fatalf("function %s: %v", name, err)
		}
	}
}

// sendable is a template as a request may have it: a large one is an object in the CDK's bucket.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
func (s *server) sendable(template []byte) (body, url *string) {
	s.Helper()
	if len(template) <= 51200 {
		return aws.String(string(template)), nil
	}
	client := s3.NewFromConfig(s.config, pathStyle)
	if _, err := client.PutObject(s.Context(), &s3.PutObjectInput{Bucket: aws.String(assets), Key: aws.String("template.json"), Body: bytes.NewReader(template)}); err != nil {
		s.Fatal(err)
	}
	return nil, aws.String(s.url + "/" + assets + "/template.json")
}

// create creates a stack, and returns it when it has a final status.
func (s *server) create(name string, template []byte) types.Stack {
	s.Helper()
	client := cloudformation.NewFromConfig(s.config)
	body, url := s.sendable(template)
	out, err := client.CreateStack(s.Context(), &cloudformation.CreateStackInput{
		StackName: &name, TemplateBody: body, TemplateURL: url, Capabilities: []types.Capability{types.CapabilityCapabilityNamedIam},
	})
	if err != nil {
		s.Fatal(err)
	}
	return s.final(aws.ToString(out.StackId))
}

// update does the same with an update.
func (s *server) update(name string, template []byte) types.Stack {
	s.Helper()
	client := cloudformation.NewFromConfig(s.config)
	body, url := s.sendable(template)
	out, err := client.UpdateStack(s.Context(), &cloudformation.UpdateStackInput{
		StackName: &name, TemplateBody: body, TemplateURL: url, Capabilities: []types.Capability{types.CapabilityCapabilityNamedIam},
	})
	if err != nil {
		s.Fatal(err)
	}
	return s.final(aws.ToString(out.StackId))
}

// remove deletes a stack, and returns it when it has a final status.
func (s *server) remove(id string) types.Stack {
	s.Helper()
	if _, err := cloudformation.NewFromConfig(s.config).DeleteStack(s.Context(), &cloudformation.DeleteStackInput{StackName: &id}); err != nil {
		s.Fatal(err)
	}
	return s.final(id)
}

// final returns a stack when it has a final status.
func (s *server) final(id string) (stack types.Stack) {
	s.Helper()
	s.wait("stack "+id, func() (bool, error) {
		out, err := cloudformation.NewFromConfig(s.config).DescribeStacks(s.Context(), &cloudformation.DescribeStacksInput{StackName: &id})
		if err != nil {
			return false, err
		}
		stack = out.Stacks[0]
		return !strings.HasSuffix(string(stack.StackStatus), "_IN_PROGRESS"), nil
	})
	return stack
}

// is fails unless a stack has a status. It then prints the events that say why.
func (s *server) is(stack types.Stack, want types.StackStatus) {
	s.Helper()
	if stack.StackStatus == want {
		return
	}
	s.Errorf("stack %s is %s, want %s: %s", aws.ToString(stack.StackName), stack.StackStatus, want, aws.ToString(stack.StackStatusReason))
	out, err := cloudformation.NewFromConfig(s.config).DescribeStackEvents(s.Context(), &cloudformation.DescribeStackEventsInput{StackName: stack.StackId})
	if err != nil {
		s.Fatal(err)
	}
	for _, e := range out.StackEvents {
		if aws.ToString(e.ResourceStatusReason) != "" {
			s.Logf("%s %s: %s", aws.ToString(e.LogicalResourceId), e.ResourceStatus, *e.ResourceStatusReason)
		}
	}
	s.FailNow()
}

// resources lists the resources of a stack by their logical IDs.
func (s *server) resources(id string) map[string]types.StackResource {
	s.Helper()
	out, err := cloudformation.NewFromConfig(s.config).DescribeStackResources(s.Context(), &cloudformation.DescribeStackResourcesInput{StackName: &id})
	if err != nil {
		s.Fatal(err)
	}
	all := make(map[string]types.StackResource)
	for _, r := range out.StackResources {
		all[aws.ToString(r.LogicalResourceId)] = r
	}
	return all
}

// had lists the resources of a stack that had a status, by its events.
func (s *server) had(id string, status types.ResourceStatus) (names []string) {
	s.Helper()
	for pages := cloudformation.NewDescribeStackEventsPaginator(cloudformation.NewFromConfig(s.config), &cloudformation.DescribeStackEventsInput{StackName: &id}); pages.HasMorePages(); {
		page, err := pages.NextPage(s.Context())
		if err != nil {
			s.Fatal(err)
		}
		for _, e := range page.StackEvents {
			if name := aws.ToString(e.LogicalResourceId); e.ResourceStatus == status && aws.ToString(e.PhysicalResourceId) != id && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// outputs are those of a stack.
func outputs(stack types.Stack) map[string]string {
	all := make(map[string]string)
	for _, o := range stack.Outputs {
		all[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
	}
	return all
}

package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/host"
	"github.com/stackwright/stackwright/infra/local/sts"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// A cloud assembly with two stages is deployed to two accounts, with its assets published before. A second
// deploy changes nothing, and a change of an asset updates what uses it.
func TestCloudAssembly(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.project = filepath.Join(t.TempDir(), "orders", "cdk.out")
	if err := os.CopyFS(l.project, os.DirFS("../../examples/cdk/cdk.out")); err != nil {
		t.Fatal(err)
	}
	h := l.serve(0.05)
	l.has(l.run("plan", l.project).err, "manifest.json", "no target is registered for account 111111111111, region eu-west-1 (3 stacks): register one with stackwright targets add NAME --account 111111111111 --region eu-west-1")
	l.must(cli.ExitOK, "targets", "add", "prod", "--projects", "orders@*", "--account", "111111111111", "--region", "eu-west-1", "--role", "arn:aws:iam::111111111111:role/stackwright/stackwright-orchestrator")

	l.has(l.must(cli.ExitOK, "plan", l.project), "+ Beta/App", "+ Prod/Network", "6 to create")
	l.has(l.must(cli.ExitOK, "deploy", l.project), "6 created")
	for account, bucket := range map[string]string{"000000000000": "cdk-hnb659fds-assets-000000000000-us-east-1", "111111111111": "cdk-hnb659fds-assets-111111111111-eu-west-1"} {
		all := l.published(h, account, bucket)
		if len(all) != 2 { // the code, and the template of the nested stack
			t.Errorf("%s has %d objects", bucket, len(all))
		}
		for key, body := range all {
			if packed, err := zip.NewReader(bytes.NewReader(body), int64(len(body))); strings.HasSuffix(key, ".zip") && (err != nil || packed.File[0].Name != "index.js") {
				t.Errorf("%s: %v", key, err)
			}
		}
	}
	l.has(l.must(cli.ExitOK, "deploy", l.project), "6 unchanged")
	l.has(l.must(cli.ExitOK, "plan", l.project), "no changes, 6 unchanged")
	l.has(l.must(cli.ExitRefused, "destroy", l.project, "--yes"), "stack Prod/Network: it is protected, and so it is not deleted")
}

// published reads the objects of a bucket with the credentials of its account.
func (l *laptop) published(h *host.Host, account, bucket string) map[string][]byte {
	l.Helper()
	cfg := h.Cloud.Config()
	cfg.Credentials = credentials.NewStaticCredentialsProvider(sts.AssumedRole{Account: account, Role: "any", Session: "test", Expires: time.Now().Add(time.Hour)}.AccessKey(), "local", "local")
	client := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	out, err := client.ListObjectsV2(context.Background(), &s3.ListObjectsV2Input{Bucket: aws.String(bucket)})
	if err != nil {
		l.Fatal(err)
	}
	all := make(map[string][]byte)
	for _, o := range out.Contents {
		object, err := client.GetObject(context.Background(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: o.Key})
		if err != nil {
			l.Fatal(err)
		}
		if all[*o.Key], err = io.ReadAll(object.Body); err != nil {
			l.Fatal(err)
		}
	}
	return all
}

// A stack that cdk deploy has deployed from an assembly is unchanged when it is adopted. cdk deploy publishes the assets, and
// sends the template, the tags of the stack and the capabilities.
func TestAdoptsWhatTheCDKDeployed(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.project = filepath.Join(t.TempDir(), "orders", "cdk.out")
	if err := os.CopyFS(l.project, os.DirFS("../../examples/cdk/cdk.out")); err != nil {
		t.Fatal(err)
	}
	h := l.serve(0.05)
	l.must(cli.ExitOK, "targets", "add", "prod", "--projects", "orders@*", "--account", "111111111111", "--region", "eu-west-1", "--role", "arn:aws:iam::111111111111:role/stackwright/stackwright-orchestrator")
	objects := s3.NewFromConfig(h.Cloud.Config(), func(o *s3.Options) { o.UsePathStyle = true })
	stacks := cloudformation.NewFromConfig(h.Cloud.Config())
	nested, err := filepath.Glob(filepath.Join(l.project, "assembly-Beta", "*.nested.template.json"))
	if err != nil || len(nested) != 1 {
		t.Fatal(nested, err)
	}
	body, err := os.ReadFile(nested[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range l.keys("assembly-Beta", ".json") {
		if _, err := objects.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("cdk-hnb659fds-assets-000000000000-us-east-1"), Key: &key, Body: bytes.NewReader(body)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"Network", "App"} {
		file, err := filepath.Glob(filepath.Join(l.project, "assembly-Beta", "Beta"+name+"????????.template.json"))
		if err != nil || len(file) != 1 {
			t.Fatal(file, err)
		}
		body, err := os.ReadFile(file[0])
		if err != nil {
			t.Fatal(err)
		}
		in := &cloudformation.CreateStackInput{StackName: aws.String("Beta-" + name), TemplateBody: aws.String(string(body)), Capabilities: []types.Capability{types.CapabilityCapabilityNamedIam}}
		if name == "Network" {
			in.Tags = []types.Tag{{Key: aws.String("team"), Value: aws.String("network")}}
		}
		if _, err := stacks.CreateStack(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if err := cloudformation.NewStackCreateCompleteWaiter(stacks, func(o *cloudformation.StackCreateCompleteWaiterOptions) {
			o.MinDelay, o.MaxDelay = time.Millisecond, 50*time.Millisecond
		}).
			Wait(t.Context(), &cloudformation.DescribeStacksInput{StackName: in.StackName}, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	l.has(l.must(cli.ExitOK, "adopt", l.project, "--only", "Beta/App", "--only", "Beta/Network"), "2 adopted")
	l.has(l.must(cli.ExitOK, "plan", l.project, "--only", "Beta/App"), "2 unchanged")
	l.has(l.must(cli.ExitOK, "deploy", l.project), "4 created")
}

// keys are the keys of the assets of an assembly with an extension, except for those of the templates of stacks.
func (l *laptop) keys(assembly, extension string) []string {
	l.Helper()
	manifests, err := filepath.Glob(filepath.Join(l.project, assembly, "*.assets.json"))
	if err != nil {
		l.Fatal(err)
	}
	var all []string
	for _, name := range manifests {
		body, err := os.ReadFile(name)
		if err != nil {
			l.Fatal(err)
		}
		var manifest struct {
			Files map[string]struct {
				Source       struct{ Path string }
				Destinations map[string]struct{ ObjectKey string }
			}
		}
		if err := json.Unmarshal(body, &manifest); err != nil {
			l.Fatal(err)
		}
		for _, f := range manifest.Files {
			for _, d := range f.Destinations {
				if strings.HasSuffix(d.ObjectKey, extension) && strings.Contains(f.Source.Path, ".nested.") {
					all = append(all, d.ObjectKey)
				}
			}
		}
	}
	return all
}

// A container image of an assembly is read in its repository before its stack is deployed. One that is not published fails the step, and
// the stack stays as it is.
func TestContainerImages(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.project = filepath.Join(t.TempDir(), "orders", "cdk.out")
	if err := os.CopyFS(l.project, os.DirFS("../../examples/cdk/cdk.out")); err != nil {
		t.Fatal(err)
	}
	tag := strings.Repeat("f0", 32)
	image := `"dockerImages": {"` + tag + `": {"displayName": "Network/Image", "source": {"directory": "asset.f00"}, "destinations": {"here": {
		"repositoryName": "cdk-hnb659fds-container-assets-${AWS::AccountId}-${AWS::Region}", "imageTag": "` + tag + `",
		"assumeRoleArn": "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/cdk-hnb659fds-image-publishing-role-${AWS::AccountId}-${AWS::Region}"}}}}`
	l.edit("assembly-Beta/BetaNetworkA1A29F60.assets.json", `"dockerImages": {}`, image)
	h := l.serve(0.05)
	l.must(cli.ExitOK, "targets", "add", "prod", "--projects", "orders@*", "--account", "111111111111", "--region", "eu-west-1", "--role", "arn:aws:iam::111111111111:role/stackwright/stackwright-orchestrator")

	missing := &gateway.Failure{Status: http.StatusBadRequest, Fault: gateway.Fault{Code: "ImageNotFoundException", Message: "The image with imageId {imageTag:'" + tag + "'} does not exist"}}
	h.Cloud.Gateway.Fail(func(r gateway.Request) *gateway.Failure {
		if r.Service == "ecr" {
			return missing
		}
		return nil
	})
	r := l.run("deploy", l.project, "--only", "Beta/Network")
	l.has(r.out+r.err, "image cdk-hnb659fds-container-assets-000000000000-us-east-1:"+tag+" is not published, and Stackwright builds no images")
	if r.code != cli.ExitFailed {
		t.Errorf("ended with %d", r.code)
	}
	h.Cloud.Gateway.Fail(nil)
	l.has(l.must(cli.ExitOK, "retry"), "image cdk-hnb659fds-container-assets-000000000000-us-east-1:"+tag+" was published before", "succeeded")
	l.has(l.must(cli.ExitOK, "plan", l.project, "--only", "Beta/Network"), "no changes")
}

package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/pkg/entry/cli"
	"github.com/stackwright/stackwright/pkg/lib/golden"
)

// varying matches the IDs and versions, which differ from run to run.
var varying = []struct {
	is  *regexp.Regexp
	say string
}{
	{regexp.MustCompile(`\b[a-z2-7]{20}\b`), "RUN"},
	{regexp.MustCompile(`, version [\w+/=.-]+`), ", version VERSION"},
}

// Commands that AWS refuses, or that lack a part of the AWS configuration, print
// what they did, why it failed and what to do, as testdata/refusals.txt has it.
func TestRefusalsOfAWS(t *testing.T) {
	l, h := newInstallation(t)
	l.env["STACKWRIGHT_DIRECT"] = "true"
	type refusal struct {
		of     gateway.Call
		status int
		gateway.Fault
	}
	var now atomic.Pointer[refusal]
	h.Cloud.Gateway.Fail(func(q gateway.Request) *gateway.Failure {
		if r := now.Load(); r != nil && q.AccessKey == "person" && q.Call == r.of {
			return &gateway.Failure{Status: r.status, Fault: r.Fault}
		}
		return nil
	})
	query := gateway.Call{Service: "dynamodb", Operation: "Query"}
	put := gateway.Call{Service: "s3", Operation: "PutObject"}
	describe := gateway.Call{Service: "cloudformation", Operation: "DescribeStacks"}
	denied := func(action, on string) gateway.Fault {
		return gateway.Fault{Code: "AccessDenied", Message: "User: arn:aws:iam::000000000000:user/ann is not authorized to perform: " + action + " on resource: " + on}
	}
	var got strings.Builder
	try := func(title string, args ...string) {
		t.Helper()
		r := l.run(args...)
		if r.code == cli.ExitOK {
			t.Errorf("%s: %v succeeded", title, args)
		}
		text := strings.ReplaceAll(fmt.Sprintf("# %s\n$ stackwright %s\n%s%sexit %d\n\n", title, strings.Join(args, " "), r.out, r.err, r.code), l.project, "pair")
		for _, v := range varying {
			text = v.is.ReplaceAllString(text, v.say)
		}
		got.WriteString(text)
	}
	l.must(cli.ExitOK, "deploy", l.project)
	l.edit("stackwright.yaml", "text: hello", "text: goodbye")
	l.must(cli.ExitOK, "deploy", l.project)

	t.Setenv("AWS_REGION", "")
	try("no region is configured", "deploy", l.project)
	t.Setenv("AWS_REGION", cli.Region)

	t.Setenv("AWS_ACCESS_KEY_ID", "")
	try("there are no credentials", "deploy", l.project)
	t.Setenv("AWS_ACCESS_KEY_ID", "person")

	for _, c := range []struct {
		title string
		refusal
		args []string
	}{
		{"the credentials have expired", refusal{query, http.StatusBadRequest, gateway.Fault{Code: "ExpiredTokenException", Message: "The security token included in the request is expired"}}, []string{"runs"}},
		{"no permission to read the installation", refusal{describe, http.StatusForbidden, denied("cloudformation:DescribeStacks", "arn:aws:cloudformation:us-east-1:000000000000:stack/sw/*")}, []string{"runs"}},
		{"no permission to read the table", refusal{query, http.StatusBadRequest, gateway.Fault{Code: "AccessDeniedException", Message: "no identity-based policy allows the action"}}, []string{"runs"}},
		{"no permission to upload", refusal{put, http.StatusForbidden, denied("s3:PutObject", `"arn:aws:s3:::stackwright/projects/pair/default.zip"`)}, []string{"deploy", l.project}},
		{"the bucket is missing", refusal{put, http.StatusNotFound, gateway.Fault{Code: "NoSuchBucket", Message: "The specified bucket does not exist"}}, []string{"deploy", l.project}},
	} {
		now.Store(&c.refusal)
		try(c.title, c.args...)
	}
	now.Store(nil)

	client := s3.NewFromConfig(h.Cloud.Config())
	versions, err := client.ListObjectVersions(t.Context(), &s3.ListObjectVersionsInput{Bucket: aws.String(cli.Name), Prefix: aws.String("projects/")})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range versions.Versions {
		if !aws.ToBool(v.IsLatest) {
			continue
		}
		if _, err := client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: aws.String(cli.Name), Key: v.Key, VersionId: v.VersionId}); err != nil {
			t.Fatal(err)
		}
	}
	try("the version of the object is missing", "retry", l.objects(l.must(cli.ExitOK, "runs", "-o", "json"))[0]["run"].(string))

	golden.Same(t, filepath.Join("testdata", "refusals.txt"), got.String())
}

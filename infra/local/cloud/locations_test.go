package cloud_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"github.com/stackwright/stackwright/infra/local/cloud"
	"github.com/stackwright/stackwright/infra/local/lambda"
)

// from makes the function stack-event record the account and region of each event.
func from(h *invocations) func(*cloud.Cloud) (cloud.Invoker, error) {
	record := func(_ context.Context, in json.RawMessage) (struct{}, error) {
		var e struct{ Account, Region string }
		err := json.Unmarshal(in, &e)
		h.say("%s %s", e.Account, e.Region)
		return struct{}{}, err
	}
	return func(c *cloud.Cloud) (cloud.Invoker, error) {
		return lambda.InProcess(map[string]any{"stack-event": record}, c.Host())
	}
}

// guest returns the configuration of a user who has assumed a role of an account.
func otherAccount(t *testing.T, c *cloud.Cloud, account, region string) aws.Config {
	t.Helper()
	out, err := sts.NewFromConfig(c.Config()).AssumeRole(t.Context(), &sts.AssumeRoleInput{
		RoleArn: aws.String("arn:aws:iam::" + account + ":role/guest"), RoleSessionName: aws.String("me"), DurationSeconds: aws.Int32(900),
	})
	if err != nil {
		t.Fatal(err)
	}
	cfg := c.Config()
	cfg.Region, cfg.Retryer = region, func() aws.Retryer { return aws.NopRetryer{} }
	cfg.Credentials = credentials.NewStaticCredentialsProvider(*out.Credentials.AccessKeyId, "s", "t")
	return cfg
}

// stacksOf lists the IDs of all stacks that a configuration sees, without their last
// parts.
func stacksOf(t *testing.T, cfg aws.Config) string {
	t.Helper()
	out, err := cloudformation.NewFromConfig(cfg).DescribeStacks(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, s := range out.Stacks {
		id := aws.ToString(s.StackId)
		all = append(all, id[:strings.LastIndexByte(id, '/')])
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// Accounts and regions are separate: each has its own stacks and exports, and keeps them
// over a restart. All events arrive in the account and region of the installation.
func TestAccountsAndRegionsAreApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &invocations{}
		opts := cloud.Options{Data: t.TempDir(), Functions: from(h), Getenv: func(string) string { return "" }, Trust: func(string) (string, bool) { return "", true }}
		c := open(t, opts)
		exports := strings.Replace(template, `{"Ref":"AWS::StackName"}`, `{"Ref":"AWS::StackName"},"Export":{"Name":"once"}`, 1)
		near := c.Config()
		near.Region = "eu-west-1"
		for _, cfg := range []aws.Config{c.Config(), near, otherAccount(t, c, "111111111111", "eu-west-1")} {
			in := &cloudformation.CreateStackInput{StackName: aws.String("same"), TemplateBody: &exports, ClientRequestToken: aws.String("sw-run-1-1")}
			if _, err := cloudformation.NewFromConfig(cfg).CreateStack(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}
		if want := "000000000000 us-east-1; 000000000000 us-east-1; 000000000000 eu-west-1; 000000000000 eu-west-1; 111111111111 eu-west-1; 111111111111 eu-west-1"; h.String() != want { // of the start and the end
			t.Errorf("events of %s, want %s", h, want)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		c = open(t, opts)
		for _, x := range []struct {
			cfg  aws.Config
			want string
		}{
			{c.Config(), "arn:aws:cloudformation:us-east-1:000000000000:stack/same"},
			{otherAccount(t, c, "111111111111", "eu-west-1"), "arn:aws:cloudformation:eu-west-1:111111111111:stack/same"},
			{otherAccount(t, c, "111111111111", "us-east-1"), ""},
		} {
			if got := stacksOf(t, x.cfg); got != x.want {
				t.Errorf("seen are %q, want %q", got, x.want)
			}
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// Expired credentials are refused. Credentials of another account give access only to
// the stacks of that account.
func TestGuests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, cloud.Options{Getenv: func(string) string { return "" }, Trust: func(string) (string, bool) { return "", true }})
		cfg := otherAccount(t, c, "111111111111", "us-east-1")
		code := func(err error) string {
			if refused, ok := errors.AsType[smithy.APIError](err); ok {
				return refused.ErrorCode()
			}
			return ""
		}
		if _, err := dynamodb.NewFromConfig(cfg).ListTables(t.Context(), nil); code(err) != "AccessDeniedException" && code(err) != "AccessDenied" {
			t.Errorf("DynamoDB lets in who is of another account: %v", err)
		}
		time.Sleep(15*time.Minute - time.Second)
		stacksOf(t, cfg)
		time.Sleep(time.Second)
		if _, err := cloudformation.NewFromConfig(cfg).DescribeStacks(t.Context(), nil); code(err) != "ExpiredToken" {
			t.Errorf("what has expired is taken: %v", err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// Faults can be set for any account and region.
func TestFaultsAbroad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, cloud.Options{Getenv: func(string) string { return "" }})
		for query, want := range map[string]int{"": 200, "?account=111111111111&region=eu-west-1": 200, "?account=1": 400, "?region=../x": 400} {
			w := httptest.NewRecorder()
			c.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/_faults"+query, strings.NewReader(`{"stack": "x`+query+`", "operation": "create"}`)))
			body, _ := io.ReadAll(w.Body)
			if w.Code/100 != want/100 {
				t.Errorf("%s: %d %s", query, w.Code, body)
			}
		}
		abroad, err := c.StacksIn("111111111111", "eu-west-1")
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		abroad.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/_faults", nil))
		if text := w.Body.String(); !strings.Contains(text, "x?account=111111111111") || strings.Contains(text, `"x"`) {
			t.Errorf("there: %s", text)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// Fn::GetStackOutput reads stacks of other accounts and regions, two of which may read one another.
func TestOutputsOfOtherAccounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, cloud.Options{Getenv: func(string) string { return "" }, Trust: func(string) (string,
			bool) {
			return "", true
		}})
		far := otherAccount(t, c, "111111111111", "eu-west-1")
		read := func(stack, more string) string {
			return "Resources: {Entry: {Type: 'AWS::SSM::Parameter', Properties: {Type: String, Value: {'Fn::GetStackOutput': {StackName: " + stack +
				", OutputName: V" + more + "}}}}}\nOutputs: {V: {Value: !GetAtt Entry.Value}}\n"
		}
		for _, one := range []struct {
			cfg         aws.Config
			stack, body string
		}{
			{far, "base", "Resources: {W: {Type: 'AWS::CloudFormation::WaitConditionHandle'}}\nOutputs: {V: {Value: far}}\n"},
			{c.Config(), "user", read("base", ", Region: eu-west-1, RoleArn: 'arn:aws:iam::111111111111:role/r'")},
			{far, "again", read("user", ", Region: us-east-1, RoleArn: 'arn:aws:iam::000000000000:role/r'")},
		} {
			client := cloudformation.NewFromConfig(one.cfg)
			if _, err := client.CreateStack(t.Context(), &cloudformation.CreateStackInput{StackName: &one.stack,
				TemplateBody: &one.body}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			out, err := client.DescribeStacks(t.Context(), &cloudformation.DescribeStacksInput{StackName: &one.stack})
			if err != nil {
				t.Fatal(err)
			}
			if got := out.Stacks[0].Outputs; len(got) != 1 || aws.ToString(got[0].OutputValue) != "far" {
				t.Errorf("%s: %s, outputs %v", one.stack, out.Stacks[0].StackStatus, got)
			}
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

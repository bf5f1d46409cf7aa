package sts_test

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/sts"
)

func client(key string, tokens http.Handler) *sdk.Client {
	return sdk.New(sdk.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("https://sts.test"),
		Credentials: credentials.NewStaticCredentialsProvider(key, "local", ""),
		HTTPClient:  &http.Client{Transport: gateway.Transport{Handler: tokens}},
	})
}

// A user who assumes a role of another account is a principal of that account.
func TestAssumedRoleIsOfItsAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens := sts.New("000000000000", trust)
		me, err := client("local", tokens).GetCallerIdentity(t.Context(), nil)
		if err != nil || aws.ToString(me.Account) != "000000000000" || aws.ToString(me.Arn) != "arn:aws:iam::000000000000:root" {
			t.Fatalf("identity %+v %v", me, err)
		}
		out, err := client("local", tokens).AssumeRole(t.Context(), &sdk.AssumeRoleInput{
			RoleArn: aws.String("arn:aws:iam::111111111111:role/path/deployer"), RoleSessionName: aws.String("run"), ExternalId: aws.String("us"),
		})
		if err != nil {
			t.Fatal(err)
		}
		if left := time.Until(*out.Credentials.Expiration); left != time.Hour {
			t.Errorf("credentials for %s, want an hour", left)
		}
		other, err := client(*out.Credentials.AccessKeyId, tokens).GetCallerIdentity(t.Context(), nil)
		if err != nil || aws.ToString(other.Account) != "111111111111" || aws.ToString(other.Arn) != "arn:aws:sts::111111111111:assumed-role/deployer/run" {
			t.Errorf("identity with the role %+v %v", other, err)
		}
		h, ok := sts.ParseAccessKey(*out.Credentials.AccessKeyId)
		if !ok || h.Account != "111111111111" || h.Role != "deployer" || h.Session != "run" || !h.Expires.Equal(*out.Credentials.Expiration) {
			t.Errorf("owner %+v %v", h, ok)
		}
	})
}

// trust has two roles. One requires an external ID.
func trust(role string) (externalID string, ok bool) {
	externalID, ok = map[string]string{"arn:aws:iam::111111111111:role/path/deployer": "us", "arn:aws:iam::111111111111:role/open": ""}[role]
	return externalID, ok
}

func TestRefusedRoles(t *testing.T) {
	for _, c := range []struct{ role, external, session, want string }{
		{"arn:aws:iam::111111111111:role/path/deployer", "us", "run", ""},
		{"arn:aws:iam::111111111111:role/path/deployer", "them", "run", "AccessDenied"},
		{"arn:aws:iam::111111111111:role/path/deployer", "", "run", "AccessDenied"},
		{"arn:aws:iam::111111111111:role/open", "us", "run", ""},
		{"arn:aws:iam::111111111111:role/open", "", "a/b", "ValidationError"},
		{"arn:aws:iam::222222222222:role/x", "us", "run", "AccessDenied"},
		{"arn:aws:iam::1:role/x", "us", "run", "ValidationError"},
		{"deployer", "us", "run", "ValidationError"},
	} {
		in := &sdk.AssumeRoleInput{RoleArn: &c.role, RoleSessionName: &c.session}
		if c.external != "" {
			in.ExternalId = &c.external
		}
		_, err := client("local", sts.New("000000000000", trust)).AssumeRole(t.Context(), in)
		got := ""
		if refused, ok := errors.AsType[smithy.APIError](err); ok {
			got = refused.ErrorCode()
		}
		if got != c.want || (err == nil) != (c.want == "") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

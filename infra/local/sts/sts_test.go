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

// Who assumes a role of another account is somebody of that account.
func TestAssumedRoleIsOfItsAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens := sts.New("000000000000", "111111111111")
		me, err := client("local", tokens).GetCallerIdentity(t.Context(), nil)
		if err != nil || aws.ToString(me.Account) != "000000000000" || aws.ToString(me.Arn) != "arn:aws:iam::000000000000:root" {
			t.Fatalf("identity %+v %v", me, err)
		}
		out, err := client("local", tokens).AssumeRole(t.Context(), &sdk.AssumeRoleInput{
			RoleArn: aws.String("arn:aws:iam::111111111111:role/path/deployer"), RoleSessionName: aws.String("run"),
		})
		if err != nil {
			t.Fatal(err)
		}
		if left := time.Until(*out.Credentials.Expiration); left != time.Hour {
			t.Errorf("credentials for %s, want an hour", left)
		}
		other, err := client(*out.Credentials.AccessKeyId, tokens).GetCallerIdentity(t.Context(), nil)
		if err != nil || aws.ToString(other.Account) != "111111111111" || aws.ToString(other.Arn) != "arn:aws:sts::111111111111:assumed-role/deployer/local" {
			t.Errorf("identity with the role %+v %v", other, err)
		}
		if account, role, ok := sts.Owner(*out.Credentials.AccessKeyId); account != "111111111111" || role != "deployer" || !ok {
			t.Errorf("owner %s %s %v", account, role, ok)
		}
	})
}

func TestRefusedRoles(t *testing.T) {
	for role, want := range map[string]string{
		"arn:aws:iam::222222222222:role/x": "AccessDenied",
		"arn:aws:iam::1:role/x":            "ValidationError",
		"deployer":                         "ValidationError",
	} {
		_, err := client("local", sts.New("000000000000", "111111111111")).AssumeRole(t.Context(), &sdk.AssumeRoleInput{RoleArn: &role, RoleSessionName: aws.String("run")})
		var refused smithy.APIError
		if !errors.As(err, &refused) || refused.ErrorCode() != want {
			t.Errorf("%s: %v, want %s", role, err, want)
		}
	}
}

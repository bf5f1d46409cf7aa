package ecr_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/ecr"

	"github.com/stackwright/stackwright/pkg/aws/ecr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// An image is found in the repository of the target's account, with the role of the asset. The error says what to do.
// https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_DescribeImages.html#API_DescribeImages_Errors
func TestFind(t *testing.T) {
	at := project.Target{Name: "eu", Account: "111111111111", Region: "eu-west-1"}
	asset := project.Asset{Image: true, Bucket: "cdk-x-container-assets-111111111111-eu-west-1", Key: "f00", Role: "publishing", ExternalID: "id"}
	for name, c := range map[string]struct {
		status int
		code   string
		kind   fault.Kind
		want   string
	}{
		"published":     {status: http.StatusOK},
		"not published": {http.StatusBadRequest, "ImageNotFoundException", fault.Missing, "image cdk-x-container-assets-111111111111-eu-west-1:f00 is not published, and Stackwright builds no images: publish it with npx cdk-assets publish --path cdk.out/STACK.assets.json, and retry"},
		"no repository": {http.StatusBadRequest, "RepositoryNotFoundException", fault.Missing, "there is no such repository: run cdk bootstrap aws://111111111111/eu-west-1"},
		"denied":        {http.StatusBadRequest, "AccessDeniedException", fault.Denied, "allow ecr:DescribeImages on arn:aws:ecr:eu-west-1:111111111111:repository/cdk-x-container-assets-111111111111-eu-west-1"},
		"server":        {http.StatusInternalServerError, "ServerException", fault.Unavailable, "ServerException"},
		"throttled":     {http.StatusBadRequest, "ThrottlingException", fault.Throttled, "ThrottlingException"},
		"invalid":       {http.StatusBadRequest, "InvalidParameterException", fault.Invalid, "InvalidParameterException"},
	} {
		t.Run(name, func(t *testing.T) {
			var sent map[string]any
			client := sdk.NewFromConfig(aws.Config{
				Region: at.Region, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""), RetryMaxAttempts: 1,
				HTTPClient: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
					if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
						t.Error(err)
					}
					return &http.Response{StatusCode: c.status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}}, Body: io.NopCloser(strings.NewReader(`{"__type": "` + c.code + `", "message": "why"}`))}, nil
				})},
			})
			role := ""
			images := ecr.New(func(_ context.Context, _ project.Target, r, id string) (ecr.Client, error) {
				role = r + " " + id
				return client, nil
			})
			err := images.Find(t.Context(), at, asset)
			if c.kind == "" && err != nil || c.kind != "" && (!fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v", err)
			}
			if role != "publishing id" || sent["repositoryName"] != asset.Bucket || sent["registryId"] != at.Account {
				t.Errorf("%s %v", role, sent)
			}
		})
	}
}

// Without the role there is no client, and so no answer.
func TestRoleThatCannotBeAssumed(t *testing.T) {
	images := ecr.New(func(context.Context, project.Target, string, string) (ecr.Client, error) {
		return nil, fault.New(fault.Denied, "no role")
	})
	if err := images.Find(t.Context(), project.Target{}, project.Asset{}); !fault.Is(err, fault.Denied) {
		t.Error(err)
	}
}

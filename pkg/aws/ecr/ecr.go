// Package ecr finds container images in repositories of ECR.
package ecr

import (
	"context"
	"fmt"

	sdk "github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/ecr/types"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Client is the part of the SDK's ECR client that is used here.
type Client interface {
	DescribeImages(context.Context, *sdk.DescribeImagesInput, ...func(*sdk.Options)) (*sdk.DescribeImagesOutput, error)
}

// A ClientOf returns the client for a target, with the permissions of a role there.
type ClientOf func(ctx context.Context, t project.Target, role, externalID string) (Client, error)

// Images are the container images in all targets.
type Images struct{ client ClientOf }

// New returns the images that the given clients reach.
func New(client ClientOf) *Images { return &Images{client} }

// Find returns nil if the repository of an asset has its image, and an error of kind Missing if it has not.
// https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_DescribeImages.html
func (i *Images) Find(ctx context.Context, t project.Target, a project.Asset) error {
	client, err := i.client(ctx, t, a.Role, a.ExternalID)
	if err != nil {
		return err
	}
	_, err = client.DescribeImages(ctx, &sdk.DescribeImagesInput{
		RegistryId: &t.Account, RepositoryName: &a.Bucket, ImageIds: []types.ImageIdentifier{{ImageTag: &a.Key}},
	})
	arn := fmt.Sprintf("arn:%s:ecr:%s:%s:repository/%s", t.Partition(), t.Region, t.Account, a.Bucket)
	switch {
	case err == nil:
		return nil
	case awserr.Is(err, "ImageNotFoundException"):
		return fault.New(fault.Missing, "%s is not published, and Stackwright builds no images: publish it with npx cdk-assets publish --path cdk.out/STACK.assets.json, and retry", a.Place())
	case awserr.Is(err, "RepositoryNotFoundException"):
		return fault.New(fault.Missing, "find %s: there is no such repository: run cdk bootstrap aws://%s/%s", a.Place(), t.Account, t.Region)
	}
	return awserr.Fault("find "+a.Place(), arn, err, awserr.Kinds{"ServerException": fault.Unavailable, awserr.Other: fault.Invalid})
}

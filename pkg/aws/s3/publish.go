package s3

import (
	"bytes"
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Publisher copies assets from the installation's bucket into buckets of accounts.
type Publisher struct {
	from *Bucket
	key  func(project, digest string) string
	to   ClientOf
}

// A ClientOf returns the client for a target, with the permissions of a role there.
type ClientOf func(ctx context.Context, t project.Target, role, externalID string) (*s3.Client, error)

// NewPublisher returns a publisher of the assets in a bucket. key names the object of a
// project, as "shop@prod", with a digest. It sends no request.
func NewPublisher(from *Bucket, key func(project, digest string) string, to ClientOf) *Publisher {
	return &Publisher{from: from, key: key, to: to}
}

// Publish implements action.Publisher. The bucket has to belong to the target's account. An object that is there is never
// overwritten, also if it comes between the two requests.
func (p *Publisher) Publish(ctx context.Context, of string, t project.Target, a project.Asset) (published bool, err error) {
	client, err := p.to(ctx, t, a.Role, a.ExternalID)
	if err != nil {
		return false, err
	}
	_, err = client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &a.Bucket, Key: &a.Key, ExpectedBucketOwner: &t.Account})
	switch {
	case err == nil:
		return true, nil
	case !awserr.Is(err, "NoSuchKey", "NotFound"):
		return false, unpublished("find", t, a, err)
	}
	body, err := p.Zip(ctx, of, a.Digest)
	if err != nil {
		return false, err
	}
	_, err = client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &a.Bucket, Key: &a.Key, Body: bytes.NewReader(body), ExpectedBucketOwner: &t.Account, IfNoneMatch: aws.String("*"),
	})
	switch {
	case awserr.Is(err, "PreconditionFailed"):
		return true, nil
	case awserr.Is(err, "ConditionalRequestConflict"): // another write of this key is not over
		return false, fault.New(fault.Throttled, "publish %s: another publisher writes it at this moment", a.Place())
	}
	return false, unpublished("publish", t, a, err)
}

// Zip implements hook.Files.
func (p *Publisher) Zip(ctx context.Context, of, digest string) ([]byte, error) {
	body, err := p.from.Current(ctx, p.key(of, digest))
	if err != nil {
		return nil, err
	}
	if got := sum(body); got != digest {
		return nil, p.from.overwritten(p.key(of, digest), got, deployAgain)
	}
	return body, nil
}

// unpublished returns the fault of a request about an asset.
func unpublished(do string, t project.Target, a project.Asset, err error) error {
	if err == nil {
		return nil
	}
	place := fmt.Sprintf("s3://%s/%s", a.Bucket, a.Key)
	f := awserr.Fault(do+" "+place, fmt.Sprintf("arn:aws:s3:::%s/%s", a.Bucket, a.Key), err, awserr.Kinds{awserr.Other: fault.Invalid})
	if awserr.Is(err, "NoSuchBucket") {
		return fault.New(fault.Missing, "%s %s: there is no such bucket: run cdk bootstrap aws://%s/%s", do, place, t.Account, t.Region)
	}
	return f
}

package s3

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/purge"
)

// A PurgingClient is the part of the SDK's S3 client that deletes versions.
type PurgingClient interface {
	ListObjectVersions(context.Context, *s3.ListObjectVersionsInput, ...func(*s3.Options)) (*s3.ListObjectVersionsOutput, error)
	DeleteObjects(context.Context, *s3.DeleteObjectsInput, ...func(*s3.Options)) (*s3.DeleteObjectsOutput, error)
}

// A PurgedBucket is a bucket whose old versions are deleted. It is a purge.Bucket.
type PurgedBucket struct {
	*Bucket
	Client PurgingClient
}

// Versions implements purge.Bucket. Delete markers are no versions. A place is the last key and version of a page.
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectVersions.html
func (b PurgedBucket) Versions(ctx context.Context, prefix, after string) (page []purge.Version, next string, err error) {
	in := &s3.ListObjectVersionsInput{Bucket: &b.name, Prefix: &prefix}
	if after != "" {
		var at [2]string
		if err := json.Unmarshal([]byte(after), &at); err != nil {
			return nil, "", fault.New(fault.Invalid, "%.80q is no place in a list of versions", after)
		}
		in.KeyMarker = &at[0]
		if at[1] != "" {
			in.VersionIdMarker = &at[1]
		}
	}
	out, err := b.Client.ListObjectVersions(ctx, in)
	if err != nil {
		return nil, "", b.fault("list the versions below", prefix, "", err)
	}
	for _, v := range out.Versions {
		page = append(page, purge.Version{Key: aws.ToString(v.Key), ID: aws.ToString(v.VersionId), Put: aws.ToTime(v.LastModified), Bytes: aws.ToInt64(v.Size), Current: aws.ToBool(v.IsLatest)})
	}
	if !aws.ToBool(out.IsTruncated) {
		return page, "", nil
	}
	text, err := json.Marshal([2]string{aws.ToString(out.NextKeyMarker), aws.ToString(out.NextVersionIdMarker)})
	return page, string(text), err
}

// mostDeleted is how many versions one request deletes.
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html
const mostDeleted = 1000

// DeleteVersions implements purge.Bucket. It names each version, and so never makes a delete marker.
func (b PurgedBucket) DeleteVersions(ctx context.Context, all []purge.Version) error {
	for some := range slices.Chunk(all, mostDeleted) {
		var named []types.ObjectIdentifier
		for _, v := range some {
			if v.ID == "" {
				return fault.New(fault.Broken, "s3://%s/%s has a version without an ID", b.name, v.Key)
			}
			named = append(named, types.ObjectIdentifier{Key: &v.Key, VersionId: &v.ID})
		}
		out, err := b.Client.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: &b.name, Delete: &types.Delete{Objects: named, Quiet: aws.Bool(true)}})
		if err != nil {
			return b.fault("delete versions such as", some[0].Key, some[0].ID, err)
		}
		for _, one := range out.Errors {
			return fault.New(awserr.KindOf(aws.ToString(one.Code), fault.Refused), "s3://%s: %d of %d versions cannot be deleted, the first one is of %s (%s: %s)",
				b.name, len(out.Errors), len(named), aws.ToString(one.Key), aws.ToString(one.Code), aws.ToString(one.Message))
		}
	}
	return nil
}

package s3

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// An EmptyingClient is the part of the SDK's S3 client that deletes what is in buckets. It sends each request once.
type EmptyingClient interface {
	ListObjectVersions(context.Context, *s3.ListObjectVersionsInput, ...func(*s3.Options)) (*s3.ListObjectVersionsOutput, error)
	DeleteObjects(context.Context, *s3.DeleteObjectsInput, ...func(*s3.Options)) (*s3.DeleteObjectsOutput, error)
	ListMultipartUploads(context.Context, *s3.ListMultipartUploadsInput, ...func(*s3.Options)) (*s3.ListMultipartUploadsOutput, error)
	AbortMultipartUpload(context.Context, *s3.AbortMultipartUploadInput, ...func(*s3.Options)) (*s3.AbortMultipartUploadOutput, error)
}

// maxAborted is how many multipart uploads one request of a hook aborts: each is a request to S3.
const maxAborted = 20

// Buckets are the buckets in all targets. It is a hook.Buckets.
type Buckets struct {
	clients func(context.Context, project.Target) (EmptyingClient, error)
}

// NewBuckets returns the buckets that the given clients reach.
func NewBuckets(clients func(context.Context, project.Target) (EmptyingClient, error)) *Buckets {
	return &Buckets{clients}
}

// emptied is a bucket of a target that is being emptied.
type emptied struct {
	EmptyingClient
	name string
	in   project.Target
}

// EmptyBucket implements hook.Buckets. It always reads the first page of what is left, so that nothing has to be remembered between
// two calls. S3 refuses requests about a bucket of another account.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucket-owner-condition.html
func (b *Buckets) EmptyBucket(ctx context.Context, in project.Target, name string) (bool, error) {
	client, err := b.clients(ctx, in)
	if err != nil {
		return false, fmt.Errorf("target %s: %w", in.Name, err)
	}
	empty, err := emptied{client, name, in}.page(ctx)
	if awserr.Is(err, "NoSuchBucket") {
		return true, nil
	}
	return empty, err
}

// page deletes a page of the bucket.
func (e emptied) page(ctx context.Context) (empty bool, err error) {
	out, err := e.ListObjectVersions(ctx, &s3.ListObjectVersionsInput{Bucket: &e.name, ExpectedBucketOwner: &e.in.Account})
	if err != nil {
		return false, e.fault("list the objects of", err)
	}
	var all []types.ObjectIdentifier
	for _, v := range out.Versions {
		all = append(all, types.ObjectIdentifier{Key: v.Key, VersionId: v.VersionId})
	}
	for _, m := range out.DeleteMarkers {
		all = append(all, types.ObjectIdentifier{Key: m.Key, VersionId: m.VersionId})
	}
	if len(all) > 0 {
		return false, e.delete(ctx, all)
	}
	if aws.ToBool(out.IsTruncated) {
		return false, nil
	}
	return e.abort(ctx)
}

// delete deletes versions of objects and delete markers, at most as many as a page has.
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html
func (e emptied) delete(ctx context.Context, all []types.ObjectIdentifier) error {
	out, err := e.DeleteObjects(ctx, &s3.DeleteObjectsInput{
		Bucket: &e.name, ExpectedBucketOwner: &e.in.Account, Delete: &types.Delete{Objects: all, Quiet: aws.Bool(true)},
	})
	if err != nil {
		return e.fault("delete objects of", err)
	}
	return undeleted(e.name, len(all), out.Errors, "allow that in the policies of the bucket and of the role, or delete them by hand")
}

// undeleted is the error of a request to delete n objects of a bucket of which S3 has refused some, with what to do; nil if it has refused none.
func undeleted(bucket string, n int, refused []types.Error, remedy string) error {
	if len(refused) == 0 {
		return nil
	}
	one := refused[0]
	return fault.New(awserr.KindOf(aws.ToString(one.Code), fault.Refused), "delete objects of the bucket %s: %d of %d cannot be deleted, the first one is %s (%s: %s): %s",
		bucket, len(refused), n, aws.ToString(one.Key), aws.ToString(one.Code), aws.ToString(one.Message), remedy)
}

// abort aborts some multipart uploads, and reports whether there are none.
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_AbortMultipartUpload.html
func (e emptied) abort(ctx context.Context) (bool, error) {
	out, err := e.ListMultipartUploads(ctx, &s3.ListMultipartUploadsInput{Bucket: &e.name, ExpectedBucketOwner: &e.in.Account, MaxUploads: aws.Int32(maxAborted)})
	if err != nil {
		return false, e.fault("list the multipart uploads of", err)
	}
	for _, u := range out.Uploads {
		_, err := e.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &e.name, ExpectedBucketOwner: &e.in.Account, Key: u.Key, UploadId: u.UploadId})
		if err != nil && !awserr.Is(err, "NoSuchUpload") {
			return false, e.fault("abort a multipart upload of", err)
		}
	}
	return len(out.Uploads) == 0, nil
}

// fault returns the fault of a request about the bucket. The codes are those of a bucket in another region.
// https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
func (e emptied) fault(do string, err error) error {
	return awserr.Fault(do+" the bucket "+e.name, "arn:aws:s3:::"+e.name, err, awserr.Kinds{"PermanentRedirect": fault.Refused, "AuthorizationHeaderMalformed": fault.Refused, awserr.Other: fault.Refused})
}

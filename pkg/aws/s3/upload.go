package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// An UploadingClient is the part of the SDK's S3 client that puts the objects of hooks. It sends each request once.
type UploadingClient interface {
	HeadObject(context.Context, *s3.HeadObjectInput, ...func(*s3.Options)) (*s3.HeadObjectOutput, error)
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
	ListObjectsV2(context.Context, *s3.ListObjectsV2Input, ...func(*s3.Options)) (*s3.ListObjectsV2Output, error)
	DeleteObjects(context.Context, *s3.DeleteObjectsInput, ...func(*s3.Options)) (*s3.DeleteObjectsOutput, error)
}

// atOnce is how many objects are put at the same time.
const atOnce = 8

// Uploaded are the objects of buckets in all targets. It is a hook.Objects.
type Uploaded struct {
	clients func(context.Context, project.Target) (UploadingClient, error)
}

// NewUploaded returns the objects that the given clients reach.
func NewUploaded(clients func(context.Context, project.Target) (UploadingClient, error)) *Uploaded {
	return &Uploaded{clients}
}

// uploaded is a bucket of a target into which files are uploaded. S3 refuses requests about a bucket of another account.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucket-owner-condition.html
type uploaded struct {
	UploadingClient
	name string
	in   project.Target
}

// bucket returns a bucket of a target.
func (o *Uploaded) bucket(ctx context.Context, in project.Target, name string) (uploaded, error) {
	client, err := o.clients(ctx, in)
	if err != nil {
		return uploaded{}, fmt.Errorf("target %s: %w", in.Name, err)
	}
	return uploaded{client, name, in}, nil
}

// PutObjects implements hook.Objects.
func (o *Uploaded) PutObjects(ctx context.Context, in project.Target, bucket string, all []project.Object) error {
	u, err := o.bucket(ctx, in, bucket)
	if err != nil {
		return err
	}
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i, one := range all {
		slots <- struct{}{}
		wg.Go(func() {
			errs[i] = u.put(ctx, one)
			<-slots
		})
	}
	wg.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil && !fault.Is(err, fault.Throttled, fault.Unavailable) }); i >= 0 {
		return errs[i] // the others may be repeated, this one is final
	}
	return errors.Join(errs...)
}

// put puts an object unless it is there, with the same content type. S3 returns the checksum with which an object was put; one that
// was put without is put again.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html
func (u uploaded) put(ctx context.Context, one project.Object) error {
	digest := sha256.Sum256(one.Body)
	checksum := base64.StdEncoding.EncodeToString(digest[:])
	out, err := u.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &u.name, Key: &one.Key, ExpectedBucketOwner: &u.in.Account, ChecksumMode: types.ChecksumModeEnabled})
	switch {
	case err == nil && aws.ToString(out.ChecksumSHA256) == checksum && aws.ToString(out.ContentType) == one.ContentType:
		return nil
	case err != nil && !awserr.Is(err, "NoSuchKey", "NotFound"):
		return u.fault("find "+one.Key+" in", err)
	}
	_, err = u.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &u.name, Key: &one.Key, ExpectedBucketOwner: &u.in.Account, Body: bytes.NewReader(one.Body), ContentType: &one.ContentType, ChecksumSHA256: &checksum,
	})
	return u.fault("put "+one.Key+" into", err)
}

// DeleteOthers implements hook.Objects. It reads page after page until one has other objects.
func (o *Uploaded) DeleteOthers(ctx context.Context, in project.Target, bucket, prefix string, keep []string) (bool, error) {
	u, err := o.bucket(ctx, in, bucket)
	if err != nil {
		return false, err
	}
	for after := (*string)(nil); ; {
		out, err := u.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &u.name, ExpectedBucketOwner: &u.in.Account, Prefix: &prefix, ContinuationToken: after})
		if err != nil {
			return false, u.fault("list the objects of", err)
		}
		var others []types.ObjectIdentifier
		for _, one := range out.Contents {
			if _, kept := slices.BinarySearch(keep, aws.ToString(one.Key)); !kept {
				others = append(others, types.ObjectIdentifier{Key: one.Key})
			}
		}
		if len(others) > 0 {
			return false, u.delete(ctx, others)
		}
		if after = out.NextContinuationToken; after == nil {
			return true, nil
		}
	}
}

// delete deletes objects, whose versions stay in a bucket that has versions.
func (u uploaded) delete(ctx context.Context, all []types.ObjectIdentifier) error {
	out, err := u.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: &u.name, ExpectedBucketOwner: &u.in.Account, Delete: &types.Delete{Objects: all, Quiet: aws.Bool(true)}})
	if err != nil {
		return u.fault("delete objects of", err)
	}
	return undeleted(u.name, len(all), out.Errors, "allow that in the policies of the bucket and of the role")
}

// fault returns the fault of a request about the bucket; nil for none.
func (u uploaded) fault(do string, err error) error {
	if awserr.Is(err, "NoSuchBucket") {
		return fault.New(fault.Missing, "%s the bucket %s: there is no such bucket in account %s: create it, or name another one", do, u.name, u.in.Account)
	}
	return awserr.Fault(do+" the bucket "+u.name, "arn:aws:s3:::"+u.name+"/*", err, awserr.Kinds{"PermanentRedirect": fault.Refused, "AuthorizationHeaderMalformed": fault.Refused, awserr.Other: fault.Refused})
}

package s3

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/remote"
)

// Objects reads objects of other buckets, which the owner of the installation lists, with the rights of the installation.
type Objects struct {
	client func(region string) client
	region string
}

// NewObjects returns a reader with clients for regions. A request goes to the given region first. It sends no request.
func NewObjects(in func(region string) *s3.Client, region string) *Objects {
	return &Objects{client: func(region string) client { return in(region) }, region: region}
}

// Get returns an object, with the version that was read. If there is none, the file says why; an error can be tried
// again.
func (o *Objects) Get(ctx context.Context, a remote.Address) (remote.File, error) {
	in := &s3.GetObjectInput{Bucket: &a.Host, Key: &a.Path}
	if a.Version != "" {
		in.VersionId = &a.Version
	}
	out, err := o.client(o.region).GetObject(ctx, in)
	if region := regionOf(err); region != "" && region != o.region {
		out, err = o.client(region).GetObject(ctx, in)
	}
	if err != nil {
		return unread(a, err)
	}
	body, err := readAll(out.Body, remote.MaxFile)
	switch {
	case err != nil:
		return remote.File{}, fault.New(fault.Unavailable, "read %s: the connection ended early: %w", a, err)
	case len(body) > remote.MaxFile:
		return remote.File{Wrong: fmt.Sprintf("the object has more than %d bytes", remote.MaxFile)}, nil
	}
	return remote.File{Body: body, Version: aws.ToString(out.VersionId)}, nil
}

// regionOf is the region of the bucket in an answer of S3 that says that it is elsewhere.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/Redirects.html
func regionOf(err error) string {
	if answer, ok := errors.AsType[*smithyhttp.ResponseError](err); ok && answer.Response != nil && awserr.Is(err, "PermanentRedirect", "AuthorizationHeaderMalformed", "MovedPermanently") {
		return answer.Response.Header.Get("x-amz-bucket-region")
	}
	return ""
}

// unread says why an object was not read. Without the right to list a bucket, S3 answers AccessDenied for an object that does not exist.
func unread(a remote.Address, err error) (remote.File, error) {
	switch {
	case awserr.Is(err, "NoSuchBucket"):
		return remote.File{Wrong: "there is no such bucket"}, nil
	case awserr.Is(err, "NoSuchKey", "NoSuchVersion", "NotFound", "MethodNotAllowed"):
		return remote.File{Wrong: "there is no such object or version"}, nil
	case awserr.Is(err, "AccessDenied", "Forbidden"):
		return remote.File{Wrong: "there is no such object, or S3 denies the installation to read it: a bucket of another account needs a policy that allows s3:GetObject and s3:GetObjectVersion to the role of the function plan; objects with a key of KMS are not supported"}, nil
	}
	f := awserr.Fault("read "+a.String(), fmt.Sprintf("arn:aws:s3:::%s/%s", a.Host, a.Path), err, kinds)
	if fault.Is(f, fault.Invalid, fault.Denied) {
		return remote.File{Wrong: f.Error()}, nil
	}
	return remote.File{}, f
}

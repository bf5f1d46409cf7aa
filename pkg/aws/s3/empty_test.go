package s3

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A full bucket has versions, delete markers and multipart uploads, of which it lists two at a time.
type full struct {
	versions, markers, uploads int
	requested                  []string // the requests
	fails                      map[string]error
	errors                     []types.Error // of single objects
}

func (f *full) ask(what string, bucket, owner *string) error {
	f.requested = append(f.requested, what)
	if aws.ToString(bucket) != "bucket-a" || aws.ToString(owner) != "111111111111" {
		return fmt.Errorf("a request about the bucket %s of %s", aws.ToString(bucket), aws.ToString(owner))
	}
	return f.fails[what]
}

func (f *full) ListObjectVersions(_ context.Context, in *s3.ListObjectVersionsInput, _ ...func(*s3.Options)) (*s3.ListObjectVersionsOutput, error) {
	if err := f.ask("list", in.Bucket, in.ExpectedBucketOwner); err != nil {
		return nil, err
	}
	out := &s3.ListObjectVersionsOutput{}
	for i := range min(f.versions, 2) {
		out.Versions = append(out.Versions, types.ObjectVersion{Key: aws.String(fmt.Sprint("v", i)), VersionId: aws.String("1")})
	}
	for i := range min(f.markers, 2-len(out.Versions)) {
		out.DeleteMarkers = append(out.DeleteMarkers, types.DeleteMarkerEntry{Key: aws.String(fmt.Sprint("m", i)), VersionId: aws.String("1")})
	}
	return out, nil
}

func (f *full) DeleteObjects(_ context.Context, in *s3.DeleteObjectsInput, _ ...func(*s3.Options)) (*s3.DeleteObjectsOutput, error) {
	if err := f.ask("delete", in.Bucket, in.ExpectedBucketOwner); err != nil {
		return nil, err
	}
	for _, o := range in.Delete.Objects {
		if aws.ToString(o.VersionId) != "1" {
			return nil, errors.New("an object is deleted without its version")
		}
		if strings.HasPrefix(*o.Key, "v") {
			f.versions--
		} else {
			f.markers--
		}
	}
	return &s3.DeleteObjectsOutput{Errors: f.errors}, nil
}

func (f *full) ListMultipartUploads(_ context.Context, in *s3.ListMultipartUploadsInput, _ ...func(*s3.Options)) (*s3.ListMultipartUploadsOutput, error) {
	if err := f.ask("uploads", in.Bucket, in.ExpectedBucketOwner); err != nil {
		return nil, err
	}
	out := &s3.ListMultipartUploadsOutput{}
	for range min(f.uploads, 2) {
		out.Uploads = append(out.Uploads, types.MultipartUpload{Key: aws.String("u"), UploadId: aws.String("1")})
	}
	return out, nil
}

func (f *full) AbortMultipartUpload(_ context.Context, in *s3.AbortMultipartUploadInput, _ ...func(*s3.Options)) (*s3.AbortMultipartUploadOutput, error) {
	f.uploads--
	return &s3.AbortMultipartUploadOutput{}, f.ask("abort", in.Bucket, in.ExpectedBucketOwner)
}

// empty empties a bucket, and returns how it ended.
func empty(f *full) (bool, error) {
	b := NewBuckets(func(context.Context, project.Target) (EmptyingClient, error) { return f, nil })
	for range 10 {
		if done, err := b.EmptyBucket(context.Background(), project.Target{Account: "111111111111"}, "bucket-a"); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// All versions, delete markers and multipart uploads are deleted, a page at a time. Nothing is deleted of an empty bucket.
func TestEmptyBucket(t *testing.T) {
	f := &full{versions: 3, markers: 2, uploads: 3}
	if done, err := empty(f); !done || err != nil || f.versions+f.markers+f.uploads != 0 {
		t.Errorf("empty: %t, %v; %+v", done, err, f)
	}
	if got, want := strings.Join(f.requested, " "), "list delete list delete list delete list uploads abort abort list uploads abort list uploads"; got != want {
		t.Errorf("requests: %s, want %s", got, want)
	}
}

// A bucket or an upload that does not exist is no failure. What S3 refuses is, and says what to do.
func TestEmptyBucketFailures(t *testing.T) {
	code := func(code string) error { return &smithy.GenericAPIError{Code: code, Message: "it failed"} }
	for _, c := range []struct {
		at, text string
		err      error
		want     fault.Kind
	}{
		{"list", "", code("NoSuchBucket"), ""},
		{"delete", "", code("NoSuchBucket"), ""},
		{"abort", "", code("NoSuchUpload"), ""},
		{"list", "list the objects of the bucket bucket-a: AWS denies", code("AccessDenied"), fault.Denied},
		{"list", "PermanentRedirect", code("PermanentRedirect"), fault.Refused},
		{"delete", "delete objects of the bucket bucket-a", code("SlowDown"), fault.Throttled},
		{"uploads", "list the multipart uploads of", code("InternalError"), fault.Unavailable},
		{"abort", "abort a multipart upload of", code("AccessDenied"), fault.Denied},
	} {
		f := &full{versions: 1, uploads: 1, fails: map[string]error{c.at: c.err}}
		done, err := empty(f)
		if fault.KindOf(err) != c.want || done != (c.want == "") || c.text != "" && !strings.Contains(fmt.Sprint(err), c.text) {
			t.Errorf("%s %v: %t, %v is of kind %s, want %s", c.at, c.err, done, err, fault.KindOf(err), c.want)
		}
	}
	for code, want := range map[string]fault.Kind{"AccessDenied": fault.Denied, "SlowDown": fault.Throttled, "InternalError": fault.Unavailable, "MalformedXML": fault.Refused} {
		f := &full{versions: 2, errors: []types.Error{{Key: aws.String("locked"), Code: &code, Message: aws.String("why")}}}
		_, err := empty(f)
		if fault.KindOf(err) != want || !strings.Contains(fmt.Sprint(err), "1 of 2 cannot be deleted, the first one is locked ("+code+": why)") {
			t.Errorf("%s: %v is of kind %s, want %s", code, err, fault.KindOf(err), want)
		}
	}
	denied := NewBuckets(func(context.Context, project.Target) (EmptyingClient, error) {
		return nil, fault.New(fault.Denied, "no role")
	})
	if _, err := denied.EmptyBucket(t.Context(), project.Target{Name: "eu"}, "bucket-a"); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "target eu: ") {
		t.Errorf("without a role: %v", err)
	}
}

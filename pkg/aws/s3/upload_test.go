package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A shelf is a bucket that lists two objects at a time.
type shelf struct {
	mu        sync.Mutex
	objects   map[string]*s3.PutObjectInput
	requested []string
	fails     map[string]error
	errors    []types.Error
}

func (s *shelf) ask(what string, bucket, owner *string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requested = append(s.requested, what)
	if aws.ToString(bucket) != "bucket-a" || aws.ToString(owner) != "111111111111" {
		return fmt.Errorf("a request about the bucket %s of %s", aws.ToString(bucket), aws.ToString(owner))
	}
	return s.fails[what]
}

func (s *shelf) HeadObject(_ context.Context, in *s3.HeadObjectInput, _ ...func(*s3.Options)) (*s3.HeadObjectOutput, error) {
	if err := s.ask("head", in.Bucket, in.ExpectedBucketOwner); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.objects[*in.Key]
	if !ok {
		return nil, &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: 404}}, Err: &smithy.GenericAPIError{Code: "NotFound"}}
	}
	out := &s3.HeadObjectOutput{ContentType: o.ContentType}
	if in.ChecksumMode == types.ChecksumModeEnabled {
		out.ChecksumSHA256 = o.ChecksumSHA256
	}
	return out, nil
}

func (s *shelf) PutObject(_ context.Context, in *s3.PutObjectInput, _ ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	if err := s.ask("put", in.Bucket, in.ExpectedBucketOwner); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[*in.Key] = in
	return &s3.PutObjectOutput{}, nil
}

func (s *shelf) ListObjectsV2(_ context.Context, in *s3.ListObjectsV2Input, _ ...func(*s3.Options)) (*s3.ListObjectsV2Output, error) {
	if err := s.ask("list", in.Bucket, in.ExpectedBucketOwner); err != nil {
		return nil, err
	}
	var keys []string
	for key := range s.objects {
		if strings.HasPrefix(key, *in.Prefix) && key > aws.ToString(in.ContinuationToken) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	out := &s3.ListObjectsV2Output{}
	for i, key := range keys {
		if i == 2 {
			out.NextContinuationToken = &keys[1]
			break
		}
		out.Contents = append(out.Contents, types.Object{Key: aws.String(key)})
	}
	return out, nil
}

func (s *shelf) DeleteObjects(_ context.Context, in *s3.DeleteObjectsInput, _ ...func(*s3.Options)) (*s3.DeleteObjectsOutput, error) {
	if err := s.ask("delete", in.Bucket, in.ExpectedBucketOwner); err != nil {
		return nil, err
	}
	for _, o := range in.Delete.Objects {
		if o.VersionId != nil {
			return nil, errors.New("a version is deleted")
		}
		delete(s.objects, *o.Key)
	}
	return &s3.DeleteObjectsOutput{Errors: s.errors}, nil
}

// at is where the bucket is.
var at = project.Target{Name: "eu", Account: "111111111111", Region: "eu-west-1"}

func (s *shelf) uploaded() *Uploaded {
	return NewUploaded(func(context.Context, project.Target) (UploadingClient, error) { return s, nil })
}

// count returns how often a request was made since the last call.
func (s *shelf) count(what string) int {
	n := 0
	for _, one := range s.requested {
		if one == what {
			n++
		}
	}
	s.requested = nil
	return n
}

// An object is put once, and again if its bytes or its content type differ, or if it was put without a checksum.
func TestPutObjects(t *testing.T) {
	s := &shelf{objects: make(map[string]*s3.PutObjectInput)}
	u := s.uploaded()
	var all []project.Object
	for i := range 20 {
		all = append(all, project.Object{Key: fmt.Sprintf("site/%02d.txt", i), ContentType: "text/plain", Body: []byte{byte(i)}})
	}
	put := func(want int) {
		t.Helper()
		if err := u.PutObjects(t.Context(), at, "bucket-a", all); err != nil {
			t.Fatal(err)
		}
		if got := s.count("put"); got != want {
			t.Errorf("%d objects are put, want %d", got, want)
		}
	}
	put(20)
	put(0)
	all[3].Body = []byte("other")
	all[4].ContentType = "text/html"
	s.objects["site/05.txt"].ChecksumSHA256 = nil
	delete(s.objects, "site/06.txt")
	put(4)
	put(0)
	if err := u.PutObjects(t.Context(), project.Target{Account: "222222222222"}, "bucket-a", all); err == nil {
		t.Error("objects are put into a bucket of another account")
	}
}

// Only objects below the prefix are deleted, and none of those that are uploaded, however many pages there are.
func TestDeleteOthers(t *testing.T) {
	s := &shelf{objects: make(map[string]*s3.PutObjectInput)}
	var keep []string
	for i := range 7 {
		key := fmt.Sprintf("site/%d", i)
		keep = append(keep, key)
		s.objects[key], s.objects[fmt.Sprintf("data/%d", i)] = nil, nil
	}
	s.objects["site/5-old"], s.objects["site/6-old"] = nil, nil
	for i := 0; ; i++ {
		gone, err := s.uploaded().DeleteOthers(t.Context(), at, "bucket-a", "site/", keep)
		if err != nil || i > 9 {
			t.Fatal(i, err)
		}
		if gone {
			break
		}
	}
	if len(s.objects) != 14 || s.count("delete") == 0 {
		t.Errorf("what is left: %d objects", len(s.objects))
	}
}

// A failure says which bucket, and whether a repetition helps.
func TestUploadFailures(t *testing.T) {
	one := []project.Object{{Key: "index.html", ContentType: "text/html"}}
	for _, c := range []struct {
		call, code string
		kind       fault.Kind
		says       string
	}{
		{"head", "Forbidden", fault.Denied, "s3"},
		{"put", "AccessDenied", fault.Denied, "s3:PutObject"},
		{"put", "NoSuchBucket", fault.Missing, "there is no such bucket in account 111111111111"},
		{"put", "SlowDown", fault.Throttled, "bucket-a"},
		{"put", "KeyTooLongError", fault.Refused, "put index.html into"},
		{"list", "PermanentRedirect", fault.Refused, "bucket-a"},
		{"delete", "AccessDenied", fault.Denied, "bucket-a"},
	} {
		s := &shelf{objects: map[string]*s3.PutObjectInput{"old": nil}, fails: map[string]error{c.call: &smithy.OperationError{
			ServiceID: "S3", OperationName: "PutObject", Err: &smithyhttp.ResponseError{
				Response: &smithyhttp.Response{Response: &http.Response{StatusCode: 400}}, Err: &smithy.GenericAPIError{Code: c.code, Message: "no"},
			},
		}}}
		err := s.uploaded().PutObjects(t.Context(), at, "bucket-a", one)
		if err == nil {
			_, err = s.uploaded().DeleteOthers(t.Context(), at, "bucket-a", "", []string{"index.html"})
		}
		if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %s: %v, want %s and %q", c.call, c.code, err, c.kind, c.says)
		}
	}
	s := &shelf{objects: map[string]*s3.PutObjectInput{"old": nil}, errors: []types.Error{{Key: aws.String("old"), Code: aws.String("AccessDenied"), Message: aws.String("locked")}}}
	if _, err := s.uploaded().DeleteOthers(t.Context(), at, "bucket-a", "", nil); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "1 of 1 cannot be deleted, the first one is old") {
		t.Error(err)
	}
}

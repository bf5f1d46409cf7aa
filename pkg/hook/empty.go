package hook

import (
	"context"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
)

// Buckets are buckets of S3.
type Buckets interface {
	// EmptyBucket deletes some of what is in a bucket of the account and region of the target: versions of objects, delete markers and
	// multipart uploads. It reports true, and deletes nothing, if the bucket is empty or does not exist. The error is of kind Refused
	// or Denied if something cannot be deleted.
	EmptyBucket(ctx context.Context, in project.Target, name string) (empty bool, err error)
}

// What one call and one poll do at most. A poll shares its function with those of other steps.
const (
	emptyRequests = 10 // of EmptyBucket
	emptyTime     = 8 * time.Second
)

// bucketPrefix matches what comes before the name in the ARN of a bucket.
var bucketPrefix = pattern.New(`^arn:aws[a-z-]*:s3:::`)

// emptyType deletes everything in a bucket. Only before the deletion of a stack: it waits for the same approval, and without its
// objects the bucket of a stack that stays is rarely of use. The hooks before a destroy are called before anything is approved.
func emptyType() Type {
	return Type{
		Name: "empty_bucket", What: "the name or the ARN of an S3 bucket",
		Form:    pattern.New(`^(arn:aws[a-z-]*:s3:::)?[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`),
		Moments: []project.Moment{project.BeforeDelete}, Loses: "all objects, with all their versions",
		ARN: bucketARN, Caller: empties{},
	}
}

// bucketARN is the ARN of a bucket that is given by its name or ARN.
func bucketARN(_ project.Target, on string) string {
	if bucketPrefix.MatchString(on) {
		return on
	}
	return "arn:aws:s3:::" + on
}

// empties deletes everything in a bucket: some of it at once, and the rest in polls.
type empties struct{}

// Call implements Caller.
func (empties) Call(ctx context.Context, s Services, c Call) (string, error) {
	empty, err := s.empty(ctx, c, c.On())
	if err != nil || empty {
		return "", err
	}
	return c.On(), nil
}

// Ended implements Caller. It deletes more if the installation still allows it.
func (empties) Ended(ctx context.Context, s Services, c Call) (bool, error) {
	if err := s.permit(c.project(), bucketARN(c.Target, c.Started)); err != nil {
		return false, err
	}
	return s.empty(ctx, c, c.Started)
}

// Stop implements Caller. Nothing is deleted without a poll.
func (empties) Stop(context.Context, Services, Call) error { return nil }

// empty deletes some of what is in a bucket, and reports whether it is empty.
func (s Services) empty(ctx context.Context, c Call, on string) (bool, error) {
	name, until := on[strings.LastIndex(on, ":")+1:], time.Now().Add(emptyTime)
	for range emptyRequests {
		if empty, err := s.Buckets.EmptyBucket(ctx, c.Target, name); err != nil || empty {
			return empty, err
		}
		if time.Now().After(until) {
			break
		}
	}
	return false, nil
}

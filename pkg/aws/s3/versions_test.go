package s3

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/purge"
)

// versioned is a bucket that lists one version at a time, and that refuses to delete an object without a version.
type versioned struct {
	keys    []string
	deleted []string
	errors  []types.Error
	fails   error
}

func (v *versioned) ListObjectVersions(_ context.Context, in *s3.ListObjectVersionsInput, _ ...func(*s3.Options)) (*s3.ListObjectVersionsOutput, error) {
	if *in.Bucket != "bucket" || *in.Prefix != "specs/" {
		return nil, fmt.Errorf("bucket %s, prefix %s", *in.Bucket, *in.Prefix)
	}
	at := 0
	if in.KeyMarker != nil {
		at = slices.Index(v.keys, *in.KeyMarker) + 1
		if *in.VersionIdMarker != "id of "+*in.KeyMarker {
			return nil, errors.New("another version than the last one")
		}
	}
	key := v.keys[at]
	out := &s3.ListObjectVersionsOutput{
		Versions:      []types.ObjectVersion{{Key: &key, VersionId: aws.String("id of " + key), LastModified: aws.Time(time.Unix(7, 0)), Size: aws.Int64(9), IsLatest: aws.Bool(at == 0)}},
		DeleteMarkers: []types.DeleteMarkerEntry{{Key: aws.String("marker"), VersionId: aws.String("m")}},
	}
	if at+1 < len(v.keys) {
		out.IsTruncated, out.NextKeyMarker, out.NextVersionIdMarker = aws.Bool(true), &key, aws.String("id of "+key)
	}
	return out, v.fails
}

func (v *versioned) DeleteObjects(_ context.Context, in *s3.DeleteObjectsInput, _ ...func(*s3.Options)) (*s3.DeleteObjectsOutput, error) {
	if len(in.Delete.Objects) > 1000 {
		return nil, errors.New("S3 deletes at most 1,000 objects")
	}
	for _, o := range in.Delete.Objects {
		if aws.ToString(o.VersionId) == "" {
			return nil, errors.New("without a version, S3 would make a delete marker")
		}
		v.deleted = append(v.deleted, *o.Key+" "+*o.VersionId)
	}
	return &s3.DeleteObjectsOutput{Errors: v.errors}, v.fails
}

// The pages of versions lead through all of them, without delete markers.
func TestVersionsOfAPurge(t *testing.T) {
	v := &versioned{keys: []string{"specs/a", "specs/b", "specs/c"}}
	b := PurgedBucket{New(nil, "bucket", "eu-west-1"), v}
	var all []purge.Version
	for after := ""; ; {
		page, next, err := b.Versions(t.Context(), "specs/", after)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page...)
		if after = next; after == "" {
			break
		}
	}
	want := purge.Version{Key: "specs/a", ID: "id of specs/a", Put: time.Unix(7, 0), Bytes: 9, Current: true}
	if len(all) != 3 || all[0] != want || all[2].Current || all[2].Key != "specs/c" {
		t.Errorf("%+v", all)
	}
	if _, _, err := b.Versions(t.Context(), "specs/", "x"); !fault.Is(err, fault.Invalid) {
		t.Errorf("another place: %v", err)
	}
}

// Versions are deleted by their IDs, 1,000 at a time. What S3 does not delete is an error.
func TestDeleteVersions(t *testing.T) {
	v := &versioned{}
	b := PurgedBucket{New(nil, "bucket", "eu-west-1"), v}
	var all []purge.Version
	for n := range 1500 {
		all = append(all, purge.Version{Key: fmt.Sprint("k", n), ID: "v"})
	}
	if err := b.DeleteVersions(t.Context(), all); err != nil || len(v.deleted) != 1500 || v.deleted[1499] != "k1499 v" {
		t.Errorf("%d are deleted, %v", len(v.deleted), err)
	}
	if err := b.DeleteVersions(t.Context(), []purge.Version{{Key: "a"}}); !fault.Is(err, fault.Broken) {
		t.Errorf("without a version: %v", err)
	}
	v.errors = []types.Error{{Key: aws.String("k0"), Code: aws.String("AccessDenied"), Message: aws.String("no")}}
	if err := b.DeleteVersions(t.Context(), all[:1]); !fault.Is(err, fault.Denied) {
		t.Errorf("denied: %v", err)
	}
}

// What is stored again under its digest is another version, also if this process has stored or read it before: a purge that has seen the first one deletes
// only that.
func TestStoredAgainIsAnotherVersion(t *testing.T) {
	b, _ := open(t)
	body := []byte("Resources: {}")
	values := []project.SourceValue{}
	for range 2 {
		if err := b.SaveTemplate(t.Context(), sum(body), body); err != nil {
			t.Fatal(err)
		}
		if err := b.SaveObject(t.Context(), "artifacts/shop/"+sum(body), sum(body), body); err != nil {
			t.Fatal(err)
		}
		_, bad := b.SaveSpecs(t.Context(), []project.Node{{Name: "a"}})
		if _, err := b.SaveValues(t.Context(), values); err != nil || bad != nil {
			t.Fatal(err, bad)
		}
		if _, err := b.Template(t.Context(), sum(body)); err != nil {
			t.Fatal(err)
		}
	}
	client, ok := b.client.(PurgingClient)
	if !ok {
		t.Fatal("the client of the SDK deletes no versions")
	}
	p := PurgedBucket{b, client}
	for folder, want := range map[string]int{"templates/": 2, "artifacts/": 2, "specs/": 4} {
		all, _, err := p.Versions(t.Context(), folder, "")
		if err != nil || len(all) != want {
			t.Errorf("%s has %d versions, want %d, %v", folder, len(all), want, err)
		}
		old := slices.DeleteFunc(all, func(v purge.Version) bool { return v.Current })
		if err := p.DeleteVersions(t.Context(), old); err != nil {
			t.Fatal(err)
		}
		if left, _, err := p.Versions(t.Context(), folder, ""); err != nil || len(left) != want/2 || !left[0].Current {
			t.Errorf("%s: left are %+v, %v", folder, left, err)
		}
	}
	if got, err := b.Current(t.Context(), "templates/"+sum(body)); err != nil || string(got) != string(body) {
		t.Errorf("%s, %v", got, err)
	}
}

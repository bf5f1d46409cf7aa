// Package s3 keeps configurations, templates and specs in S3.
//
// What is kept by its digest is never changed: to keep it twice is to keep it
// once, and what is read must have the digest that it was asked for by.
package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

var _ engine.Specs = (*Bucket)(nil)

// client is the part of the SDK's S3 client that is used here.
type client interface {
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
}

// MaxObject is the largest object that is read, in bytes: that of an archive of
// a project as large as one may be, whatever way it is packed.
const MaxObject = 16 << 20

// A Bucket is an S3 bucket that is there, with versions.
type Bucket struct {
	client client
	name   string
	region string
}

// New returns the bucket of the given name, in a region. It asks for nothing.
func New(c client, name, region string) *Bucket {
	return &Bucket{client: c, name: name, region: region}
}

// Object returns the bytes of an object; without a version, of the newest. One
// that is not there is Missing, one of more than MaxObject bytes Invalid.
func (b *Bucket) Object(ctx context.Context, key, version string) ([]byte, error) {
	in := &s3.GetObjectInput{Bucket: &b.name, Key: &key}
	if version != "" {
		in.VersionId = &version
	}
	return b.read(ctx, in)
}

// read returns the bytes of an object. That whoever calls it says all of the
// request lets a function that needs no versions do without the permission.
func (b *Bucket) read(ctx context.Context, in *s3.GetObjectInput) ([]byte, error) {
	key := *in.Key
	out, err := b.client.GetObject(ctx, in)
	if err != nil {
		return nil, b.fault("read", key, err)
	}
	body, err := io.ReadAll(io.LimitReader(out.Body, MaxObject+1))
	if closing := out.Body.Close(); err == nil {
		err = closing
	}
	switch {
	case err != nil:
		return nil, fault.New(fault.Unavailable, "read s3://%s/%s: %w", b.name, key, err)
	case len(body) > MaxObject:
		return nil, fault.New(fault.Invalid, "s3://%s/%s has more than %d MB: make it smaller", b.name, key, MaxObject>>20)
	}
	return body, nil
}

// Put writes an object and returns its version.
func (b *Bucket) Put(ctx context.Context, key string, body []byte) (version string, err error) {
	out, err := b.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.name, Key: &key, Body: bytes.NewReader(body)})
	if err != nil {
		return "", b.fault("write", key, err)
	}
	return aws.ToString(out.VersionId), nil
}

// Keep is engine.Specs.
func (b *Bucket) SaveSpec(ctx context.Context, n project.Node) (string, error) {
	body, err := json.Marshal(n)
	if err != nil {
		return "", fault.New(fault.Broken, "spec of %s: %w", n.Name, err)
	}
	digest := sum(body)
	_, err = b.Put(ctx, specKey(digest), body)
	return digest, err
}

// Spec is engine.Specs.
func (b *Bucket) Spec(ctx context.Context, digest string) (project.Node, error) {
	body, err := b.kept(ctx, specKey(digest), digest)
	if err != nil {
		return project.Node{}, err
	}
	var n project.Node
	if err := json.Unmarshal(body, &n); err != nil {
		return n, fault.New(fault.Broken, "spec %s: %w", digest, err)
	}
	return n, nil
}

// KeepTemplate keeps a template under the SHA-256 of its bytes, in hex.
func (b *Bucket) SaveTemplate(ctx context.Context, digest string, body []byte) error {
	if got := sum(body); got != digest {
		return fault.New(fault.Broken, "template %s has the digest %s", digest, got)
	}
	_, err := b.Put(ctx, templateKey(digest), body)
	return err
}

// Template returns the bytes of a template that was kept.
func (b *Bucket) Template(ctx context.Context, digest string) ([]byte, error) {
	return b.kept(ctx, templateKey(digest), digest)
}

// URL says where CloudFormation finds a template.
func (b *Bucket) URL(digest string) string {
	domain := "amazonaws.com"
	if strings.HasPrefix(b.region, "cn-") {
		domain += ".cn"
	}
	return fmt.Sprintf("https://%s.s3.%s.%s/%s", b.name, b.region, domain, templateKey(digest))
}

// kept returns what was kept by its digest, and nothing else.
func (b *Bucket) kept(ctx context.Context, key, digest string) ([]byte, error) {
	body, err := b.read(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key})
	if err != nil {
		return nil, err
	}
	if got := sum(body); got != digest {
		return nil, fault.New(fault.Broken, "s3://%s/%s has the digest %s: somebody has overwritten it", b.name, key, got)
	}
	return body, nil
}

func specKey(digest string) string     { return "specs/" + digest + ".json" }
func templateKey(digest string) string { return "templates/" + digest }

// sum is the SHA-256 of bytes, in hex.
func sum(body []byte) string {
	s := sha256.Sum256(body)
	return hex.EncodeToString(s[:])
}

// Package s3 stores configurations, templates and specs in S3.
//
// Templates, specs and what plans would change are stored under their digest and are
// never replaced. Storing one twice has no effect but another version with the same bytes, on which a purge relies, and an object that does not have the
// digest of its key is refused when it is read.
package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// client is the part of the SDK's S3 client that is used here.
type client interface {
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
	HeadObject(context.Context, *s3.HeadObjectInput, ...func(*s3.Options)) (*s3.HeadObjectOutput, error)
	ListObjectsV2(context.Context, *s3.ListObjectsV2Input, ...func(*s3.Options)) (*s3.ListObjectsV2Output, error)
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
}

// MaxObject is the largest object that is read, in bytes. The archive of a project
// of the largest size fits, however it is packed.
const MaxObject = 16 << 20

// A Bucket is an existing S3 bucket with versioning.
type Bucket struct {
	client client
	name   string
	region string
	who    string // puts the objects; "" if they do not say who
	recent *recent
}

// New returns the bucket of a name in a region. It sends no request.
func New(c client, name, region string) *Bucket {
	return &Bucket{client: c, name: name, region: region, recent: &recent{kept: make(map[string][]byte)}}
}

// By returns the bucket with the metadata of all objects that are put naming who puts
// them. Who puts specs and templates is not named.
func (b *Bucket) By(who string) *Bucket {
	named := *b
	named.who = who
	return &named
}

// who is the key of the metadata that names who put an object. S3 sends metadata in
// HTTP headers; other characters than ASCII are encoded there as RFC 2047 says.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingMetadata.html
const who = "who"

// Who returns who put a version of an object, as its metadata says: nobody checks
// what the sender of an object writes there. It is empty if the metadata does not say.
// A version that does not exist is Missing.
func (b *Bucket) Who(ctx context.Context, key, version string) (string, error) {
	out, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.name, Key: &key, VersionId: &version})
	if err != nil {
		return "", b.fault("read the metadata of", key, version, err)
	}
	named, err := new(mime.WordDecoder).DecodeHeader(out.Metadata[who])
	if err != nil {
		return out.Metadata[who], nil // it only looks as if it were encoded
	}
	return named, nil
}

// Object returns the bytes of an object: of the given version, or of the newest
// if version is empty. An object or version that does not exist is Missing, an
// object of more than MaxObject bytes Invalid.
func (b *Bucket) Object(ctx context.Context, key, version string) ([]byte, error) {
	in := &s3.GetObjectInput{Bucket: &b.name, Key: &key}
	if version != "" {
		in.VersionId = &version
	}
	return b.read(ctx, in)
}

// Current returns the bytes of the current version of an object, with the errors of Object.
func (b *Bucket) Current(ctx context.Context, key string) ([]byte, error) {
	return b.read(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key})
}

// read returns the bytes of an object. The caller makes the whole request, so
// that a function that reads no versions needs no permission to read them.
func (b *Bucket) read(ctx context.Context, in *s3.GetObjectInput) ([]byte, error) {
	key := *in.Key
	out, err := b.client.GetObject(ctx, in)
	if err != nil {
		return nil, b.fault("read", key, aws.ToString(in.VersionId), err)
	}
	body, err := io.ReadAll(io.LimitReader(out.Body, MaxObject+1))
	if closing := out.Body.Close(); err == nil {
		err = closing
	}
	switch {
	case err != nil:
		return nil, fault.New(fault.Unavailable, "read s3://%s/%s: the connection ended early: %w", b.name, key, err)
	case len(body) > MaxObject:
		return nil, fault.New(fault.Invalid, "s3://%s/%s has more than %d MB: make it smaller", b.name, key, MaxObject>>20)
	}
	return body, nil
}

// Put writes an object and returns its version.
func (b *Bucket) Put(ctx context.Context, key string, body []byte) (version string, err error) {
	in := &s3.PutObjectInput{Bucket: &b.name, Key: &key, Body: bytes.NewReader(body)}
	if b.who != "" {
		in.Metadata = map[string]string{who: mime.QEncoding.Encode("utf-8", b.who)}
	}
	out, err := b.client.PutObject(ctx, in)
	if err != nil {
		return "", b.fault("write", key, "", err)
	}
	return aws.ToString(out.VersionId), nil
}

// mostPacked is how many bytes of specs are stored in one object, unless one spec alone is
// larger.
const mostPacked = 4 << 20

// SaveSpecs stores nodes, and returns a reference to each. One object holds many specs, one a line, because
// 10,000 requests would take S3 minutes. A reference names the object, the place of the
// spec in it, and the digest of the spec.
func (b *Bucket) SaveSpecs(ctx context.Context, nodes []project.Node) ([]string, error) {
	references := make([]string, 0, len(nodes))
	var pack []byte
	var specs []specPlace
	save := func() error {
		name := sum(pack)[:32]
		for _, s := range specs {
			references = append(references, s.reference(name))
		}
		_, err := b.Put(ctx, specKey(name), pack)
		pack, specs = nil, nil
		return err
	}
	for _, n := range nodes {
		line, err := json.Marshal(n)
		if err != nil {
			return nil, fault.New(fault.Broken, "spec of %s: %w", n.Name, err)
		}
		if len(pack) > 0 && len(pack)+len(line) > mostPacked {
			if err := save(); err != nil {
				return nil, err
			}
		}
		specs = append(specs, specPlace{len(pack), len(line), sum(line)})
		pack = append(append(pack, line...), '\n')
	}
	return references, save()
}

// A specPlace is the place of a spec in an object.
type specPlace struct {
	offset, bytes int
	digest        string
}

// reference returns the reference to the spec in the object of the given name.
func (p specPlace) reference(name string) string {
	return fmt.Sprintf("%s:%d:%d:%s", name, p.offset, p.bytes, p.digest)
}

// readSpecPlace reads a reference.
func readSpecPlace(reference string) (name string, p specPlace, err error) {
	parts := strings.Split(reference, ":")
	if len(parts) == 4 {
		name, p.digest = parts[0], parts[3]
		p.offset, err = strconv.Atoi(parts[1])
		if err == nil {
			p.bytes, err = strconv.Atoi(parts[2])
		}
	}
	if err != nil || len(parts) != 4 || p.offset < 0 || p.bytes <= 0 {
		return "", p, fault.New(fault.Broken, "%q is no reference to a spec", reference)
	}
	return name, p, nil
}

// Spec reads a node by its reference.
func (b *Bucket) Spec(ctx context.Context, reference string) (project.Node, error) {
	name, place, err := readSpecPlace(reference)
	if err != nil {
		return project.Node{}, err
	}
	key, lines := specKey(name), fmt.Sprintf("bytes=%d-%d", place.offset, place.offset+place.bytes-1)
	body, err := b.digested(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key, Range: &lines}, place.digest, deployAgain)
	if err != nil {
		return project.Node{}, err
	}
	var n project.Node
	if err := json.Unmarshal(body, &n); err != nil {
		return n, fault.New(fault.Broken, "spec %s: %w", reference, err)
	}
	return n, nil
}

// SaveValues implements engine.Specs. The reference is the digest of the document. They are with the specs, because they
// are needed as long as these.
func (b *Bucket) SaveValues(ctx context.Context, values []project.SourceValue) (string, error) {
	body, err := json.Marshal(values)
	if err != nil {
		return "", fault.New(fault.Broken, "values outside the project: %w", err)
	}
	digest := sum(body)
	_, err = b.Put(ctx, valuesKey(digest), body)
	return digest, err
}

// Values implements engine.Specs.
func (b *Bucket) Values(ctx context.Context, reference string) (values []project.SourceValue, err error) {
	key := valuesKey(reference)
	body, err := b.digested(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key}, reference, deployAgain)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(body, &values); err != nil {
		return nil, fault.New(fault.Broken, "values %s outside the project: %w", reference, err)
	}
	return values, nil
}

// SaveObject stores an object that a template needs under a key. It refuses bytes that do
// not have the digest.
func (b *Bucket) SaveObject(ctx context.Context, key, digest string, body []byte) error {
	if got := sum(body); got != digest {
		return fault.New(fault.Broken, "object %s has the digest %s", digest, got)
	}
	_, err := b.Put(ctx, key, body)
	return err
}

// SaveTemplate stores a template under the SHA-256 of its bytes, in hex.
func (b *Bucket) SaveTemplate(ctx context.Context, digest string, body []byte) error {
	if got := sum(body); got != digest {
		return fault.New(fault.Broken, "template %s has the digest %s", digest, got)
	}
	_, err := b.Put(ctx, templateKey(digest), body)
	return err
}

// SaveDeployedTemplate stores a template, and returns its digest.
func (b *Bucket) SaveDeployedTemplate(ctx context.Context, body []byte) (digest string, err error) {
	digest = sum(body)
	return digest, b.SaveTemplate(ctx, digest, body)
}

// Template returns the bytes of a stored template.
func (b *Bucket) Template(ctx context.Context, digest string) ([]byte, error) {
	key := templateKey(digest)
	return b.digested(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key}, digest, deployAgain)
}

// SaveChanges implements engine.Changes. The reference is the digest of the document.
func (b *Bucket) SaveChanges(ctx context.Context, c plan.Changes) (string, error) {
	body, err := json.Marshal(c)
	if err != nil {
		return "", fault.New(fault.Broken, "changes of run %s: %w", c.Run, err)
	}
	digest := sum(body)
	_, err = b.Put(ctx, changesKey(digest), body)
	return digest, err
}

// PlannedChanges implements engine.Changes.
func (b *Bucket) PlannedChanges(ctx context.Context, reference string) (plan.Changes, error) {
	return document[plan.Changes](ctx, b, reference)
}

// SaveProposal implements engine.Changes. The reference is the digest of the document.
func (b *Bucket) SaveProposal(ctx context.Context, p plan.Proposal) (string, error) {
	body, err := json.Marshal(p)
	if err != nil {
		return "", fault.New(fault.Broken, "change set: %w", err)
	}
	digest := sum(body)
	_, err = b.Put(ctx, changesKey(digest), body)
	return digest, err
}

// Proposal implements engine.Changes.
func (b *Bucket) Proposal(ctx context.Context, reference string) (plan.Proposal, error) {
	return document[plan.Proposal](ctx, b, reference)
}

// document returns what is stored in JSON under its digest.
func document[T any](ctx context.Context, b *Bucket, reference string) (v T, err error) {
	text, err := b.Changes(ctx, reference)
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return v, fault.New(fault.Broken, "document %s of a plan: %w", reference, err)
	}
	return v, nil
}

// Changes returns what a plan would change, as JSON of plan.Changes. The error is of kind
// Missing if the object has expired.
func (b *Bucket) Changes(ctx context.Context, reference string) ([]byte, error) {
	key := changesKey(reference)
	return b.digested(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key}, reference, "plan again")
}

// URL returns the address at which CloudFormation reads a template.
func (b *Bucket) URL(digest string) string {
	domain := "amazonaws.com"
	if strings.HasPrefix(b.region, "cn-") {
		domain += ".cn"
	}
	return fmt.Sprintf("https://%s.s3.%s.%s/%s", b.name, b.region, domain, templateKey(digest))
}

// digested returns an object, or a part of one, that has the given digest. It reads it if
// this process has not done so before. Callers must not change it. The error about other
// bytes says how to store the object again.
func (b *Bucket) digested(ctx context.Context, in *s3.GetObjectInput, digest, again string) ([]byte, error) {
	if body, ok := b.recent.get(digest); ok {
		return body, nil
	}
	body, err := b.read(ctx, in)
	if err != nil {
		return nil, err
	}
	if got := sum(body); got != digest {
		return nil, b.overwritten(*in.Key, got, again)
	}
	b.recent.keep(digest, body)
	return body, nil
}

// deployAgain says how to store a spec or a template again.
const deployAgain = "deploy the project again to store it anew"

// overwritten returns the error about an object that has not the bytes that were stored.
func (b *Bucket) overwritten(key, digest, again string) error {
	return fault.New(fault.Broken, "s3://%s/%s was overwritten: its bytes have the digest %s: %s", b.name, key, digest, again)
}

// kinds are the error codes of S3.
// https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
var kinds = awserr.Kinds{
	"OperationAborted": fault.Unavailable,
	"InvalidRange":     fault.Broken,  // specs were overwritten by a shorter object
	awserr.Other:       fault.Invalid, // for instance, a malformed version
}

// fault returns the fault of a request about an object.
func (b *Bucket) fault(do, key, version string, err error) error {
	do = fmt.Sprintf("%s s3://%s/%s", do, b.name, key)
	if version != "" {
		do += ", version " + version
	}
	switch {
	case awserr.Is(err, "NoSuchBucket"):
		return fault.New(fault.Broken, "%s: bucket %s does not exist: if it was deleted, create it again, with versioning and with events to EventBridge, or install Stackwright anew", do, b.name)
	case awserr.Is(err, "NoSuchVersion", "MethodNotAllowed"), version != "" && awserr.Is(err, "NoSuchKey", "NotFound"): // MethodNotAllowed is a delete marker
		return fault.New(fault.Missing, "%s: the version does not exist or was deleted: upload the project again", do)
	case awserr.Is(err, "NoSuchKey", "NotFound"):
		return fault.New(fault.Missing, "%s: the object does not exist: upload it first", do)
	}
	return awserr.Fault(do, fmt.Sprintf("arn:aws:s3:::%s/%s", b.name, key), err, kinds)
}

func specKey(name string) string       { return "specs/" + name + ".jsonl" }
func valuesKey(digest string) string   { return "specs/values-" + digest + ".json" }
func templateKey(digest string) string { return "templates/" + digest }
func changesKey(digest string) string  { return "plans/" + digest + ".json" }

// sum is the SHA-256 of bytes, in hex.
func sum(body []byte) string {
	s := sha256.Sum256(body)
	return hex.EncodeToString(s[:])
}

package s3_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/s3"
)

// fixture is a client of a store, and the events that the store emitted.
type fixture struct {
	*sdk.Client
	objects *s3.Objects
	events  []map[string]any
}

func open(t *testing.T, folder string, options ...func(*sdk.Options)) *fixture {
	t.Helper()
	w := &fixture{}
	objects, err := s3.Open(s3.Options{Folder: folder, Account: "000000000000", Hosts: []string{"aws.test"},
		Emit: func(_, kind string, _ []string, detail any) {
			text, _ := json.Marshal(detail)
			event := map[string]any{}
			_ = json.Unmarshal(text, &event)
			event["kind"] = kind
			w.events = append(w.events, event)
		}})
	if err != nil {
		t.Fatal(err)
	}
	if err := objects.MakeBucket("projects"); err != nil {
		t.Fatal(err)
	}
	w.objects = objects
	w.Client = sdk.New(sdk.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("https://aws.test"),
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient:  &http.Client{Transport: gateway.Transport{Handler: objects}},
	}, options...)
	return w
}

func (w *fixture) put(t *testing.T, key, content string) string {
	t.Helper()
	out, err := w.PutObject(t.Context(), &sdk.PutObjectInput{Bucket: aws.String("projects"), Key: &key, Body: strings.NewReader(content)})
	if err != nil {
		t.Fatal(err)
	}
	return aws.ToString(out.VersionId)
}

func (w *fixture) get(t *testing.T, key, version string) string {
	t.Helper()
	in := &sdk.GetObjectInput{Bucket: aws.String("projects"), Key: &key}
	if version != "" {
		in.VersionId = &version
	}
	out, err := w.GetObject(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(out.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func code(err error) string {
	var refused smithy.APIError
	if errors.As(err, &refused) {
		return refused.ErrorCode()
	}
	return ""
}

// The store has versions, conditions, ranges, listings and deletions, with both ways of addressing a bucket.
func TestObjects(t *testing.T) {
	styles := map[string]bool{"virtual-hosted": false, "path": true}
	for style, path := range styles {
		t.Run(style, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { objects(t, open(t, "", func(o *sdk.Options) { o.UsePathStyle = path })) })
		})
	}
}

func objects(t *testing.T, w *fixture) {
	first, second := w.put(t, "projects/a b/prod.zip", "one"), w.put(t, "projects/a b/prod.zip", "two")
	if first == "" || first == second {
		t.Fatalf("versions %q and %q", first, second)
	}
	if got := w.get(t, "projects/a b/prod.zip", ""); got != "two" {
		t.Errorf("the newest says %q", got)
	}
	if got := w.get(t, "projects/a b/prod.zip", first); got != "one" {
		t.Errorf("the first version says %q", got)
	}
	bucket, key := aws.String("projects"), aws.String("projects/a b/prod.zip")
	_, err := w.PutObject(t.Context(), &sdk.PutObjectInput{Bucket: bucket, Key: key, Body: strings.NewReader("x"), IfNoneMatch: aws.String("*")})
	if code(err) != "PreconditionFailed" {
		t.Errorf("a put if absent over what is there gave %v", err)
	}
	head, err := w.HeadObject(t.Context(), &sdk.HeadObjectInput{Bucket: bucket, Key: key, VersionId: &first})
	if err != nil || aws.ToString(head.VersionId) != first || aws.ToInt64(head.ContentLength) != 3 {
		t.Errorf("head of the first version: %+v %v", head, err)
	}
	part, err := w.GetObject(t.Context(), &sdk.GetObjectInput{Bucket: bucket, Key: key, Range: aws.String("bytes=1-2")})
	if err != nil {
		t.Fatal(err)
	}
	if content, err := io.ReadAll(part.Body); err != nil || string(content) != "wo" {
		t.Errorf("a range: %q %v", content, err)
	}
	w.put(t, "requests/x.json", "{}")
	list, err := w.ListObjectsV2(t.Context(), &sdk.ListObjectsV2Input{Bucket: bucket, Prefix: aws.String("projects/")})
	if err != nil || len(list.Contents) != 1 {
		t.Errorf("listed %v %v", list, err)
	}
	if _, err := w.DeleteObject(t.Context(), &sdk.DeleteObjectInput{Bucket: bucket, Key: key}); err != nil {
		t.Fatal(err)
	}
	_, err = w.GetObject(t.Context(), &sdk.GetObjectInput{Bucket: bucket, Key: key})
	if missing := (*types.NoSuchKey)(nil); !errors.As(err, &missing) {
		t.Errorf("a deleted object gave %v", err)
	}
	if got := w.get(t, *key, second); got != "two" {
		t.Errorf("a version before the deletion says %q", got)
	}
	if _, err := w.GetBucketPolicy(t.Context(), &sdk.GetBucketPolicyInput{Bucket: bucket}); code(err) != "NotImplemented" {
		t.Errorf("a bucket's policy gave %v", err)
	}
}

// A streamed body has the encoding aws-chunked with the checksum at the end. A wrong checksum is refused. A version that
// is put without a checksum does not inherit that of the version before.
func TestChecksums(t *testing.T) {
	w := open(t, "")
	bucket, key := aws.String("projects"), aws.String("k")
	for _, algorithm := range types.ChecksumAlgorithm("").Values() {
		if algorithm == "CRC64NVME" || !strings.HasPrefix(string(algorithm), "CRC") && !strings.HasPrefix(string(algorithm), "SHA") || algorithm == "SHA512" {
			continue // not computed by the SDK without another module
		}
		content := strings.Repeat(string(algorithm), 50_000)
		_, err := w.PutObject(t.Context(), &sdk.PutObjectInput{Bucket: bucket, Key: key, Body: io.MultiReader(strings.NewReader(content)),
			ContentLength: aws.Int64(int64(len(content))), ChecksumAlgorithm: algorithm})
		if err != nil {
			t.Fatalf("%s: %v", algorithm, err)
		}
		if got := w.get(t, "k", ""); got != content {
			t.Errorf("%s: a stream came back with %d bytes, not %d", algorithm, len(got), len(content))
		}
	}
	_, err := w.PutObject(t.Context(), &sdk.PutObjectInput{Bucket: bucket, Key: key, Body: strings.NewReader("x"), ChecksumCRC32: aws.String("AAAAAA==")})
	if code(err) != "BadDigest" {
		t.Errorf("a wrong checksum gave %v", err)
	}
	plain := open(t, "", func(o *sdk.Options) { o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired })
	plain.put(t, "k", "without")
	if got := plain.get(t, "k", ""); got != "without" {
		t.Errorf("got %q", got)
	}
	w.put(t, "k2", "with a checksum")
	r, _ := http.NewRequest(http.MethodPut, "https://aws.test/projects/k2", strings.NewReader("and then without"))
	resp, err := gateway.Transport{Handler: w.objects}.RoundTrip(r)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	if got := w.get(t, "k2", ""); got != "and then without" {
		t.Errorf("got %q", got)
	}
}

// Each new object, uploaded at once or in parts, makes the event that AWS documents.
func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, "")
		version := w.put(t, "projects/shop/prod.zip", "zip")
		bucket := aws.String("projects")
		_, err := w.CopyObject(t.Context(), &sdk.CopyObjectInput{Bucket: bucket, Key: aws.String("copy"), CopySource: aws.String("projects/projects/shop/prod.zip")})
		if refused := (smithy.APIError)(nil); !errors.As(err, &refused) || refused.ErrorCode() != "NotImplemented" {
			t.Errorf("a copy gave %v", err)
		}
		w.upload(t, "big", bytes.Repeat([]byte("0123456789abcdef"), 6<<20/16), []byte("tail"))
		if _, err := w.DeleteObject(t.Context(), &sdk.DeleteObjectInput{Bucket: bucket, Key: aws.String("big")}); err != nil {
			t.Fatal(err)
		}
		var emitted []string
		last := ""
		for _, e := range w.events {
			emitted = append(emitted, e["kind"].(string)+" "+e["reason"].(string)+" "+e["object"].(map[string]any)["key"].(string))
			sequencer := e["object"].(map[string]any)["sequencer"].(string)
			if sequencer <= last {
				t.Errorf("sequencer %s after %s", sequencer, last)
			}
			last = sequencer
		}
		want := "Object Created PutObject projects/shop/prod.zip; Object Created CompleteMultipartUpload big; Object Deleted DeleteObject big"
		if got := strings.Join(emitted, "; "); got != want {
			t.Errorf("emitted\n%s, want\n%s", got, want)
		}
		object := w.events[0]["object"].(map[string]any)
		if object["version-id"] != version || object["size"] != 3.0 || object["etag"] != "adcdbd79a8d84175c229b192aadc02f2" {
			t.Errorf("object %v", object)
		}
		if w.events[0]["bucket"].(map[string]any)["name"] != "projects" || w.events[0]["requester"] != "000000000000" {
			t.Errorf("detail %v", w.events[0])
		}
	})
}

func (w *fixture) upload(t *testing.T, key string, parts ...[]byte) {
	t.Helper()
	bucket := aws.String("projects")
	upload, err := w.CreateMultipartUpload(t.Context(), &sdk.CreateMultipartUploadInput{Bucket: bucket, Key: &key})
	if err != nil {
		t.Fatal(err)
	}
	var done []types.CompletedPart
	for i, part := range parts {
		out, err := w.UploadPart(t.Context(), &sdk.UploadPartInput{Bucket: bucket, Key: &key, UploadId: upload.UploadId,
			PartNumber: aws.Int32(int32(i + 1)), Body: bytes.NewReader(part)})
		if err != nil {
			t.Fatal(err)
		}
		done = append(done, types.CompletedPart{ETag: out.ETag, PartNumber: aws.Int32(int32(i + 1)), ChecksumCRC32: out.ChecksumCRC32})
	}
	_, err = w.CompleteMultipartUpload(t.Context(), &sdk.CompleteMultipartUploadInput{Bucket: bucket, Key: &key, UploadId: upload.UploadId,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: done}})
	if err != nil {
		t.Fatal(err)
	}
}

// A version has only the metadata that it was put with. A restart keeps the metadata.
func TestMetadataBelongsToAVersion(t *testing.T) {
	folder := t.TempDir()
	w := open(t, folder)
	versions := map[string]string{}
	for _, who := range []string{"ann@laptop", "", "=?utf-8?q?j=C3=BCrgen?="} {
		in := &sdk.PutObjectInput{Bucket: aws.String("projects"), Key: aws.String("k"), Body: strings.NewReader("x")}
		if who != "" {
			in.Metadata = map[string]string{"who": who}
		}
		out, err := w.PutObject(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		versions[who] = aws.ToString(out.VersionId)
	}
	for range 2 {
		for who, version := range versions {
			head, err := w.HeadObject(t.Context(), &sdk.HeadObjectInput{Bucket: aws.String("projects"), Key: aws.String("k"), VersionId: &version})
			if err != nil || head.Metadata["who"] != who {
				t.Errorf("version %s has the metadata %v, %v; want %q", version, head.Metadata, err, who)
			}
		}
		if err := w.objects.Close(); err != nil {
			t.Fatal(err)
		}
		w = open(t, folder)
	}
	defer w.objects.Close()
	_, err := w.HeadObject(t.Context(), &sdk.HeadObjectInput{Bucket: aws.String("projects"), Key: aws.String("k"), VersionId: aws.String("none")})
	if code(err) != "NotFound" {
		t.Errorf("the metadata of a version that does not exist: %v", err)
	}
}

// After a restart, even after kill -9 during a write, every object exists with the same version.
func TestObjectsOutliveTheProcess(t *testing.T) {
	folder := t.TempDir()
	w := open(t, folder)
	first, second := w.put(t, "k", "one"), w.put(t, "k", "two")
	w.upload(t, "parts", bytes.Repeat([]byte("x"), 5<<20), []byte("y"))
	large := strings.Repeat("0123456789", 2_000_000)
	w.put(t, "large", large)
	if err := w.objects.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(filepath.Join(folder, "s3.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(`{"time":"2026-01-01T00:00:00Z","method":"PUT","target":"/projects/k","bo`); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	w = open(t, folder)
	if w.get(t, "k", first) != "one" || w.get(t, "k", second) != "two" || w.get(t, "large", "") != large {
		t.Error("objects changed in a restart")
	}
	if got := w.get(t, "parts", ""); len(got) != 5<<20+1 {
		t.Errorf("an object of two parts has %d bytes after a restart", len(got))
	}
	third := w.put(t, "k", "three")
	if err := w.objects.Close(); err != nil {
		t.Fatal(err)
	}
	w = open(t, folder)
	defer w.objects.Close()
	if got := w.get(t, "k", third); got != "three" {
		t.Errorf("what was put after a torn write says %q", got)
	}
	if content, err := w.objects.Fetch(t.Context(), "projects", "k", first); err != nil || string(content) != "one" {
		t.Errorf("fetched %q %v", content, err)
	}
	if _, err := w.objects.Fetch(t.Context(), "projects", "none", ""); err == nil {
		t.Error("fetched what is not there")
	}
}

// A bucket without multipart uploads lists none.
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListMultipartUploads.html
func TestNoUploads(t *testing.T) {
	w := open(t, "")
	defer w.objects.Close()
	list := func(bucket string) (int, error) {
		out, err := w.ListMultipartUploads(t.Context(), &sdk.ListMultipartUploadsInput{Bucket: &bucket})
		if err != nil {
			return 0, err
		}
		return len(out.Uploads), nil
	}
	if n, err := list("projects"); n != 0 || err != nil {
		t.Errorf("%d uploads, %v", n, err)
	}
	if _, err := w.CreateMultipartUpload(t.Context(), &sdk.CreateMultipartUploadInput{Bucket: aws.String("projects"), Key: aws.String("k")}); err != nil {
		t.Fatal(err)
	}
	if n, err := list("projects"); n != 1 || err != nil {
		t.Errorf("%d uploads, %v; want 1", n, err)
	}
	if _, err := list("none"); code(err) != "NoSuchBucket" {
		t.Errorf("a bucket that does not exist: %v", err)
	}
}

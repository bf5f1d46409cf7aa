package s3

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/go-cmp/cmp"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A transport sends requests to an S3 in this process, or answers them itself.
type transport struct {
	objects http.Handler
	status  int
	answer  string
}

// RoundTrip carries out one request.
func (w *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.status < 0 {
		return nil, errors.New("connection refused")
	}
	if w.status > 0 {
		return &http.Response{StatusCode: w.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(w.answer)), Request: r}, nil
	}
	body := []byte{}
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	in := httptest.NewRequest(r.Method, r.URL.String(), bytes.NewReader(body))
	if r.Method == http.MethodHead {
		in.Method = http.MethodGet // gofakes3 supports HEAD for the newest version only
	}
	in.Header = r.Header.Clone()
	in.Header.Set("Content-Length", strconv.Itoa(len(body)))
	rec := httptest.NewRecorder()
	w.objects.ServeHTTP(rec, in)
	if r.Method == http.MethodHead {
		rec.Body.Reset()
	}
	return rec.Result(), nil
}

// open returns a bucket with versioning, and the transport of its requests.
func open(t *testing.T) (*Bucket, *transport) {
	t.Helper()
	w := &transport{objects: gofakes3.New(s3mem.New()).Server()}
	c := s3.NewFromConfig(aws.Config{
		Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
		HTTPClient: &http.Client{Transport: w}, RetryMaxAttempts: 1, BaseEndpoint: aws.String("http://s3.example"),
	}, func(o *s3.Options) { o.UsePathStyle = true })
	if _, err := c.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("stackwright")}); err != nil {
		t.Fatal(err)
	}
	_, err := c.PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{
		Bucket: aws.String("stackwright"), VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled},
	})
	if err != nil {
		t.Fatal(err)
	}
	return New(c, "stackwright", "eu-west-1"), w
}

// A version is read as it was written, even if newer versions exist.
func TestVersions(t *testing.T) {
	b, _ := open(t)
	first, err := b.Put(t.Context(), "projects/shop/prod.zip", []byte("one"))
	if err != nil || first == "" {
		t.Fatalf("version %q, %v", first, err)
	}
	if _, err := b.Put(t.Context(), "projects/shop/prod.zip", []byte("two")); err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]string{first: "one", "": "two"} {
		got, err := b.Object(t.Context(), "projects/shop/prod.zip", version)
		if err != nil || string(got) != want {
			t.Errorf("version %q is %q, %v; want %q", version, got, err, want)
		}
	}
	for _, c := range []struct{ key, version string }{{"none", ""}, {"projects/shop/prod.zip", "3"}} {
		if _, err := b.Object(t.Context(), c.key, c.version); !fault.Is(err, fault.Missing, fault.Invalid) {
			t.Errorf("%s %s: %v", c.key, c.version, err)
		}
	}
}

// An object of more than 16 MB is refused.
func TestLargeObjects(t *testing.T) {
	b, _ := open(t)
	for size, want := range map[int]fault.Kind{MaxObject: "", MaxObject + 1: fault.Invalid} {
		if _, err := b.Put(t.Context(), "large", make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		got, err := b.Object(t.Context(), "large", "")
		if fault.KindOf(err) != want || want == "" && len(got) != size {
			t.Errorf("of %d bytes %d were read: %v", size, len(got), err)
		}
	}
}

// Specs are read back unchanged, one by one, however many objects hold them. The same
// specs have the same references.
func TestSpecs(t *testing.T) {
	b, _ := open(t)
	var nodes []project.Node
	for i := range 5 {
		nodes = append(nodes, project.Node{
			Name: fmt.Sprintf("vpc%d", i), Stack: "shop-prod-vpc", Target: project.Target{Name: "eu"}, Needs: []string{"net"}, Template: project.Template{Digest: "x", Bytes: 7},
			Parameters: map[string]project.Text{"Cidr": project.Literal("<10.0.0.0/16>"), "Text": project.Literal(strings.Repeat("x", i*mostPacked/4))},
		})
	}
	references, err := b.SaveSpecs(t.Context(), nodes)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := b.SaveSpecs(t.Context(), nodes); err != nil || !slices.Equal(second, references) {
		t.Errorf("stored again as %s, %v; want %s", second, err, references)
	}
	for i, n := range nodes {
		got, err := b.Spec(t.Context(), references[i])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(n, got); diff != "" {
			t.Error(diff)
		}
	}
	missing := specPlace{0, 10, "digest"}.reference("none")
	if _, err := b.Spec(t.Context(), missing); !fault.Is(err, fault.Missing) {
		t.Errorf("a spec that was never stored: %v", err)
	}
	for _, wrong := range []string{"", "none", "a:b:1:c", "a:0:0:c", "a:-1:1:c"} {
		if _, err := b.Spec(t.Context(), wrong); !fault.Is(err, fault.Broken) {
			t.Errorf("%q is no reference: %v", wrong, err)
		}
	}
	name, _, _ := strings.Cut(references[0], ":")
	for _, body := range []string{"short", strings.Repeat("x", mostPacked)} {
		if _, err := b.Put(t.Context(), specKey(name), []byte(body)); err != nil {
			t.Fatal(err)
		}
		if _, err := again(b).Spec(t.Context(), references[1]); !fault.Is(err, fault.Broken) {
			t.Errorf("an object that was overwritten: %v", err)
		}
	}
}

// Values outside a project are read back unchanged, and not if they were overwritten.
func TestValues(t *testing.T) {
	b, _ := open(t)
	want := []project.SourceValue{{Source: project.Source{Export: "net", Target: project.Target{Name: "eu"}}, Value: "<vpc-1>"}, {Source: project.Source{Parameter: "/none"}, Missing: "there is none"}}
	reference, err := b.SaveValues(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := again(b).Values(t.Context(), reference); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := b.Values(t.Context(), "none"); !fault.Is(err, fault.Missing) {
		t.Errorf("values that were never stored: %v", err)
	}
	if _, err := b.Put(t.Context(), valuesKey(reference), []byte("[]")); err != nil {
		t.Fatal(err)
	}
	if _, err := again(b).Values(t.Context(), reference); !fault.Is(err, fault.Broken) {
		t.Errorf("values that were overwritten: %v", err)
	}
}

// A template whose bytes do not have the digest of its key is refused.
func TestTemplates(t *testing.T) {
	b, _ := open(t)
	body := []byte("Resources: {}")
	digest := sum(body)
	if err := b.SaveTemplate(t.Context(), digest, body); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Template(t.Context(), digest); err != nil || !bytes.Equal(got, body) {
		t.Errorf("%q, %v", got, err)
	}
	if got, want := b.URL(digest), "https://stackwright.s3.eu-west-1.amazonaws.com/templates/"+digest; got != want {
		t.Errorf("it is at %s, want %s", got, want)
	}
	if err := b.SaveTemplate(t.Context(), digest, []byte("else")); !fault.Is(err, fault.Broken) {
		t.Errorf("stored under a wrong digest: %v", err)
	}
	if _, err := b.Put(t.Context(), "templates/"+digest, []byte("else")); err != nil {
		t.Fatal(err)
	}
	if _, err := again(b).Template(t.Context(), digest); !fault.Is(err, fault.Broken) {
		t.Errorf("overwritten: %v", err)
	}
}

// again returns the bucket as a new process has it.
func again(b *Bucket) *Bucket { return New(b.client, b.name, b.region) }

// A process reads a spec and a template from S3 once.
func TestReadOnce(t *testing.T) {
	b, w := open(t)
	body := []byte("Resources: {}")
	if err := b.SaveTemplate(t.Context(), sum(body), body); err != nil {
		t.Fatal(err)
	}
	references, err := b.SaveSpecs(t.Context(), []project.Node{{Name: "vpc"}, {Name: "db"}})
	if err != nil {
		t.Fatal(err)
	}
	read := func() error {
		_, err := b.Template(t.Context(), sum(body))
		vpc, failed := b.Spec(t.Context(), references[0])
		if failed == nil && vpc.Name != "vpc" {
			t.Errorf("the spec of %s is read", vpc.Name)
		}
		return errors.Join(err, failed)
	}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	w.status = -1
	if err := read(); err != nil {
		t.Errorf("what was read before is requested again: %v", err)
	}
	if _, err := b.Spec(t.Context(), references[1]); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a spec that was not read before: %v", err)
	}
	if b = again(b); read() == nil {
		t.Error("a new process requests nothing")
	}
}

// A process keeps a limited number of bytes.
func TestRecent(t *testing.T) {
	r := &recent{kept: make(map[string][]byte)}
	for i := range 10 {
		for range 2 {
			r.keep(fmt.Sprint(i), make([]byte, mostRecent/4))
		}
	}
	r.keep("large", make([]byte, mostRecent+1))
	_, oldest := r.get("5")
	_, newest := r.get("9")
	if len(r.kept) != 4 || len(r.order) != 4 || r.bytes != mostRecent || oldest || !newest {
		t.Errorf("%d objects with %d bytes are kept: %v", len(r.kept), r.bytes, r.order)
	}
}

// Each answer of S3 has its kind.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		status int
		code   string
		want   fault.Kind
	}{
		{404, "NoSuchKey", fault.Missing}, {404, "NoSuchVersion", fault.Missing}, {404, "NoSuchBucket", fault.Broken},
		{403, "AccessDenied", fault.Denied}, {400, "ExpiredToken", fault.Denied}, {405, "MethodNotAllowed", fault.Missing},
		{503, "SlowDown", fault.Throttled}, {429, "Else", fault.Throttled}, {500, "InternalError", fault.Unavailable},
		{502, "", fault.Unavailable}, {400, "InvalidArgument", fault.Invalid}, {-1, "", fault.Unavailable},
	} {
		b, w := open(t)
		w.status, w.answer = c.status, "<Error><Code>"+c.code+"</Code><Message>m</Message></Error>"
		if _, err := b.Object(t.Context(), "key", "v"); !fault.Is(err, c.want) {
			t.Errorf("to read: %d %s is %q: %v", c.status, c.code, fault.KindOf(err), err)
		}
		if _, err := b.Put(t.Context(), "key", nil); !fault.Is(err, c.want) {
			t.Errorf("to write: %d %s is %q: %v", c.status, c.code, fault.KindOf(err), err)
		}
	}
}

// An object that is put by somebody says so in the metadata of its version, and an
// object that is put by nobody says nothing.
func TestMetadataNamesWhoPutAnObject(t *testing.T) {
	b, _ := open(t)
	const key = "projects/shop/prod.zip"
	versions := make(map[string]string)
	for _, who := range []string{
		"", // first: gofakes3 lets a version inherit the metadata of the one before
		"arn:aws:sts::111122223333:assumed-role/developer/ann@example.com", "ann@laptop", "jürgen@büro", "ann\x1b[2J\r\nx-amz-meta-who: root",
		strings.Repeat("日本", 20), "=?utf-8?q?ann?=", "=?no-charset?q?ann?=",
	} {
		version, err := b.By(who).Put(t.Context(), key, []byte("zip"))
		if err != nil {
			t.Fatalf("%q: %v", who, err)
		}
		versions[who] = version
	}
	versions["ann"] = versions["=?utf-8?q?ann?="] // it is read as what it says
	delete(versions, "=?utf-8?q?ann?=")
	for want, version := range versions {
		if got, err := b.Who(t.Context(), key, version); err != nil || got != want {
			t.Errorf("version %s was put by %q, %v; want %q", version, got, err, want)
		}
	}
}

// The answers to a request for metadata have no body: their status says all.
func TestFaultsOfMetadata(t *testing.T) {
	for _, c := range []struct {
		status int
		want   fault.Kind
		text   string
	}{
		{404, fault.Missing, "read the metadata of s3://stackwright/key, version v: the version does not exist or was deleted: upload the project again"},
		{405, fault.Missing, "the version does not exist or was deleted: upload the project again"},
		{403, fault.Denied, "allow s3:GetObject and s3:GetObjectVersion on arn:aws:s3:::stackwright/key in the policy"},
		{400, fault.Invalid, "BadRequest"}, {429, fault.Throttled, ""}, {500, fault.Unavailable, ""}, {503, fault.Unavailable, ""}, {-1, fault.Unavailable, "connection refused"},
	} {
		b, w := open(t)
		w.status = c.status
		if _, err := b.Who(t.Context(), "key", "v"); !fault.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%d is %q: %v; want %q: %s", c.status, fault.KindOf(err), err, c.want, c.text)
		}
	}
}

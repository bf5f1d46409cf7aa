package s3

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/remote"
	"github.com/stackwright/stackwright/pkg/run"
)

func address(t *testing.T, text string) remote.Address {
	t.Helper()
	a, err := remote.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The first file that is kept for an address and a version of a configuration stays.
func TestRemoteFilesAreKeptOnce(t *testing.T) {
	b, _ := open(t)
	a, of := address(t, "https://example.com/vpc.yaml"), run.Source{Key: "projects/shop/prod.zip", Version: "1"}
	if _, err := b.RemoteFile(t.Context(), of, a); !fault.Is(err, fault.Missing) {
		t.Errorf("before it is kept: %v", err)
	}
	for _, body := range []string{"one", "two"} {
		f, err := b.KeepRemoteFile(t.Context(), of, a, remote.File{Body: []byte(body), Version: "v-" + body})
		if err != nil || string(f.Body) != "one" || f.Version != "v-one" {
			t.Errorf("keep %s: %+v, %v", body, f, err)
		}
	}
	for _, other := range []run.Source{{Key: "projects/shop/prod.zip", Version: "2"}, {Key: "projects/shop/test.zip", Version: "1"}} {
		if f, err := b.RemoteFile(t.Context(), other, a); !fault.Is(err, fault.Missing) {
			t.Errorf("%v has %+v, %v", other, f, err)
		}
	}
	if _, err := b.Put(t.Context(), remoteKey(of, a), []byte("three")); err != nil {
		t.Fatal(err)
	}
	if f, err := b.RemoteFile(t.Context(), of, a); !fault.Is(err, fault.Broken) || !strings.Contains(err.Error(), "was overwritten") {
		t.Errorf("an object that somebody else has put is read as %+v, %v", f, err)
	}
}

// An object of another bucket is read with its version, and only up to the limit.
func TestObjectsOfOtherBuckets(t *testing.T) {
	own, w := open(t)
	c := s3.NewFromConfig(aws.Config{
		Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
		HTTPClient: &http.Client{Transport: w}, RetryMaxAttempts: 1, BaseEndpoint: aws.String("http://s3.example"),
	}, func(o *s3.Options) { o.UsePathStyle = true })
	if _, err := c.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("shop-templates")}); err != nil {
		t.Fatal(err)
	}
	_, err := c.PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{Bucket: aws.String("shop-templates"), VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled}})
	if err != nil {
		t.Fatal(err)
	}
	there := New(c, "shop-templates", "eu-west-1")
	first, err := there.Put(t.Context(), "a/vpc.yaml", []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := there.Put(t.Context(), "a/vpc.yaml", []byte("two"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := there.Put(t.Context(), "large", make([]byte, remote.MaxFile+1)); err != nil {
		t.Fatal(err)
	}
	o := &Objects{client: func(string) client { return own.client }, region: "eu-west-1"}
	for at, want := range map[string]remote.File{
		"s3://shop-templates/a/vpc.yaml":                    {Body: []byte("two"), Version: second},
		"s3://shop-templates/a/vpc.yaml?versionId=" + first: {Body: []byte("one"), Version: first},
		"s3://shop-templates/large":                         {Wrong: "the object has more than 1048576 bytes"},
		"s3://shop-templates/none":                          {Wrong: "there is no such object or version"},
		"s3://other-templates/a":                            {Wrong: "there is no such bucket"},
	} {
		got, err := o.Get(t.Context(), address(t, at))
		if err != nil || string(got.Body) != string(want.Body) || got.Version != want.Version || got.Wrong != want.Wrong {
			t.Errorf("%s: %+v, %v; want %+v", at, got, err, want)
		}
	}
}

// A bucket in another region is read there, once it is known where. What can be tried again is an error, and the file says everything else to the user.
func TestObjectsOfOtherRegions(t *testing.T) {
	a := address(t, "s3://shop-templates/vpc.yaml")
	var regions []string
	status, code := http.StatusMovedPermanently, "PermanentRedirect"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		region := strings.Split(r.Header.Get("Authorization"), "/")[2]
		regions = append(regions, region)
		if region == "eu-north-1" {
			w.Write([]byte("body"))
			return
		}
		w.Header().Set("x-amz-bucket-region", "eu-north-1")
		w.WriteHeader(status)
		w.Write([]byte("<Error><Code>" + code + "</Code><Message>no</Message></Error>"))
	}))
	defer server.Close()
	o := NewObjects(func(region string) *s3.Client {
		return s3.New(s3.Options{Region: region, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""), BaseEndpoint: aws.String(server.URL), UsePathStyle: true, RetryMaxAttempts: 1})
	}, "eu-west-1")
	if f, err := o.Get(t.Context(), a); err != nil || string(f.Body) != "body" || strings.Join(regions, " ") != "eu-west-1 eu-north-1" {
		t.Errorf("%+v, %v, from %v", f, err, regions)
	}
	status, code = http.StatusForbidden, "AccessDenied"
	if f, err := o.Get(t.Context(), a); err != nil || !strings.Contains(f.Wrong, "S3 denies the installation to read it") {
		t.Errorf("denied: %+v, %v", f, err)
	}
	status, code = http.StatusServiceUnavailable, "SlowDown"
	if f, err := o.Get(t.Context(), a); !fault.Is(err, fault.Throttled) {
		t.Errorf("throttled: %+v, %v", f, err)
	}
	if strings.Join(regions, " ") != "eu-west-1 eu-north-1 eu-west-1 eu-west-1" {
		t.Errorf("requests to %v", regions)
	}
}

package s3

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// An asset is copied once, and only with its bytes, into a bucket that exists and belongs to the target's account.
func TestPublish(t *testing.T) {
	b, w := open(t)
	var roles, owners []string
	client := s3.NewFromConfig(aws.Config{
		Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""), RetryMaxAttempts: 1, BaseEndpoint: aws.String("http://s3.example"),
		HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodHead || r.Method == http.MethodPut {
				owners = append(owners, r.Method+" "+r.Header.Get("X-Amz-Expected-Bucket-Owner"))
			}
			return w.RoundTrip(r)
		})},
	}, func(o *s3.Options) { o.UsePathStyle = true })
	p := NewPublisher(b, func(of, digest string) string { return "artifacts/" + of + "/" + digest }, func(_ context.Context, _ project.Target, role, _ string) (*s3.Client, error) {
		roles = append(roles, role)
		return client, nil
	})
	body := []byte("code")
	at := project.Target{Name: "eu", Account: "111111111111", Region: "eu-west-1"}
	a := project.Asset{Digest: sum(body), Bucket: "cdk-assets", Key: "code.zip", Role: "publishing"}
	if err := b.SaveObject(t.Context(), "artifacts/shop/"+a.Digest, a.Digest, body); err != nil {
		t.Fatal(err)
	}

	if _, err := p.Publish(t.Context(), "shop", at, a); !fault.Is(err, fault.Missing) || !strings.Contains(err.Error(), "run cdk bootstrap aws://111111111111/eu-west-1") {
		t.Errorf("without the bucket: %v", err)
	}
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &a.Bucket}); err != nil {
		t.Fatal(err)
	}
	owners = nil
	for _, before := range []bool{false, true} {
		if got, err := p.Publish(t.Context(), "shop", at, a); err != nil || got != before {
			t.Errorf("published before: %v, want %v: %v", got, before, err)
		}
	}
	if want := "HEAD 111111111111 PUT 111111111111 HEAD 111111111111"; strings.Join(owners, " ") != want {
		t.Errorf("requests with expected owners: %s, want %s", strings.Join(owners, " "), want)
	}
	if got, err := New(client, a.Bucket, "eu-west-1").Current(t.Context(), a.Key); err != nil || string(got) != "code" {
		t.Errorf("%q, %v", got, err)
	}

	if _, err := b.Put(t.Context(), "artifacts/shop/"+a.Digest, []byte("other")); err != nil {
		t.Fatal(err)
	}
	a.Key = "again.zip"
	if _, err := p.Publish(t.Context(), "shop", at, a); !fault.Is(err, fault.Broken) {
		t.Errorf("with other bytes: %v", err)
	}
	if strings.Join(roles, " ") != "publishing publishing publishing publishing" {
		t.Errorf("the roles are %v", roles)
	}
}

// An object that somebody writes between the two requests of a publication stays as it is.
func TestPublisherOverwritesNothing(t *testing.T) {
	b, w := open(t)
	client := s3.NewFromConfig(aws.Config{
		Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""), RetryMaxAttempts: 1,
		BaseEndpoint: aws.String("http://s3.example"),
		HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodHead {
				r.URL.Path += "-not-yet"
			}
			return w.RoundTrip(r)
		})},
	}, func(o *s3.Options) { o.UsePathStyle = true })
	p := NewPublisher(b, func(_, digest string) string { return "artifacts/" + digest },
		func(context.Context, project.Target, string, string) (*s3.Client, error) { return client, nil })
	body := []byte("code")
	a := project.Asset{Digest: sum(body), Bucket: "cdk-assets", Key: "code.zip", Role: "publishing"}
	if err := b.SaveObject(t.Context(), "artifacts/"+a.Digest, a.Digest, body); err != nil {
		t.Fatal(err)
	}
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &a.Bucket}); err != nil {
		t.Fatal(err)
	}
	theirs := New(client, a.Bucket, "eu-west-1")
	if _, err := theirs.Put(t.Context(), a.Key, []byte("theirs")); err != nil {
		t.Fatal(err)
	}
	at := project.Target{Name: "eu", Account: "111111111111", Region: "eu-west-1"}
	if before, err := p.Publish(t.Context(), "shop", at, a); err != nil || !before {
		t.Errorf("published before: %v, %v", before, err)
	}
	if got, err := theirs.Current(t.Context(), a.Key); err != nil || string(got) != "theirs" {
		t.Errorf("the object has %q, %v", got, err)
	}
}

// A roundTrip carries out requests.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

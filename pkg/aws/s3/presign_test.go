package s3

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// The URL of an upload is signed for one key, type, size and SHA-256, and for five minutes.
func TestPresign(t *testing.T) {
	c := s3.NewFromConfig(aws.Config{Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("AKID", "SECRET", "SESSION")})
	text, headers, err := NewUploads(c, "bucket").Presign(t.Context(), "revisions/shop/prod/a.zip", "application/zip", 12, make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	signed := strings.Split(u.Query().Get("X-Amz-SignedHeaders"), ";")
	for _, name := range []string{"content-length", "content-type", "host", "x-amz-checksum-sha256"} {
		if !slices.Contains(signed, name) || name != "host" && headers[name] == "" {
			t.Errorf("%s is not signed: %v, %v", name, signed, headers)
		}
	}
	if headers["content-length"] != "12" || headers["content-type"] != "application/zip" || len(headers) != 3 {
		t.Errorf("the headers are %v", headers)
	}
	if u.Host != "bucket.s3.eu-west-1.amazonaws.com" || u.Path != "/revisions/shop/prod/a.zip" || u.Query().Get("X-Amz-Expires") != "300" || strings.Contains(text, "SECRET") {
		t.Errorf("the URL is %s", text)
	}
}

package s3

import (
	"bytes"
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// ReportKey is the key of the report of a run of a project such as "shop@prod".
func ReportKey(project, id string) string {
	return "reports/" + strings.Replace(project, "@", "/", 1) + "/" + id + ".html"
}

// PutReport puts the report of a run, a file of HTML, into the bucket.
func (b *Bucket) PutReport(ctx context.Context, project, id string, html []byte) error {
	key := ReportKey(project, id)
	_, err := b.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.name, Key: &key, Body: bytes.NewReader(html), ContentType: aws.String("text/html; charset=utf-8")})
	if err != nil {
		return b.fault("write", key, "", err)
	}
	return nil
}

package s3

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
)

// Uploads presigns uploads to a bucket, with the permissions of this process.
type Uploads struct {
	client *s3.PresignClient
	bucket string
}

// NewUploads returns the uploads to the bucket of a name. It sends no request.
func NewUploads(c *s3.Client, bucket string) Uploads {
	return Uploads{client: s3.NewPresignClient(c), bucket: bucket}
}

// presigned is how long a URL can be used. S3 checks that when an upload begins.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/using-presigned-url.html
const presigned = 5 * time.Minute

// Presign returns the URL to which everybody who knows it may put an object for some minutes, and the headers that must
// be sent with it. Type, size and SHA-256 are signed, so S3 refuses others.
func (u Uploads) Presign(ctx context.Context, key, kind string, bytes int64, sha256 []byte) (string, map[string]string, error) {
	out, err := u.client.PresignPutObject(ctx, &s3.PutObjectInput{
		Bucket: &u.bucket, Key: &key, ContentType: &kind, ContentLength: &bytes,
		ChecksumAlgorithm: types.ChecksumAlgorithmSha256, ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(sha256)),
	}, s3.WithPresignExpires(presigned))
	if err != nil {
		return "", nil, awserr.Fault("sign the upload of "+key, fmt.Sprintf("arn:aws:s3:::%s/%s", u.bucket, key), err, kinds)
	}
	headers := make(map[string]string)
	for name, values := range out.SignedHeader {
		if name = strings.ToLower(name); name != "host" && len(values) > 0 {
			headers[name] = values[0]
		}
	}
	return out.URL, headers, nil
}

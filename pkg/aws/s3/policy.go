package s3

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/stackwright/stackwright/pkg/fault"
)

// policyFolder has the policies of the installation. Only its owner may write there.
const policyFolder = "policies/"

// MaxPolicyFiles is how many files of policies an installation may have.
const MaxPolicyFiles = 50

// PolicyKey is the key of a file of policies.
func PolicyKey(name string) string { return policyFolder + name }

// A File is an object with its key.
type File struct {
	Key  string
	Body []byte
}

// Policies returns the files of the installation's policies, sorted by key: every object
// under policies/ is one. The error is of kind Invalid if there are too many.
func (b *Bucket) Policies(ctx context.Context) ([]File, error) {
	out, err := b.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: aws.String(policyFolder), MaxKeys: aws.Int32(MaxPolicyFiles + 1)})
	if err != nil {
		return nil, b.fault("list", policyFolder, "", err)
	}
	if len(out.Contents) > MaxPolicyFiles {
		return nil, fault.New(fault.Invalid, "s3://%s/%s has more than %d files: join some of them", b.name, policyFolder, MaxPolicyFiles)
	}
	var all []File
	for _, o := range out.Contents {
		key := aws.ToString(o.Key)
		if strings.HasSuffix(key, "/") { // a folder that the console has made
			continue
		}
		body, err := b.read(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key})
		if fault.Is(err, fault.Missing) { // it was deleted meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, File{key, body})
	}
	return all, nil
}

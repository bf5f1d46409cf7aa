package s3

import (
	"bytes"
	"context"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/remote"
	"github.com/stackwright/stackwright/pkg/run"
)

// Metadata of a kept file.
const (
	keptFrom    = "from"    // its address
	keptVersion = "version" // of the object in S3 that was read
	keptDigest  = "sha256"
)

// remoteKey is where the file of an address is kept for a configuration.
func remoteKey(of run.Source, a remote.Address) string {
	return "remote/" + of.Digest() + "/" + sum([]byte(a.String()))
}

// RemoteFile returns the file that was kept for an address and a configuration. It is Missing if none was.
func (b *Bucket) RemoteFile(ctx context.Context, of run.Source, a remote.Address) (remote.File, error) {
	key := remoteKey(of, a)
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key})
	if err != nil {
		return remote.File{}, b.fault("read", key, "", err)
	}
	body, err := readAll(out.Body, remote.MaxFile)
	switch {
	case err != nil:
		return remote.File{}, fault.New(fault.Unavailable, "read s3://%s/%s: %w", b.name, key, err)
	case sum(body) != out.Metadata[keptDigest] || out.Metadata[keptFrom] != a.String():
		return remote.File{}, fault.New(fault.Broken, "s3://%s/%s was overwritten: it is not the file of %s: upload the project again", b.name, key, a)
	}
	return remote.File{Body: body, Version: out.Metadata[keptVersion]}, nil
}

// KeepRemoteFile keeps the file of an address for a configuration, unless one is kept. It returns the file that is kept: each
// later reader of the configuration gets that one, whatever is at the address then.
func (b *Bucket) KeepRemoteFile(ctx context.Context, of run.Source, a remote.Address, f remote.File) (remote.File, error) {
	key := remoteKey(of, a)
	_, err := b.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &b.name, Key: &key, Body: bytes.NewReader(f.Body), IfNoneMatch: aws.String("*"),
		Metadata: map[string]string{keptFrom: a.String(), keptVersion: f.Version, keptDigest: sum(f.Body)},
	})
	switch {
	case awserr.Is(err, "PreconditionFailed"):
		return b.RemoteFile(ctx, of, a)
	case awserr.Is(err, "ConditionalRequestConflict"): // another one is being written
		return remote.File{}, fault.New(fault.Unavailable, "write s3://%s/%s: %w", b.name, key, err)
	case err != nil:
		return remote.File{}, b.fault("write", key, "", err)
	}
	return f, nil
}

// readAll reads at most one byte more than most.
func readAll(body io.ReadCloser, most int) ([]byte, error) {
	all, err := io.ReadAll(io.LimitReader(body, int64(most)+1))
	if closing := body.Close(); err == nil {
		err = closing
	}
	return all, err
}

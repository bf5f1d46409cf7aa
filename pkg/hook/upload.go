package hook

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
)

// Files are the files of projects that hooks upload.
type Files interface {
	// Zip returns the zip of the files of a project, such as shop@prod, that has a digest. Its entries are not compressed.
	Zip(ctx context.Context, project, digest string) ([]byte, error)
}

// Objects are the objects of buckets of S3.
type Objects interface {
	// PutObjects puts objects into a bucket of the account and region of the target, except those that are there already. The error
	// is of kind Refused, Denied or Missing if one cannot be put.
	PutObjects(ctx context.Context, in project.Target, bucket string, all []project.Object) error

	// DeleteOthers deletes some of the objects whose keys begin with a prefix and are not among the given ones, sorted. It reports
	// true, and deletes nothing, if there are no others.
	DeleteOthers(ctx context.Context, in project.Target, bucket, prefix string, keep []string) (gone bool, err error)
}

// MaxUploaded is how many files a hook uploads at most: each poll compares all of them with what is in the bucket.
const MaxUploaded = 1000

// What one poll does at most. It shares its function with those of other steps.
const (
	uploadBatch = 40 // objects that are put at the same time
	uploadTime  = 8 * time.Second
)

// uploadType copies files of the project into a bucket.
func uploadType() Type {
	return Type{
		Name: "upload", What: "the path of a file or a folder of the project", Form: pattern.New(`^[^\x00-\x1f\x7f]{1,512}$`),
		Keys: []Key{
			{
				Name: "bucket", What: "the name or the ARN of an S3 bucket", arn: bucketARN,
				Form: pattern.New(`^(arn:aws[a-z-]*:s3:::)?[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`),
			},
			{
				Name: "prefix", What: "the beginning of keys, with a slash at its end, such as site/", Plain: true, Optional: true,
				Form: pattern.New(`^([A-Za-z0-9_][A-Za-z0-9_.-]{0,127}/){1,4}$`),
			},
			{
				Name: "delete", What: "true or false", Plain: true, Optional: true, Form: pattern.New(`^(true|false)$`),
				Loses: "the objects below the prefix that are not among the files",
			},
		},
		Files: true, Caller: uploads{},
	}
}

// uploads copies files: all of it in polls, so that only the function that polls reads files of projects.
type uploads struct{}

// Call implements Caller.
func (uploads) Call(_ context.Context, _ Services, c Call) (string, error) {
	return c.Values["bucket"], nil
}

// Ended implements Caller. It uploads more if the installation still allows it.
func (uploads) Ended(ctx context.Context, s Services, c Call) (bool, error) {
	if err := s.permit(c.project(), bucketARN(c.Target, c.Started)); err != nil {
		return false, err
	}
	return s.upload(ctx, c)
}

// Stop implements Caller. Nothing is uploaded without a poll.
func (uploads) Stop(context.Context, Services, Call) error { return nil }

// upload puts some of the files of a call into its bucket, and reports whether the bucket has all of them. It compares each with what
// is there, so that nothing has to be remembered between two calls.
func (s Services) upload(ctx context.Context, c Call) (bool, error) {
	archive, err := s.Files.Zip(ctx, c.project(), c.Files)
	if err != nil {
		return false, err
	}
	prefix := c.Values["prefix"]
	all, err := unpacked(archive, prefix)
	if err != nil {
		return false, err
	}
	bucket, until := c.Started[strings.LastIndex(c.Started, ":")+1:], time.Now().Add(uploadTime)
	for n := 0; n < len(all); n += uploadBatch {
		if n > 0 && time.Now().After(until) {
			return false, nil
		}
		if err := s.Objects.PutObjects(ctx, c.Target, bucket, all[n:min(n+uploadBatch, len(all))]); err != nil {
			return false, err
		}
	}
	if c.Values["delete"] != "true" {
		return true, nil
	}
	var keys []string
	for _, o := range all {
		keys = append(keys, o.Key)
	}
	slices.Sort(keys)
	for {
		if gone, err := s.Objects.DeleteOthers(ctx, c.Target, bucket, prefix, keys); err != nil || gone {
			return gone, err
		}
		if time.Now().After(until) {
			return false, nil
		}
	}
}

// unpacked returns the files of a zip as objects below a prefix, in the order of the zip.
func unpacked(archive []byte, prefix string) ([]project.Object, error) {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, fault.New(fault.Broken, "the files of the hook are no zip: %w", err)
	}
	var all []project.Object
	for _, f := range z.File {
		from, err := f.Open()
		if err != nil {
			return nil, fault.New(fault.Broken, "the files of the hook: %s: %w", f.Name, err)
		}
		body, err := io.ReadAll(from)
		if closing := from.Close(); err == nil {
			err = closing
		}
		if err != nil {
			return nil, fault.New(fault.Broken, "the files of the hook: %s: %w", f.Name, err)
		}
		all = append(all, project.Object{Key: prefix + f.Name, ContentType: contentType(f.Name), Body: body})
	}
	return all, nil
}

// contentType is the content type of a file by the extension of its name. The table is ours: that of package mime differs between
// machines.
func contentType(name string) string {
	if t, ok := map[string]string{
		".avif": "image/avif", ".css": "text/css; charset=utf-8", ".csv": "text/csv; charset=utf-8", ".gif": "image/gif",
		".htm": "text/html; charset=utf-8", ".html": "text/html; charset=utf-8", ".ico": "image/x-icon", ".jpeg": "image/jpeg", ".jpg": "image/jpeg",
		".js": "text/javascript; charset=utf-8", ".json": "application/json", ".map": "application/json", ".md": "text/markdown; charset=utf-8",
		".mjs": "text/javascript; charset=utf-8", ".mp4": "video/mp4", ".otf": "font/otf", ".pdf": "application/pdf", ".png": "image/png",
		".svg": "image/svg+xml", ".ttf": "font/ttf", ".txt": "text/plain; charset=utf-8", ".wasm": "application/wasm",
		".webmanifest": "application/manifest+json", ".webp": "image/webp", ".woff": "font/woff", ".woff2": "font/woff2",
		".xml": "application/xml", ".yaml": "application/yaml", ".yml": "application/yaml", ".zip": "application/zip",
	}[strings.ToLower(path.Ext(name))]; ok {
		return t
	}
	return "application/octet-stream"
}

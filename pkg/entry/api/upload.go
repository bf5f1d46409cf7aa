package api

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/lib/strict"
)

// Uploads lets callers upload configurations.
type Uploads interface {
	// Presign returns the URL to which everybody who knows it may put an object for some minutes, and the headers that
	// must be sent with it. S3 refuses another type, another size, and content with another SHA-256.
	Presign(ctx context.Context, key, kind string, bytes int64, sha256 []byte) (url string, headers map[string]string, err error)
}

// MostUpload is how many bytes an upload may have: as many as a run reads.
const MostUpload = 16 << 20

// uploadTypes are the types of configurations, by the ends of their keys.
var uploadTypes = map[string]string{"zip": "application/zip", "tar.gz": "application/gzip", "yaml": "application/yaml"}

var hexSHA256 = pattern.New(`^[0-9a-f]{64}$`)

// upload answers with a URL to which the caller may put one configuration, and with its key. The key has the digest of
// the content, and S3 checks the content against it.
func (a API) upload(ctx context.Context, q question) (answer, error) {
	var said report.UploadRequest
	if err := q.read(strict.Fields{"bytes": &said.Bytes, "sha256": &said.SHA256, "format": &said.Format}); err != nil {
		return answer{}, err
	}
	var wrongs []string
	if said.Bytes < 1 || said.Bytes > MostUpload {
		wrongs = append(wrongs, fmt.Sprintf("bytes: %d: a configuration has 1 to %d bytes", said.Bytes, MostUpload))
	}
	if !hexSHA256.MatchString(said.SHA256) {
		wrongs = append(wrongs, "sha256: give the SHA-256 of the content as 64 lower-case hexadecimal digits")
	}
	kind, known := uploadTypes[said.Format]
	if !known {
		wrongs = append(wrongs, fmt.Sprintf("format: %.20q: give zip, tar.gz or yaml", said.Format))
	}
	if len(wrongs) > 0 {
		return answer{}, wrong(wrongs)
	}
	sum, err := hex.DecodeString(said.SHA256)
	if err != nil {
		return answer{}, fault.New(fault.Invalid, "sha256: %w", err)
	}
	key := fmt.Sprintf("revisions/%s/%s.%s", strings.Replace(q.project, "@", "/", 1), said.SHA256, said.Format)
	url, headers, err := a.Uploads.Presign(ctx, key, kind, said.Bytes, sum)
	return answer{body: report.Upload{Key: key, Method: http.MethodPut, URL: url, Headers: headers}}, err
}

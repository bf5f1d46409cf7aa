package s3

import (
	"encoding/hex"
	"encoding/xml"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/stackwright/stackwright/infra/local/gateway"
)

// copyObject copies one object, of any version: gofakes3 itself copies the newest only, and answers with the source's
// version ID.
func (o *Objects) copyObject(w http.ResponseWriter, r *http.Request, source string) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	path, version, _ := strings.Cut(source, "?versionId=")
	path, err := url.PathUnescape(strings.TrimPrefix(path, "/"))
	fromBucket, fromKey, ok := strings.Cut(path, "/")
	if err != nil || !ok {
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: "InvalidArgument", Message: "x-amz-copy-source must be bucket/key, percent-encoded"})
		return
	}
	if version, err = url.QueryUnescape(version); err != nil {
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: "InvalidArgument", Message: "x-amz-copy-source has a version that cannot be read"})
		return
	}
	from, err := o.store.GetObjectVersion(fromBucket, fromKey, gofakes3.VersionID(version), nil)
	if err != nil {
		refuse(w, r, err)
		return
	}
	defer from.Contents.Close()
	at := o.store.clock.Now()
	out, err := o.store.PutObject(bucket, key, copiedMetadata(from.Metadata, r.Header, at), from.Contents, from.Size, nil)
	if err != nil {
		refuse(w, r, err)
		return
	}
	w.Header().Set("X-Amz-Version-Id", string(out.VersionID))
	w.Header().Set("X-Amz-Copy-Source-Version-Id", string(from.VersionID))
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(struct {
		XMLName            xml.Name `xml:"CopyObjectResult"`
		ETag, LastModified string
	}{ETag: `"` + hex.EncodeToString(from.Hash) + `"`, LastModified: at.Format(time.RFC3339)}) // the caller is gone if this fails
}

// copiedMetadata is the source's, or the request's where it says REPLACE; checksums are the content's in any case.
func copiedMetadata(from map[string]string, header http.Header, at time.Time) map[string]string {
	replace := strings.EqualFold(header.Get("X-Amz-Metadata-Directive"), "REPLACE")
	meta := map[string]string{}
	for name, value := range from {
		if !replace || strings.HasPrefix(name, checksumPrefix) {
			meta[name] = value
		}
	}
	for name := range header {
		if replace && (strings.HasPrefix(name, "X-Amz-Meta-") || name == "Content-Type" || name == "Content-Disposition" || name == "Content-Encoding") {
			meta[name] = header.Get(name)
		}
	}
	meta["Last-Modified"] = at.UTC().Format(http.TimeFormat)
	return meta
}

func refuse(w http.ResponseWriter, r *http.Request, err error) {
	status, code := http.StatusInternalServerError, "InternalError"
	if known := gofakes3.Error(nil); errors.As(err, &known) {
		status, code = known.ErrorCode().Status(), string(known.ErrorCode())
	}
	gateway.Refuse(w, r, status, gateway.Fault{Code: code, Message: err.Error()})
}

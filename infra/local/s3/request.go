package s3

import (
	"bytes"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/stackwright/stackwright/infra/local/gateway"
)

// kept reports whether a header field is stored with the object. All others (dates, credentials, agents) belong to one
// request.
func kept(name string) bool {
	if strings.HasPrefix(name, "X-Amz-Meta-") || strings.HasPrefix(name, checksumPrefix) {
		return true
	}
	switch name {
	case "Content-Type", "Content-Disposition", "Content-Encoding", "Content-Length", "If-Match", "If-None-Match":
		return true
	}
	return false
}

// receive decodes the body and verifies its checksums. It leaves in r only the header fields that are stored with the
// object, as if the body had been sent without an encoding.
func receive(r *http.Request) ([]byte, *gateway.Fault) {
	body, trailer, err := unwrap(r)
	if err != nil {
		return nil, &gateway.Fault{Code: "IncompleteBody", Message: err.Error()}
	}
	for name, value := range trailer {
		r.Header.Set(name, value)
	}
	if fault := verify(r.Header, body); fault != nil {
		return nil, fault
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return body, nil // the header of a read selects what is read
	}
	for name := range r.Header {
		if !kept(name) && name != "Content-Md5" {
			r.Header.Del(name)
		}
	}
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	r.ContentLength = int64(len(body))
	return body, nil
}

// addressByPath turns the virtual-hosted style (bucket.host/key) into the path style (host/bucket/key).
func (o *Objects) addressByPath(r *http.Request) {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	bucket := o.bucketOf(host)
	if bucket == "" {
		return
	}
	r.Host = strings.TrimPrefix(r.Host, bucket+".")
	r.URL.Path = "/" + bucket + r.URL.Path
	if r.URL.RawPath != "" {
		r.URL.RawPath = "/" + bucket + r.URL.RawPath
	}
	r.RequestURI = r.URL.RequestURI()
}

func (o *Objects) bucketOf(host string) string {
	if slices.Contains(o.opts.Hosts, host) {
		return ""
	}
	for _, base := range slices.Concat(o.opts.Hosts, []string{"localhost", "s3.amazonaws.com"}) {
		if bucket, ok := strings.CutSuffix(host, "."+base); ok {
			return bucket
		}
	}
	label, _, more := strings.Cut(host, ".")
	if !more || net.ParseIP(host) != nil {
		return ""
	}
	if exists, err := o.store.BucketExists(label); err == nil && exists {
		return label
	}
	return ""
}

// unsupported names what the emulator does not support: a copy, or a subresource that gofakes3 would silently treat as the
// bucket or object itself; or "".
func unsupported(r *http.Request) string {
	if r.Header.Get("X-Amz-Copy-Source") != "" {
		return "CopyObject"
	}
	q := r.URL.Query()
	for _, name := range []string{
		"acl", "tagging", "policy", "policyStatus", "notification", "lifecycle", "encryption", "cors", "website", "logging", "replication",
		"publicAccessBlock", "ownershipControls", "object-lock", "legal-hold", "retention", "torrent", "restore", "select", "attributes",
		"accelerate", "requestPayment", "inventory", "metrics", "analytics", "intelligent-tiering",
	} {
		if q.Has(name) {
			return "?" + name
		}
	}
	return ""
}

// reason is the name of the request that created an object, for the event.
func reason(r *http.Request) string {
	if r.URL.Query().Has("uploadId") {
		return "CompleteMultipartUpload"
	}
	if r.Method == http.MethodDelete {
		return "DeleteObject"
	}
	return "PutObject"
}

// line cuts the first line off, without its CRLF.
func line(b []byte) (first string, rest []byte, ok bool) {
	before, after, found := bytes.Cut(b, []byte("\r\n"))
	return string(before), after, found
}

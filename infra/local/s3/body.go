package s3

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/stackwright/stackwright/infra/local/gateway"
)

const checksumPrefix = "X-Amz-Checksum-"

// unwrap reads the body. The SDK may send it in chunks of its own within the HTTP body, with checksums behind the last:
// https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html
func unwrap(r *http.Request) (body []byte, trailer map[string]string, err error) {
	if r.Body == nil {
		return nil, nil, nil
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, nil, fmt.Errorf("read the body: %w", err)
	}
	if len(raw) > maxBody {
		return nil, nil, fmt.Errorf("read the body: more than %d bytes; send it in parts", maxBody)
	}
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return raw, nil, nil
	}
	body, trailer, err = dechunk(raw)
	if err != nil {
		return nil, nil, err
	}
	if want := r.Header.Get("X-Amz-Decoded-Content-Length"); want != "" && want != strconv.Itoa(len(body)) {
		return nil, nil, fmt.Errorf("the body has %d bytes, announced were %s", len(body), want)
	}
	if encoding := withoutChunked(r.Header.Get("Content-Encoding")); encoding != "" {
		r.Header.Set("Content-Encoding", encoding)
	} else {
		r.Header.Del("Content-Encoding")
	}
	return body, trailer, nil
}

// dechunk reads "<hex size>[;chunk-signature=…]CRLF data CRLF"* up to a chunk of size 0, then "name:value" lines.
func dechunk(raw []byte) (body []byte, trailer map[string]string, err error) {
	for {
		head, rest, ok := line(raw)
		if !ok {
			return nil, nil, fmt.Errorf("the body ends within a chunk's head")
		}
		digits, _, _ := strings.Cut(head, ";")
		size, err := strconv.ParseUint(digits, 16, 31)
		if err != nil {
			return nil, nil, fmt.Errorf("chunk size %q: %w", digits, err)
		}
		if size == 0 {
			return body, trailers(rest), nil
		}
		if uint64(len(rest)) < size+2 {
			return nil, nil, fmt.Errorf("the body ends within a chunk of %d bytes", size)
		}
		body = append(body, rest[:size]...)
		raw = rest[size+2:]
	}
}

func trailers(raw []byte) map[string]string {
	found := map[string]string{}
	for entry := range strings.SplitSeq(string(raw), "\r\n") {
		name, value, ok := strings.Cut(entry, ":")
		if name = http.CanonicalHeaderKey(strings.TrimSpace(name)); ok && strings.HasPrefix(name, checksumPrefix) {
			found[name] = strings.TrimSpace(value)
		}
	}
	return found
}

func withoutChunked(encoding string) string {
	var left []string
	for part := range strings.SplitSeq(encoding, ",") {
		if part = strings.TrimSpace(part); part != "" && part != "aws-chunked" {
			left = append(left, part)
		}
	}
	return strings.Join(left, ",")
}

// verify compares the body with each checksum that the header has of it.
func verify(header http.Header, body []byte) *gateway.Fault {
	for name, make := range hashes() {
		want := header.Get(checksumPrefix + name)
		if want == "" || strings.Contains(want, "-") { // of a multipart object: a checksum of checksums
			continue
		}
		h := make()
		h.Write(body)
		if got := base64.StdEncoding.EncodeToString(h.Sum(nil)); got != want {
			message := fmt.Sprintf("The %s you specified did not match the calculated checksum: %s, not %s.", strings.ToUpper(name), got, want)
			return &gateway.Fault{Code: "BadDigest", Message: message}
		}
	}
	return nil
}

func hashes() map[string]func() hash.Hash {
	return map[string]func() hash.Hash{
		"Crc32":  func() hash.Hash { return crc32.NewIEEE() },
		"Crc32c": func() hash.Hash { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) },
		// CRC-64/NVME, reflected.
		"Crc64nvme": func() hash.Hash { return crc64.New(crc64.MakeTable(0x9a6c9329ac4bc9b5)) },
		"Sha1":      sha1.New,
		"Sha256":    sha256.New,
	}
}

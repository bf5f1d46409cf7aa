// Package remote names files that a project does not contain, and says which of them a project may use.
//
// A file is at an https URL, or in an S3 bucket. Nothing here sends a request.
package remote

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/pattern"
)

// An Address is where a file is: an https URL, or s3://BUCKET/KEY, which may end in
// ?versionId=VERSION. Only Parse makes one.
type Address struct {
	Text   string // as it is shown, sent and recorded
	Scheme string // HTTPS or S3
	Host   string // or the bucket, in lower case
	Path   string // as it is sent, with a slash at the beginning; or the key, without one
	// Version is that of an object that the address names; "" is the newest.
	Version string
}

// The schemes of addresses.
const (
	HTTPS = "https"
	S3    = "s3"
)

// MaxAddress is the number of bytes of an address.
const MaxAddress = 1024

var (
	// host is a name with a dot, so that no name is completed by a search domain.
	host = pattern.New(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)

	// bucket is the form of the name of a bucket.
	// https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
	bucket  = pattern.New(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	key     = pattern.New(`^[A-Za-z0-9!_.*'()/ ~@,:+=-]+$`)
	version = pattern.New(`^[A-Za-z0-9._~+/=-]+$`)
	visible = pattern.New(`^[!-~]+$`)
)

// secrets are the names of query parameters that hold a credential.
var secrets = []string{
	"access_token", "accesskey", "api_key", "apikey", "auth", "authorization", "awsaccesskeyid", "client_secret", "key", "pass", "passwd", "password",
	"private_token", "secret", "sig", "signature", "token", "x-amz-credential", "x-amz-security-token", "x-amz-signature", "x-goog-credential", "x-goog-signature",
}

// IsAddress reports whether a text is meant as an address, and not as a path.
func IsAddress(text string) bool { return strings.Contains(text, "://") }

// Parse reads an address. The error says what to write instead. It does not repeat the text, which may
// contain a password.
func Parse(text string) (Address, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	switch {
	case !ok:
		return Address{}, errors.New("it is no URL: write https://HOST/PATH or s3://BUCKET/KEY")
	case len(text) > MaxAddress:
		return Address{}, fmt.Errorf("the URL has more than %d characters: write a shorter one", MaxAddress)
	case scheme == S3:
		return object(text, rest)
	case scheme == "http":
		return Address{}, errors.New("http is not encrypted, so that others can change the answer: write https://")
	case scheme != HTTPS:
		return Address{}, errors.New("its scheme is neither https nor s3: write https://HOST/PATH or s3://BUCKET/KEY")
	}
	return web(text)
}

// web reads an https URL.
func web(text string) (Address, error) {
	u, err := url.Parse(text)
	if err != nil || !visible.MatchString(text) || strings.Contains(text, `\`) || u.Opaque != "" {
		return Address{}, errors.New("it is no URL: encode special characters as %XX, or save the file in the project")
	}
	name := strings.ToLower(u.Hostname())
	_, notAddress := netip.ParseAddr(name)
	switch {
	case u.User != nil || strings.Contains(u.Host, "@"):
		return Address{}, errors.New("it contains a user name or a password, which everybody who sees the project would know: use a URL that needs none")
	case notAddress == nil:
		return Address{}, errors.New("its host is an IP address: write the name of the host")
	case u.Port() != "" && u.Port() != "443" || strings.HasSuffix(u.Host, ":"):
		return Address{}, errors.New("it has a port: only port 443 is used: remove the port")
	case !host.MatchString(name) || len(name) > 253:
		return Address{}, errors.New("its host is no full DNS name, such as templates.example.com")
	case u.Fragment != "" || strings.Contains(text, "#"):
		return Address{}, errors.New("it contains #, and what follows is not sent: remove it")
	case climbs(u.EscapedPath()):
		return Address{}, errors.New("its path contains the segment . or .. or an encoded slash: write the path without it")
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Address{}, errors.New("what follows ? is no query: encode special characters as %XX")
	}
	for name := range q {
		if slices.Contains(secrets, strings.ToLower(name)) {
			return Address{}, errors.New("its query contains a credential, which everybody who sees the project would know: use a URL that needs none")
		}
	}
	a := Address{Scheme: HTTPS, Host: name, Path: u.EscapedPath()}
	if a.Path == "" {
		a.Path = "/"
	}
	a.Text = HTTPS + "://" + a.Host + a.Path
	if u.RawQuery != "" {
		a.Text += "?" + u.RawQuery
	}
	return a, nil
}

// climbs reports whether a path has segments that mean another place than is written: servers and proxies do not
// agree about these, and a prefix that is allowed must be the beginning of the path that the server reads.
func climbs(escaped string) bool {
	lower := strings.ToLower(escaped)
	if strings.Contains(lower, "%2f") || strings.Contains(lower, "%5c") || strings.Contains(lower, "%00") {
		return true
	}
	for segment := range strings.SplitSeq(strings.ReplaceAll(lower, "%2e", "."), "/") {
		segment, _, _ = strings.Cut(segment, ";")
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

// object reads what follows s3://.
func object(text, rest string) (Address, error) {
	rest, query, hasQuery := strings.Cut(rest, "?")
	name, k, _ := strings.Cut(rest, "/")
	a := Address{Text: text, Scheme: S3, Host: name, Path: k}
	if hasQuery {
		v, ok := strings.CutPrefix(query, "versionId=")
		if !ok || !version.MatchString(v) {
			return Address{}, errors.New("what follows ? is not versionId= and a version of the object")
		}
		a.Version = v
	}
	switch {
	case !bucket.MatchString(name):
		return Address{}, errors.New("its bucket is no name of a bucket: write s3://BUCKET/KEY")
	case k == "" || strings.HasSuffix(k, "/"):
		return Address{}, errors.New("it names no object: write s3://BUCKET/KEY")
	case !key.MatchString(k) || strings.HasPrefix(k, "/") || path.Clean(k) != k || strings.HasPrefix(k, "../") || k == "..":
		return Address{}, errors.New("its key has characters, segments . or .., or slashes that are not supported: copy the object to another key")
	}
	return a, nil
}

// String is the address as it is shown and recorded. It contains no credential.
func (a Address) String() string { return a.Text }

// Extension is the extension of the file, such as .yaml.
func (a Address) Extension() string { return path.Ext(a.Path) }

// Base is the last part of the path.
func (a Address) Base() string { return path.Base(a.Path) }

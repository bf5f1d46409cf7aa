package remote

import (
	"context"
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"https://example.com/a/vpc.yaml":                "https://example.com/a/vpc.yaml",
		"https://EXAMPLE.com:443/a%20b.yaml?ref=v1.2&x": "https://example.com/a%20b.yaml?ref=v1.2&x",
		"https://example.com":                           "https://example.com/",
		"s3://shop-templates/a/vpc.yaml":                "s3://shop-templates/a/vpc.yaml",
		"s3://shop-templates/vpc.yaml?versionId=a.b_c-": "s3://shop-templates/vpc.yaml?versionId=a.b_c-",

		"vpc.yaml":                                         "it is no URL",
		"http://example.com/":                              "http is not encrypted",
		"HTTPS://example.com/":                             "neither https nor s3",
		"ftp://example.com/":                               "neither https nor s3",
		"file:///etc/passwd":                               "neither https nor s3",
		"https://user:secret@example.com/":                 "a user name or a password",
		"https://user@example.com/":                        "a user name or a password",
		"https://@example.com/":                            "a user name or a password",
		"https://10.0.0.1/":                                "an IP address",
		"https://[::1]/":                                   "an IP address",
		"https://[::ffff:10.0.0.1]/":                       "an IP address",
		"https://2130706433/":                              "no full DNS name",
		"https://0x7f.1/":                                  "no full DNS name",
		"https://127.1/":                                   "no full DNS name",
		"https://localhost/":                               "no full DNS name",
		"https://example.com./":                            "no full DNS name",
		"https://exämple.com/":                             "it is no URL",
		"https:///x":                                       "no full DNS name",
		"https://example.com:8443/":                        "it has a port",
		"https://example.com:/":                            "it has a port",
		"https://example.com/#x":                           "it contains #",
		"https://example.com/a/../b":                       "segment . or ..",
		"https://example.com/a/%2e%2E/b":                   "segment . or ..",
		"https://example.com/a/..;x/b":                     "segment . or ..",
		"https://example.com/a%2fb":                        "an encoded slash",
		"https://example.com/a%5Cb":                        "an encoded slash",
		`https://example.com\@other.com/`:                  "it is no URL",
		"https://example.com/a b":                          "it is no URL",
		"https://example.com/\n":                           "it is no URL",
		"https://example.com/?token=x":                     "a credential",
		"https://example.com/?a=b&X-Amz-Signature=x":       "a credential",
		"https://example.com/?to%6ben=x":                   "a credential",
		"https://example.com/?a;b":                         "no query",
		"https://example.com/" + strings.Repeat("x", 1024): "more than 1024",
		"s3://shop-templates":                              "names no object",
		"s3://shop-templates/":                             "names no object",
		"s3://shop-templates/a/":                           "names no object",
		"s3://Shop_Templates/a":                            "no name of a bucket",
		"s3://shop-templates/../other/a":                   "not supported",
		"s3://shop-templates//a":                           "not supported",
		"s3://shop-templates/a/./b":                        "not supported",
		"s3://shop-templates/a*?x=y":                       "is not versionId=",
		"s3://shop-templates/a?versionId=":                 "is not versionId=",
		"s3://shop-templates/a?versionId=x&other=y":        "is not versionId=",
		"s3://key:secret@shop-templates/a":                 "no name of a bucket",
	} {
		a, err := Parse(text)
		switch {
		case err != nil && !strings.Contains(err.Error(), want), err == nil && a.String() != want:
			t.Errorf("%s: got %s, %v; want %s", text, a, err, want)
		case err != nil && strings.Contains(err.Error(), "secret"):
			t.Errorf("%s: the message has the password: %v", text, err)
		}
	}
}

// What is accepted is what net/url sends, names no place but the one that is written, and reads as itself.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"https://example.com/a?b=c", "s3://bucket/key?versionId=x", "https://a@b.com/", "https://example.com/%2e%2e/", "https://[::1]/", "https://example.com:443/x", `https://a.b\c`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := Parse(text)
		if err != nil {
			return
		}
		if again, err := Parse(a.String()); err != nil || again != a {
			t.Fatalf("%q is %q, which is %q, %v", text, a, again, err)
		}
		all, err := ParseAllowed("*@*=" + a.Scheme + "://" + a.Host + "/")
		if err != nil || !all.Permits("shop@prod", a) {
			t.Fatalf("%q is not below its host: %v, %v", a, all, err)
		}
		if strings.ContainsAny(a.String(), "\r\n\x00\\") {
			t.Fatalf("%q has control characters", a)
		}
		if a.Scheme == S3 {
			return
		}
		u, err := url.Parse(a.String())
		if err != nil || u.Scheme != HTTPS || u.User != nil || u.Host != a.Host || u.Fragment != "" {
			t.Fatalf("%q is sent to %v, %v", a, u, err)
		}
		if _, err := netip.ParseAddr(u.Hostname()); err == nil || !strings.Contains(u.Host, ".") {
			t.Fatalf("%q has no name", a)
		}
		if base := (&url.URL{Scheme: HTTPS, Host: a.Host, Path: "/"}); base.ResolveReference(u).EscapedPath() != u.EscapedPath() {
			t.Fatalf("%q is another path, %s", a, base.ResolveReference(u))
		}
	})
}

func TestAllowed(t *testing.T) {
	const text = "https://example.com/,shop@*=https://raw.example.com/shop/,shop@*=s3://shop-templates/,*@*=s3://shared/base/"
	all, err := ParseAllowed(" " + strings.ReplaceAll(text, ",", " , ") + ",")
	if err != nil || all.String() != text {
		t.Fatalf("%s, %v", all, err)
	}
	for at, want := range map[string]string{
		"https://example.com/x":          "shop@prod other@prod",
		"https://a.example.com/x":        "",
		"https://example.com.evil.org/x": "",
		"https://raw.example.com/shop/x": "shop@prod",
		"https://raw.example.com/shopx":  "",
		"https://raw.example.com/x":      "",
		"s3://shop-templates/x":          "shop@prod",
		"s3://shop-templates-2/x":        "",
		"s3://shared/base/x":             "shop@prod other@prod",
		"s3://shared/basement":           "",
	} {
		a, err := Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, id := range []string{"shop@prod", "other@prod"} {
			if all.Permits(id, a) {
				got = append(got, id)
			}
			if (Allowed{}).Permits(id, a) {
				t.Errorf("%s: permitted by nothing", at)
			}
			usual, err := ParseAllowed(a.Entry(id))
			if err != nil || !usual.Permits(id, a) {
				t.Errorf("%s: the entry %s does not permit it, %v", at, a.Entry(id), err)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: permitted to %v, want %s", at, got, want)
		}
	}
	for text, want := range map[string]string{
		"example.com":                          "is not https://HOST/PREFIX/",
		"https://example.com":                  "it ends with a slash",
		"https://example.com/a":                "it ends with a slash",
		"https://*.example.com/":               "is not https://",
		"https://10.0.0.1/":                    "is not https://",
		"http://example.com/":                  "is not https://",
		"https://example.com/../":              "is not https://",
		"https://example.com/?a/":              "is not https://",
		"*@*=s3://shop-templates/*/":           "is not https://",
		"https://EXAMPLE.com/":                 "is not https://",
		"s3://shop-templates/":                 "which projects may read the bucket",
		"=s3://shop-templates/":                "which projects may read the bucket",
		"shop=s3://shop-templates/":            "shop has no environment",
		"https://" + strings.Repeat("x", 1000): "more than 1000",
	} {
		if _, err := ParseAllowed(text); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// A redirects answers as a server that redirects once does.
type redirects string

func (r redirects) Get(ctx context.Context, url string, most int, permit func(string) error) ([]byte, error) {
	for _, at := range []string{url, string(r)} {
		if err := permit(at); err != nil {
			return nil, err
		}
	}
	return []byte("body"), ctx.Err()
}

// Each address to which a server redirects has to be an address, and permitted.
func TestGet(t *testing.T) {
	a, err := Parse("https://example.com/a")
	if err != nil {
		t.Fatal(err)
	}
	for to, want := range map[string]string{
		"https://example.com/b":    "",
		"https://denied.com/":      "the server redirects to https://denied.com/: not allowed",
		"http://example.com/b":     "the server redirects to another URL, and that is refused: http is not encrypted, so that others can change the answer: write https://",
		"https://169.254.169.254/": "the server redirects to another URL, and that is refused: its host is an IP address: write the name of the host",
		"s3://shop-templates/a":    "the server redirects to a URL that is not https",
	} {
		f, err := Get(t.Context(), redirects(to), a, func(to Address) error {
			if to.Host == "denied.com" {
				return errors.New("not allowed")
			}
			return nil
		})
		if err != nil || f.Wrong != want || (want == "") != (string(f.Body) == "body") {
			t.Errorf("%s: %+v, %v; want %s", to, f, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Get(ctx, redirects(a.String()), a, nil); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a request that was given up: %v", err)
	}
}

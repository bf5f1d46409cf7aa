package format

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/lib/download"
	"github.com/stackwright/stackwright/pkg/remote"
)

// An elsewhere has files that are not in projects, as an installation gets them: from a web server with TLS that is called example.com, through the
// real client, and from a bucket.
type elsewhere struct {
	*testing.T
	server  *httptest.Server
	allowed remote.Allowed
	gets    int
	version string // that the server answers with
}

func newElsewhere(t *testing.T, allowed string) *elsewhere {
	t.Helper()
	all, err := remote.ParseAllowed(allowed)
	if err != nil {
		t.Fatal(err)
	}
	return &elsewhere{T: t, allowed: all}
}

// ServeHTTP answers with what is at a path.
func (e *elsewhere) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.gets++
	switch r.URL.Path {
	case "/vpc.yaml":
		fmt.Fprintf(w, "Description: version %s\nResources:\n  Vpc: {Type: AWS::EC2::VPC}\nOutputs: {Id: {Value: !Ref Vpc}}\n", e.version)
	case "/page.yaml":
		fmt.Fprint(w, "<!DOCTYPE html>\n<html><body>Sign in</body></html>\n")
	case "/broken.yaml":
		fmt.Fprint(w, "Resources:\n  Vpc: {Type: [\n")
	case "/names-files.yaml":
		fmt.Fprint(w, "Resources:\n  F:\n    Type: AWS::Lambda::Function\n    Properties: {Code: ../src, Role: \"arn:aws:iam::111122223333:role/f\"}\n")
	case "/large.yaml":
		w.Header().Set("Content-Length", "524288000")
		block := []byte(strings.Repeat("x", 64<<10))
		for r.Context().Err() == nil {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	case "/inside.yaml":
		http.Redirect(w, r, "https://inside.example.com/vpc.yaml", http.StatusFound)
	case "/address.yaml":
		http.Redirect(w, r, "https://169.254.169.254/latest/meta-data/", http.StatusFound)
	case "/plain.yaml":
		http.Redirect(w, r, "http://example.com/vpc.yaml", http.StatusFound)
	case "/other.yaml":
		http.Redirect(w, r, "https://other.com/vpc.yaml", http.StatusFound)
	case "/escaped.yaml.j2":
		fmt.Fprint(w, "Description: {{ sceptre_user_data.text }}\nResources: {T: {Type: AWS::SNS::Topic}}\n")
	case "/includes.j2":
		fmt.Fprint(w, "{% include 'passwd' %}")
	case "/bad.json":
		fmt.Fprint(w, "{")
	case "/one.txt":
		fmt.Fprint(w, "https://example.com/two.txt")
	case "/two.txt":
		fmt.Fprint(w, "two\n")
	default:
		http.NotFound(w, r)
	}
}

// get gets files.
func (e *elsewhere) get(all []remote.Address) (map[string]remote.File, error) {
	if e.server == nil {
		e.server = httptest.NewTLSServer(e)
		e.Cleanup(e.server.Close)
	}
	roots := x509.NewCertPool()
	roots.AddCert(e.server.Certificate())
	client := download.Client{
		Roots: roots,
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			switch host {
			case "example.com":
				return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
			case "inside.example.com":
				return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
			}
			return nil, errors.New("no such host")
		},
		Dial: func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", e.server.Listener.Addr().String())
		},
	}
	const change = "ask the owner of the installation to add %s to its setting remoteFiles"
	got := map[string]remote.File{}
	for _, a := range all {
		err := e.allowed.Permit("shop@default", a, change)
		f := remote.File{}
		switch {
		case err != nil:
			f.Wrong = err.Error()
		case a.Scheme == remote.S3:
			f.Wrong = "there is no such object"
		default:
			f, err = remote.Get(e.Context(), client, a, func(to remote.Address) error { return e.allowed.Permit("shop@default", to, change) })
			if err != nil {
				return nil, err
			}
		}
		got[a.String()] = f
	}
	return got, nil
}

// A template from elsewhere is deployed as it was fetched, once for all stacks that have it. Without it, the rest of the project is read.
func TestTemplatesFromElsewhere(t *testing.T) {
	files := archive.Files{
		"stackwright.yaml": []byte("project: shop\nstacks:\n  a: {template: https://example.com/vpc.yaml}\n  b: {template: https://EXAMPLE.com:443/vpc.yaml, needs: [c]}\n  c: {template: c.yaml}\n  d: {template: c.yaml, tags: {Of: '${attr:a.parameters.Name ?? \"none\"}', To: '${a.Id}'}}\n"),
		"c.yaml":           []byte(small),
	}
	o := Options{Targets: here()}
	l, err := Read(files, o)
	if err != nil || len(l.Project.Nodes) != 2 || fmt.Sprint(l.Lacked) != "[https://example.com/vpc.yaml]" {
		t.Errorf("without it: %d stacks, lacked %v, %v", len(l.Project.Nodes), l.Lacked, err)
	}
	e := newElsewhere(t, "https://example.com/")
	e.version = "1"
	l, err = Fetch(files, o, e.get)
	if err != nil || len(l.Lacked) > 0 || e.gets != 1 {
		t.Fatalf("lacked %v, %d requests, %v", l.Lacked, e.gets, err)
	}
	a, b := l.Project.Nodes["a"], l.Project.Nodes["b"]
	want := "Description: version 1\nResources:\n  Vpc: {Type: AWS::EC2::VPC}\nOutputs: {Id: {Value: !Ref Vpc}}\n"
	if a.Template.Digest != b.Template.Digest || string(l.Templates[a.Template.Digest]) != want || l.Sources["a"] != "https://example.com/vpc.yaml" || fmt.Sprint(b.Needs) != "[c]" {
		t.Errorf("a is %+v from %s, b is %+v, the template %q", a, l.Sources["a"], b, l.Templates[a.Template.Digest])
	}
}

// What was fetched can name what is fetched next, a limited number of times.
func TestFilesThatNameFiles(t *testing.T) {
	files := archive.Files{
		"config/config.yaml": []byte("project_code: shop\nregion: us-east-1\n"), "templates/t.yaml": []byte(small),
		"config/app.yaml": []byte("template: {path: t.yaml}\nstack_tags: {A: !request {url: !request 'https://example.com/one.txt'}}\n"),
	}
	e := newElsewhere(t, "https://example.com/")
	l, err := Fetch(files, Options{Targets: here()}, e.get)
	if err != nil || l.Project.Nodes["app"].Tags["A"].String() != "two\n" || e.gets != 2 {
		t.Errorf("%v, %v, after %d requests", l.Project.Nodes["app"].Tags, err, e.gets)
	}
	deep := "https://example.com/0"
	for range 10 {
		deep = "!request {url: " + deep + "}"
	}
	files["config/app.yaml"] = []byte("template: {path: t.yaml}\nstack_tags: {A: " + deep + "}\n")
	n := 0
	_, err = Fetch(files, Options{Targets: here()}, func(all []remote.Address) (map[string]remote.File, error) {
		n++
		return map[string]remote.File{all[0].String(): {Body: fmt.Append(nil, "https://example.com/", n)}}, nil
	})
	if err == nil || err.Error() != "files that are elsewhere name other files more than 5 times: save some of them in the project" || n != 5 {
		t.Errorf("%v, after %d times", err, n)
	}
}

// A project cannot have an installation fetch without end.
func TestFetchingIsLimited(t *testing.T) {
	var many strings.Builder
	many.WriteString("project: shop\nstacks:\n")
	for i := range remote.MaxFiles + 1 {
		fmt.Fprintf(&many, "  s%d: {template: 'https://example.com/%d.yaml'}\n", i, i)
	}
	none := func([]remote.Address) (map[string]remote.File, error) {
		t.Error("it fetches")
		return nil, nil
	}
	_, err := Fetch(archive.Files{"stackwright.yaml": []byte(many.String())}, Options{Targets: here()}, none)
	if err == nil || err.Error() != "101 files are elsewhere: a project uses at most 100: save some of them in the project" {
		t.Errorf("many files: %v", err)
	}
	large := func(all []remote.Address) (map[string]remote.File, error) {
		got := map[string]remote.File{}
		for _, a := range all {
			got[a.String()] = remote.File{Body: make([]byte, remote.MaxFile)}
		}
		return got, nil
	}
	many.Reset()
	many.WriteString("project: shop\nstacks:\n")
	for i := range 11 {
		fmt.Fprintf(&many, "  s%d: {template: 'https://example.com/%d.yaml'}\n", i, i)
	}
	_, err = Fetch(archive.Files{"stackwright.yaml": []byte(many.String())}, Options{Targets: here()}, large)
	if err == nil || err.Error() != "the files that are elsewhere have more than 10 MB together: save some of them in the project" {
		t.Errorf("large files: %v", err)
	}
}

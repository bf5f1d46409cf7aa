package wire

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/remote"
	"github.com/stackwright/stackwright/pkg/run"
)

// A shelf keeps files in memory.
type shelf struct {
	mu    sync.Mutex
	files map[string]remote.File
	first map[string]remote.File // that another function keeps just before this one
	fails error
}

func (s *shelf) RemoteFile(_ context.Context, of run.Source, a remote.Address) (remote.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f, ok := s.files[of.Version+a.String()]; ok {
		return f, nil
	}
	return remote.File{}, fault.New(fault.Missing, "none")
}

func (s *shelf) KeepRemoteFile(ctx context.Context, of run.Source, a remote.Address, f remote.File) (remote.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails != nil {
		return f, s.fails
	}
	if other, ok := s.first[a.String()]; ok {
		f = other
	}
	s.files[of.Version+a.String()] = f
	return f, nil
}

// An internet has files by URL.
type internet map[string]string

func (i internet) Get(_ context.Context, url string, _ int, permit func(string) error) ([]byte, error) {
	if to, ok := strings.CutPrefix(i[url], "redirect "); ok {
		if err := permit(to); err != nil {
			return nil, err
		}
		url = to
	}
	if i[url] == "" {
		return nil, errors.New("not found")
	}
	return []byte(i[url]), nil
}

// A buckets has objects by their addresses.
type buckets map[string]string

func (b buckets) Get(_ context.Context, a remote.Address) (remote.File, error) {
	if b[a.String()] == "" {
		return remote.File{}, fault.New(fault.Throttled, "slow down")
	}
	return remote.File{Body: []byte(b[a.String()]), Version: "7"}, nil
}

const template = "Resources: { T: { Type: AWS::SNS::Topic } }\n"

// reading returns remotes for tests, and how they read a project with templates.
func reading(t *testing.T) (*remotes, func(version string, templates ...string) (format.Loaded, error)) {
	t.Helper()
	allowed, err := remote.ParseAllowed("https://example.com/,shop@*=s3://shop-templates/,other@*=s3://other-team/,*@*=s3://own/")
	if err != nil {
		t.Fatal(err)
	}
	r := &remotes{allowed: allowed, change: "add %s", kept: &shelf{files: map[string]remote.File{}}, web: internet{}, objects: buckets{}, own: "own"}
	home := project.Target{Name: project.DefaultTarget, Account: "000000000000", Region: "us-east-1"}
	return r, func(version string, templates ...string) (format.Loaded, error) {
		body := "project: shop\nstacks:\n"
		for i, name := range templates {
			body += "  s" + string(rune('a'+i)) + ": { template: '" + name + "' }\n"
		}
		return r.read(t.Context(), run.Source{Key: "projects/shop/prod.yaml", Version: version}, "shop@default", archive.Files{"stackwright.yaml": []byte(body)},
			format.Options{Targets: map[string]project.Target{home.Name: home}})
	}
}

// texts are the templates of a project.
func texts(l format.Loaded) string {
	var all []string
	for _, n := range []string{"sa", "sb"} {
		if node, ok := l.Project.Nodes[n]; ok {
			all = append(all, strings.TrimSuffix(string(l.Templates[node.Template.Digest]), template))
		}
	}
	return strings.Join(all, " ")
}

// A version of a configuration has the files that it had when it was read first, also for a project that may not fetch them any more. A newer version is fetched anew.
func TestFilesStayThoseOfTheirVersion(t *testing.T) {
	r, read := reading(t)
	const at, object = "https://example.com/a.yaml", "s3://shop-templates/b.yaml"
	r.web, r.objects = internet{at: "#1\n" + template}, buckets{object: "#2\n" + template}
	if l, err := read("1", at, object); err != nil || texts(l) != "#1\n #2\n" {
		t.Fatalf("%q, %v", texts(l), err)
	}
	r.web, r.objects = internet{at: "#3\n" + template}, buckets{object: "#4\n" + template}
	if l, err := read("1", at, object); err != nil || texts(l) != "#1\n #2\n" {
		t.Errorf("the same version: %q, %v", texts(l), err)
	}
	if l, err := read("2", at, object); err != nil || texts(l) != "#3\n #4\n" {
		t.Errorf("a newer version: %q, %v", texts(l), err)
	}
	r.allowed = nil
	if l, err := read("1", at, object); err != nil || texts(l) != "#1\n #2\n" {
		t.Errorf("the same version, which is not allowed any more: %q, %v", texts(l), err)
	}
	if kept := r.kept.(*shelf).files["1"+object]; kept.Version != "7" {
		t.Errorf("the version of the object was not kept: %+v", kept)
	}
}

// If two functions plan a version at the same time, both have the files of the one that has kept them first.
func TestFilesAreThoseThatWereKeptFirst(t *testing.T) {
	r, read := reading(t)
	const at = "https://example.com/a.yaml"
	r.web = internet{at: "#1\n" + template}
	r.kept.(*shelf).first = map[string]remote.File{at: {Body: []byte("#2\n" + template)}}
	if l, err := read("1", at); err != nil || texts(l) != "#2\n" {
		t.Errorf("%q, %v", texts(l), err)
	}
	r.kept.(*shelf).fails = fault.New(fault.Unavailable, "no")
	if _, err := read("2", at); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a file that cannot be kept: %v", err)
	}
}

// Nothing is kept of a project that is refused: a retry fetches again.
func TestNothingIsKeptOfWhatIsRefused(t *testing.T) {
	r, read := reading(t)
	const at = "https://example.com/a.yaml"
	r.web = internet{at: "<html>"}
	if _, err := read("1", at); !fault.Is(err, fault.Invalid) {
		t.Errorf("no template: %v", err)
	}
	if kept := r.kept.(*shelf).files; len(kept) > 0 {
		t.Errorf("kept %v", kept)
	}
	r.web = internet{at: template}
	if _, err := read("1", at); err != nil {
		t.Error(err)
	}
}

// A project reaches only what is listed for it, and never the bucket of the installation.
func TestFilesHaveToBeAllowed(t *testing.T) {
	r, read := reading(t)
	r.web = internet{
		"https://example.com/in.yaml": "redirect https://example.com/a.yaml", "https://example.com/a.yaml": template,
		"https://example.com/out.yaml": "redirect https://other.com/a.yaml", "https://other.com/a.yaml": template,
	}
	r.objects = buckets{"s3://other-team/a.yaml": template, "s3://own/a.yaml": template, "s3://shop-templates/a.yaml": template}
	for at, want := range map[string]string{
		"https://example.com/in.yaml":  "",
		"https://example.com/out.yaml": "the server redirects to https://other.com/a.yaml: this installation does not let project shop@default use it: add https://other.com/",
		"https://other.com/a.yaml":     "this installation does not let project shop@default use it: add https://other.com/",
		"https://example.com/no.yaml":  "not found",
		"s3://shop-templates/a.yaml":   "",
		"s3://other-team/a.yaml":       "this installation does not let project shop@default use it: add shop@default=s3://other-team/",
		"s3://own/a.yaml":              "this is the bucket of the installation, which no project may read: copy the object to another bucket",
	} {
		_, err := read("1", at)
		if want != "" && (!fault.Is(err, fault.Invalid) || err.Error() != "stackwright.yaml:3:19: stack sa: template: "+at+": "+want) || want == "" && err != nil {
			t.Errorf("%s: %v; want %s", at, err, want)
		}
	}
	if _, err := read("1", "s3://shop-templates/busy.yaml"); !fault.Is(err, fault.Throttled) {
		t.Errorf("S3 is busy: %v", err)
	}
}

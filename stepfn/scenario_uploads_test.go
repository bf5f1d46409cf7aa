package stepfn_test

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdks3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/packages"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/project"
)

// uploadedFiles are the files of a folder that hooks upload, by their path in the folder. The letter at the end of the folder's name
// decides which files it has.
func uploadedFiles(folder string) map[string]string {
	version := folder[len(folder)-1:]
	return map[string]string{"index.html": version, "only-" + version + ".txt": version, "deep/page.html": "the same"}
}

// filesOf are the files that hooks upload, by their path in the project.
func filesOf(hooks []project.Hook) archive.Files {
	files := make(archive.Files)
	for _, h := range hooks {
		folder := h.Values["upload"].String()
		if folder == "" {
			continue
		}
		for name, body := range uploadedFiles(folder) {
			files[folder+"/"+name] = []byte(body)
		}
	}
	return files
}

// withFiles returns hooks with the digests of the files that they upload, which the backend has.
func (p *memoryBackend) withFiles(hooks []project.Hook) []project.Hook {
	packager := &packages.Packager{Files: filesOf(hooks), List: &problem.List{}}
	for i, h := range hooks {
		folder := h.Values["upload"].String()
		if folder == "" {
			continue
		}
		digest, err := packager.Folder(folder, len(packager.Files))
		if err != nil {
			p.Fatal(err)
		}
		hooks[i].Files = digest
	}
	maps.Copy(p.Hooks.Zips, packager.Objects)
	return hooks
}

func (p *memoryBackend) Contents(bucket string) []string { return listed(p.Hooks.Objects[bucket]) }

// listed lists objects as key=body, sorted.
func listed(objects map[string]string) []string {
	var all []string
	for key, body := range objects {
		all = append(all, key+"="+strings.ReplaceAll(body, " ", "-"))
	}
	slices.Sort(all)
	return all
}

func (r *emulators) Contents(bucket string) []string {
	out, err := r.bucket.ListObjectsV2(r.Context(), &sdks3.ListObjectsV2Input{Bucket: &bucket})
	if err != nil {
		r.Fatal(err)
	}
	objects := make(map[string]string)
	for _, o := range out.Contents {
		one, err := r.bucket.GetObject(r.Context(), &sdks3.GetObjectInput{Bucket: &bucket, Key: o.Key})
		if err != nil {
			r.Fatal(err)
		}
		body, err := io.ReadAll(one.Body)
		if err != nil {
			r.Fatal(err)
		}
		if kind := aws.ToString(one.ContentType); strings.HasSuffix(*o.Key, ".html") && kind != "text/html; charset=utf-8" {
			r.Errorf("%s has the content type %q", *o.Key, kind)
		}
		objects[*o.Key] = string(body)
	}
	return listed(objects)
}

// contents compares what a bucket has.
func (s *scenario) contents(st statement) {
	s.expect(fmt.Sprint(s.Contents(st.args[0])), fmt.Sprint(st.args[1:]))
}

package hook

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A folder has files, and a bucket gets them.
type folder struct {
	files map[string]string
	put   []project.Object
	calls []string
	kept  []string
	left  int // how often something has to be deleted
}

func (f *folder) Zip(_ context.Context, of, digest string) ([]byte, error) {
	if of != "shop@prod" || digest != "0123" {
		return nil, fmt.Errorf("files %s of %s", digest, of)
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, body := range f.files {
		to, err := w.Create(name)
		if err == nil {
			_, err = to.Write([]byte(body))
		}
		if err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

func (f *folder) PutObjects(_ context.Context, _ project.Target, bucket string, all []project.Object) error {
	f.calls, f.put = append(f.calls, fmt.Sprint(bucket, " ", len(all))), append(f.put, all...)
	return nil
}

func (f *folder) DeleteOthers(_ context.Context, _ project.Target, bucket, prefix string, keep []string) (bool, error) {
	f.calls, f.kept = append(f.calls, fmt.Sprint("delete ", bucket, " ", prefix)), keep
	f.left--
	return f.left < 0, nil
}

// A folder is put below the prefix in parts, and only then what else is there is deleted, if the hook says so.
func TestUpload(t *testing.T) {
	f := &folder{files: map[string]string{"index.html": "<p>", "img/A.PNG": "png", "run": "x"}, left: 2}
	for i := range 47 {
		f.files[fmt.Sprintf("%02d.txt", i)] = ""
	}
	s := Services{Objects: f, Files: f, Allowed: Allowed{"shop@*=arn:aws:s3:::shop-*"}}
	c := Call{
		Type: "upload", Files: "0123", Target: project.Target{Account: "111111111111", Region: "eu-west-1"},
		Values:  map[string]string{"upload": "site", "bucket": "arn:aws:s3:::shop-site", "prefix": "www/"},
		Message: Message{Project: "shop", Environment: "prod", Moment: project.AfterUpdate},
	}
	var err error
	if c.Started, err = s.Call(t.Context(), c); err != nil || c.Started == "" {
		t.Fatal(c.Started, err)
	}
	if len(f.calls) > 0 {
		t.Errorf("the call itself does %v, and only a poll may", f.calls)
	}
	if done, err := s.Ended(t.Context(), c); err != nil || !done || !slices.Equal(f.calls, []string{"shop-site 40", "shop-site 10"}) {
		t.Errorf("%v, %v: %v", done, err, f.calls)
	}
	types := map[string]string{"www/index.html": "text/html; charset=utf-8", "www/img/A.PNG": "image/png", "www/run": "application/octet-stream"}
	for _, o := range f.put {
		if want := types[o.Key]; want != "" && o.ContentType != want {
			t.Errorf("%s has the content type %s, want %s", o.Key, o.ContentType, want)
		}
		delete(types, o.Key)
	}
	if len(types) > 0 {
		t.Errorf("not put: %v", types)
	}

	c.Values["delete"], f.calls = "true", nil
	if done, err := s.Ended(t.Context(), c); err != nil || !done || len(f.calls) != 5 || f.calls[2] != "delete shop-site www/" || len(f.kept) != 50 || !slices.IsSorted(f.kept) {
		t.Errorf("%v, %v: %v, %d kept", done, err, f.calls, len(f.kept))
	}

	s.Allowed, f.calls = nil, nil
	if _, err := s.Ended(t.Context(), c); !fault.Is(err, fault.Denied) || len(f.calls) > 0 {
		t.Errorf("what the installation no longer allows: %v, %v", err, f.calls)
	}
}

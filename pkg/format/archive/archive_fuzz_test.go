package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format/problem"
)

// Unpack reads or refuses every archive within its limits, and what it reads is the
// same when it is packed and read again. A .tar is compressed first, because
// almost every change to a .tar.gz breaks its checksum.
func FuzzArchive(f *testing.F) {
	for name, body := range archives(f) {
		f.Add(name, body)
	}
	f.Fuzz(func(t *testing.T, name string, body []byte) {
		if strings.HasSuffix(name, ".tar") {
			name, body = name+".gz", gzipped(t, body)
		}
		var files Files
		var err error
		// Of 10 MB that are unpacked, some copies are made as they grow.
		contract.Memory(t, len(body), 100<<20, 100, func() { files, err = Unpack(name, body) })
		if err != nil {
			if n := len(fault.Messages(err)); !fault.Is(err, fault.Invalid) || n > problem.MaxReported+1 {
				t.Errorf("%q, %d messages: %v", fault.KindOf(err), n, err)
			}
			return
		}
		total := 0
		for path, body := range files {
			if why := Inadmissible(path); why != "" || Hidden(path) || !fs.ValidPath(path) || !filepath.IsLocal(filepath.FromSlash(path)) {
				t.Errorf("%q %s", path, why)
			}
			total += len(body)
		}
		if total > MaxBytes || len(files) > MaxFiles {
			t.Errorf("%d files of %d bytes", len(files), total)
		}
		packed, err := Pack(files)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Unpack("again.zip", packed)
		if diff := cmp.Diff(files, again); diff != "" || err != nil {
			t.Errorf("the files changed when they were packed and unpacked (%v):\n%s", err, diff)
		}
	})
}

// archives are the seeds.
func archives(f *testing.F) map[string][]byte {
	f.Helper()
	packed, err := Pack(Files{"stackwright.yaml": []byte("project: a"), "t/a.yaml": []byte("Resources: {}")})
	if err != nil {
		f.Fatal(err)
	}
	many := make([]written, 100)
	for i := range many {
		many[i].name = fmt.Sprintf("../%d", i)
	}
	zeros := strings.Repeat("\x00", 20_000)
	all := map[string][]byte{
		"a.zip": packed, "b.ZIP": zipped(f, written{name: "stackwright.yaml", body: "project: a"}, written{name: "templates/"}, written{name: "./a.yaml", body: zeros}, written{name: ".git/x"}),
		"links.zip": zipped(f, written{name: "a.yaml", link: "/etc/passwd", mode: 0o777 | fs.ModeSymlink}, written{name: "a.yaml"}, written{name: `a\b`}, written{name: "/a"}, written{name: "a/../b"}),
		"many.zip":  zipped(f, many...), "short.zip": packed[:len(packed)-30], "none.zip": nil, "a.tgz": []byte("\x1f\x8b\x08\x00"), "a.yaml": []byte("project: a"), "a.rar": nil, "..zip": packed,
	}
	for name, entries := range map[string][]tar.Header{
		"a.tar":      {{Name: "stackwright.yaml", Size: 2}, {Name: "t/", Typeflag: tar.TypeDir, Mode: 0o755}, {Name: "./t/a.yaml", Size: 3}},
		"git.tar":    {{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": "abc"}}, {Name: "a.yaml", Size: 1}},
		"links.tar":  {{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "../b"}, {Name: "b", Typeflag: tar.TypeLink, Linkname: "c"}, {Name: "c", Typeflag: tar.TypeFifo}, {Name: "../d"}},
		"long.tar":   {{Name: strings.Repeat("x", 2000)}, {Name: strings.Repeat("a/", 500) + "b", Size: 1}},
		"sparse.tar": {{Name: "a.yaml", Size: 3, PAXRecords: map[string]string{"mtime": "1"}}},
	} {
		all[name] = gunzipped(f, tarred(f, entries...))
	}
	return all
}

func gzipped(t testing.TB, body []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err == nil {
		_, err = z.Write(body)
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func gunzipped(t testing.TB, body []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err == nil {
		_, err = out.ReadFrom(z)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

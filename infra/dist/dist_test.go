package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"
)

// The order in which the files were written, and the time, owner and permissions that they have on
// disk, are not in the archive.
func TestArchiveDependsOnItsFilesOnly(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	files := []struct {
		name, body string
		modes      []os.FileMode // in each of the two folders
	}{
		{"stackwright", "binary", []os.FileMode{0o755, 0o700}}, {"LICENSE", "text", []os.FileMode{0o644, 0o600}}, {"man/man1/page.1", "page", []os.FileMode{0o644, 0o664}},
	}
	var archives [][]byte
	for i := range 2 {
		folder := filepath.Join(t.TempDir(), "stackwright_1")
		for _, f := range files {
			path := filepath.Join(folder, f.name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(f.body), f.modes[i]); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, time.Time{}, at.Add(time.Duration(i)*time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(t.TempDir(), "stackwright.tar.gz")
		if err := archive(path, folder, at); err != nil {
			t.Fatal(err)
		}
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		archives = append(archives, body)
		slices.Reverse(files)
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Error("the same files in another order, with other times, make another archive")
	}
	var got []string
	zip, err := gzip.NewReader(bytes.NewReader(archives[0]))
	if err != nil {
		t.Fatal(err)
	}
	for all := tar.NewReader(zip); ; {
		h, err := all.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(all)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.Join([]string{h.Name, h.FileInfo().Mode().String(), h.ModTime.UTC().Format(time.RFC3339), h.Uname, string(body)}, " "))
	}
	want := []string{
		"stackwright_1/LICENSE -rw-r--r-- 2026-03-01T12:00:00Z  text",
		"stackwright_1/man/man1/page.1 -rw-r--r-- 2026-03-01T12:00:00Z  page",
		"stackwright_1/stackwright -rwxr-xr-x 2026-03-01T12:00:00Z  binary",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The bill of materials is read from a binary: this test's own.
func TestBillOfMaterials(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "sbom.cdx.json")
	if err := (release{version: "v1.2.3", date: time.Unix(0, 0).UTC()}).describe(binary, path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var bom cyclonedx.BOM
	if err := cyclonedx.NewBOMDecoder(bytes.NewReader(text), cyclonedx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	if c := bom.Metadata.Component; c.Name != "stackwright" || c.Version != "v1.2.3" || bom.Metadata.Timestamp != "1970-01-01T00:00:00Z" {
		t.Errorf("it is about %+v at %s", c, bom.Metadata.Timestamp)
	}
	listed := func(prefix string) bool {
		return slices.ContainsFunc(*bom.Components, func(c cyclonedx.Component) bool { return strings.HasPrefix(c.PackageURL, prefix) })
	}
	for _, want := range []string{"pkg:golang/std@1.", "pkg:golang/github.com/CycloneDX/cyclonedx-go@v0."} {
		if !listed(want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}

// The release has the schema that editors read in the main branch.
func TestSchemaIsReleased(t *testing.T) {
	folder := t.TempDir()
	if err := writeSchema(folder); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, file := range []string{filepath.Join(folder, "project.schema.json"), "../../docs/project.schema.json"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	if diff := cmp.Diff(texts[1], texts[0]); diff != "" {
		t.Error(diff)
	}
}

func TestChecksums(t *testing.T) {
	folder := t.TempDir()
	for name, body := range map[string]string{"b.tar.gz": "b", "a.tar.gz": "a", "p.schema.json": "c", "other.txt": "c"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := checksums(folder); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(folder, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	want := "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  a.tar.gz\n" +
		"3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d  b.tar.gz\n" +
		"2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6  p.schema.json\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

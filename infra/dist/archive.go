package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

// archive writes a folder as a gzipped tar file. Nothing in it depends on the
// machine: the files are sorted, have the same time and no owner, and may be
// executed or not.
func archive(path, folder string, at time.Time) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	zip := gzip.NewWriter(out)
	all := tar.NewWriter(zip)
	root := os.DirFS(filepath.Dir(folder))
	err = fs.WalkDir(root, filepath.Base(folder), func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		body, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(body)), Mode: 0o644, ModTime: at, Format: tar.FormatUSTAR}
		if info.Mode()&0o100 != 0 {
			header.Mode = 0o755
		}
		if err := all.WriteHeader(header); err != nil {
			return err
		}
		_, err = all.Write(body)
		return err
	})
	return errors.Join(err, all.Close(), zip.Close(), out.Close())
}

// checksums writes the SHA-256 of every archive and schema in a folder, in the format of
// sha256sum.
func checksums(folder string) error {
	archives, err := filepath.Glob(filepath.Join(folder, "*.tar.gz"))
	if err != nil {
		return err
	}
	schemas, err := filepath.Glob(filepath.Join(folder, "*.schema.json"))
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, a := range append(archives, schemas...) {
		body, err := os.ReadFile(a)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(body), filepath.Base(a))
	}
	return os.WriteFile(filepath.Join(folder, "SHA256SUMS"), []byte(b.String()), 0o644)
}

// describe writes the bill of materials of a binary: the modules that it was built
// from, with the version of Go, as CycloneDX JSON. It comes from the binary itself,
// so it lists what is in there and nothing else.
func (r release) describe(binary, path string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{
		Timestamp: r.date.Format(time.RFC3339),
		Component: &cyclonedx.Component{
			BOMRef: "stackwright", Type: cyclonedx.ComponentTypeApplication, Name: "stackwright", Version: r.version,
			PackageURL: "pkg:golang/" + info.Main.Path + "@" + r.version,
			Licenses:   &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}},
		},
	}
	parts := []cyclonedx.Component{library("std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		parts = append(parts, library(m.Path, m.Version))
	}
	bom.Components = &parts
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	err = cyclonedx.NewBOMEncoder(out, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	return errors.Join(err, out.Close())
}

// library is a module as a component.
func library(path, version string) cyclonedx.Component {
	url := "pkg:golang/" + path + "@" + version
	return cyclonedx.Component{BOMRef: url, Type: cyclonedx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: url}
}

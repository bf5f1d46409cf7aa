package main

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// archive writes files as a gzipped tar file, below the folder root. Nothing in it
// depends on the machine: the files are sorted, and all have the same time and no
// owner.
func archive(path, root string, files []file, at time.Time) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	err = compress(out, root, files, at)
	return cmp.Or(err, out.Close())
}

// compress writes the bytes of an archive.
func compress(out io.Writer, root string, files []file, at time.Time) error {
	zip := gzip.NewWriter(out)
	all := tar.NewWriter(zip)
	files = slices.SortedFunc(slices.Values(files), func(a, b file) int { return strings.Compare(a.name, b.name) })
	for _, f := range files {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: root + "/" + f.name, Size: int64(len(f.body)), Mode: int64(f.mode), ModTime: at, Format: tar.FormatUSTAR,
		}
		if err := all.WriteHeader(header); err != nil {
			return err
		}
		if _, err := all.Write(f.body); err != nil {
			return err
		}
	}
	return cmp.Or(all.Close(), zip.Close())
}

// checksums writes the SHA-256 of every archive in a folder, in the format of
// sha256sum.
func checksums(folder string) error {
	archives, err := filepath.Glob(filepath.Join(folder, "*.tar.gz"))
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, a := range archives {
		body, err := os.ReadFile(a)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(body), filepath.Base(a))
	}
	return os.WriteFile(filepath.Join(folder, "SHA256SUMS"), []byte(b.String()), 0o644)
}

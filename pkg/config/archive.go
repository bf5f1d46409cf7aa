package config

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
)

// maxStream is how many bytes of a tar are read at most, with what is left out
// of the project.
const maxStream = 4 * MaxBytes

// Archive reads a project from one object: .zip, .tar.gz, .tgz, or a project
// file by itself (.yaml, .yml). name may be a path or a key. Nothing is ever
// written; entries that lead out of the project, links, duplicates and whatever
// exceeds the limits are refused with kind fault.Invalid.
func Archive(name string, body []byte) (Files, error) {
	name = path.Base(name)
	if len(body) > MaxPacked {
		return nil, tooLarge(name, MaxPacked)
	}
	c := newCollector(name)
	var err error
	switch lower := strings.ToLower(name); {
	case strings.HasSuffix(lower, ".zip"):
		err = c.unzip(body)
	case strings.HasSuffix(lower, ".tar.gz"), strings.HasSuffix(lower, ".tgz"):
		err = c.untar(body)
	case isYAML(lower):
		err = c.add(name, bytes.NewReader(body))
	default:
		err = fault.New(fault.Invalid, "%s: not a project: a folder, a .zip, a .tar.gz, a .tgz, a .yaml or a .yml is", name)
	}
	if err != nil {
		return nil, err
	}
	return c.result()
}

// Pack writes files as a .zip that Archive reads. The same files make the same
// bytes: sorted, stored, without times. Hidden files are left out.
func Pack(files Files) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	check := newCollector("project")
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if inadmissible(name) == "" && hidden(name) {
			continue
		}
		if err := check.add(name, bytes.NewReader(files[name])); err != nil {
			return nil, err
		}
		// Not deflated: what a compressor writes differs from release to release.
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)})
		if err == nil {
			_, err = f.Write(files[name])
		}
		if err != nil {
			return nil, fault.New(fault.Broken, "pack %s: %w", name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fault.New(fault.Broken, "pack: %w", err)
	}
	if _, err := check.result(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func (c *collector) unzip(body []byte) error {
	r, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return fault.New(fault.Invalid, "%s: not a zip archive: %w", c.of, err)
	}
	if len(r.File) > MaxFiles {
		return fault.New(fault.Invalid, "%s: more than %d entries: a project has its project file and its templates, leave out what else is there", c.of, MaxFiles)
	}
	for _, f := range r.File {
		name, take := c.admit(f.Name, f.Mode())
		if !take {
			continue
		}
		if f.Flags&1 != 0 {
			c.refuse("%s is encrypted: pack it without a password", name)
			continue
		}
		body, err := f.Open()
		if err != nil {
			return fault.New(fault.Invalid, "%s: %s: %w", c.of, name, err)
		}
		err = errors.Join(c.add(name, body), body.Close())
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) untar(body []byte) error {
	unpacked, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return fault.New(fault.Invalid, "%s: not a gzip archive: %w", c.of, err)
	}
	stream := &io.LimitedReader{R: unpacked, N: maxStream}
	r := tar.NewReader(stream)
	for entries := 0; ; entries++ {
		h, err := r.Next()
		switch {
		case err == io.EOF:
			return nil
		case stream.N <= 0:
			return tooLarge(c.of, maxStream)
		case err != nil && !errors.Is(err, tar.ErrInsecurePath):
			return fault.New(fault.Invalid, "%s: not a tar archive: %w", c.of, err)
		case entries == MaxFiles:
			return fault.New(fault.Invalid, "%s: more than %d entries: a project has its project file and its templates, leave out what else is there", c.of, MaxFiles)
		case h.Typeflag == tar.TypeXGlobalHeader: // git archive writes one
			continue
		}
		mode := h.FileInfo().Mode()
		if h.Typeflag == tar.TypeLink {
			mode |= fs.ModeSymlink
		}
		if name, take := c.admit(h.Name, mode); take {
			if err := c.add(name, r); err != nil {
				return err
			}
		}
	}
}

// admit says under which name an entry is a file of the project, if it is one.
func (c *collector) admit(written string, mode fs.FileMode) (name string, take bool) {
	name = strings.TrimPrefix(written, "./") // tar czf x.tar.gz .
	folder := mode.IsDir() || strings.HasSuffix(name, "/")
	if folder {
		name = strings.TrimSuffix(name, "/")
		if name == "" || name == "." {
			return "", false
		}
	}
	if why := inadmissible(name); why != "" {
		c.refuse("%q %s", short(written), why)
		return "", false
	}
	if hidden(name) || folder {
		return "", false
	}
	if mode&fs.ModeSymlink != 0 {
		c.refuse("%s is a link: put the file itself there", name)
		return "", false
	}
	if !mode.IsRegular() {
		c.refuse("%s is not a file (%s): remove it", name, mode.Type())
		return "", false
	}
	return name, true
}

func isYAML(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

package archive

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
	"github.com/stackwright/stackwright/pkg/format/problem"
)

// maxStream is how many bytes of a tar are read at most, including entries that are
// not part of the project.
const maxStream = 4 * MaxBytes

// Unpack reads a project from one object: .zip, .tar.gz, .tgz, or a project
// file by itself (.yaml, .yml). name may be a path or a key. Unpack writes
// nothing to disk. It refuses entries that lead out of the project, links,
// duplicates and everything that exceeds the limits, with kind fault.Invalid.
func Unpack(name string, body []byte) (Files, error) {
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
	case IsYAML(lower):
		err = c.add(name, bytes.NewReader(body))
	default:
		err = fault.New(fault.Invalid, "%s is not a project: give a folder, or a file that ends in .zip, .tar.gz, .tgz, .yaml or .yml", name)
	}
	if err != nil {
		return nil, err
	}
	return c.result()
}

// Pack writes files as a .zip that Unpack reads. The same files always make the
// same bytes: sorted, not compressed, without times. Hidden files are left out.
func Pack(files Files) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	check := newCollector("project")
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if Inadmissible(name) == "" && Hidden(name) {
			continue
		}
		if err := check.add(name, bytes.NewReader(files[name])); err != nil {
			return nil, err
		}
		// Not compressed: the bytes that a compressor writes differ between releases.
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
		return fault.New(fault.Invalid, "%s: more than %d entries: a project holds its project file and its templates: leave out everything else", c.of, MaxFiles)
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
			return fault.New(fault.Invalid, "%s: more than %d entries: a project holds its project file and its templates: leave out everything else", c.of, MaxFiles)
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

// admit returns the name under which an entry is a file of the project, and
// whether it is one.
func (c *collector) admit(written string, mode fs.FileMode) (name string, take bool) {
	name = strings.TrimPrefix(written, "./") // tar czf x.tar.gz .
	folder := mode.IsDir() || strings.HasSuffix(name, "/")
	if folder {
		name = strings.TrimSuffix(name, "/")
		if name == "" || name == "." {
			return "", false
		}
	}
	if why := Inadmissible(name); why != "" {
		c.refuse("%q %s", problem.Short(written), why)
		return "", false
	}
	if Hidden(name) || folder {
		return "", false
	}
	if mode&fs.ModeSymlink != 0 {
		c.refuse("%s is a link: replace it with the file itself", name)
		return "", false
	}
	if !mode.IsRegular() {
		c.refuse("%s is not a file (%s): remove it", name, mode.Type())
		return "", false
	}
	return name, true
}

// IsYAML reports whether a name is that of a YAML file.
func IsYAML(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

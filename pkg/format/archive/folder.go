// Package archive reads the files of a project from a folder, an archive or a
// single file.
package archive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
)

// Limits of a project's files.
const (
	MaxBytes  = 10 << 20 // of all files together, unpacked
	MaxPacked = 16 << 20 // of an archive
	MaxFiles  = 20_000   // and entries of an archive
)

// Files is a project's files by slash-separated path, relative to its root.
// Files and folders whose names begin with a dot are never part of a project; see Hidden.
type Files map[string][]byte

// Paths lists the files, sorted.
func (f Files) Paths() []string { return slices.Sorted(maps.Keys(f)) }

// Open reads the project at a path: a folder (see Folder) or a file (see
// Unpack). The error is of kind fault.Invalid, fault.Missing or fault.Denied.
func Open(name string) (Files, error) {
	about, err := os.Stat(name)
	if err != nil {
		return nil, unreadable(name, err)
	}
	if about.IsDir() {
		return Folder(name)
	}
	if about.Mode().IsRegular() && about.Size() > MaxPacked {
		return nil, tooLarge(name, MaxPacked)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, unreadable(name, err)
	}
	defer f.Close()
	body, err := io.ReadAll(io.LimitReader(f, MaxPacked+1))
	if err != nil {
		return nil, unreadable(name, err)
	}
	return Unpack(filepath.Base(name), body)
}

// Folder reads a project's folder. It follows links to files inside the folder
// and refuses links to folders and links that lead out of the project.
func Folder(dir string) (Files, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, unreadable(dir, err)
	}
	defer root.Close()
	c := newCollector(dir)
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return unreadable(path.Join(dir, name), err)
		case name == ".":
			return nil
		case Hidden(name):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			return nil
		}
		return c.take(root, name, entry)
	})
	if err != nil {
		return nil, err
	}
	return c.result()
}

// take reads one file of a folder.
func (c *collector) take(root *os.Root, name string, entry fs.DirEntry) error {
	// os.Root itself refuses to follow a link out.
	about, err := root.Stat(name)
	link := entry.Type()&fs.ModeSymlink != 0
	switch {
	case link && errors.Is(err, fs.ErrNotExist):
		c.refuse("%s is a link to nothing: remove it", name)
		return nil
	case link && err != nil:
		c.refuse("%s is a link that leads out of the project: replace it with the file itself", name)
		return nil
	case err != nil:
		return unreadable(name, err)
	case link && about.IsDir():
		c.refuse("%s is a link to a folder: replace it with the files themselves", name)
		return nil
	case !about.Mode().IsRegular():
		c.refuse("%s is not a file (%s): remove it", name, about.Mode().Type())
		return nil
	}
	f, err := root.Open(name)
	if err != nil {
		return unreadable(name, err)
	}
	defer f.Close()
	return c.add(name, f)
}

// A collector collects files within the limits, and their problems.
type collector struct {
	of     string // the name of the archive or the folder
	files  Files
	left   int64 // bytes
	errors document.Errors
	more   int
}

func newCollector(of string) *collector {
	return &collector{of: of, files: Files{}, left: MaxBytes}
}

func (c *collector) refuse(format string, args ...any) {
	if len(c.errors) == problem.MaxReported {
		c.more++
		return
	}
	c.errors.Add(c.of, nil, format, args...)
}

// add reads a file. Reading ends at an error.
func (c *collector) add(name string, from io.Reader) error {
	if why := Inadmissible(name); why != "" {
		c.refuse("%q %s", problem.Short(name), why)
		return nil
	}
	if _, ok := c.files[name]; ok {
		c.refuse("%s is in it twice: remove one of them", name)
		return nil
	}
	if len(c.files) == MaxFiles {
		return fault.New(fault.Invalid, "%s: more than %d files: a project holds its project file and its templates: leave out everything else", c.of, MaxFiles)
	}
	// One byte more than allowed is enough to know.
	body, err := io.ReadAll(io.LimitReader(from, c.left+1))
	if err != nil {
		return fault.New(fault.Invalid, "%s: %s: %w", c.of, name, err)
	}
	if c.left -= int64(len(body)); c.left < 0 {
		return tooLarge(c.of, MaxBytes)
	}
	c.files[name] = body
	return nil
}

func (c *collector) result() (Files, error) {
	if c.more > 0 {
		c.errors = append(c.errors, &document.Error{Text: fmt.Sprintf("and %d more", c.more)})
	}
	if len(c.errors) > 0 {
		return nil, fault.As(fault.Invalid, c.errors)
	}
	return c.files, nil
}

// Inadmissible says why a path cannot be a file of a project; "" if it can.
func Inadmissible(name string) string {
	switch {
	case name == "" || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return "is not a file name"
	case len(name) > 1024:
		return "is longer than 1024 bytes"
	case strings.Contains(name, `\`):
		return "has a backslash: write paths with /"
	case path.IsAbs(name) || len(name) > 1 && name[1] == ':':
		return "is an absolute path: write paths relative to the project"
	case name == ".." || strings.HasPrefix(name, "../") || strings.HasSuffix(name, "/..") || strings.Contains(name, "/../"):
		return "leads out of the project"
	case path.Clean(name) != name || name == ".":
		return "is not a plain path"
	}
	return ""
}

// asset is the name of a folder in which the CDK keeps an asset, as asset. and its digest.
var asset = regexp.MustCompile(`^asset\.[0-9a-f]{64}/`)

// Hidden reports whether an admissible path or a part of it begins with a dot. The files of an asset of the CDK are
// not hidden: code may need them, and the name of its zip is the same without them.
func Hidden(name string) bool {
	if asset.MatchString(name) {
		return false
	}
	return strings.HasPrefix(name, ".") || strings.Contains(name, "/.")
}

func tooLarge(name string, most int) error {
	return fault.New(fault.Invalid, "%s: more than %d MB: a project holds its project file and its templates: leave out everything else", name, most>>20)
}

func unreadable(name string, err error) error {
	kind := fault.Unavailable
	switch {
	case errors.Is(err, fs.ErrNotExist):
		kind = fault.Missing
	case errors.Is(err, fs.ErrPermission):
		kind = fault.Denied
	}
	// Show the path once, as the caller wrote it.
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	}
	return fault.New(kind, "read %s: %w", name, err)
}

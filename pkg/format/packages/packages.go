// Package packages replaces the files and folders of a project that a template names by
// objects in S3, as aws cloudformation package does.
//
// An object is named by its project and the digest of its bytes, and a zip has the same
// bytes for the same files. So a template changes if and only if the files that it names
// change, and a role can be limited to the objects of some projects.
package packages

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/remote"
)

// MaxBytes is how many bytes the objects of a project may have together. Folders that
// contain one another are in several objects.
const MaxBytes = 32 << 20

// A Store is the bucket that holds the objects.
type Store struct{ Bucket, Region string }

// URL is the address of an object.
func (s Store) URL(key string) string {
	domain := "amazonaws.com"
	if strings.HasPrefix(s.Region, "cn-") {
		domain += ".cn"
	}
	return fmt.Sprintf("https://%s.s3.%s.%s/%s", s.Bucket, s.Region, domain, key)
}

// Key is the key of the object of a project with a digest.
func Key(project, digest string) string { return "artifacts/" + project + "/" + digest }

// A Packed is a template whose files are replaced by objects.
type Packed struct {
	Body     []byte
	Objects  []string           // the digests of the objects that it needs, also of its nested templates; sorted
	Regional []problem.Position // what Lambda, for instance, reads only in its own region
	Nested   []string           // the nested stacks whose templates follow from the project alone
}

// A Packager packages the templates of one project.
type Packager struct {
	Files   archive.Files
	Store   Store
	Project string // its name
	List    *problem.List
	Admit   func(template []byte) bool // whether another template may be read; it adds a problem if not

	Objects map[string][]byte // by digest

	paths  []string
	nested map[string]*packedTemplate // by path; nil while being packaged
	zipped map[string]string          // the digest of the zip of a file or folder
	bytes  int
	full   bool
}

// A packedTemplate is a nested template.
type packedTemplate struct {
	Packed
	digest string
	pinned bool
	parsed *template.Template
	failed bool // which was reported
}

// Template packages a template. file is its path, or that of the file that it is in; the
// paths in it are relative to the folder of file. where maps positions in body to those in
// the project. A template that names no file is not changed. If a file cannot be packaged,
// Template adds a problem, and ok is false.
func (p *Packager) Template(file string, body []byte, where func(line, column int) problem.Position) (packed Packed, ok bool) {
	packed.Body = body
	if !mayHave(body) {
		return packed, true
	}
	root, _, err := document.ReadRepeating(file, body)
	if err != nil {
		return packed, true // reading the template reports it
	}
	ok = true
	objects := map[string]bool{}
	var edits []document.Edit
	for _, u := range find(root) {
		at := where(u.value.Line, u.value.Column)
		digest, err := p.object(file, u, &packed, objects)
		if err == nil {
			var e document.Edit
			if e, err = replace(body, u.value, u.form(p.Store, Key(p.Project, digest))); err == nil {
				edits = append(edits, e)
			}
		}
		switch {
		case errors.Is(err, ErrReported):
			ok = false
		case err != nil:
			p.List.Add(at, "%s: %v", u.what(), err)
			ok = false
		case u.regional:
			packed.Regional = append(packed.Regional, at)
		}
	}
	packed.Body = document.Apply(body, edits...)
	packed.Objects = slices.Sorted(maps.Keys(objects))
	if len(packed.Body) > template.MaxBytes && len(body) <= template.MaxBytes {
		p.List.Add(where(1, 1), "with the addresses of its files, the template has %d bytes: CloudFormation reads at most %d", len(packed.Body), template.MaxBytes)
		ok = false
	}
	return packed, ok
}

// Named lists the files that a template names, and the folders, with a slash at the end.
// A path that leads to nothing is not in the list.
func Named(f archive.Files, file string) []string {
	if !mayHave(f[file]) {
		return nil
	}
	root, _, err := document.ReadRepeating(file, f[file])
	if err != nil {
		return nil
	}
	p := &Packager{Files: f, List: &problem.List{}}
	var all []string
	for _, u := range find(root) {
		name, folder, err := p.find(file, u.value.Value)
		switch {
		case err != nil:
		case folder && name == ".":
			all = append(all, "")
		case folder:
			all = append(all, name+"/")
		default:
			all = append(all, name)
		}
	}
	return all
}

// what names a use in messages.
func (u use) what() string {
	switch {
	case u.section == "Resources":
		return fmt.Sprintf("resource %s: %s", problem.Short(u.name), u.property)
	case u.section == "":
		return includeName + ": " + u.property
	}
	return u.section + " " + u.of + ": " + u.property
}

// ErrReported is returned if the problem was added to the list.
var ErrReported = errors.New("the problem was reported")

// object makes the object of a use, adds it to objects, and returns its digest.
func (p *Packager) object(file string, u use, packed *Packed, objects map[string]bool) (string, error) {
	name, folder, err := p.find(file, u.value.Value)
	switch {
	case err != nil:
		return "", err
	case folder && !u.zip:
		return "", fmt.Errorf("%s is a folder: write the path of a file", problem.Short(u.value.Value))
	case u.template:
		t, err := p.nestedTemplate(name)
		if err != nil {
			return "", err
		}
		if t.pinned {
			packed.Nested = append(packed.Nested, u.name)
		}
		packed.Regional = append(packed.Regional, t.Regional...)
		for _, o := range append(t.Objects, t.digest) {
			objects[o] = true
		}
		return t.digest, nil
	}
	body := p.Files[name]
	if u.zip && (folder || !bytes.HasPrefix(body, []byte("PK"))) {
		digest, err := p.zip(name, folder)
		objects[digest] = err == nil
		return digest, err
	}
	digest, err := p.keep(body)
	objects[digest] = err == nil
	return digest, err
}

// find returns the file or folder that a path in a template means.
func (p *Packager) find(file, written string) (name string, folder bool, err error) {
	if p.paths == nil {
		p.paths = p.Files.Paths()
	}
	short := problem.Short(written)
	if remote.IsAddress(file) {
		return "", false, fmt.Errorf("%s: the template is not in the project, so it cannot name files of the project: save it in the project, or write a URL", short)
	}
	if written == "" || path.IsAbs(written) || strings.Contains(written, `\`) {
		of := "template"
		if file == "" {
			of = "project"
		}
		return "", false, fmt.Errorf("%q: write a path with / that is relative to the %s", short, of)
	}
	name = path.Join(path.Dir(file), written)
	if name == "." {
		return name, true, nil
	}
	if why := archive.Inadmissible(name); why != "" {
		return "", false, fmt.Errorf("%s %s", short, why)
	}
	if _, ok := p.Files[name]; ok {
		return name, false, nil
	}
	switch i, _ := slices.BinarySearch(p.paths, name+"/"); {
	case i < len(p.paths) && strings.HasPrefix(p.paths[i], name+"/"):
		return name, true, nil
	case archive.Hidden(name):
		return "", false, fmt.Errorf("%s: names that begin with a dot are not part of a project: rename it", short)
	}
	return "", false, fmt.Errorf("there is no file or folder %s%s", short, p.List.Closest(name, p.paths))
}

// nestedTemplate packages the template of a nested stack, once.
func (p *Packager) nestedTemplate(name string) (*packedTemplate, error) {
	if t, ok := p.nested[name]; ok {
		switch {
		case t == nil:
			return nil, fmt.Errorf("%s is nested in itself: remove one of the nested stacks", problem.Short(name))
		case t.failed:
			return nil, ErrReported
		}
		return t, nil
	}
	if p.nested == nil {
		p.nested = map[string]*packedTemplate{}
	}
	p.nested[name] = nil
	t := &packedTemplate{failed: true}
	defer func() { p.nested[name] = t }()
	body := p.Files[name]
	if !p.Admit(body) {
		return nil, ErrReported
	}
	parsed, err := template.Parse(name, body)
	if err != nil {
		p.List.Join(name, err)
		return nil, ErrReported
	}
	packed, ok := p.Template(name, body, func(line, column int) problem.Position {
		return problem.Position{File: name, Line: line, Column: column}
	})
	if !ok {
		return nil, ErrReported
	}
	if t.digest, err = p.keep(packed.Body); err != nil {
		return nil, err
	}
	t.Packed, t.failed, t.pinned, t.parsed = packed, false, packed.Pinned(parsed), parsed
	return t, nil
}

// Nested returns the template of a nested stack that a template of a file names, and the name of its file. It is nil
// if it is not a file of the project, or cannot be read.
func (p *Packager) Nested(file, written string) (*template.Template, string) {
	name := path.Join(path.Dir(file), written)
	if t := p.nested[name]; t != nil {
		return t.parsed, name
	}
	return nil, ""
}

// Asset keeps a file, or the zip of a folder, and returns its digest.
func (p *Packager) Asset(name string, folder bool) (string, error) {
	if p.paths == nil {
		p.paths = p.Files.Paths()
	}
	if folder {
		return p.zip(name, true)
	}
	return p.keep(p.Files[name])
}

// Folder keeps the zip of a file, or of a folder with at most so many files, and returns its digest. The path is relative to the root
// of the project.
func (p *Packager) Folder(written string, most int) (string, error) {
	name, folder, err := p.find("", written)
	if err != nil {
		return "", err
	}
	if name == "." {
		return "", fmt.Errorf("%s is the whole project, with its project file: write the path of a file or a folder in it", problem.Short(written))
	}
	first, _ := slices.BinarySearch(p.paths, name+"/")
	if last, _ := slices.BinarySearch(p.paths, name+"0"); folder && last-first > most { // 0 comes after the slash
		return "", fmt.Errorf("%s has %d files: at most %d are allowed: divide it into several folders", problem.Short(written), last-first, most)
	}
	return p.zip(name, folder)
}

// Pinned reports whether the bytes of the packaged template, and the values of its
// parameters, decide what it deploys.
func (k Packed) Pinned(t *template.Template) bool {
	for _, l := range t.Loose() {
		inside := l.NestedStack != "" && slices.Contains(k.Nested, l.NestedStack)
		// what is read is a value of the node, or known to CloudFormation only: package resolve says which
		if !inside && !l.Read {
			return false
		}
	}
	return true
}

// zip keeps the zip of a file or folder, and returns its digest.
func (p *Packager) zip(name string, folder bool) (string, error) {
	if digest, ok := p.zipped[name]; ok {
		return digest, nil
	}
	within := name + "/"
	if name == "." {
		within = ""
	}
	files := map[string][]byte{path.Base(name): p.Files[name]}
	if folder {
		files = map[string][]byte{}
		for _, one := range p.paths {
			if rest, ok := strings.CutPrefix(one, within); ok {
				files[rest] = p.Files[one]
			}
		}
	}
	size := 0
	for inner, body := range files {
		size += len(body) + 2*len(inner) + 200
	}
	if p.bytes+size > MaxBytes {
		return "", p.tooLarge()
	}
	body, err := pack(files)
	if err != nil {
		return "", err
	}
	digest, err := p.keep(body)
	if err == nil {
		if p.zipped == nil {
			p.zipped = map[string]string{}
		}
		p.zipped[name] = digest
	}
	return digest, err
}

// pack makes a zip that is the same for the same files: sorted, without times, and not
// compressed, because the bytes that a compressor writes differ between releases. The mode
// of each file is 0755: an upload has no modes, and Lambda must be able to read all files
// and to execute some.
func pack(files map[string][]byte) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h := &zip.FileHeader{Name: name, Method: zip.Store, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
		h.SetMode(0o755)
		f, err := w.CreateHeader(h)
		if err == nil {
			_, err = f.Write(files[name])
		}
		if err != nil {
			return nil, fmt.Errorf("pack %s: %w", name, err)
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// keep keeps an object, and returns its digest.
func (p *Packager) keep(body []byte) (string, error) {
	sum := sha256.Sum256(body)
	digest := hex.EncodeToString(sum[:])
	if _, ok := p.Objects[digest]; ok {
		return digest, nil
	}
	if p.bytes+len(body) > MaxBytes {
		return "", p.tooLarge()
	}
	if p.Objects == nil {
		p.Objects = map[string][]byte{}
	}
	p.bytes += len(body)
	p.Objects[digest] = body
	return digest, nil
}

// tooLarge returns the error about the limit, once.
func (p *Packager) tooLarge() error {
	if p.full {
		return ErrReported
	}
	p.full = true
	return fmt.Errorf("with it, the files that templates and hooks name make objects of more than %d MB: upload the largest to S3, and write where they are", MaxBytes>>20)
}

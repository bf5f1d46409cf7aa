package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stackwright/stackwright/pkg/fault"
)

type written struct {
	name, body string
	mode       fs.FileMode
	link       string
}

func zipped(t testing.TB, entries ...written) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name}
		if len(e.body) > 1000 { // a compressor for each of many entries takes its time
			h.Method = zip.Deflate
		}
		if e.mode != 0 {
			h.SetMode(e.mode)
		}
		f, err := w.CreateHeader(h)
		if err == nil && !strings.HasSuffix(e.name, "/") {
			_, err = f.Write([]byte(e.body + e.link))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func tarred(t testing.TB, entries ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for _, h := range entries {
		if h.Mode == 0 && h.Typeflag != tar.TypeXGlobalHeader {
			h.Mode = 0o644
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, h.Size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestRefusedArchives(t *testing.T) {
	many := make([]written, MaxFiles+1)
	for i := range many {
		many[i].name = fmt.Sprintf("f%d", i)
	}
	big := strings.Repeat("0", MaxBytes+1)
	half := strings.Repeat("0", MaxBytes/2+1)
	encrypted := zipped(t, written{name: "a.yaml", body: "a"})
	encrypted[bytes.Index(encrypted, []byte("PK\x01\x02"))+8] |= 1
	damaged := zipped(t, written{name: "a.yaml", body: "some text that is long enough"})
	damaged[40] ^= 0xff
	for _, c := range []struct {
		what, name string
		body       []byte
		want       string
	}{
		{"climbing", "p.zip", zipped(t, written{name: "../evil.yaml"}, written{name: "a/../../evil"}, written{name: "a/.."}), `p.zip: "../evil.yaml" leads out of the project
p.zip: "a/../../evil" leads out of the project
p.zip: "a/.." leads out of the project`},
		{"absolute", "p.zip", zipped(t, written{name: "/etc/passwd"}, written{name: "C:/windows"}), `p.zip: "/etc/passwd" is an absolute path: write paths relative to the project
p.zip: "C:/windows" is an absolute path: write paths relative to the project`},
		{"strange names", "p.zip", zipped(t, written{name: `a\b`}, written{name: "a//b"}, written{name: "a\x00b"}, written{name: ""}), `p.zip: "a\\b" has a backslash: write paths with /
p.zip: "a//b" is not a plain path
p.zip: "a\x00b" is not a file name
p.zip: "" is not a file name`},
		{"links", "p.zip", zipped(t, written{name: "a.yaml", link: "/etc/passwd", mode: 0o777 | fs.ModeSymlink}), "p.zip: a.yaml is a link: replace it with the file itself"},
		{"devices", "p.zip", zipped(t, written{name: "a.yaml", mode: 0o777 | fs.ModeDevice}), "p.zip: a.yaml is not a file (D---------): remove it"},
		{"twice", "p.zip", zipped(t, written{name: "a.yaml"}, written{name: "a.yaml"}, written{name: "./a.yaml"}), "p.zip: a.yaml is in it twice: remove one of them\np.zip: a.yaml is in it twice: remove one of them"},
		{"many", "p.zip", zipped(t, many...), "p.zip: more than 20000 entries: a project holds its project file and its templates: leave out everything else"},
		{"a bomb", "p.zip", zipped(t, written{name: "a.yaml", body: big}), "p.zip: more than 10 MB: a project holds its project file and its templates: leave out everything else"},
		{"a bomb in pieces", "p.zip", zipped(t, written{name: "a.yaml", body: half}, written{name: "b.yaml", body: half}), "p.zip: more than 10 MB: a project holds its project file and its templates: leave out everything else"},
		{"encrypted", "p.zip", encrypted, "p.zip: a.yaml is encrypted: pack it without a password"},
		{"damaged", "p.zip", damaged, "p.zip: a.yaml: "},
		{"not a zip", "p.zip", []byte("hello"), "p.zip: not a zip archive: zip: not a valid zip file"},
		{"climbing", "p.tar.gz", tarred(t, tar.Header{Name: "../evil.yaml"}), `p.tar.gz: "../evil.yaml" leads out of the project`},
		{"links", "p.tgz", tarred(t, tar.Header{Name: "a.yaml", Typeflag: tar.TypeSymlink, Linkname: "../b"}, tar.Header{Name: "b.yaml", Typeflag: tar.TypeLink, Linkname: "c"}), "p.tgz: a.yaml is a link: replace it with the file itself\np.tgz: b.yaml is a link: replace it with the file itself"},
		{"devices", "p.tgz", tarred(t, tar.Header{Name: "a.yaml", Typeflag: tar.TypeFifo}), "p.tgz: a.yaml is not a file (p---------): remove it"},
		{"a bomb", "p.tgz", tarred(t, tar.Header{Name: "a.yaml", Size: MaxBytes + 1}), "p.tgz: more than 10 MB: a project holds its project file and its templates: leave out everything else"},
		{"a bomb in what is left out", "p.tgz", tarred(t, tar.Header{Name: ".git/pack", Size: maxStream}, tar.Header{Name: "a.yaml"}), "p.tgz: more than 40 MB: a project holds its project file and its templates: leave out everything else"},
		{"not a tar", "p.tgz", []byte("hello"), "p.tgz: not a gzip archive: unexpected EOF"},
		{"too large", "p.zip", make([]byte, MaxPacked+1), "p.zip: more than 16 MB: a project holds its project file and its templates: leave out everything else"},
		{"a long name", "p.tgz", tarred(t, tar.Header{Name: strings.Repeat("x", 900_000)}), `p.tgz: "` + strings.Repeat("x", 80) + `…" is longer than 1024 bytes`},
		{"a long name", "p.zip", zipped(t, written{name: strings.Repeat("\x7f", 60_000)}), `p.zip: "` + strings.Repeat(`\x7f`, 80) + `…" is not a file name`},
		{"something else", "projects/shop/prod.rar", nil, "prod.rar is not a project: give a folder, or a file that ends in .zip, .tar.gz, .tgz, .yaml or .yml"},
	} {
		t.Run(c.what+" "+c.name, func(t *testing.T) {
			files, err := Unpack(c.name, c.body)
			if err == nil {
				t.Fatalf("%d files were read", len(files))
			}
			if got := strings.Join(fault.Messages(err), "\n"); !strings.HasPrefix(got, c.want) || got != c.want && c.what != "damaged" {
				t.Errorf("%s\nwant\n%s", got, c.want)
			}
			if !fault.Is(err, fault.Invalid) {
				t.Errorf("the error's kind is %q, want Invalid", fault.KindOf(err))
			}
		})
	}
}

func TestAcceptedArchives(t *testing.T) {
	want := Files{"stackwright.yaml": []byte("\x00\x00"), "templates/a.yaml": []byte("\x00\x00\x00")}
	for name, body := range map[string][]byte{
		"git.tar.gz": tarred(t, tar.Header{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": "abc"}},
			tar.Header{Name: "stackwright.yaml", Size: 2}, tar.Header{Name: "templates/", Typeflag: tar.TypeDir, Mode: 0o755}, tar.Header{Name: "templates/a.yaml", Size: 3}),
		"dot.tgz": tarred(t, tar.Header{Name: "./", Typeflag: tar.TypeDir, Mode: 0o755}, tar.Header{Name: "./.git/config", Size: 1}, tar.Header{Name: "./stackwright.yaml", Size: 2},
			tar.Header{Name: "./templates/a.yaml", Size: 3}),
		"mac.ZIP": zipped(t, written{name: "stackwright.yaml", body: "\x00\x00"}, written{name: "templates/"}, written{name: "templates/a.yaml", body: "\x00\x00\x00"},
			written{name: "__MACOSX/._a.yaml", body: "x"}, written{name: "templates/.DS_Store", body: "x"}),
	} {
		files, err := Unpack(name, body)
		if diff := cmp.Diff(want, files); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	files, err := Unpack("projects/shop/prod.yaml", []byte("project: shop"))
	if diff := cmp.Diff(Files{"prod.yaml": []byte("project: shop")}, files); diff != "" || err != nil {
		t.Errorf("a single file: %v\n%s", err, diff)
	}
}

// Pack keeps all files, and the same files make the same bytes.
func TestPack(t *testing.T) {
	files := Files{"stackwright.yaml": []byte("a"), "b/c.yaml": []byte(strings.Repeat("b", 100_000)), "d": {}, ".git/config": []byte("x"), "b/.env": []byte("secret")}
	one, err := Pack(files)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		two, err := Pack(files)
		if err != nil || !bytes.Equal(one, two) {
			t.Fatalf("packed again it is different: %v", err)
		}
	}
	back, err := Unpack("p.zip", one)
	if err != nil {
		t.Fatal(err)
	}
	delete(files, ".git/config")
	delete(files, "b/.env")
	if diff := cmp.Diff(files, back); diff != "" {
		t.Errorf("unpacked it is different (- packed, + unpacked):\n%s", diff)
	}
	r, err := zip.NewReader(bytes.NewReader(one), int64(len(one)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.File {
		if !f.Modified.Equal(time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("%s bears the time %s", f.Name, f.Modified)
		}
	}
	if _, err := Pack(Files{"../evil": nil}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a file outside of the project is packed: %v", err)
	}
}

func TestFolder(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	put := func(root, name, body string) {
		t.Helper()
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link := func(to, name string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	put(outside, "secret.txt", "secret")
	put(dir, "stackwright.yaml", "project: shop")
	put(dir, "templates/a.yaml", "a")
	put(dir, ".git/config", "x")
	put(dir, "templates/.swp", "x")
	link("a.yaml", "templates/b.yaml")

	files, err := Open(dir)
	want := Files{"stackwright.yaml": []byte("project: shop"), "templates/a.yaml": []byte("a"), "templates/b.yaml": []byte("a")}
	if diff := cmp.Diff(want, files); diff != "" || err != nil {
		t.Fatalf("%v\n%s", err, diff)
	}

	link(filepath.Join(outside, "secret.txt"), "absolute.yaml")
	link("../"+filepath.Base(outside)+"/secret.txt", "climbing.yaml")
	link(outside, "folder")
	link("nowhere", "nothing.yaml")
	link("templates", "templates2")
	_, err = Open(dir)
	got := strings.ReplaceAll(strings.Join(fault.Messages(err), "\n"), dir+": ", "")
	if diff := cmp.Diff(`absolute.yaml is a link that leads out of the project: replace it with the file itself
climbing.yaml is a link that leads out of the project: replace it with the file itself
folder is a link that leads out of the project: replace it with the file itself
nothing.yaml is a link to nothing: remove it
templates2 is a link to a folder: replace it with the files themselves`, got); diff != "" {
		t.Error(diff)
	}

	if _, err := Open(filepath.Join(dir, "missing")); !fault.Is(err, fault.Missing) {
		t.Errorf("a folder that is not there: %v", err)
	}
	one := filepath.Join(dir, "stackwright.yaml")
	if files, err := Open(one); err != nil || len(files) != 1 {
		t.Errorf("a file by itself: %v, %v", files, err)
	}
	put(outside, "large.bin", strings.Repeat("0", MaxBytes+1))
	if _, err := Open(outside); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "more than 10 MB") {
		t.Errorf("a folder that is too large: %v", err)
	}
}

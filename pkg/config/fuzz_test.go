package config

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/contract"
	"github.com/stackwright/stackwright/pkg/document"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// Whatever is uploaded is read or refused, never a panic; what is read hangs
// together and is the same when it is packed, unpacked and read again, and what
// is refused says where it stands.
func FuzzRead(f *testing.F) {
	for _, pattern := range []string{"testdata/refused/*/stackwright.yaml", "testdata/accepted/*/*.y*ml"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			f.Fatalf("%s: %d files, %v", pattern, len(names), err)
		}
		for _, name := range names {
			body, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(body, []byte(small))
		}
	}
	f.Fuzz(func(t *testing.T, body, template []byte) {
		files := Files{"stackwright.yaml": body, "t.yaml": template, "any.yaml": []byte(small), "vpc.yaml": template, "app.yaml": []byte(small)}
		o := Options{Targets: here(), Installation: Installation{Stack: "stackwright", Bucket: "uploads"}}
		var l Loaded
		var err error
		contract.Memory(t, len(body)+len(template), 300<<20, 10_000, func() { l, err = Read(files, o) })
		if err != nil {
			refusedWell(t, err)
			return
		}
		hangsTogether(t, l)
		lasts(t, l)
		packed, err := Pack(files)
		if err != nil {
			t.Fatal(err)
		}
		unpacked, err := Archive("again.zip", packed)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Read(unpacked, o)
		if diff := cmp.Diff(l, again); diff != "" || err != nil {
			t.Errorf("packed and unpacked it is another project: %v\n%s", err, diff)
		}
	})
}

// refusedWell checks that an error is Invalid, of a length that a person reads
// and a table holds, and says where what is wrong stands.
func refusedWell(t *testing.T, err error) {
	t.Helper()
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("%q: %v", fault.KindOf(err), err)
	}
	all := (document.Errors)(nil)
	if n := len(fault.Messages(err)); n == 0 || n > maxErrors+1 || errors.As(err, &all) && n != len(all) {
		t.Errorf("%d messages: %v", n, err)
	}
	for _, e := range all {
		switch {
		case len(e.Text) == 0 || len(e.Text) > 20_000:
			t.Errorf("%d bytes are told", len(e.Text))
		case e.File == "" && !strings.HasPrefix(e.Text, "and ") && !strings.HasPrefix(e.Text, "there is no stackwright.yaml"):
			t.Errorf("it has no place: %s", e.Text)
		}
	}
}

// lasts checks that each node is the same when it is kept and read back, and
// what CloudFormation is told of it too.
func lasts(t *testing.T, l Loaded) {
	t.Helper()
	value := func(node, output string) (string, error) { return "<" + node + "." + output + ">", nil }
	for name, n := range l.Project.Nodes {
		text, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		var back project.Node
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(n, back); diff != "" {
			t.Errorf("%s: kept and read back it is another:\n%s", name, diff)
		}
		one, err := n.Digest()
		two, again := back.Digest()
		if one != two || err != nil || again != nil {
			t.Errorf("%s: its digest is %s, and then %s: %v, %v", name, one, two, err, again)
		}
		told, err := n.Resolve(value)
		toldAgain, again := back.Resolve(value)
		if diff := cmp.Diff(told, toldAgain); diff != "" || err != nil || again != nil {
			t.Errorf("%s: %v, %v\n%s", name, err, again, diff)
		}
	}
}

// Whatever stands where references may stand is taken apart and put together
// again, and becomes what its parts say, or is refused where it stands.
func FuzzReference(f *testing.F) {
	for _, text := range []string{
		"", "plain", "${db.Arn}", "a${db.Arn}b${db.Arn}", "$${literal}", "$$${x}", "$${${db.Arn}}", "${", "${}", "${var.size}", "${var.}", "${file:note.txt}", "${file:../x}", "${file:}",
		"${project}-${environment}", "${account}${region}", "${stack:db}", "${stack:db@default}", "${stack:@}", "${db@default.Arn}", "${db@.Arn}", "${db.}", "${.Arn}", "${own.Arn}", "${nope.Arn}",
		"${secret:prod/db#password}", "${secret:a#b:0123456789abcdef0123456789abcdef}", "${ssm:/a/b:3}", "${ssm-secure:x}", "${ssm:a:}", "${export:x}", "${external:a.B}", "${x:y}",
		"{{resolve:ssm:/a:1}}", "{{resolve:secretsmanager:a:SecretString:b}}", "${network/vpc.Id}", "${a/../b.Id}", "$", "}", "${${db.Arn}.X}", "\x00", "é${db.Arn}\u2028", strings.Repeat("${db.Arn}", 500), strings.Repeat("x", 5000),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := parts(text)
		if err != nil && len(err.Error()) > 2000 {
			t.Errorf("%d bytes are told", len(err.Error()))
		}
		if err == nil && together(all) != text {
			t.Errorf("%q is taken apart as %q", text, together(all))
		}
		quoted, mistake := json.Marshal(text)
		if mistake != nil {
			t.Fatal(mistake)
		}
		template := "Parameters:\n  P: {Type: String}\n" + small
		files := Files{"db.yaml": []byte(small), "own.yaml": []byte(template), "note.txt": []byte("note\n"), "stackwright.yaml": fmt.Appendf(nil,
			"project: fuzz\nvariables: {size: s}\nstacks:\n  db: {template: db.yaml}\n  own:\n    template: own.yaml\n    parameters:\n      P: %s\n", quoted)}
		var l Loaded
		contract.Memory(t, len(text), 16<<20, 1000, func() { l, mistake = Read(files, Options{Targets: here()}) })
		if mistake != nil {
			refusedWell(t, mistake)
			return
		}
		if err != nil {
			t.Fatalf("%q is accepted, though %v", text, err)
		}
		hangsTogether(t, l)
		lasts(t, l)
		if want, sure := meant(all, l); sure {
			got, err := l.Project.Nodes["own"].Parameters["P"].Resolve(func(node, output string) (string, error) { return "<" + node + "." + output + ">", nil })
			if err != nil || got != want {
				t.Errorf("%q becomes %q, %v; want %q", text, got, err, want)
			}
		}
	})
}

// together writes parts as they were written.
func together(all []part) string {
	var b strings.Builder
	for _, p := range all {
		if p.written != "" {
			b.WriteString(p.written)
			continue
		}
		b.WriteString(strings.ReplaceAll(p.literal, "${", "$${"))
	}
	return b.String()
}

// meant is what parts stand for, if that is sure.
func meant(all []part, l Loaded) (string, bool) {
	var b strings.Builder
	for _, p := range all {
		target := l.Project.Nodes["own"].Target
		switch {
		case p.written == "":
			b.WriteString(p.literal)
		case p.form == outputOf:
			b.WriteString("<" + p.name + "." + p.output + ">")
		case p.form == variable:
			b.WriteString("s")
		case p.form == file && p.name == "note.txt":
			b.WriteString("note")
		case p.form == ofProject:
			b.WriteString("fuzz")
		case p.form == ofEnv:
			b.WriteString("default")
		case p.form == account:
			b.WriteString(target.Account)
		case p.form == region:
			b.WriteString(target.Region)
		case p.form == stackOf:
			b.WriteString(l.Project.Nodes[p.name].Stack)
		default:
			return "", false
		}
	}
	return b.String(), true
}

// Whatever is uploaded as an archive is read or refused within its limits, and
// what is read is the same when it is packed and read again. What is called
// .tar is packed first, for no change to a .tar.gz would get past its checksum.
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
		contract.Memory(t, len(body), 100<<20, 100, func() { files, err = Archive(name, body) })
		if err != nil {
			refusedWell(t, err)
			return
		}
		total := 0
		for path, body := range files {
			if why := inadmissible(path); why != "" || hidden(path) || !fs.ValidPath(path) || !filepath.IsLocal(filepath.FromSlash(path)) {
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
		again, err := Archive("again.zip", packed)
		if diff := cmp.Diff(files, again); diff != "" || err != nil {
			t.Errorf("packed and unpacked it is another (%v):\n%s", err, diff)
		}
	})
}

// archives are some to begin with.
func archives(f *testing.F) map[string][]byte {
	f.Helper()
	packed, err := Pack(Files{"stackwright.yaml": []byte("project: a"), "t/a.yaml": []byte(small)})
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

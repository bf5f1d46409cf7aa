package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
)

// Whatever is uploaded is read or refused, never a panic; and what is read
// hangs together.
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
		l, err := Read(files, Options{Targets: here()})
		if err == nil {
			hangsTogether(t, l)
			return
		}
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", fault.KindOf(err), err)
		}
		if n := len(fault.Messages(err)); n == 0 || n > maxErrors+1 {
			t.Errorf("%d messages: %v", n, err)
		}
	})
}

// Whatever is uploaded as an archive is read or refused within its limits.
func FuzzArchive(f *testing.F) {
	packed, err := Pack(Files{"stackwright.yaml": []byte("project: a"), "t/a.yaml": []byte(small)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("a.zip", packed)
	f.Add("a.tgz", []byte("\x1f\x8b\x08\x00"))
	f.Add("a.yaml", []byte("project: a"))
	f.Fuzz(func(t *testing.T, name string, body []byte) {
		files, err := Archive(name, body)
		if err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Errorf("%q: %v", fault.KindOf(err), err)
			}
			return
		}
		total := 0
		for path, body := range files {
			if why := inadmissible(path); why != "" {
				t.Errorf("%q %s", path, why)
			}
			total += len(body)
		}
		if total > MaxBytes || len(files) > MaxFiles {
			t.Errorf("%d files of %d bytes", len(files), total)
		}
	})
}

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// A file is one file of an archive.
type file struct {
	name string // its path in the archive, with slashes
	body []byte
	mode fs.FileMode
}

// shells are the shells that have completions, with the name of the file that each
// expects.
var shells = []struct{ name, file string }{
	{"bash", "stackwright.bash"}, {"zsh", "_stackwright"}, {"fish", "stackwright.fish"},
}

// generated returns the files that are the same on every platform: the completions
// and man pages, which the command writes itself, and the texts of the project.
func (r release) generated(work string) ([]file, error) {
	host := filepath.Join(work, "host")
	if err := r.build(platform{runtime.GOOS, runtime.GOARCH}, host); err != nil {
		return nil, err
	}
	var files []file
	for _, s := range shells {
		var out bytes.Buffer
		cmd := exec.Command(host, "completion", s.name)
		cmd.Stdout, cmd.Stderr = &out, os.Stderr
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("completion for %s: %w", s.name, err)
		}
		files = append(files, file{"completions/" + s.file, out.Bytes(), 0o644})
	}
	man := filepath.Join(work, "man")
	cmd := exec.Command(host, "man", man)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("man pages: %w", err)
	}
	pages, err := filepath.Glob(filepath.Join(man, "*.1"))
	if err != nil {
		return nil, err
	}
	if len(pages) == 0 {
		return nil, fmt.Errorf("man pages: %s man wrote none", host)
	}
	for _, page := range pages {
		if files, err = add(files, "man/man1/"+filepath.Base(page), page); err != nil {
			return nil, err
		}
	}
	for _, text := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		if files, err = add(files, text, text); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// files returns the files of a platform's archive: the shared ones, the command and
// its bill of materials.
func (r release) files(p platform, work string, shared []file) ([]file, error) {
	binary := filepath.Join(work, p.os+"_"+p.arch)
	if err := r.build(p, binary); err != nil {
		return nil, err
	}
	body, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	bom, err := r.billOfMaterials(binary)
	if err != nil {
		return nil, fmt.Errorf("bill of materials: %w", err)
	}
	return append(shared[:len(shared):len(shared)], file{"stackwright", body, 0o755}, file{"sbom.cdx.json", bom, 0o644}), nil
}

// add appends a file of the disk to files.
func add(files []file, name, path string) ([]file, error) {
	body, err := os.ReadFile(path)
	return append(files, file{name, body, 0o644}), err
}

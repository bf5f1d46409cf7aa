package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/infra/local/host"
)

// exampleOf returns the only block of a language in docs/api.md.
func exampleOf(t *testing.T, language string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```").FindAllStringSubmatch(string(page), -1)
	if len(found) != 1 {
		t.Fatalf("docs/api.md has %d blocks of %s", len(found), language)
	}
	return found[0][1]
}

// The examples of docs/api.md, in curl and in Go, deploy examples/shop.
func TestExamplesOfAPI(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		needs []string
		run   func(t *testing.T, address string) *exec.Cmd
	}{
		"curl": {[]string{"curl", "jq", "zip"}, func(t *testing.T, address string) *exec.Cmd {
			work := t.TempDir()
			if err := os.CopyFS(filepath.Join(work, "examples/shop"), os.DirFS("../../examples/shop")); err != nil {
				t.Fatal(err)
			}
			c := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", strings.ReplaceAll(exampleOf(t, "sh"), "http://127.0.0.1:4567", address))
			c.Dir = work
			return c
		}},
		"go": {[]string{"go"}, func(t *testing.T, address string) *exec.Cmd {
			if err := os.MkdirAll("../../build", 0o755); err != nil {
				t.Fatal(err)
			}
			work, err := os.MkdirTemp("../../build", "example")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := os.RemoveAll(work); err != nil {
					t.Error(err)
				}
			})
			if err := os.WriteFile(filepath.Join(work, "main.go"), []byte(strings.ReplaceAll(exampleOf(t, "go"), "http://127.0.0.1:4567", address)), 0o600); err != nil {
				t.Fatal(err)
			}
			c := exec.CommandContext(t.Context(), "go", "run", "./build/"+filepath.Base(work))
			c.Dir = "../.."
			return c
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, command := range c.needs {
				if _, err := exec.LookPath(command); err != nil {
					t.Skipf("there is no %s", command)
				}
			}
			l := newLaptop(t)
			how := l.hosting(0.05)
			how.Console = "127.0.0.1:0"
			h, err := host.Open(context.Background(), how)
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			out, err := c.run(t, strings.TrimSuffix(h.Page(), "/")).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			l.has(string(out), "succeeded", "data/db/create")
		})
	}
}

// Package page holds the files of the page, with which people see runs and plans in a browser. It loads nothing from elsewhere.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

//go:embed static
var static embed.FS

// kinds are the media types of the files, by the ends of their names.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	".json": "application/json",
}

// A SignIn says how the API gets to know who uses the page. The zero value is that of a laptop, where nobody signs in.
type SignIn struct {
	By string `json:"by"` // how: "", or ByAddress
}

// ByAddress is signing in with the code in the address at which the page is opened.
const ByAddress = "address"

// A Page is the page of one installation.
type Page struct {
	SignIn SignIn
}

// signInFile has the SignIn, for the scripts of the page.
const signInFile = "sign-in.json"

// policy is the content security policy: scripts, styles and requests only of the origin that serves the page, and nothing inline.
// https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Content-Security-Policy
const policy = "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Folder is where all files but the first one are, as a path of a URL.
const Folder = "/page/"

// A File is a file of the page, with the headers of the answer that contains it.
type File struct {
	Content []byte
	Headers map[string]string
}

// Open returns the file at the path of a URL: "/" is the page itself. It reports false if there is none.
func (p Page) Open(at string) (File, bool) {
	name := "index.html"
	if at != "/" {
		rest, inside := strings.CutPrefix(at, Folder)
		if !inside {
			return File{}, false
		}
		name = rest
	}
	content, err := p.read(name)
	kind, known := kinds[path.Ext(name)]
	if err != nil || !known {
		return File{}, false
	}
	return File{content, map[string]string{
		"Content-Type": kind, "Content-Security-Policy": policy, "Etag": fmt.Sprintf(`"%x"`, sha256.Sum256(content)), "Cache-Control": "no-cache",
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
	}}, true
}

// read returns the content of a file.
func (p Page) read(name string) ([]byte, error) {
	if name == signInFile {
		return json.Marshal(p.SignIn)
	}
	return fs.ReadFile(static, "static/"+name)
}

// Or serves the files of the page, and leaves all other requests to another handler.
func (p Page) Or(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := p.Open(r.URL.Path)
		if !ok || r.Method != http.MethodGet && r.Method != http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		for name, value := range f.Headers {
			w.Header().Set(name, value)
		}
		if r.Header.Get("If-None-Match") == f.Headers["Etag"] {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		if r.Method == http.MethodGet {
			_, _ = w.Write(f.Content) // the browser is gone if this fails
		}
	})
}

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
	"slices"
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
	By string `json:"by"` // how: "", ByAddress or ByIssuer

	// With an issuer of tokens: its name, the public client ID of the page, where people sign in and out there, and where the page
	// gets tokens. Problem says why there is no way to sign in.
	Issuer    string `json:"issuer,omitempty"`
	Client    string `json:"client,omitempty"`
	Authorize string `json:"authorize,omitempty"`
	Token     string `json:"token,omitempty"`
	End       string `json:"end,omitempty"` // empty if the issuer has none
	Problem   string `json:"problem,omitempty"`
}

// The ways to sign in: with the code in the address at which the page is opened, and with a token of an issuer of OpenID Connect.
const (
	ByAddress = "address"
	ByIssuer  = "issuer"
)

// A Page is the page of one installation.
type Page struct {
	SignIn SignIn
}

// signInFile has the SignIn, for the scripts of the page.
const signInFile = "sign-in.json"

// policy is the content security policy: scripts, styles and requests only of the origin that serves the page, and nothing inline. Only
// to the issuer of tokens does the page send a request, too: the one for a token.
// https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Content-Security-Policy
func (p Page) policy() string {
	return "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self'; connect-src " +
		strings.TrimSpace("'self' "+p.SignIn.Token) + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// Folder is where all files but the first one are, as a path of a URL.
const Folder = "/page/"

// Routes are the keys of the routes of the page, as API Gateway writes them, sorted. They need no authorizer: the files have no data.
func Routes() []string { return []string{"GET /", "GET " + Folder + "{file+}"} }

// NeedsSignIn reports whether the file at the path of a URL depends on the SignIn.
func NeedsSignIn(at string) bool { return at == "/" || at == Folder+signInFile }

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
	policy := p.policy()
	return File{content, map[string]string{
		"Content-Type": kind, "Content-Security-Policy": policy, "Etag": fmt.Sprintf(`"%x"`, sha256.Sum256(slices.Concat(content, []byte(policy)))), "Cache-Control": "no-cache",
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

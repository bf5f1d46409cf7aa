package page

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"
)

// files returns the files that browsers may get.
func files(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(static, "static", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && kinds[path.Ext(name)] != "" {
			text, err := fs.ReadFile(static, name)
			all[strings.TrimPrefix(name, "static/")] = string(text)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Over a telephone line, too, the page is there at once.
func TestPageIsSmall(t *testing.T) {
	const most = 350 << 10
	var all bytes.Buffer
	z := gzip.NewWriter(&all)
	for _, text := range files(t) {
		if _, err := z.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil || all.Len() > most {
		t.Errorf("the page has %d bytes, compressed: at most %d are allowed (%v)", all.Len(), most, err)
	}
}

var (
	imports = regexp.MustCompile(`(?:\bfrom ?|^import ?|new URL\()(?:'([^']+)'|"([^"]+)")`)
	links   = regexp.MustCompile(`(?:src|href)="([^"]+)"`)
	// The one address outside, which a person may open, is the console of AWS; namespaces are names.
	outside = regexp.MustCompile("https?://[^'\"`\\s)]*")
)

// Each file that a file names exists, and none is elsewhere.
func TestFilesAreComplete(t *testing.T) {
	all := files(t)
	for name, text := range all {
		if !strings.HasPrefix(name, "lib/") {
			for _, url := range outside.FindAllString(text, -1) {
				if url != "http://www.w3.org/2000/svg" && !strings.HasPrefix(url, "https://openid.net/specs/") && !strings.HasPrefix(url, "https://www.rfc-editor.org/") && !strings.HasPrefix(url, "https://${region}.console.aws.amazon.com/") {
					t.Errorf("%s names %s", name, url)
				}
			}
		}
		for _, m := range imports.FindAllStringSubmatch(text, -1) {
			if of := m[1] + m[2]; !strings.HasPrefix(of, ".") || all[path.Join(path.Dir(name), of)] == "" {
				t.Errorf("%s imports %s, which does not exist", name, of)
			}
		}
		if strings.HasSuffix(name, ".html") {
			for _, m := range links.FindAllStringSubmatch(text, -1) {
				if _, ok := (Page{}).Open(m[1]); !ok {
					t.Errorf("%s names %s, which does not exist", name, m[1])
				}
			}
			if strings.Contains(text, "<style") || regexp.MustCompile(`<script[^>]*>[^<]`).MatchString(text) {
				t.Errorf("%s has a script or a style inline, which the policy refuses", name)
			}
		}
		for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "dangerouslySetInnerHTML"} {
			if strings.Contains(text, word) && !strings.HasPrefix(name, "lib/") {
				t.Errorf("%s uses %s: names and reasons of people would be markup", name, word)
			}
		}
	}
}

func TestServe(t *testing.T) {
	served := Page{}.Or(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	for _, c := range []struct {
		method, path string
		want         int
	}{
		{"GET", "/", 200}, {"HEAD", "/", 200}, {"GET", "/page/main.js", 200}, {"GET", "/page/lib/preact.js", 200},
		{"GET", "/page/sign-in.json", 200}, {"GET", "/page/", 418}, {"GET", "/page/index.htm", 418}, {"GET", "/page/../page.go", 418}, {"GET", "/page/lib/preact.LICENSE", 418},
		{"GET", "/projects", 418}, {"POST", "/", 418}, {"GET", "/page/lib", 418},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(c.method, "/", nil)
		r.URL.Path = c.path
		served.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s %s: %d, want %d", c.method, c.path, w.Code, c.want)
		}
		if c.want == 200 && (w.Header().Get("Content-Security-Policy") != (Page{}).policy() || w.Header().Get("X-Content-Type-Options") != "nosniff") {
			t.Errorf("%s %s: %v", c.method, c.path, w.Header())
		}
	}
	r := httptest.NewRequest("GET", "/page/main.js", nil)
	f, _ := Page{}.Open("/page/main.js")
	r.Header.Set("If-None-Match", f.Headers["Etag"])
	w := httptest.NewRecorder()
	served.ServeHTTP(w, r)
	if w.Code != http.StatusNotModified || w.Body.Len() > 0 {
		t.Errorf("a file that the browser has: %d", w.Code)
	}
}

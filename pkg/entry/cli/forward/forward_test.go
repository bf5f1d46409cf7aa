package forward_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/stackwright/stackwright/pkg/client"
	"github.com/stackwright/stackwright/pkg/entry/api"
	"github.com/stackwright/stackwright/pkg/entry/cli/forward"
)

// own is the address of the page in these tests.
const own = "127.0.0.1:4567"

var keys = aws.Credentials{AccessKeyID: "AKID", SecretAccessKey: "the-secret", SessionToken: "the-session"}

// A place is an installation's API at an end of a network, and a proxy to it.
type place struct {
	*testing.T
	proxy *forward.Proxy
	got   []*http.Request // what the API has received
	reply http.HandlerFunc
}

// RoundTrip is http.RoundTripper.
func (p *place) RoundTrip(r *http.Request) (*http.Response, error) {
	p.got = append(p.got, r)
	w := httptest.NewRecorder()
	p.reply(w, r)
	return w.Result(), nil
}

// newPlace returns a proxy to an API that answers everything alike.
func newPlace(t *testing.T, token string) *place {
	t.Helper()
	p := &place{T: t, reply: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Set-Cookie", "from=api")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Etag", `W/"1"`)
		_, _ = io.WriteString(w, `{"projects":[]}`)
	}}
	o := client.Options{URL: "https://abc.execute-api.eu-west-1.amazonaws.com/", Token: token, Transport: p}
	if token == "" {
		o.Credentials = credentials.StaticCredentialsProvider{Value: keys}
	}
	c, err := client.New(o)
	if err != nil {
		t.Fatal(err)
	}
	p.proxy = forward.New(c)
	return p
}

// ask sends a request to the proxy. A header is "Name: value"; "Host" is that of the request.
func (p *place) ask(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	p.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = own
	for _, one := range headers {
		name, value, _ := strings.Cut(one, ": ")
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	w := httptest.NewRecorder()
	p.proxy.ServeHTTP(w, r)
	return w
}

// open opens the page as a browser does, and returns the header that its requests then have.
func (p *place) open() string {
	p.Helper()
	_, code, _ := strings.Cut(p.proxy.Address("http://"+own), "#code=")
	w := p.ask("POST", "/page/key", `{"code":"`+code+`"}`)
	var said struct{ Key string }
	if err := json.Unmarshal(w.Body.Bytes(), &said); err != nil || w.Code != http.StatusOK || said.Key == "" {
		p.Fatalf("the code is answered %d %s (%v)", w.Code, w.Body, err)
	}
	return forward.KeyHeader + ": " + said.Key
}

// Only the browser that has opened the address is answered, for its own page; no other site, host or browser.
func TestWhoIsAnswered(t *testing.T) {
	p := newPlace(t, "")
	key := p.open()
	for _, c := range []struct {
		name    string
		headers []string
		want    int
	}{
		{"the page", []string{key, "Origin: http://" + own, "Sec-Fetch-Site: same-origin"}, http.StatusOK},
		{"a program that has the key", []string{key}, http.StatusOK},
		{"without the key", []string{"Origin: http://" + own, "Sec-Fetch-Site: same-origin"}, http.StatusUnauthorized},
		{"with another key", []string{forward.KeyHeader + ": x"}, http.StatusUnauthorized},
		{"with an empty key", []string{forward.KeyHeader + ": "}, http.StatusUnauthorized},
		{"with the key as a cookie", []string{"Cookie: " + strings.Replace(key, ": ", "=", 1)}, http.StatusUnauthorized},
		{"another site", []string{key, "Origin: https://evil.example", "Sec-Fetch-Site: cross-site"}, http.StatusForbidden},
		{"another server of this machine", []string{key, "Origin: http://127.0.0.1:8080", "Sec-Fetch-Site: same-site"}, http.StatusForbidden},
		{"another host", []string{key, "Host: evil.example:4567"}, http.StatusForbidden},
		{"another host that calls itself the page", []string{key, "Host: evil.example:4567", "Origin: http://evil.example:4567", "Sec-Fetch-Site: same-origin"}, http.StatusForbidden},
	} {
		for _, to := range []string{"GET /projects", "POST /projects/shop/prod/runs"} {
			p.got = nil
			method, path, _ := strings.Cut(to, " ")
			w := p.ask(method, path, "{}", c.headers...)
			if w.Code != c.want || (len(p.got) > 0) != (c.want == http.StatusOK) {
				t.Errorf("%s: %s: %d %s, and the API got %d requests", c.name, to, w.Code, w.Body, len(p.got))
			}
		}
	}
}

// The address opens the page once. Nobody gets a key for another code, or from another site.
func TestAddressIsUsedOnce(t *testing.T) {
	p := newPlace(t, "")
	_, code, _ := strings.Cut(p.proxy.Address("http://"+own), "#code=")
	body := `{"code":"` + code + `"}`
	for name, c := range map[string]struct {
		body    string
		headers []string
		want    int
	}{
		"a wrong code":      {`{"code":"x"}`, nil, http.StatusUnauthorized},
		"no code":           {`{}`, nil, http.StatusUnauthorized},
		"an empty code":     {`{"code":""}`, nil, http.StatusUnauthorized},
		"no JSON":           {`x`, nil, http.StatusBadRequest},
		"a long body":       {`{"code":"` + strings.Repeat("x", 2000) + `"}`, nil, http.StatusBadRequest},
		"from another site": {body, []string{"Origin: https://evil.example"}, http.StatusForbidden},
		"at another host":   {body, []string{"Host: evil.example:4567"}, http.StatusForbidden},
	} {
		if w := p.ask("POST", "/page/key", c.body, c.headers...); w.Code != c.want || strings.Contains(w.Body.String(), `"key"`) {
			t.Errorf("%s: %d %s, want %d", name, w.Code, w.Body, c.want)
		}
	}
	p.open()
	w := p.ask("POST", "/page/key", body)
	if w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), "this address was opened before") {
		t.Errorf("the second time: %d %s", w.Code, w.Body)
	}
	if w := p.ask("POST", "/page/key", `{"code":""}`); w.Code != http.StatusUnauthorized {
		t.Errorf("an empty code, after the code was used: %d", w.Code)
	}
}

// A request goes to the API with the signature of the person, of which the browser sees nothing.
func TestRequestsAreSigned(t *testing.T) {
	p := newPlace(t, "")
	const body, path = `{"reason":"x"}`, "/projects/a%20b/prod/runs/r/cancel?x=1"
	w := p.ask("POST", path, body, p.open(), "Content-Type: application/json", "Idempotency-Key: k", "Authorization: Bearer mine", "Cookie: a=b")
	if w.Code != http.StatusOK || w.Body.String() != `{"projects":[]}` || len(p.got) != 1 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	r := p.got[0]
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := http.NewRequest("POST", "https://abc.execute-api.eu-west-1.amazonaws.com"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	again.Header.Set("Content-Type", "application/json")
	again.Header.Set("Idempotency-Key", "k")
	sum := sha256.Sum256([]byte(body))
	if err := v4.NewSigner().SignHTTP(t.Context(), keys, again, hex.EncodeToString(sum[:]), "execute-api", "eu-west-1", at); err != nil {
		t.Fatal(err)
	}
	if got, want := r.Header.Get("Authorization"), again.Header.Get("Authorization"); got != want || r.URL.String() != again.URL.String() {
		t.Errorf("%s is signed %s, want %s of %s", r.URL, got, want, again.URL)
	}
	if r.Header.Get("Cookie") != "" || r.Header.Get(forward.KeyHeader) != "" {
		t.Errorf("the API gets %v", r.Header)
	}
	if h := w.Header(); h.Get("Etag") == "" || h.Get("Set-Cookie") != "" || h.Get("Access-Control-Allow-Origin") != "" || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("the browser gets %v", h)
	}
	p = newPlace(t, "the-token")
	if w := p.ask("GET", "/projects", "", p.open()); w.Code != http.StatusOK || p.got[0].Header.Get("Authorization") != "Bearer the-token" {
		t.Errorf("with a token: %d %s", w.Code, w.Body)
	}
}

// Each route of the API is forwarded, and nothing else.
func TestOnlyRoutesAreForwarded(t *testing.T) {
	p := newPlace(t, "")
	key := p.open()
	for _, route := range api.Routes() {
		method, path, _ := strings.Cut(route, " ")
		p.got = nil
		if w := p.ask(method, strings.NewReplacer("{", "", "}", "").Replace(path), "", key); w.Code != http.StatusOK || len(p.got) != 1 {
			t.Errorf("%s: %d", route, w.Code)
		}
	}
	p.got = nil
	for _, other := range []string{"GET /nothing", "DELETE /projects", "POST /projects", "GET /prod/projects", "GET /page/other.js", "PUT /page/key", "GET //projects", "GET /projects/../targets", "CONNECT /projects"} {
		method, path, _ := strings.Cut(other, " ")
		if w := p.ask(method, path, "", key); w.Code < 300 {
			t.Errorf("%s: %d %s", other, w.Code, w.Body)
		}
	}
	if len(p.got) > 0 {
		t.Errorf("the API got %v", p.got)
	}
}

// What is wrong at the API is a problem document that says what to do, or the API's own.
func TestProblems(t *testing.T) {
	for name, c := range map[string]struct {
		status      int
		media, body string
		want        int
		says        string
	}{
		"of the API":      {409, "application/problem+json", `{"kind":"Refused","detail":"the run has ended"}`, 409, "the run has ended"},
		"unchanged":       {304, "", "", 304, ""},
		"IAM denies":      {403, "application/json", `{"message":"Forbidden"}`, 403, "execute-api:Invoke"},
		"unavailable":     {503, "application/json", `{"message":"Service Unavailable"}`, 503, "answered 503"},
		"a proxy":         {502, "text/html", "<script>", 503, "answered 502"},
		"a website":       {404, "text/html", "<script>", 502, "there is no API of Stackwright"},
		"too many":        {429, "application/json", `{"message":"Too Many Requests"}`, 429, "too many requests"},
		"another version": {404, "application/json", `{"message":"Not Found"}`, 502, "another version"},
	} {
		p := newPlace(t, "")
		p.reply = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", c.media)
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}
		w := p.ask("GET", "/projects", "", p.open())
		if w.Code != c.want || !strings.Contains(w.Body.String(), c.says) || c.status >= 400 && w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %v %s", name, w.Code, w.Header(), w.Body)
		}
	}
}

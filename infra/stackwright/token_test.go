package main

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/infra/local/api"
	"github.com/stackwright/stackwright/infra/local/host"
	"github.com/stackwright/stackwright/pkg/access"
	routes "github.com/stackwright/stackwright/pkg/entry/api"
)

// A claims is what a token says.
type claims map[string]any

// signed is a token that a key signs.
func (c claims) signed(t *testing.T, key *rsa.PrivateKey) string {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	body := encoded([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + encoded(text)
	sum := sha256.Sum256([]byte(body))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return body + "." + encoded(signature)
}

func encoded(text []byte) string { return base64.RawURLEncoding.EncodeToString(text) }

// The deployed binary accepts a token only if the issuer has signed it for this audience, it is valid now, and the access
// file grants something to its claims.
func TestTokensWithBinaries(t *testing.T) {
	l := newLaptop(t)
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	how := l.hosting(0.01)
	how.Functions = "binaries"
	h, err := host.Open(t.Context(), how)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	// API Gateway accepts the tokens of all tenants of the issuer, for two audiences; the access file tells them apart.
	o := api.Options{Account: "000000000000", Region: "us-east-1", Invoke: h.Cloud.Invoke, Tokens: &api.Tokens{Issuer: "https://issuer.example", Audience: []string{"stackwright", "wiki"}, Key: &key.PublicKey}}
	for _, r := range routes.Routes() {
		o.Routes = append(o.Routes, api.Route{Key: r, Function: "api"})
	}
	gateway, err := api.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, path, token string) (int, string) {
		r := httptest.NewRequest(method, path, strings.NewReader(`{"operation":"refresh"}`))
		r.Header.Set("Content-Type", "application/json")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		gateway.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	ann := func(more claims) claims {
		all := claims{"iss": "https://issuer.example", "aud": "stackwright", "sub": "ann", "tenant": "ours", "groups": []string{"shop", "web"}, "exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Add(-time.Minute).Unix()}
		for name, value := range more {
			if all[name] = value; value == nil {
				delete(all, name)
			}
		}
		return all
	}
	const path, reads = "/projects/pair/prod/runs", "/projects/pair/prod/access"
	if status, text := ask("GET", reads, ann(nil).signed(t, key)); status != http.StatusForbidden || text != notAllowed {
		t.Errorf("without an access file, a token gets %d %s", status, text)
	}
	file := `grants:
  - projects: "*@*"
    role: admin
    to: [arn: arn:aws:iam::000000000000:root]
  - projects: pair@prod
    role: reader
    to: [token: {iss: https://issuer.example, aud: stackwright, tenant: ours, groups: [shop]}]
`
	if _, err := objects(h).Put(t.Context(), access.Key, []byte(file)); err != nil {
		t.Fatal(err)
	}
	forged := strings.Split(ann(nil).signed(t, key), ".")
	text, err := json.Marshal(ann(claims{"sub": "boss"}))
	if err != nil {
		t.Fatal(err)
	}
	none := encoded([]byte(`{"alg":"none"}`)) + "." + encoded(text) + "."
	for _, c := range []struct {
		name, method, path, token string
		want                      int
	}{
		{"a reader reads", "GET", reads, ann(nil).signed(t, key), http.StatusOK},
		{"for a list of audiences", "GET", reads, ann(claims{"aud": []string{"wiki", "stackwright"}}).signed(t, key), http.StatusOK},
		{"for a client", "GET", reads, ann(claims{"aud": nil, "client_id": "stackwright"}).signed(t, key), http.StatusOK},
		{"a reader starts", "POST", path, ann(nil).signed(t, key), http.StatusForbidden},
		{"of another project", "GET", "/projects/other/prod/runs", ann(nil).signed(t, key), http.StatusForbidden},
		{"of another environment", "GET", "/projects/pair/test/runs", ann(nil).signed(t, key), http.StatusForbidden},
		{"of another audience that API Gateway accepts", "GET", reads, ann(claims{"aud": "wiki"}).signed(t, key), http.StatusForbidden},
		{"of another tenant", "GET", reads, ann(claims{"tenant": "theirs"}).signed(t, key), http.StatusForbidden},
		{"of no tenant", "GET", reads, ann(claims{"tenant": nil}).signed(t, key), http.StatusForbidden},
		{"of another group", "GET", reads, ann(claims{"groups": []string{"shop-web", "web"}}).signed(t, key), http.StatusForbidden},
		{"with the name of an owner", "GET", reads, ann(claims{"tenant": "theirs", "sub": "arn:aws:iam::000000000000:root"}).signed(t, key), http.StatusForbidden},
		{"without a token", "GET", reads, "", http.StatusUnauthorized},
		{"of another audience", "GET", reads, ann(claims{"aud": "mail"}).signed(t, key), http.StatusUnauthorized},
		{"of another issuer", "GET", reads, ann(claims{"iss": "https://issuer.example.evil"}).signed(t, key), http.StatusUnauthorized},
		{"expired", "GET", reads, ann(claims{"exp": time.Now().Add(-time.Second).Unix()}).signed(t, key), http.StatusUnauthorized},
		{"that never expires", "GET", reads, ann(claims{"exp": nil}).signed(t, key), http.StatusUnauthorized},
		{"not valid yet", "GET", reads, ann(claims{"nbf": time.Now().Add(time.Hour).Unix()}).signed(t, key), http.StatusUnauthorized},
		{"signed by somebody else", "GET", reads, ann(nil).signed(t, other), http.StatusUnauthorized},
		{"changed after it was signed", "GET", reads, forged[0] + "." + encoded(text) + "." + forged[2], http.StatusUnauthorized},
		{"not signed", "GET", reads, none, http.StatusUnauthorized},
		{"no token", "GET", reads, "a.b.c", http.StatusUnauthorized},
	} {
		status, text := ask(c.method, c.path, c.token)
		if status != c.want || status == http.StatusForbidden && text != notAllowed {
			t.Errorf("%s: %d %s, want %d", c.name, status, text, c.want)
		}
	}
}

package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/stackwright/stackwright/infra/local/api"
	"github.com/stackwright/stackwright/infra/local/host"
	"github.com/stackwright/stackwright/pkg/access"
	routes "github.com/stackwright/stackwright/pkg/entry/api"
	"github.com/stackwright/stackwright/pkg/entry/cli"
	"github.com/stackwright/stackwright/pkg/entry/page"
	"github.com/stackwright/stackwright/pkg/wire"
)

// An issuer emulates a provider of OpenID Connect at which ann is signed in always: she gets a code at once.
// https://openid.net/specs/openid-connect-core-1_0.html#CodeFlowAuth
type issuer struct {
	*testing.T
	*httptest.Server
	key  *rsa.PrivateKey
	home string // the URL of the page, to which it sends browsers back

	mu    sync.Mutex
	codes map[string]url.Values // of the requests for which they were given
	next  twist
}

// A twist is what is wrong with the next answers.
type twist struct {
	query  url.Values      // of the way back, in place of what is right
	claims claims          // of the token, in place of what is right
	key    *rsa.PrivateKey // that signs it
	status int             // of the answer with the token
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{T: t, key: key, codes: make(map[string]url.Values)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+page.DiscoveryPath, i.describe)
	mux.HandleFunc("GET /authorize", i.authorize)
	mux.HandleFunc("POST /token", i.redeem)
	mux.HandleFunc("GET /end", i.end)
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

// Get is remote.Web, as the function reaches the issuer.
func (i *issuer) Get(_ context.Context, from string, most int, permit func(string) error) ([]byte, error) {
	if err := permit(from); err != nil {
		return nil, err
	}
	got, err := http.Get(from)
	if err != nil {
		return nil, err
	}
	defer got.Body.Close()
	return io.ReadAll(io.LimitReader(got.Body, int64(most)))
}

// wrong sets what is wrong with the next answers.
func (i *issuer) wrong(next twist) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.next = next
}

func (i *issuer) twisted() twist {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.next
}

func (i *issuer) write(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Access-Control-Allow-Origin", strings.TrimSuffix(i.home, "/"))
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(value); err != nil {
		i.Error(err)
	}
}

func (i *issuer) describe(w http.ResponseWriter, _ *http.Request) {
	i.write(w, http.StatusOK, map[string]any{
		"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token", "end_session_endpoint": i.URL + "/end",
		"code_challenge_methods_supported": []string{"S256"},
	})
}

// authorize sends the browser back with a code.
func (i *issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("response_type") != "code" || q.Get("client_id") != "page" || q.Get("redirect_uri") != i.home || q.Get("code_challenge_method") != "S256" ||
		len(q.Get("code_challenge")) != 43 || len(q.Get("state")) < 20 || len(q.Get("nonce")) < 20 || !strings.Contains(q.Get("scope"), "openid") {
		i.Errorf("the page requests a code with %v", q)
	}
	code := rand.Text()
	i.mu.Lock()
	i.codes[code] = q
	i.mu.Unlock()
	back := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {i.URL}}
	for name, value := range i.twisted().query {
		back[name] = value
	}
	http.Redirect(w, r, i.home+"?"+back.Encode(), http.StatusFound)
}

// redeem answers with a token for a code, once, if the verifier is the one of its challenge.
func (i *issuer) redeem(w http.ResponseWriter, r *http.Request) {
	code := r.FormValue("code")
	i.mu.Lock()
	q, known := i.codes[code]
	delete(i.codes, code)
	i.mu.Unlock()
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if !known || encoded(sum[:]) != q.Get("code_challenge") || r.FormValue("redirect_uri") != i.home || r.FormValue("client_id") != "page" || r.FormValue("grant_type") != "authorization_code" {
		i.Errorf("the page requests a token with %v", r.Form)
	}
	next := i.twisted()
	if next.status != 0 {
		i.write(w, next.status, map[string]string{"error": "invalid_grant", "error_description": "the code <b>is gone</b>"})
		return
	}
	says := claims{
		"iss": i.URL, "aud": "page", "sub": "ann", "email": "ann@example.com", "email_verified": true, "nonce": q.Get("nonce"),
		"exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Add(-time.Second).Unix(),
	}
	for name, value := range next.claims {
		says[name] = value
	}
	key := i.key
	if next.key != nil {
		key = next.key
	}
	i.write(w, http.StatusOK, map[string]string{"id_token": says.signed(i.T, key), "token_type": "Bearer"})
}

func (i *issuer) end(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("client_id") != "page" || q.Get("post_logout_redirect_uri") != i.home || q.Has("id_token_hint") {
		i.Errorf("the page signs out with %v", q)
	}
	http.Redirect(w, r, i.home, http.StatusFound)
}

// servesPage serves the API of a host with tokens of an issuer, and the page, as the template does with the setting pageClient.
func servesPage(t *testing.T, h *host.Host, i *issuer) *httptest.Server {
	t.Helper()
	app := wire.New(h.Cloud.Config(), wire.Environment{
		Table: cli.Name, Bucket: cli.Name, StateMachine: cli.MachineARN(), Account: cli.Account, Region: cli.Region, Bus: "default", Stack: cli.Name,
		Projects: cli.Projects(), Issuer: i.URL, Client: "page", Web: i,
	}, t.Output())
	o := api.Options{
		Account: cli.Account, Region: cli.Region, Log: t.Output(), Tokens: &api.Tokens{Issuer: i.URL, Audience: []string{"page"}, Key: &i.key.PublicKey},
		Invoke: func(ctx context.Context, _ string, payload []byte) ([]byte, error) {
			var e events.APIGatewayV2HTTPRequest
			if err := json.Unmarshal(payload, &e); err != nil {
				return nil, err
			}
			r, err := app.API(ctx, e)
			if err != nil {
				return nil, err
			}
			return json.Marshal(r)
		},
	}
	for _, r := range append(routes.Routes(), routes.Other) {
		o.Routes = append(o.Routes, api.Route{Key: r, Function: "api"})
	}
	for _, r := range page.Routes() {
		o.Routes = append(o.Routes, api.Route{Key: r, Function: "api", Open: true})
	}
	gateway, err := api.New(o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gateway)
	t.Cleanup(server.Close)
	i.home = server.URL + "/"
	return server
}

// The files of the page are open to all, and nothing else is.
func TestOnlyThePageIsOpen(t *testing.T) {
	l := newLaptop(t)
	h := l.serve(0.05)
	i := newIssuer(t)
	server := servesPage(t, h, i)
	for path, want := range map[string]int{
		"/": 200, "/page/main.js": 200, "/page/sign-in.json": 200, "/page/nothing.js": 404, "/page/lib/preact.LICENSE": 404, "/page/../openapi.json": 404,
		"/projects": 401, "/installation": 401, "/openapi.json": 401, "/docs": 401, "/projects/pair/default/runs": 401, "/nothing": 401, "/page": 401,
	} {
		r, err := http.NewRequest(http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(got.Body)
		got.Body.Close()
		policy := got.Header.Get("Content-Security-Policy")
		if err != nil || got.StatusCode != want || want == 200 && !strings.Contains(policy, "default-src 'none'") {
			t.Errorf("%s: %d with %q (%v)", path, got.StatusCode, policy, err)
		}
		if allowed := "connect-src 'self' " + i.URL + "/token;"; path == "/" && (!strings.Contains(policy, allowed) || !strings.Contains(string(text), "<title>Stackwright")) {
			t.Errorf("the page comes with %q, want %q: %s", policy, allowed, text)
		}
	}
}

// A person signs in, goes on where the token has expired, and signs out. What is wrong with an answer of the issuer is shown.
func TestSignInInABrowser(t *testing.T) {
	if *chromium == "" {
		t.Skip("-chromium names no command")
	}
	l := newLaptop(t)
	h := l.serve(0.05)
	l.must(cli.ExitOK, "deploy", l.project)
	i := newIssuer(t)
	server := servesPage(t, h, i)
	file := "grants:\n  - projects: \"*@*\"\n    role: admin\n    to: [token: {iss: " + i.URL + ", aud: page}]\n"
	if _, err := objects(h).Put(t.Context(), access.Key, []byte(file)); err != nil {
		t.Fatal(err)
	}
	b := newBrowser(t, server.URL, 1440, 900, "light", i.URL)
	enter := "Sign in at " + strings.TrimPrefix(i.URL, "http://")
	b.see("You are not signed in", enter)
	b.picture("sign-in")
	i.wrong(twist{claims: claims{"exp": time.Now().Add(8 * time.Second).Unix()}})
	b.press(enter)
	b.see("pair", "deploy", "ann@example.com (ann) of "+i.URL)
	b.picture("signed-in")
	b.press("deploy")
	b.see("3 of 3 steps done")
	if stored := evaluate[string](b, "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])"); strings.Contains(stored, "eyJ") || strings.Contains(stored, "code=") {
		t.Errorf("the browser keeps %s", stored)
	}
	b.see("Your token has expired", "the page goes on where you are")
	i.wrong(twist{})
	b.press(enter)
	b.see("3 of 3 steps done")
	b.press("Sign out")
	b.see("You are not signed in", enter)
	for _, c := range []struct {
		next twist
		says string
	}{
		{twist{query: url.Values{"state": {"forged"}}}, "its state is another one"},
		{twist{query: url.Values{"iss": {"https://evil.example"}}}, "of another issuer, https://evil.example"},
		{twist{query: url.Values{"code": nil, "error": {"access_denied"}, "error_description": {"<i>not</i> you"}}}, "The issuer has refused: <i>not</i> you"},
		{twist{claims: claims{"nonce": "forged"}}, "its nonce is another one"},
		{twist{claims: claims{"aud": "wiki"}}, "for another audience, wiki"},
		{twist{claims: claims{"iss": "https://evil.example"}}, "The token is of another issuer, https://evil.example"},
		{twist{claims: claims{"exp": time.Now().Add(-time.Minute).Unix()}}, "has expired already"},
	} {
		i.wrong(c.next)
		b.press(enter)
		b.see("You are not signed in", c.says, enter)
	}
	b.quiet() // Chromium reports answers with errors
	i.wrong(twist{status: http.StatusBadRequest})
	b.press(enter)
	b.see("The issuer has given no token: the code <b>is gone</b>")
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i.wrong(twist{key: other})
	b.press(enter)
	b.see("The installation does not accept your token any more")
}

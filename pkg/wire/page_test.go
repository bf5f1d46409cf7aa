package wire_test

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/stackwright/stackwright/pkg/wire"
)

// An issuer is the web server of an issuer of tokens.
type issuer struct {
	document  string
	err       error
	requested int
	from      string
}

// Get is remote.Web.
func (i *issuer) Get(_ context.Context, from string, _ int, permit func(string) error) ([]byte, error) {
	i.requested++
	i.from = from
	if err := errors.Join(permit(from), i.err); err != nil {
		return nil, err
	}
	if permit("https://evil.example/") == nil {
		return nil, errors.New("a redirect is followed")
	}
	return []byte(i.document), nil
}

// opened opens a route of the page of an installation.
func opened(t *testing.T, app *wire.App, route, path, tag string) (events.APIGatewayV2HTTPResponse, string) {
	t.Helper()
	r, err := app.API(t.Context(), events.APIGatewayV2HTTPRequest{RouteKey: route, RawPath: path, Headers: map[string]string{"if-none-match": tag}})
	if err != nil {
		t.Fatal(err)
	}
	if !r.IsBase64Encoded {
		return r, r.Body
	}
	text, err := base64.StdEncoding.DecodeString(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r, string(text)
}

const ofIssuer = `{"issuer":"https://i.example","authorization_endpoint":"https://i.example/authorize","token_endpoint":"https://i.example/token"}`

// The files of the page are answered without an identity, if the installation serves a page; and no other route is.
func TestPage(t *testing.T) {
	web := &issuer{document: ofIssuer}
	app := wire.New(aws.Config{}, wire.Environment{Issuer: "https://i.example", Client: "page", Web: web}, io.Discard)
	none := wire.New(aws.Config{}, wire.Environment{}, io.Discard)
	const files = "GET /page/{file+}"
	for _, c := range []struct {
		route, path string
		want        int
		says        string
	}{
		{"GET /", "/", http.StatusOK, "<title>Stackwright"},
		{files, "/page/main.js", http.StatusOK, "render("},
		{files, "/page/sign-in.json", http.StatusOK, `{"by":"issuer","issuer":"https://i.example","client":"page","authorize":"https://i.example/authorize","token":"https://i.example/token"}`},
		{files, "/page/other.js", http.StatusNotFound, "no such file"},
		{files, "/page/../projects", http.StatusNotFound, "no such file"},
		{"GET /projects", "/", http.StatusForbidden, "no identity"},
		{"GET /installation", "/page/main.js", http.StatusForbidden, "no identity"},
		{"POST /", "/", http.StatusNotFound, ""},
	} {
		r, text := opened(t, app, c.route, c.path, "")
		if r.StatusCode != c.want || !strings.Contains(text, c.says) {
			t.Errorf("%s at %s: %d %.200s", c.route, c.path, r.StatusCode, text)
		}
		if r.StatusCode != http.StatusOK {
			continue
		}
		if again, text := opened(t, app, c.route, c.path, r.Headers["Etag"]); again.StatusCode != http.StatusNotModified || text != "" {
			t.Errorf("%s that the browser has: %d", c.path, again.StatusCode)
		}
		if r, _ := opened(t, none, c.route, c.path, ""); r.StatusCode != http.StatusNotFound {
			t.Errorf("%s at %s is answered %d by an installation without a page", c.route, c.path, r.StatusCode)
		}
	}
	if web.requested != 1 || web.from != "https://i.example/.well-known/openid-configuration" {
		t.Errorf("the issuer was requested %d times, at %s", web.requested, web.from)
	}
}

// If the issuer does not answer, the page says so; or goes on with what the issuer has said before.
func TestPageWithoutItsIssuer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		web := &issuer{err: errors.New("no route to host")}
		app := wire.New(aws.Config{}, wire.Environment{Issuer: "https://i.example", Client: "page", Web: web}, io.Discard)
		const files, how = "GET /page/{file+}", "/page/sign-in.json"
		if _, text := opened(t, app, files, how, ""); !strings.Contains(text, `"problem":"the document of the issuer cannot be read at https://i.example/.well-known/openid-configuration: no route to host`) {
			t.Errorf("the page gets %s", text)
		}
		web.err, web.document = nil, ofIssuer
		if _, text := opened(t, app, files, how, ""); !strings.Contains(text, "no route to host") || web.requested != 1 {
			t.Errorf("at once, after %d requests, the page gets %s", web.requested, text)
		}
		time.Sleep(2 * time.Minute)
		if _, text := opened(t, app, files, how, ""); !strings.Contains(text, `"token":"https://i.example/token"`) || strings.Contains(text, "problem") {
			t.Errorf("when the issuer answers again, the page gets %s", text)
		}
		time.Sleep(2 * time.Hour)
		web.err = errors.New("no route to host")
		if _, text := opened(t, app, files, how, ""); !strings.Contains(text, `"token":"https://i.example/token"`) || web.requested != 3 {
			t.Errorf("after %d requests the page gets %s", web.requested, text)
		}
		time.Sleep(2 * time.Minute)
		web.err, web.document = nil, strings.Replace(ofIssuer, "/token", "/tokens", 1)
		if _, text := opened(t, app, files, how, ""); !strings.Contains(text, `"token":"https://i.example/tokens"`) {
			t.Errorf("when the issuer has changed, the page gets %s", text)
		}
	})
}

package wire

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/stackwright/stackwright/pkg/entry/page"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/remote"
)

const (
	mostDiscovery = 64 << 10         // bytes that the document of an issuer has at most
	discoveryTime = 10 * time.Second // for the request of the document
	discoveryAge  = time.Hour        // after which the document is read again
	discoveryWait = time.Minute      // after a failure: nobody who opens the page waits for the issuer each time
)

// An issuedPage serves the page of an installation, where people sign in with tokens of an issuer. Its methods may be called at the same time.
type issuedPage struct {
	issuer, client string
	web            remote.Web

	mu   sync.Mutex
	page page.Page // the newest that could be read, or why there is none
	next time.Time // when to read again
}

// pageOf returns the page of an installation, nil if it serves none.
func pageOf(env Environment) *issuedPage {
	if env.Client == "" {
		return nil
	}
	return &issuedPage{issuer: env.Issuer, client: env.Client, web: env.Web}
}

// answer answers with a file of the page. It reports false for what is no route of the page. Nobody need have signed in: a file
// has no data of the installation.
func (p *issuedPage) answer(ctx context.Context, e events.APIGatewayV2HTTPRequest, log *slog.Logger) (events.APIGatewayV2HTTPResponse, bool) {
	if p == nil || !slices.Contains(page.Routes(), e.RouteKey) {
		return events.APIGatewayV2HTTPResponse{}, false
	}
	shown := page.Page{}
	if page.NeedsSignIn(e.RawPath) {
		shown = p.current(ctx, log)
	}
	f, ok := shown.Open(e.RawPath)
	if !ok {
		return events.APIGatewayV2HTTPResponse{StatusCode: http.StatusNotFound, Headers: map[string]string{"Content-Type": "text/plain"}, Body: "there is no such file of the page\n"}, true
	}
	if e.Headers["if-none-match"] == f.Headers["Etag"] {
		return events.APIGatewayV2HTTPResponse{StatusCode: http.StatusNotModified, Headers: f.Headers}, true
	}
	return events.APIGatewayV2HTTPResponse{StatusCode: http.StatusOK, Headers: f.Headers, Body: base64.StdEncoding.EncodeToString(f.Content), IsBase64Encoded: true}, true
}

// current returns the page with what the issuer says of itself now. If the issuer cannot be read, that is what the page shows, or what
// the issuer has said before.
func (p *issuedPage) current(ctx context.Context, log *slog.Logger) page.Page {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Now().Before(p.next) {
		return p.page
	}
	s, err := p.discover(ctx)
	switch {
	case err == nil:
		p.page, p.next = page.Page{SignIn: s}, time.Now().Add(discoveryAge)
		return p.page
	case p.page.SignIn.Token == "":
		log.ErrorContext(ctx, "the page has no way to sign in", "error", err.Error())
		p.page = page.Page{SignIn: page.SignIn{By: page.ByIssuer, Issuer: p.issuer, Client: p.client, Problem: err.Error()}}
	default:
		log.WarnContext(ctx, "the issuer of the page cannot be read again", "error", err.Error())
	}
	p.next = time.Now().Add(discoveryWait)
	return p.page
}

// discover reads what the issuer says of itself.
func (p *issuedPage) discover(ctx context.Context) (page.SignIn, error) {
	ctx, cancel := context.WithTimeout(ctx, discoveryTime)
	defer cancel()
	at := strings.TrimSuffix(p.issuer, "/") + page.DiscoveryPath
	document, err := p.web.Get(ctx, at, mostDiscovery, func(to string) error {
		if to != at {
			return errors.New("it leads elsewhere")
		}
		return nil
	})
	if err != nil {
		return page.SignIn{}, fault.New(fault.Unavailable, "the document of the issuer cannot be read at %s: %w", at, err)
	}
	return page.Issuer(p.issuer, p.client, document)
}

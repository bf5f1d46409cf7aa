// Package client reads and steers an installation through its HTTP API.
package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
)

// A Client is connected to the API at a URL. Its methods may be called at the same time.
type Client struct {
	url         string
	region      string
	credentials aws.CredentialsProvider
	token       string
	http        *http.Client

	mu       sync.Mutex
	caller   string            // as the installation names it, once that is known
	projects map[string]string // of runs, by their IDs
	pages    map[string]page   // of runs that were read before
}

// Options say how to reach an API.
type Options struct {
	URL         string                  // with https, or of this machine
	Region      string                  // for which requests are signed, if the URL does not say
	Credentials aws.CredentialsProvider // sign the requests, unless there is a token
	Token       string                  // is sent instead of a signature
	Transport   http.RoundTripper       // nil is that of the SDK
}

// New returns a client. It sends no request. The error is of kind Invalid if the URL cannot be that of an API.
func New(o Options) (*Client, error) {
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, fault.New(fault.Invalid, "%.200q is not the URL of an API: write https://…, as the output ApiUrl of the installation's stack has it", o.URL)
	case u.Scheme == "http" && !isLocal(u.Hostname()), u.Scheme != "http" && u.Scheme != "https":
		return nil, fault.New(fault.Invalid, "%.200q: write https://…: without encryption everybody between could read and change what is sent", o.URL)
	}
	return &Client{
		url: strings.TrimSuffix(u.String(), "/"), region: regionOf(u.Hostname(), o.Region), credentials: o.Credentials, token: o.Token,
		// A redirect is an answer that no API gives: the token must not follow it.
		http:     &http.Client{Transport: o.Transport, Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		projects: make(map[string]string), pages: make(map[string]page),
	}, nil
}

// isLocal reports whether a host is this machine.
func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// regionOf is the region in the name of an API, as in id.execute-api.eu-west-1.amazonaws.com, or the given one.
func regionOf(host, region string) string {
	_, rest, found := strings.Cut(host, ".execute-api.")
	if name, _, ok := strings.Cut(rest, ".amazonaws."); found && ok {
		return name
	}
	return region
}

// A request is a request to the API.
type request struct {
	method, path string
	query        url.Values
	body         any    // becomes JSON; nil is none
	key          string // makes it safe to send a POST again
	tag          string // of the answer that the client has
}

// An answer is an answer of the API.
type answer struct {
	same bool // as the one with the tag of the request
	tag  string
}

// How often a request is sent that gets no answer, and the pauses between.
const (
	mostAttempts = 4
	firstPause   = 200 * time.Millisecond
	longestPause = 10 * time.Second
)

// ask sends a request and reads its answer into into. If the API does not answer or is busy, ask sends the request again.
func (c *Client) ask(ctx context.Context, q request, into any) (answer, error) {
	pause := firstPause
	for attempt := 1; ; attempt++ {
		r, err := c.send(ctx, q, into)
		if attempt == mostAttempts || !fault.Is(err, fault.Unavailable, fault.Throttled) || q.method == http.MethodPost && q.key == "" {
			return r, err
		}
		if after, ok := errors.AsType[*busy](err); ok {
			pause = max(pause, after.pause)
		}
		select {
		case <-ctx.Done():
			return r, err
		case <-time.After(min(pause, longestPause)):
		}
		pause *= 2
	}
}

// send sends a request once.
func (c *Client) send(ctx context.Context, q request, into any) (answer, error) {
	body := []byte{}
	if q.body != nil {
		var err error
		if body, err = json.Marshal(q.body); err != nil {
			return answer{}, fault.New(fault.Broken, "%s %s: %w", q.method, q.path, err)
		}
	}
	to := c.url + q.path
	if len(q.query) > 0 {
		to += "?" + q.query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, q.method, to, bytes.NewReader(body))
	if err != nil {
		return answer{}, fault.New(fault.Broken, "%s %s: %w", q.method, q.path, err)
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Idempotency-Key": q.key, "If-None-Match": q.tag} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	if err := c.authorize(ctx, r, body); err != nil {
		return answer{}, err
	}
	got, err := c.http.Do(r)
	if err != nil {
		return answer{}, unanswered(ctx, "the API at "+c.url, err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		return answer{}, unanswered(ctx, "the API at "+c.url, err)
	}
	if got.StatusCode == http.StatusNotModified {
		return answer{same: true, tag: q.tag}, nil
	}
	if got.StatusCode < 200 || got.StatusCode > 299 {
		return answer{}, c.refused(q, got, text)
	}
	if err := json.Unmarshal(text, into); err != nil || !strings.HasPrefix(got.Header.Get("Content-Type"), "application/json") {
		return answer{}, c.noAPI(got)
	}
	return answer{tag: got.Header.Get("Etag")}, nil
}

// authorize signs a request, or adds the token.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-access-control-iam.html
func (c *Client) authorize(ctx context.Context, r *http.Request, body []byte) error {
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
		return nil
	}
	keys, err := c.credentials.Retrieve(ctx)
	if err != nil {
		return fault.New(fault.Denied, "there are no AWS credentials, or they cannot be refreshed: log in (aws sso login), or set AWS_PROFILE; aws sts get-caller-identity shows the cause")
	}
	sum := sha256.Sum256(body)
	if err := v4.NewSigner().SignHTTP(ctx, keys, r, hex.EncodeToString(sum[:]), "execute-api", c.region, time.Now()); err != nil {
		return fault.New(fault.Broken, "sign the request: %w", err)
	}
	return nil
}

// Installation describes the installation, and as whom it knows the caller.
func (c *Client) Installation(ctx context.Context) (report.Installation, error) {
	var shown report.Installation
	_, err := c.ask(ctx, request{method: http.MethodGet, path: "/installation"}, &shown)
	if err == nil && shown.Home.Account == "" {
		err = c.noAPI(nil)
	}
	return shown, err
}

// Caller names the caller as the installation does, or "" if it does not answer.
func (c *Client) Caller(ctx context.Context) string {
	c.mu.Lock()
	known := c.caller
	c.mu.Unlock()
	if known != "" {
		return known
	}
	shown, err := c.Installation(ctx)
	if err != nil {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.caller = shown.Caller
	return c.caller
}

// pathOf is the path of a project: /projects/shop/prod for "shop@prod".
func pathOf(project string) string {
	name, environment, _ := strings.Cut(project, "@")
	return "/projects/" + url.PathEscape(name) + "/" + url.PathEscape(environment)
}

// learn remembers the projects of runs.
func (c *Client) learn(projects map[string]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.Copy(c.projects, projects)
}

// Package client calls the HTTP API of an installation of Stackwright: it has a method for each operation of the API, whose types
// are those of package report. Errors have the kinds of package fault.
package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/stackwright/stackwright/pkg/fault"
)

// A Client is connected to the API at a URL. Its methods may be called at the same time.
type Client struct {
	url         string
	region      string
	credentials aws.CredentialsProvider
	token       string
	http        *http.Client
}

// Options say how to reach an API.
type Options struct {
	URL         string                  // with https, or of this machine
	Region      string                  // for which requests are signed, if the URL does not say
	Credentials aws.CredentialsProvider // sign the requests, unless there is a token; the page of a laptop needs neither
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
	case o.Token == "" && o.Credentials == nil && !isLocal(u.Hostname()):
		return nil, fault.New(fault.Invalid, "the API at %.200q needs to know who calls it: give AWS credentials or a token", o.URL)
	}
	return &Client{
		url: strings.TrimSuffix(u.String(), "/"), region: regionOf(u.Hostname(), o.Region), credentials: o.Credentials, token: o.Token,
		// A redirect is an answer that no API gives: the token must not follow it.
		http: &http.Client{Transport: o.Transport, Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

// URL is the URL of the API.
func (c *Client) URL() string { return c.url }

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
	query        query
	body         any      // becomes JSON; nil is none
	media        []string // content types that the answer may have, which is then raw; nil is JSON
	key          string   // makes it safe to send a POST again
	tag          *string
}

// A query has the parameters of a request. Those that are empty are left out.
type query map[string]string

// encoded is the query as it is written in a URL, with its question mark.
func (q query) encoded() string {
	values := url.Values{}
	for name, value := range q {
		if value != "" {
			values.Set(name, value)
		}
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

// number is a number as it is written in a query. 0 is left out.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// optional is a number that may be 0 as it is written in a query. nil is left out.
func optional(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

// at is a path with values in place of its parameters.
func at(path string, values ...string) string {
	for _, v := range values {
		before, rest, _ := strings.Cut(path, "{")
		_, after, _ := strings.Cut(rest, "}")
		path = before + url.PathEscape(v) + after
	}
	return path
}

// An Option is an option of a request.
type Option func(*request)

// Key is the idempotency key of a POST: with the same key, the same request is carried out once. By default each has a new one.
func Key(key string) Option { return func(q *request) { q.key = key } }

// IfChanged asks for an answer only if it is another than the one that had the tag; otherwise the error is ErrUnchanged. It
// writes the tag of the answer. An empty tag asks in any case.
func IfChanged(tag *string) Option { return func(q *request) { q.tag = tag } }

// Fields selects fields of the answer, as in "run" and "steps.status": the others keep their zero values. By default all are sent.
func Fields(names ...string) Option {
	return func(q *request) {
		all := query{"fields": strings.Join(names, ",")}
		maps.Copy(all, q.query)
		q.query = all
	}
}

// ErrUnchanged says that an answer is the one that the caller has: see IfChanged.
var ErrUnchanged = errors.New("the answer has not changed")

// How often a request is sent that gets no answer, and the pauses between.
const (
	mostAttempts = 4
	firstPause   = 200 * time.Millisecond
	longestPause = 10 * time.Second
)

// ask sends a request and reads its answer into into. If the API does not answer or is busy, ask sends the request again.
func (c *Client) ask(ctx context.Context, q request, into any, options []Option) error {
	if q.method == http.MethodPost {
		q.key = rand.Text()
	}
	for _, o := range options {
		o(&q)
	}
	return retry(ctx, func() error { return c.send(ctx, q, into) })
}

// retry sends a request, and again if it gets no answer or the other side is busy, until ctx ends.
func retry(ctx context.Context, send func() error) error {
	pause := firstPause
	for attempt := 1; ; attempt++ {
		err := send()
		if attempt == mostAttempts || !fault.Is(err, fault.Unavailable, fault.Throttled) {
			return err
		}
		if after, ok := errors.AsType[*busy](err); ok {
			pause = max(pause, after.pause)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(min(pause, longestPause)):
		}
		pause *= 2
	}
}

// send sends a request once.
func (c *Client) send(ctx context.Context, q request, into any) error {
	body := []byte{}
	if q.body != nil {
		var err error
		if body, err = json.Marshal(q.body); err != nil {
			return fault.New(fault.Broken, "%s %s: %w", q.method, q.path, err)
		}
	}
	r, err := http.NewRequestWithContext(ctx, q.method, c.url+q.path+q.query.encoded(), bytes.NewReader(body))
	if err != nil {
		return fault.New(fault.Broken, "%s %s: %w", q.method, q.path, err)
	}
	headers := map[string]string{"Content-Type": "application/json", "Idempotency-Key": q.key}
	if q.tag != nil {
		headers["If-None-Match"] = *q.tag
	}
	for name, value := range headers {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	if err := c.authorize(ctx, r, body); err != nil {
		return err
	}
	got, err := c.http.Do(r)
	if err != nil {
		return unanswered(ctx, "the API at "+c.url, err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		return unanswered(ctx, "the API at "+c.url, err)
	}
	if got.StatusCode == http.StatusNotModified {
		return ErrUnchanged
	}
	if got.StatusCode < 200 || got.StatusCode > 299 {
		return c.refused(q, got, text)
	}
	if !q.takes(got.Header.Get("Content-Type")) {
		return c.noAPI(got)
	}
	if raw, ok := into.(*[]byte); ok {
		*raw = text
	} else if err := json.Unmarshal(text, into); err != nil {
		return c.noAPI(got)
	}
	if q.tag != nil {
		*q.tag = got.Header.Get("Etag")
	}
	return nil
}

// takes reports whether an answer to a request may have a content type.
func (q request) takes(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	if q.media == nil {
		return err == nil && media == "application/json"
	}
	return err == nil && slices.Contains(q.media, media)
}

// authorize signs a request, or adds the token.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-access-control-iam.html
func (c *Client) authorize(ctx context.Context, r *http.Request, body []byte) error {
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
		return nil
	}
	if c.credentials == nil { // a laptop's installation, which needs none
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

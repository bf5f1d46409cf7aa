// Package download gets files from web servers of the public Internet by https, and posts to them.
//
// It is for URLs that somebody else has written. It connects only to public addresses, checks them after the name is resolved, and sends no
// credentials, no cookies and no referrer. It uses no proxy. What it reads is limited in size and time.
package download

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// Limits of one file.
const (
	MaxTime      = 20 * time.Second // with all redirects and attempts
	MaxRedirects = 5
	attempts     = 3
	maxHeader    = 64 << 10
	pause        = 300 * time.Millisecond // before the second attempt; it doubles
)

// A Client gets files. The zero value is ready to use. The fields are for tests.
type Client struct {
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)   // nil asks DNS
	Dial    func(ctx context.Context, to netip.AddrPort) (net.Conn, error) // connects to a public address; nil is TCP
	Roots   *x509.CertPool                                                 // who signs certificates; nil is the system's
	Time    time.Duration                                                  // 0 is MaxTime
}

// Get returns the file at an https URL, with at most most bytes. It calls permit with the URL and with each to which a
// server redirects, before it sends a request; the error of permit is returned as it is.
func (c Client) Get(ctx context.Context, from string, most int, permit func(url string) error) ([]byte, error) {
	limit := c.Time
	if limit == 0 {
		limit = MaxTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	wait := pause
	for i := 1; ; i++ {
		body, again, err := c.follow(ctx, from, most, permit)
		switch {
		case err == nil:
			return body, nil
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return nil, fmt.Errorf("there is no whole answer within %s: make the file smaller, or save it in the project", limit)
		case !again || i == attempts:
			return nil, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		wait *= 2
	}
}

// follow sends a request, and those to which servers redirect.
func (c Client) follow(ctx context.Context, at string, most int, permit func(string) error) (body []byte, again bool, err error) {
	client := c.client()
	defer client.CloseIdleConnections()
	for i := 0; ; i++ {
		if err := permit(at); err != nil {
			return nil, false, err
		}
		answer, err := request(ctx, client, at)
		if err != nil {
			return nil, !errors.Is(err, ErrFinal), instead(clean(err))
		}
		if !redirects(answer.StatusCode) {
			body, again, err = read(answer, most)
			return body, again, errors.Join(err, answer.Body.Close())
		}
		to, err := target(at, answer)
		if err = errors.Join(err, answer.Body.Close()); err != nil {
			return nil, false, err
		}
		if i == MaxRedirects {
			return nil, false, fmt.Errorf("the server redirects more than %d times: write the last URL", MaxRedirects)
		}
		at = to
	}
}

func redirects(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// target is where a server redirects to.
func target(from string, answer *http.Response) (string, error) {
	base, err := url.Parse(from)
	if err != nil {
		return "", errors.New("the URL cannot be read")
	}
	to, err := base.Parse(answer.Header.Get("Location"))
	if err != nil || answer.Header.Get("Location") == "" {
		return "", errors.New("the server redirects, and does not say where to")
	}
	to.Fragment = ""
	return to.String(), nil
}

// request sends one request.
func request(ctx context.Context, client *http.Client, at string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", "Stackwright")
	r.Header.Set("Accept-Encoding", "identity")
	return client.Do(r)
}

// read reads an answer. again is whether another attempt may help.
func read(answer *http.Response, most int) (body []byte, again bool, err error) {
	if s := answer.StatusCode; s != http.StatusOK {
		return nil, s == http.StatusTooManyRequests || s >= 500, fmt.Errorf("the server answers %d %s: write a URL that anybody can read", s, http.StatusText(s))
	}
	from := io.Reader(io.LimitReader(answer.Body, int64(most)+1))
	switch encoding := strings.ToLower(answer.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
	case "gzip":
		if from, err = gzip.NewReader(from); err != nil {
			return nil, false, errors.New("the answer says that it is gzip, and is not")
		}
	default:
		return nil, false, errors.New("the server sends an encoding that was not requested: save the file in the project")
	}
	body, err = io.ReadAll(io.LimitReader(from, int64(most)+1))
	switch {
	case len(body) > most, answer.ContentLength > int64(most):
		return nil, false, fmt.Errorf("the file has more than %d bytes", most)
	case err != nil:
		return nil, true, errors.New("the connection ended before the answer was complete")
	}
	return body, false, nil
}

// client is a client that connects only to public addresses, and follows no redirect.
func (c Client) client() *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:                  nil, // it could reach what the address check refuses
			DialContext:            c.dial,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.Roots},
			TLSHandshakeTimeout:    10 * time.Second,
			ForceAttemptHTTP2:      true,
			DisableKeepAlives:      true,
			DisableCompression:     true, // read limits what is unpacked
			MaxResponseHeaderBytes: maxHeader,
		},
	}
}

// dial resolves a name, and connects to one of its public addresses. The name is not resolved again, so that an answer of DNS that
// changes cannot lead to another address.
func (c Client) dial(ctx context.Context, _, to string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(to)
	if err != nil || port != "443" {
		return nil, errors.New("only port 443 is used")
	}
	resolve, dial := c.Resolve, c.Dial
	if resolve == nil {
		resolve = lookUp
	}
	if dial == nil {
		dial = connect
	}
	all, err := resolve(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("the name %s cannot be resolved", host)
	}
	wrong := fmt.Errorf("the name %s has no address", host)
	for _, a := range all {
		if !Public(a) {
			wrong = final{fmt.Errorf("%s has the address %s, which is not one of the public Internet", host, a)}
			continue
		}
		conn, err := dial(ctx, netip.AddrPortFrom(a.Unmap(), 443))
		if err == nil {
			return conn, nil
		}
		wrong = fmt.Errorf("%s does not accept the connection", host)
	}
	return nil, wrong
}

func lookUp(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// connect connects to an address. It checks again what it is about to connect to.
func connect(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	d := net.Dialer{Timeout: 5 * time.Second, ControlContext: func(_ context.Context, _, at string, _ syscall.RawConn) error {
		if a, err := netip.ParseAddrPort(at); err != nil || !Public(a.Addr()) {
			return errors.New("the address is not one of the public Internet")
		}
		return nil
	}}
	return d.DialContext(ctx, "tcp", to.String())
}

// ErrFinal is what another attempt does not change.
var ErrFinal = errors.New("final")

type final struct{ error }

func (final) Is(err error) bool { return err == ErrFinal }

// instead adds to what another attempt does not change what to do.
func instead(err error) error {
	if errors.Is(err, ErrFinal) {
		return fmt.Errorf("%w: save the file in the project", err)
	}
	return err
}

// clean removes what net/http says around the cause: the method and the URL.
func clean(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if o, ok := errors.AsType[*net.OpError](err); ok && o.Op == "dial" {
		err = o.Err
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fmt.Errorf("the certificate of the server is not valid for it: %w", err)
	}
	return err
}

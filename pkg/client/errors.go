package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
)

// A busy is an answer after which a request may be sent again.
type busy struct {
	error
	pause time.Duration
}

// Unwrap returns the cause.
func (b *busy) Unwrap() error { return b.error }

// unanswered returns the fault of a request without an answer. The error of net/http has the URL, of which a presigned
// one is a secret, so that only its cause is kept.
func unanswered(ctx context.Context, who string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	return fault.New(fault.Unavailable, "%s does not answer: check the network: %w", who, err)
}

// noAPI returns the fault of an answer that no API of Stackwright gives.
func (c *Client) noAPI(got *http.Response) error {
	return fault.New(fault.Invalid, "there is no API of Stackwright at %s (it answered %d with %s): the output ApiUrl of the installation's stack has its URL",
		c.url, got.StatusCode, got.Header.Get("Content-Type"))
}

// refused returns the fault of an answer with an error: of the function, or of API Gateway itself.
func (c *Client) refused(q request, got *http.Response, text []byte) error {
	var said struct {
		Message  *string // of API Gateway
		Kind     fault.Kind
		Messages []string
	}
	if json.Unmarshal(text, &said) != nil || said.Message == nil && said.Kind == "" {
		if got.StatusCode >= http.StatusInternalServerError {
			return fault.New(fault.Unavailable, "the API at %s answered %d", c.url, got.StatusCode)
		}
		return c.noAPI(got)
	}
	if said.Kind != "" {
		return c.failed(q, got, said.Kind, said.Messages)
	}
	switch {
	case got.StatusCode == http.StatusUnauthorized && c.token == "":
		return fault.New(fault.Denied, "the API at %s takes tokens and no signatures: get a token of its issuer, and set STACKWRIGHT_TOKEN", c.url)
	case got.StatusCode == http.StatusUnauthorized:
		return fault.New(fault.Denied, "the API at %s does not accept the token in STACKWRIGHT_TOKEN: it has expired, or is of another issuer or audience, or the API takes signatures and no tokens: get a new token, or unset the variable", c.url)
	case got.StatusCode == http.StatusForbidden:
		return c.forbidden(q, got, *said.Message)
	case got.StatusCode == http.StatusNotFound:
		return fault.New(fault.Invalid, "the API at %s has no %s %s: the installation is of another version than this command: ask its owner to deploy it again, or use the command of its version", c.url, q.method, q.path)
	case got.StatusCode == http.StatusTooManyRequests:
		return &busy{fault.New(fault.Throttled, "the API at %s has too many requests: try again later", c.url), retryAfter(got)}
	case got.StatusCode >= http.StatusInternalServerError:
		return &busy{fault.New(fault.Unavailable, "the API at %s answered %d: %s", c.url, got.StatusCode, *said.Message), retryAfter(got)}
	}
	return fault.New(fault.Invalid, "the API at %s answered %d: %s", c.url, got.StatusCode, *said.Message)
}

// failed returns the fault of an answer of the function.
func (c *Client) failed(q request, got *http.Response, kind fault.Kind, messages []string) error {
	if kind == fault.Denied && got.StatusCode == http.StatusForbidden {
		return fault.New(fault.Denied, "%s: %s %s: ask the owner of the installation for a role%s", strings.Join(messages, "; "), q.method, q.path, rolesFor(q.path))
	}
	var all []error
	for _, m := range messages {
		all = append(all, fault.New(kind, "%s", m))
	}
	err := errors.Join(all...)
	if len(all) == 1 {
		err = all[0]
	}
	if kind == fault.Throttled || kind == fault.Unavailable || kind == fault.Stale {
		return &busy{fault.As(kind, err), retryAfter(got)}
	}
	return err
}

// rolesFor says for what a role is missing.
func rolesFor(path string) string {
	if parts := strings.Split(path, "/"); len(parts) > 3 && parts[1] == "projects" {
		return " for " + parts[2] + "@" + parts[3]
	}
	return ""
}

// skew is how much the clocks of the caller and of AWS may differ.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-troubleshooting.html
const skew = 5 * time.Minute

// forbidden returns the fault of a request that API Gateway has refused.
func (c *Client) forbidden(q request, got *http.Response, message string) error {
	if at, err := http.ParseTime(got.Header.Get("Date")); err == nil && time.Since(at).Abs() > skew {
		return fault.New(fault.Denied, "the API at %s does not accept the signature (%s): the clock of this machine is %s off: set it", c.url, message, time.Since(at).Abs().Round(time.Minute))
	}
	return fault.New(fault.Denied, "the API at %s does not allow %s %s (%s): log in again if the credentials have expired (aws sso login), or ask the owner of the installation to allow you execute-api:Invoke on arn:aws:execute-api:%s:*:*/*/%s%s",
		c.url, q.method, q.path, message, c.region, q.method, q.path)
}

// retryAfter is how long an answer asks to wait.
func retryAfter(got *http.Response) time.Duration {
	seconds, err := strconv.Atoi(got.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

package hook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/remote"
)

// Webhooks are web servers of the public Internet.
type Webhooks interface {
	// Post sends a body to an https URL once, and returns the status of the answer. It follows no redirect, and connects only to
	// public addresses. The error is of kind Refused if nothing was sent and another attempt changes nothing, else Unavailable.
	Post(ctx context.Context, url string, header map[string]string, body []byte) (status int, err error)
}

// Secrets are those of Secrets Manager.
type Secrets interface {
	// SecretValue returns the current value of a secret.
	SecretValue(ctx context.Context, in project.Target, arn string) ([]byte, error)
}

// The headers of a request to a webhook.
const (
	IdempotencyHeader = "Idempotency-Key"
	SignatureHeader   = "Stackwright-Signature"
)

// tooManyRequests is the status of the answer of a server that is too busy.
// https://www.rfc-editor.org/rfc/rfc6585#section-4
const tooManyRequests = 429

// MinSecret is how many bytes a secret has at least: a shorter one could be guessed by who has seen a signed request.
const MinSecret = 16

// webhookType posts the message to a web server.
func webhookType() Type {
	return Type{
		Name: "webhook", What: "an https URL without a query",
		Form: pattern.New(``), Check: CheckURL, // whose errors do not repeat what may be a password
		Keys: []Key{{
			Name: "secret", What: "the ARN of a secret of Secrets Manager, with the six characters at its end",
			Form: pattern.New(`^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[A-Za-z0-9/_+=.@-]{1,512}-[A-Za-z0-9]{6}$`),
		}},
		Payload: true, Caller: webhook{},
	}
}

// CheckURL says what is wrong with a URL. It has no query: plans and records have the URL, and a query is where servers expect
// a credential.
func CheckURL(text string) error {
	if !strings.HasPrefix(text, "https://") && !strings.HasPrefix(text, "http://") {
		return fault.New(fault.Invalid, "it is no https URL: write https://HOST/PATH")
	}
	if strings.Contains(text, "?") {
		return fault.New(fault.Invalid, "the URL has a query, which everybody who sees the project would know: write it without, and let the server check the signature")
	}
	at, err := remote.Parse(text)
	if err != nil {
		return fault.New(fault.Invalid, "%w", err)
	}
	if at.Text != text {
		return fault.New(fault.Invalid, "write the URL as %s", at.Text)
	}
	return nil
}

// webhook posts the message, with a signature by which the server knows who has sent it.
type webhook struct{ instant }

// Call implements Caller.
func (webhook) Call(ctx context.Context, s Services, c Call) (string, error) {
	if _, err := c.inTarget(c.Values["secret"]); err != nil {
		return "", err
	}
	body, err := c.Message.JSON()
	if err != nil {
		return "", err
	}
	secret, err := s.Secrets.SecretValue(ctx, c.Target, c.Values["secret"])
	if err != nil {
		return "", err
	}
	if len(secret) < MinSecret {
		return "", fault.New(fault.Refused, "the secret %s has less than %d bytes: store a longer one, of random characters", c.Values["secret"], MinSecret)
	}
	status, err := s.Webhooks.Post(ctx, c.On(), map[string]string{
		"Content-Type": "application/json", IdempotencyHeader: c.Token, SignatureHeader: Sign(secret, c.Now, body),
	}, body)
	if err == nil {
		err = answered(status)
	}
	if err != nil {
		return "", fmt.Errorf("post to %s: %w", c.On(), err)
	}
	return "", nil
}

// Sign returns the signature of a body that is sent at a time: the time in seconds since 1970, and the HMAC-SHA256 of this time, a
// dot and the body. The time is signed too, so that nobody can send an old request again.
func Sign(secret []byte, at time.Time, body []byte) string {
	t := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(t + "."))
	mac.Write(body)
	return "t=" + t + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}

// answered returns the fault of an answer. A server that is too busy has perhaps done its part, so the call is repeated as one
// without an answer: not for longer than the timeout of the hook.
func answered(status int) error {
	switch {
	case status >= 200 && status < 300:
		return nil
	case status >= 500, status == tooManyRequests:
		return fault.New(fault.Unavailable, "the server answers %d", status)
	case status >= 300 && status < 400:
		return fault.New(fault.Refused, "the server answers %d, and redirects are not followed: write the last URL", status)
	}
	return fault.New(fault.Refused, "the server answers %d: see its log, and check its URL and its secret", status)
}

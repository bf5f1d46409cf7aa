package notify

import (
	"context"
	"encoding/json"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/hook"
)

// webhookFormat posts the event itself to a web server, signed as hooks are.
func webhookFormat() format {
	return format{name: "webhook", check: hook.CheckURL, states: states, send: sendWebhook}
}

// A posted is the body of a request to a webhook.
type posted struct {
	ID     string          `json:"id"` // the same when the request is repeated
	Time   time.Time       `json:"time"`
	Type   string          `json:"type"`
	Page   string          `json:"page,omitempty"` // the URL of the run, if the installation serves its page
	Detail json.RawMessage `json:"detail"`
}

func sendWebhook(ctx context.Context, by *Deliverer, to Destination, m message) (string, error) {
	if len(m.secret) < hook.MinSecret {
		return "", fault.New(fault.Refused, "the secret %s has less than %d bytes: store a longer one, of random characters", to.Secret, hook.MinSecret)
	}
	body, err := json.Marshal(posted{m.ID, m.Time, m.Type, m.link(by.Page, false), m.Detail})
	if err != nil {
		return "", fault.New(fault.Broken, "the body of event %s: %w", m.ID, err)
	}
	_, err = by.post(ctx, to.To, map[string]string{
		"Content-Type": "application/json", hook.IdempotencyHeader: m.ID, hook.SignatureHeader: hook.Sign(m.secret, by.Now(), body),
	}, body)
	return "", err
}

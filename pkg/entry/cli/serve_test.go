package cli

import (
	"testing"
	"time"
)

// An event of the laptop is a line for people, if they need to see it.
func TestEventLines(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	for _, c := range []struct{ source, kind, detail, want string }{
		{"aws.s3", "", `{"object":{"key":"projects/shop/prod.zip"}}`, "12:00:00  upload  projects/shop/prod.zip"},
		{"aws.s3", "", `{"object":{"key":"specs/0123"}}`, ""},
		{"aws.cloudformation", "CloudFormation Stack Status Change", `{"stack-id":"arn:aws:cloudformation:us-east-1:000000000000:stack/shop-db/1","status-details":{"status":"CREATE_COMPLETE"}}`, "12:00:00  stack   shop-db is CREATE_COMPLETE"},
		{"stackwright", "", `{"run":"abc","text":"deploy of shop@prod failed","why":"failed: db/create"}`, "12:00:00  run     abc: deploy of shop@prod failed: failed: db/create"},
		{"aws.states", "", `{}`, ""},
		{"stackwright", "", `[]`, ""},
	} {
		if got := eventLine(Event{Source: c.source, DetailType: c.kind, Time: at, Detail: []byte(c.detail)}); got != c.want {
			t.Errorf("%s: %q, not %q", c.detail, got, c.want)
		}
	}
}

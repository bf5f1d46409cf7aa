package trigger_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/stackwright/stackwright/pkg/entry/trigger"
	"github.com/stackwright/stackwright/pkg/fault"
)

// A change of the access file or a policy is an entry of the audit log: what, by whom as far as S3 says, and from where. An event that is
// delivered again has the same ID; a later change of the file has another.
func TestChanged(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	event := func(kind, key, version string) events.EventBridgeEvent {
		detail, err := json.Marshal(map[string]any{
			"bucket": map[string]any{"name": "b"}, "object": map[string]any{"key": key, "version-id": version, "sequencer": "0" + version},
			"requester": "111122223333", "source-ip-address": "192.0.2.1",
		})
		if err != nil {
			t.Fatal(err)
		}
		return events.EventBridgeEvent{ID: "e", Source: "aws.s3", DetailType: kind, Time: at, Detail: detail}
	}
	ids := make(map[string]bool)
	for _, c := range []struct{ kind, key, version, what, who string }{
		{"Object Created", "access/access.yaml", "1", "put access/access.yaml", `unknown principal of account 111122223333, says it is "ann"`},
		{"Object Created", "access/access.yaml", "2", "put access/access.yaml", `unknown principal of account 111122223333, says it is "ann"`},
		{"Object Deleted", "policies/tags.yaml", "3", "delete policies/tags.yaml", "unknown principal of account 111122223333"},
	} {
		e := event(c.kind, c.key, c.version)
		id, got, err := trigger.Changed(t.Context(), e, object{who: "ann"})
		again, _, _ := trigger.Changed(t.Context(), e, object{who: "ann"})
		if !trigger.IsSettingsEvent(e) || err != nil || got.What != c.what || got.Who != c.who || got.From != "192.0.2.1" || !got.Time.Equal(at) || id != again || ids[id] {
			t.Errorf("%s %s: %q %+v, %v", c.kind, c.key, id, got, err)
		}
		ids[id] = true
	}
	for _, key := range []string{"projects/shop/prod.zip", "requests/shop/prod/1.json", "other/access/x"} {
		if trigger.IsSettingsEvent(event("Object Created", key, "1")) {
			t.Errorf("%s is taken for a setting", key)
		}
	}
	timeless := event("Object Created", "access/access.yaml", "1")
	timeless.Time = time.Time{}
	for want, e := range map[string]events.EventBridgeEvent{
		"does not have the time": timeless, "changes a setting": event("Object Restore Completed", "access/access.yaml", "1"),
	} {
		if _, _, err := trigger.Changed(t.Context(), e, object{}); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, _, err := trigger.Changed(t.Context(), event("Object Created", "access/access.yaml", "1"), object{none: fault.New(fault.Unavailable, "S3")}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("if S3 does not answer: %v", err)
	}
}

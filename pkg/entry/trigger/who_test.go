package trigger_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"

	"github.com/stackwright/stackwright/pkg/entry/trigger"
	"github.com/stackwright/stackwright/pkg/fault"
)

const (
	anUpload = "projects/shop/prod.zip"
	aRequest = "requests/shop/prod/1.json"
)

// sentBy returns the event of an object that the account or service put.
func sentBy(t *testing.T, key, requester string) events.EventBridgeEvent {
	t.Helper()
	e := put(t, key)
	e.Detail = json.RawMessage(strings.Replace(string(e.Detail), `"requester":"111122223333"`, `"requester":"`+requester+`"`, 1))
	return e
}

// What S3 says of the sender is who made the request. What the metadata of an object, or
// its request, says is a claim, marked as one, whatever it says.
func TestWhoMadeARequest(t *testing.T) {
	const ann, bob = "arn:aws:sts::111122223333:assumed-role/developer/ann@example.com", "arn:aws:iam::444455556666:user/bob"
	for _, c := range []struct{ claim, requester, who, by string }{
		{"ann@laptop", "111122223333", "unknown principal of account 111122223333", `unknown principal of account 111122223333, says it is "ann@laptop"`},
		{ann, "111122223333", "unknown principal of account 111122223333", `unknown principal of account 111122223333, says it is "` + ann + `"`},
		{bob, "111122223333", "unknown principal of account 111122223333", `unknown principal of account 111122223333, says it is "` + bob + `"`},
		{`ann", says it is "bob`, "111122223333", "unknown principal of account 111122223333", `unknown principal of account 111122223333, says it is "ann\", says it is \"bob"`},
		{" jürgen@büro ", "111122223333", "unknown principal of account 111122223333", `unknown principal of account 111122223333, says it is "jürgen@büro"`},
		{"", "111122223333", "unknown principal of account 111122223333", "unknown principal of account 111122223333"},
		{"", "s3.amazonaws.com", "service s3.amazonaws.com", "service s3.amazonaws.com"},
		{bob, "s3.amazonaws.com", "service s3.amazonaws.com", `service s3.amazonaws.com, says it is "` + bob + `"`},
		{"", "", "unknown principal", "unknown principal"},
		{ann, "", "unknown principal", `unknown principal, says it is "` + ann + `"`},
	} {
		for _, at := range []struct {
			key string
			object
		}{
			{anUpload, object{who: c.claim}},
			{aRequest, object{who: c.claim, text: `{"operation":"refresh"}`}},
			{aRequest, object{who: "somebody else", text: string(written(t, map[string]any{"operation": "refresh", "options": map[string]any{"who": c.claim}}))}},
		} {
			if c.claim == "" && at.who != "" {
				continue // the request says nothing, so that the metadata does
			}
			q, err := trigger.Request(t.Context(), sentBy(t, at.key, c.requester), at.object)
			if err != nil || q.Who != c.who || q.Claim != strings.TrimSpace(c.claim) || q.By() != c.by || q.Requester != c.requester || len(q.Problems) > 0 {
				t.Errorf("%q, sent by %q: %q, %q, %q, %q, %v; want %q", c.claim, c.requester, q.Who, q.By(), q.Requester, q.Problems, err, c.by)
			}
		}
	}
}

// Metadata that could harm a terminal, or fill the table, is stored without the harm.
func TestHarmfulMetadataIsStoredWithoutHarm(t *testing.T) {
	for claim, want := range map[string]string{
		"ann\x1b[2J\x07@laptop\r\nroot":    "ann?[2J?@laptop??root",
		"ann\u202egnp.exe":                 "ann?gnp.exe",
		"\x00\xff":                         "?\uFFFD",
		strings.Repeat("a", 10_000):        strings.Repeat("a", 700) + "…",
		strings.Repeat("ü", 10_000) + "\n": strings.Repeat("ü", 350) + "…",
		"arn:aws:iam::444455556666:user/" + strings.Repeat("b", 10_000) + "\x1b": "arn:aws:iam::444455556666:user/b",
	} {
		for _, key := range []string{anUpload, aRequest} {
			q, err := trigger.Request(t.Context(), put(t, key), object{who: claim, text: `{"operation":"refresh"}`})
			if err != nil || !strings.HasPrefix(q.Claim, want) || len(q.Claim) > 1<<10 || !utf8.ValidString(q.Claim) || strings.ContainsFunc(q.By(), func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("%.40q: %.100q, of %d bytes, %v; want %.100q", claim, q.Claim, len(q.Claim), err, want)
			}
		}
	}
	e := put(t, anUpload)
	e.Detail = json.RawMessage(strings.Replace(string(e.Detail), "111122223333", `\u001b[2J`, 1))
	if q, err := trigger.Request(t.Context(), e, object{}); err != nil || q.Who != "service ?[2J" || q.Requester != "?[2J" {
		t.Errorf("a requester that could harm a terminal: %q, %q, %v", q.Who, q.Requester, err)
	}
}

// Metadata that cannot be read now is read later. If it never can be, the run is
// refused, and supersedes no other upload.
func TestUnreadableMetadata(t *testing.T) {
	for kind, later := range map[fault.Kind]bool{fault.Throttled: true, fault.Unavailable: true, fault.Missing: false, fault.Denied: false, fault.Invalid: false} {
		for _, key := range []string{anUpload, aRequest} {
			q, err := trigger.Request(t.Context(), put(t, key), object{text: `{"operation":"refresh"}`, none: fault.New(kind, "so it is")})
			if later != fault.Is(err, kind) || later == (len(q.Problems) == 1) || q.Who != "unknown principal of account 111122223333" {
				t.Errorf("%s: %+v, %v", kind, q, err)
			}
			if !later && (q.Upload || q.Problems[0] != "who made the request cannot be read: so it is") {
				t.Errorf("%s: %+v", kind, q)
			}
		}
	}
}

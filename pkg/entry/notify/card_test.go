package notify

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
)

const (
	team     = "team;slack=C0123456789;secret=" + secretARN
	botToken = "xoxb-1234-not-a-real-token"
	flowURL  = "https://prod-12.westeurope.logic.azure.com:443/workflows/a/triggers/manual/paths/invoke?sig=not-a-real-signature"
	flow     = "flow;teams=prod-12.westeurope.logic.azure.com;secret=" + secretARN
)

// body decodes the body of request n, the last one.
func (w *backend) body(t *testing.T, n int, to any) {
	t.Helper()
	if len(w.got) != n+1 {
		t.Fatalf("%d requests, want %d", len(w.got), n+1)
	}
	if err := json.Unmarshal(w.got[n].body, to); err != nil {
		t.Fatal(err)
	}
}

// The first card of a run begins a thread of the channel, and the next ones are replies in it. The channel shows those that need
// somebody. A run that waits has a link to its plan.
func TestSlackThread(t *testing.T) {
	w := newBackend()
	w.password = botToken + "\n"
	w.answers = []Answer{{Status: 200, Body: []byte(`{"ok":true,"ts":"17.01"}`)}, {Status: 200, Body: []byte(`{"ok":true,"ts":"17.02"}`)}, {Status: 200, Body: []byte(`{"ok":true,"ts":"17.03"}`)}}
	d := w.deliverer(t, team)
	for n, c := range []struct {
		state, thread string
		broadcast     bool
		links         string
	}{
		{"waiting", "", false, "<https://page.example.com/#/shop@prod/r1/plan|Review the plan>   <https://page.example.com/#/shop@prod/r1|Open the run>"},
		{"succeeded", "17.01", false, "<https://page.example.com/#/shop@prod/r1|Open the run>"},
		{"failed", "17.01", true, "<https://page.example.com/#/shop@prod/r1|Open the run>"},
	} {
		if err := d.Deliver(t.Context(), event(t, "e"+c.state, "shop@prod", c.state)); err != nil {
			t.Fatal(err)
		}
		var m slackMessage
		w.body(t, n, &m)
		if r := w.got[n]; r.url != slackURL || r.header["Authorization"] != "Bearer "+botToken || strings.Contains(string(r.body), botToken) {
			t.Errorf("%s %v", r.url, r.header)
		}
		want := []slackBlock{
			{"section", slackText{"plain_text", "deploy of shop@prod failed"}}, {"section", slackText{"plain_text", "failed: db/update"}}, {"section", slackText{"mrkdwn", c.links}},
		}
		if m.Channel != "C0123456789" || m.Thread != c.thread || m.Broadcast != c.broadcast || m.Markup || m.Unfurl || !slices.Equal(m.Blocks, want) {
			t.Errorf("%s: %s", c.state, w.got[n].body)
		}
	}
	if err := d.Deliver(t.Context(), event(t, "e9", "shop@prod", "running")); err != nil || len(w.got) != 3 {
		t.Errorf("a chat got a state that it does not list: %v", err)
	}
}

// What comes from a project is data in a chat: plain text, or with its special characters replaced, and never too long for Slack.
func TestSlackTextIsData(t *testing.T) {
	m := message{Event: Event{ID: "e1", Change: Change{Run: "r1", Project: "a|b>c@prod", State: "failed", Text: "<!channel> & " + strings.Repeat("ä", 4000), Why: "<https://evil.example|here>"}}}
	got := slackMessageOf(&Deliverer{Page: "https://page.example.com"}, Destination{To: "C0123456789"}, m)
	if strings.ContainsAny(got.Text, "<>") || !strings.HasPrefix(got.Text, "&lt;!channel&gt; &amp; ä") || len([]rune(got.Blocks[0].Text.Text)) != mostSection {
		t.Errorf("%.60s, %d characters", got.Text, len([]rune(got.Blocks[0].Text.Text)))
	}
	for _, b := range got.Blocks[:2] {
		if b.Text.Type != "plain_text" {
			t.Errorf("%.60s is mark-up", b.Text.Text)
		}
	}
	if l := got.Blocks[2].Text.Text; l != "<https://page.example.com/#/a%7Cb%3Ec@prod/r1|Open the run>" {
		t.Error(l)
	}
}

// Slack answers 200 also for what it refuses: a refusal says what to do and is not repeated at once, another fault is repeated.
func TestSlackRefuses(t *testing.T) {
	for body, c := range map[string]struct {
		kind     fault.Kind
		says     string
		requests int
	}{
		`{"ok":false,"error":"not_in_channel"}`: {fault.Refused, "invite the app", 1},
		`{"ok":false,"error":"is_archived"}`:    {fault.Refused, "another channel", 1},
		`{"ok":false,"error":"missing_scope"}`:  {fault.Refused, "chat:write", 1},
		`{"ok":false,"error":"token_revoked"}`:  {fault.Refused, "bot token", 1},
		`{"ok":false,"error":"no_text"}`:        {fault.Refused, "Slack answers no_text", 1},
		`{"ok":false,"error":"<!here> x"}`:      {fault.Refused, "an error without a name", 1},
		`{"ok":false,"error":"internal_error"}`: {fault.Unavailable, "internal_error", attempts},
		`<html>`:                                {fault.Unavailable, "cannot be read", attempts},
	} {
		w := newBackend()
		w.password = botToken
		for range attempts {
			w.answers = append(w.answers, Answer{Status: 200, Body: []byte(body)})
		}
		err := w.deliverer(t, team).Deliver(t.Context(), event(t, "e1", "shop@prod", "failed"))
		if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) || len(w.got) != c.requests || len(w.threads) > 0 {
			t.Errorf("%s: %d requests, %v", body, len(w.got), err)
		}
	}
}

// A workflow of Teams gets a card with the state, the texts and the links.
func TestTeams(t *testing.T) {
	w := newBackend()
	w.password = flowURL + "\n"
	if err := w.deliverer(t, flow).Deliver(t.Context(), event(t, "e1", "shop@prod", "waiting")); err != nil {
		t.Fatal(err)
	}
	var m teamsMessage
	w.body(t, 0, &m)
	if w.got[0].url != flowURL || m.Type != "message" || len(m.Attachments) != 1 || m.Attachments[0].Type != "application/vnd.microsoft.card.adaptive" {
		t.Fatalf("%s", w.got[0].body)
	}
	card := m.Attachments[0].Content
	texts := []adaptiveText{
		{"TextBlock", "deploy of shop@prod: waiting", "Bolder", "Warning", true}, {Type: "TextBlock", Text: "deploy of shop@prod failed", Wrap: true}, {Type: "TextBlock", Text: "failed: db/update", Wrap: true},
	}
	actions := []adaptiveAction{{"Action.OpenUrl", "Review the plan", "https://page.example.com/#/shop@prod/r1/plan"}, {"Action.OpenUrl", "Open the run", "https://page.example.com/#/shop@prod/r1"}}
	if card.Type != "AdaptiveCard" || card.Version != "1.4" || !slices.Equal(card.Body, texts) || !slices.Equal(card.Actions, actions) {
		t.Errorf("%s", w.got[0].body)
	}
}

// Nothing is sent with a secret of another kind, or to another host than the setting names, and the error does not contain the secret.
func TestChatSecrets(t *testing.T) {
	for _, c := range []struct{ setting, secret string }{
		{team, password}, {team, "xoxb-1\nX-Other: y"}, {flow, password}, {flow, "https://prod-12.westeurope.logic.azure.com.evil.example/x?sig=s3cr3t"},
		{flow, "http://prod-12.westeurope.logic.azure.com/x?sig=s3cr3t"}, {flow, "https://u:s3cr3t@prod-12.westeurope.logic.azure.com/x"},
	} {
		w := newBackend()
		w.password = c.secret
		err := w.deliverer(t, c.setting).Deliver(t.Context(), event(t, "e1", "shop@prod", "failed"))
		if !fault.Is(err, fault.Refused) || len(w.got) > 0 || strings.Contains(err.Error(), c.secret) || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: %d requests, %v", c.setting, len(w.got), err)
		}
	}
}

// A channel is an ID, and a host only a host.
func TestParseChats(t *testing.T) {
	for _, text := range []string{team, flow, team + "," + flow + ";states=failed"} {
		if all, err := Parse(text); err != nil || all.String() != text {
			t.Errorf("%q: %q, %v", text, all, err)
		}
	}
	for text, says := range map[string]string{
		"a;slack=#general": "slack is not the ID of a channel", "a;slack=c0123456789": "slack is not the ID", "a;teams=" + flowURL: "teams is not the host", "a;teams=10.0.0.1": "teams is not the host",
		"a;teams=X.example.com": "teams is not the host", "a;teams=x.example.com/path": "teams is not the host",
	} {
		if _, err := Parse(text); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "not-a-real") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

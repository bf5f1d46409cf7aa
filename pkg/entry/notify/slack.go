package notify

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/run"
)

// slackURL is the method of Slack's Web API that posts a message. https://docs.slack.dev/reference/methods/chat.postMessage
const slackURL = "https://slack.com/api/chat.postMessage"

// mostSection is how many characters a section of a Slack message has at most. https://docs.slack.dev/reference/block-kit/blocks/section-block
const mostSection = 3000

var (
	channelForm    = pattern.New(`^[CG][A-Z0-9]{8,20}$`)
	slackErrorForm = pattern.New(`^[a-z][a-z_]{0,60}$`)
)

// chatStates are the events that a chat gets whose destination names no states: those that somebody should know of.
var chatStates = []run.State{run.StateWaiting, run.StateSucceeded, run.StateFailed, run.StateCancelled, run.StateRefused}

// slackFormat posts a card to a channel of Slack, with the token of a bot. The cards of a run are one thread.
func slackFormat() format {
	return format{name: "slack", check: checkChannel, states: chatStates, send: sendSlack}
}

func checkChannel(value string) error {
	if !channelForm.MatchString(value) {
		return fault.New(fault.Invalid, "slack is not the ID of a channel, such as C0123456789: copy it from the end of the channel's details")
	}
	return nil
}

// A slackMessage is the body of a request.
type slackMessage struct {
	Channel   string       `json:"channel"`
	Thread    string       `json:"thread_ts,omitempty"`
	Broadcast bool         `json:"reply_broadcast,omitempty"` // whether the channel shows the reply too
	Text      string       `json:"text"`                      // for the notification
	Markup    bool         `json:"mrkdwn"`                    // of Text
	Unfurl    bool         `json:"unfurl_links"`
	Blocks    []slackBlock `json:"blocks"`
}

type slackBlock struct {
	Type string    `json:"type"`
	Text slackText `json:"text"`
}

type slackText struct {
	Type string `json:"type"` // plain_text or mrkdwn
	Text string `json:"text"`
}

func sendSlack(ctx context.Context, by *Deliverer, to Destination, m message) (string, error) {
	body, err := json.Marshal(slackMessageOf(by, to, m))
	if err != nil {
		return "", fault.New(fault.Broken, "the message for event %s: %w", m.ID, err)
	}
	token := strings.TrimSpace(string(m.secret))
	if !strings.HasPrefix(token, "xoxb-") || strings.ContainsAny(token, " \t\r\n") {
		return "", fault.New(fault.Refused, "the secret %s is not the token of a bot, which begins with xoxb-: store the bot token of the Slack app", to.Secret)
	}
	a, err := by.post(ctx, slackURL, map[string]string{"Content-Type": "application/json; charset=utf-8", "Authorization": "Bearer " + token}, body)
	if err != nil {
		return "", err
	}
	var said struct {
		OK    bool   `json:"ok"`
		Error string `json:"error"`
		TS    string `json:"ts"`
	}
	if err := json.Unmarshal(a.Body, &said); err != nil {
		return "", fault.New(fault.Unavailable, "the answer of Slack cannot be read")
	}
	if !said.OK {
		return "", slackFault(said.Error)
	}
	if m.thread != "" {
		return "", nil // it goes on
	}
	return said.TS, nil
}

// slackMessageOf returns the message. What comes from projects is plain text; only the links are mark-up.
func slackMessageOf(by *Deliverer, to Destination, m message) slackMessage {
	blocks := []slackBlock{{"section", slackText{"plain_text", cut(m.Text, mostSection)}}}
	if m.Why != "" {
		blocks = append(blocks, slackBlock{"section", slackText{"plain_text", cut(m.Why, mostSection)}})
	}
	var links []string
	for _, l := range m.links(by.Page) {
		links = append(links, "<"+l.url+"|"+l.text+">")
	}
	if links != nil {
		blocks = append(blocks, slackBlock{"section", slackText{"mrkdwn", strings.Join(links, "   ")}})
	}
	return slackMessage{
		Channel: to.To, Thread: m.thread, Broadcast: m.thread != "" && m.urgent(),
		Text:   strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(cut(m.Text, mostSection)),
		Blocks: blocks,
	}
}

// slackFault returns the fault of an answer that is no success. An error without a row is shown as it is.
// https://docs.slack.dev/reference/methods/chat.postMessage#errors
func slackFault(name string) error {
	switch name {
	case "ratelimited", "rate_limited", "internal_error", "fatal_error", "service_unavailable", "request_timeout":
		return fault.New(fault.Unavailable, "Slack answers %s", name)
	case "channel_not_found", "not_in_channel":
		return fault.New(fault.Refused, "Slack answers %s: invite the app to the channel, and check the channel's ID", name)
	case "is_archived":
		return fault.New(fault.Refused, "Slack answers %s: write another channel into the setting", name)
	case "missing_scope", "no_permission":
		return fault.New(fault.Refused, "Slack answers %s: give the app the scope chat:write, and install it again", name)
	case "invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive":
		return fault.New(fault.Refused, "Slack answers %s: store the app's present bot token in the secret", name)
	}
	if !slackErrorForm.MatchString(name) {
		name = "an error without a name"
	}
	return fault.New(fault.Refused, "Slack answers %s: see the documentation of chat.postMessage", name)
}

package notify

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/remote"
	"github.com/stackwright/stackwright/pkg/run"
)

// teamsFormat posts an Adaptive Card to a workflow of Microsoft Teams. The URL of the workflow permits everybody who knows it to post, so
// that it is the secret; the setting names its host.
func teamsFormat() format {
	return format{name: "teams", check: checkHost, states: chatStates, send: sendTeams}
}

func checkHost(value string) error {
	at, err := remote.Parse("https://" + value + "/")
	if err != nil || at.Text != "https://"+value+"/" || strings.ContainsAny(value, "/?#") {
		return fault.New(fault.Invalid, "teams is not the host of the workflow's URL, such as prod-12.westeurope.logic.azure.com: write it in lower-case letters, without https:// and path, and store the whole URL in the secret")
	}
	return nil
}

// A teamsMessage is the body of a request. https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
type teamsMessage struct {
	Type        string            `json:"type"`
	Attachments []teamsAttachment `json:"attachments"`
}

type teamsAttachment struct {
	Type    string       `json:"contentType"`
	Content adaptiveCard `json:"content"`
}

// An adaptiveCard is one of version 1.4. https://adaptivecards.io/explorer/AdaptiveCard.html
type adaptiveCard struct {
	Schema  string           `json:"$schema"`
	Type    string           `json:"type"`
	Version string           `json:"version"`
	Body    []adaptiveText   `json:"body"`
	Actions []adaptiveAction `json:"actions,omitempty"`
}

type adaptiveText struct {
	Type   string `json:"type"`
	Text   string `json:"text"`
	Weight string `json:"weight,omitempty"`
	Color  string `json:"color,omitempty"`
	Wrap   bool   `json:"wrap"`
}

type adaptiveAction struct {
	Type  string `json:"type"`
	Title string `json:"title"`
	URL   string `json:"url"`
}

func sendTeams(ctx context.Context, by *Deliverer, to Destination, m message) (string, error) {
	at := strings.TrimSpace(string(m.secret))
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "https" || u.Host != to.To && u.Host != to.To+":443" || u.User != nil {
		return "", fault.New(fault.Refused, "the secret %s is not an https URL with the host %s: store the URL of the workflow, or correct the host in the setting", to.Secret, to.To)
	}
	body, err := json.Marshal(teamsMessage{"message", []teamsAttachment{{"application/vnd.microsoft.card.adaptive", cardOf(by, m)}}})
	if err != nil {
		return "", fault.New(fault.Broken, "the card for event %s: %w", m.ID, err)
	}
	_, err = by.post(ctx, at, map[string]string{"Content-Type": "application/json"}, body)
	return "", err
}

// cardOf returns the card. The texts contain no mark-up: see Change.
func cardOf(by *Deliverer, m message) adaptiveCard {
	c := adaptiveCard{
		Schema: "http://adaptivecards.io/schemas/adaptive-card.json", Type: "AdaptiveCard", Version: "1.4",
		Body: []adaptiveText{{"TextBlock", m.Title + ": " + string(m.State), "Bolder", color(m.State), true}, {Type: "TextBlock", Text: m.Text, Wrap: true}},
	}
	if m.Why != "" {
		c.Body = append(c.Body, adaptiveText{Type: "TextBlock", Text: m.Why, Wrap: true})
	}
	for _, l := range m.links(by.Page) {
		c.Actions = append(c.Actions, adaptiveAction{"Action.OpenUrl", l.text, l.url})
	}
	return c
}

// color is that of a state: one of https://adaptivecards.io/explorer/TextBlock.html
func color(s run.State) string {
	switch s {
	case run.StateSucceeded:
		return "Good"
	case run.StateFailed, run.StateRefused:
		return "Attention"
	case run.StateWaiting, run.StateCancelled:
		return "Warning"
	}
	return "Default"
}

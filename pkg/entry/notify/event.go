// Package notify delivers the events of runs to web servers and chats.
package notify

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// An Event is a state change of a run, as EventBridge delivers it.
type Event struct {
	ID     string          `json:"id"` // the same in all deliveries
	Time   time.Time       `json:"time"`
	Type   string          `json:"detail-type"`
	Detail json.RawMessage `json:"detail"`
	Change `json:"-"`
}

// A Change is the part of the detail of an event that is used here. Its texts contain no mark-up (docs/events.md).
type Change struct {
	Run       string    `json:"run"`
	Project   string    `json:"project"` // "shop@prod"
	Operation string    `json:"operation"`
	State     run.State `json:"state"`
	Title     string    `json:"title"` // the same in all events of the run
	Text      string    `json:"text"`
	Why       string    `json:"why"`
}

// ReadEvent reads an event. The error is of kind Invalid.
func ReadEvent(body []byte) (Event, error) {
	var e Event
	if err := json.Unmarshal(body, &e); err != nil {
		return e, fault.New(fault.Invalid, "the event cannot be read: %w", err)
	}
	if err := json.Unmarshal(e.Detail, &e.Change); err != nil {
		return e, fault.New(fault.Invalid, "the detail of event %s cannot be read: %w", e.ID, err)
	}
	if e.ID == "" || e.Run == "" || e.Project == "" || e.State == "" {
		return e, fault.New(fault.Invalid, "event %q is no state change of a run: it lacks id, run, project or state", e.ID)
	}
	return e, nil
}

// link is the URL of a run on the page that an address serves; "" without an address. plan is whether it shows the plan.
func (e Event) link(page string, plan bool) string {
	if page == "" {
		return ""
	}
	to := strings.TrimSuffix(page, "/") + "/#/" + url.PathEscape(e.Project) + "/" + url.PathEscape(e.Run)
	if plan {
		to += "/plan"
	}
	return to
}

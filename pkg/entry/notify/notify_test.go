package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
)

const (
	secretARN = "arn:aws:secretsmanager:us-east-1:000000000000:secret:ops-AbCdEf"
	opsURL    = "https://ops.example.com/stackwright"
	ops       = "ops;webhook=" + opsURL + ";secret=" + secretARN
	password  = "0123456789abcdef0123456789abcdef"
)

// A request is one that a server got.
type request struct {
	url    string
	header map[string]string
	body   []byte
}

// backend has everything that a Deliverer uses, in memory. Servers answer 200 unless there are answers.
type backend struct {
	mu       sync.Mutex
	got      []request
	answers  []Answer         // of the next requests
	broken   map[string]error // by URL
	done     map[Delivery]bool
	holder   map[Delivery]string // by run and destination
	threads  map[Delivery]string
	waits    []time.Duration
	failed   []Delivery
	password string
}

func newBackend() *backend {
	return &backend{broken: make(map[string]error), done: make(map[Delivery]bool), holder: make(map[Delivery]string), threads: make(map[Delivery]string), password: password}
}

func of(d Delivery) Delivery { return Delivery{Run: d.Run, Destination: d.Destination} }

// Claim implements Deliveries.
func (w *backend) Claim(_ context.Context, d Delivery, _ time.Time) (string, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done[d] {
		return "", true, nil
	}
	if h := w.holder[of(d)]; h != "" && h != d.Event {
		return "", false, fault.New(fault.Busy, "event %s is being delivered", h)
	}
	w.holder[of(d)] = d.Event
	return w.threads[of(d)], false, nil
}

// Delivered implements Deliveries.
func (w *backend) Delivered(_ context.Context, d Delivery, thread string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done[d], w.holder[of(d)] = true, ""
	if thread != "" {
		w.threads[of(d)] = thread
	}
	return nil
}

// Release implements Deliveries.
func (w *backend) Release(_ context.Context, d Delivery) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holder[of(d)] = ""
	return nil
}

// Secret implements Secrets.
func (w *backend) Secret(_ context.Context, arn string) ([]byte, error) {
	if arn != secretARN {
		return nil, fault.New(fault.Missing, "%s does not exist", arn)
	}
	return []byte(w.password), nil
}

// Post implements Servers.
func (w *backend) Post(_ context.Context, url string, header map[string]string, body []byte) (Answer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.got = append(w.got, request{url, maps.Clone(header), bytes.Clone(body)})
	if err := w.broken[url]; err != nil {
		return Answer{}, err
	}
	if len(w.answers) == 0 {
		return Answer{Status: 200}, nil
	}
	a := w.answers[0]
	w.answers = w.answers[1:]
	return a, nil
}

// deliverer delivers to the destinations of a setting.
func (w *backend) deliverer(t *testing.T, setting string) *Deliverer {
	t.Helper()
	all, err := Parse(setting)
	if err != nil {
		t.Fatal(err)
	}
	return &Deliverer{
		Destinations: all, Deliveries: w, Secrets: w, Servers: w, Page: "https://page.example.com/",
		Now: func() time.Time { return time.Unix(1700000000, 0) },
		Wait: func(_ context.Context, d time.Duration) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.waits = append(w.waits, d)
			return nil
		},
		Failed: func(_ context.Context, d Delivery, _ error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.failed = append(w.failed, d)
		},
	}
}

// event is an event of a run, as EventBridge delivers it.
func event(t *testing.T, id, project, state string) Event {
	t.Helper()
	e, err := ReadEvent(fmt.Appendf(nil, `{"version":"0","id":%q,"source":"stackwright","time":"2026-03-01T12:00:00Z","detail-type":"Stackwright Run State Change",
		"detail":{"run":"r1","project":%q,"operation":"deploy","state":%q,"title":"deploy of shop@prod","text":"deploy of shop@prod failed","why":"failed: db/update","steps":{"failed":1}}}`, id, project, state))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A webhook gets the whole event, signed with the time, the same ID each time, and the URL of the run on the page.
func TestWebhook(t *testing.T) {
	w := newBackend()
	if err := w.deliverer(t, ops).Deliver(t.Context(), event(t, "e1", "shop@prod", "failed")); err != nil || len(w.got) != 1 {
		t.Fatalf("%v, %v", w.got, err)
	}
	r := w.got[0]
	mac := hmac.New(sha256.New, []byte(password))
	mac.Write([]byte("1700000000."))
	mac.Write(r.body)
	want := map[string]string{"Content-Type": "application/json", "Idempotency-Key": "e1", "Stackwright-Signature": "t=1700000000,v1=" + hex.EncodeToString(mac.Sum(nil))}
	if r.url != opsURL || !maps.Equal(r.header, want) {
		t.Errorf("%s %v, want %v", r.url, r.header, want)
	}
	var got map[string]any
	if err := json.Unmarshal(r.body, &got); err != nil {
		t.Fatal(err)
	}
	detail, _ := got["detail"].(map[string]any)
	if got["id"] != "e1" || got["type"] != "Stackwright Run State Change" || got["time"] != "2026-03-01T12:00:00Z" || got["page"] != "https://page.example.com/#/shop@prod/r1" || detail["why"] != "failed: db/update" || detail["steps"] == nil {
		t.Errorf("%s", r.body)
	}
	if strings.Contains(string(r.body), password) {
		t.Error("the body has the secret")
	}
}

// A destination gets the events of its projects and states, and each only once.
func TestFilter(t *testing.T) {
	w := newBackend()
	d := w.deliverer(t, ops+";projects=shop@prod+team-*@*;states=failed+waiting")
	for n, e := range []struct{ project, state string }{
		{"shop@prod", "failed"}, {"shop@prod", "waiting"}, {"shop@prod", "succeeded"}, {"shop@test", "failed"}, {"team-a@x", "failed"}, {"shop@prod", "failed"},
	} {
		if err := d.Deliver(t.Context(), event(t, fmt.Sprint("e", n%5), e.project, e.state)); err != nil {
			t.Fatal(err)
		}
	}
	var ids []string
	for _, r := range w.got {
		ids = append(ids, r.header["Idempotency-Key"])
	}
	if !slices.Equal(ids, []string{"e0", "e1", "e4"}) {
		t.Errorf("delivered %v", ids)
	}
}

// One destination that fails does not stop another one, and is tried again alone when the function is called again with the event.
func TestOneDestinationFails(t *testing.T) {
	w := newBackend()
	const other = "https://other.example.com/x"
	d := w.deliverer(t, ops+",other;webhook="+other+";secret="+secretARN)
	w.broken[other] = fault.New(fault.Unavailable, "there is no answer within 8s")
	e := event(t, "e1", "shop@prod", "failed")
	err := d.Deliver(t.Context(), e)
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "deliver event e1 of run r1 to other") || strings.Contains(err.Error(), "other.example.com") {
		t.Errorf("%v", err)
	}
	if count := w.count(); count[opsURL] != 1 || count[other] != attempts || !slices.Equal(w.failed, []Delivery{{"r1", "other", "e1"}}) {
		t.Errorf("%v, %v", count, w.failed)
	}
	delete(w.broken, other)
	if err := d.Deliver(t.Context(), e); err != nil {
		t.Error(err)
	}
	if count := w.count(); count[opsURL] != 1 || count[other] != attempts+1 {
		t.Errorf("%v", count)
	}
}

func (w *backend) count() map[string]int {
	all := make(map[string]int)
	for _, r := range w.got {
		all[r.url]++
	}
	return all
}

// Answers of a server that is too busy are waited for, as long as it says; others that refuse are not repeated.
func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		answers  []Answer
		requests int
		waits    []time.Duration
		kind     fault.Kind
		says     string
	}{
		"busy once":      {[]Answer{{Status: 503}}, 2, []time.Duration{time.Second}, "", ""},
		"says how long":  {[]Answer{{Status: 429, RetryAfter: 7 * time.Second}, {Status: 500}}, 3, []time.Duration{7 * time.Second, 4 * time.Second}, "", ""},
		"too long":       {[]Answer{{Status: 429, RetryAfter: time.Hour}}, 1, nil, fault.Unavailable, "answers 429"},
		"always busy":    {[]Answer{{Status: 500}, {Status: 502}, {Status: 408}}, 3, []time.Duration{time.Second, 4 * time.Second}, fault.Unavailable, "answers 408"},
		"refuses":        {[]Answer{{Status: 403}}, 1, nil, fault.Refused, "check its URL and its secret"},
		"leads to other": {[]Answer{{Status: 302}}, 1, nil, fault.Refused, "redirects are not followed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newBackend()
			w.answers = c.answers
			err := w.deliverer(t, ops).Deliver(t.Context(), event(t, "e1", "shop@prod", "failed"))
			if fault.KindOf(err) != c.kind || err != nil && !strings.Contains(err.Error(), c.says) || len(w.got) != c.requests || !slices.Equal(w.waits, c.waits) {
				t.Errorf("%d requests, waited %v, %v", len(w.got), w.waits, err)
			}
			if held := w.holder[Delivery{Run: "r1", Destination: "ops"}]; held != "" {
				t.Errorf("%s still has the claim", held)
			}
		})
	}
}

// Nothing is sent without a secret, or with one that could be guessed, and the error does not contain it.
func TestSecrets(t *testing.T) {
	w := newBackend()
	w.password = "short"
	err := w.deliverer(t, ops).Deliver(t.Context(), event(t, "e1", "shop@prod", "failed"))
	if !fault.Is(err, fault.Refused) || len(w.got) > 0 || strings.Contains(err.Error(), `"short"`) {
		t.Errorf("%v, %v", w.got, err)
	}
	err = w.deliverer(t, strings.Replace(ops, "ops-AbCdEf", "none-AbCdEf", 1)).Deliver(t.Context(), event(t, "e1", "shop@prod", "failed"))
	if !fault.Is(err, fault.Missing) || len(w.got) > 0 {
		t.Errorf("%v, %v", w.got, err)
	}
}

// While another event of the run is being delivered, this one waits.
func TestOneEventAtATime(t *testing.T) {
	w := newBackend()
	w.holder[Delivery{Run: "r1", Destination: "ops"}] = "e0"
	d := w.deliverer(t, ops)
	if err := d.Deliver(t.Context(), event(t, "e1", "shop@prod", "failed")); !fault.Is(err, fault.Busy) || len(w.got) > 0 || len(w.waits) != attempts-1 {
		t.Errorf("%v after %v: %v", w.got, w.waits, err)
	}
}

// What is no event of a run is refused, and the error names what it lacks.
func TestReadEvent(t *testing.T) {
	for text, says := range map[string]string{
		`[`: "cannot be read", `{}`: "cannot be read", `{"id":"a","detail":{"run":7}}`: "cannot be read", `{"id":"a","detail":{}}`: "lacks", `{"id":"a","detail":{"run":"r","project":"p@d"}}`: "lacks",
	} {
		if _, err := ReadEvent([]byte(text)); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A setting is read and written back; all that is wrong is said at once, and no URL is repeated.
func TestParse(t *testing.T) {
	for _, text := range []string{"", ops, ops + ";projects=*@prod+shop@*;states=failed+waiting", ops + ",two;webhook=https://b.example.com/;secret=" + secretARN} {
		all, err := Parse(text)
		if err != nil || all.String() != text {
			t.Errorf("%q: %q, %v", text, all, err)
		}
	}
	all, err := Parse(ops + ",two;webhook=https://b.example.com/;secret=" + secretARN)
	if err != nil || !slices.Equal(all.Secrets(), []string{secretARN}) {
		t.Errorf("%v, %v", all.Secrets(), err)
	}
	for text, says := range map[string]string{
		"Ops":                               "begin it with a name",
		"ops":                               "it does not say where to: add one of webhook, slack, teams, report, with = and a value; destination 1, ops: it has no secret",
		ops + "," + ops:                     "another destination has this name",
		ops + ";secret=" + secretARN:        "secret is written twice",
		ops + ";states=done":                `"done" is no state of an event: the states are queued, running`,
		ops + ";projects=":                  "projects is empty",
		ops + ";projects=sh?p@x":            "is not a pattern",
		ops + ";https://hunter2@x.com/":     `it has a part that is no key`,
		ops + ";color=red":                  `"color" is no key: the keys are webhook, slack, teams, report, secret, projects and states`,
		"a;webhook=http://x.example.com/":   "https",
		"a;webhook=https://x.com/?token=se": "query",
		"a;webhook=https://u:se@x.com/":     "destination 1, a: ",
		"a;secret=hunter2":                  "secret is not the ARN",
		strings.Repeat("a", MaxSetting+1):   "more than 2000 characters",
	} {
		_, err := Parse(text)
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("%.60s: %v, want %s", text, err, says)
		}
		if err != nil && (strings.Contains(err.Error(), "token=se") || strings.Contains(err.Error(), "u:se") || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("%.60s: the error repeats it: %v", text, err)
		}
	}
}

// A delivery ends with the time of the function, and says why.
func TestDeliveryEndsWithItsContext(t *testing.T) {
	w := newBackend()
	w.answers = []Answer{{Status: 503}, {Status: 503}, {Status: 503}}
	d := w.deliverer(t, ops)
	d.Wait = func(context.Context, time.Duration) error { return errors.New("the time is over") }
	if err := d.Deliver(t.Context(), event(t, "e1", "shop@prod", "failed")); !fault.Is(err, fault.Unavailable) || len(w.got) != 1 {
		t.Errorf("%v, %v", w.got, err)
	}
}

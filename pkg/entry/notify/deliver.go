package notify

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
)

// Limits of one call of the function, which has a minute.
const (
	attempts  = 3
	firstWait = time.Second
	mostWait  = 20 * time.Second // that a server may request with Retry-After: for more, the event is delivered again later
	postTime  = 8 * time.Second
	claimTime = time.Minute
	mostTime  = 50 * time.Second
)

// A Delivery is that of one event to one destination.
type Delivery struct {
	Run         string
	Destination string
	Event       string // its ID
}

// Deliveries are what was delivered. One delivery of the run to the destination is made at a time, so that all cards of a run come into
// one thread.
type Deliveries interface {
	// Claim lets the caller deliver until a time, and returns the thread of the run. done is whether it was delivered already. The error
	// is of kind Busy if another event of the run is being delivered there.
	Claim(ctx context.Context, d Delivery, until time.Time) (thread string, done bool, err error)

	// Delivered records that d was delivered, and the thread if it is not empty, and lets the next event be delivered.
	Delivered(ctx context.Context, d Delivery, thread string) error

	// Release lets other events be delivered after d was not.
	Release(ctx context.Context, d Delivery) error
}

// Secrets are those of Secrets Manager in the account and region of the installation.
type Secrets interface {
	Secret(ctx context.Context, arn string) ([]byte, error)
}

// An Answer is what a server answers.
type Answer struct {
	Status     int
	RetryAfter time.Duration // how long it asks to wait; 0 if it does not say
	Body       []byte        // the first bytes of it
}

// Servers are web servers of the public Internet.
type Servers interface {
	// Post sends a body to an https URL once. It follows no redirect, and connects only to public addresses. The error is of kind
	// Refused if nothing was sent and another attempt changes nothing, else Unavailable. It does not contain the URL.
	Post(ctx context.Context, url string, header map[string]string, body []byte) (Answer, error)
}

// A Deliverer delivers events.
type Deliverer struct {
	Destinations Destinations
	Deliveries   Deliveries
	Secrets      Secrets
	Servers      Servers
	Reports      Reports
	Page         string // the address at which the installation serves its page; "" if it serves none
	Now          func() time.Time
	Wait         func(context.Context, time.Duration) error
	Failed       func(ctx context.Context, d Delivery, err error) // is called for each delivery that was not made
}

// message is what is delivered to one destination.
type message struct {
	Event
	secret []byte
	thread string
}

// Deliver delivers an event to all destinations that want it. Those do not wait for one another. The error says which have not got
// it: after another call with the same event, they get it, and the others do not get it again.
func (d *Deliverer) Deliver(ctx context.Context, e Event) error {
	ctx, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	errs := make([]error, len(d.Destinations))
	var all sync.WaitGroup
	for n, to := range d.Destinations {
		if !to.wants(e) {
			continue
		}
		all.Go(func() {
			if err := d.deliver(ctx, to, e); err != nil {
				errs[n] = fmt.Errorf("deliver event %s of run %s to %s: %w", e.ID, e.Run, to.Name, err)
				d.Failed(ctx, Delivery{e.Run, to.Name, e.ID}, errs[n])
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// deliver delivers an event to one destination, in a few attempts.
func (d *Deliverer) deliver(ctx context.Context, to Destination, e Event) error {
	wait := firstWait
	for attempt := 1; ; attempt++ {
		err := d.try(ctx, to, e)
		if err == nil || attempt == attempts || !again(err) {
			return err
		}
		pause := wait
		if a, ok := errors.AsType[*answered](err); ok && a.retryAfter > 0 {
			pause = a.retryAfter
		}
		if pause > mostWait {
			return err
		}
		if stopped := d.Wait(ctx, pause); stopped != nil {
			return err
		}
		wait *= 4
	}
}

// again reports whether another attempt may help soon.
func again(err error) bool {
	return fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Busy) || fault.Is(err, fault.Throttled)
}

// try makes one attempt.
func (d *Deliverer) try(ctx context.Context, to Destination, e Event) error {
	of := Delivery{e.Run, to.Name, e.ID}
	thread, done, err := d.Deliveries.Claim(ctx, of, d.Now().Add(claimTime))
	if err != nil || done {
		return err
	}
	thread, err = d.send(ctx, to, message{Event: e, thread: thread})
	if err != nil {
		return errors.Join(err, d.Deliveries.Release(context.WithoutCancel(ctx), of))
	}
	return d.Deliveries.Delivered(context.WithoutCancel(ctx), of, thread)
}

// send sends a message once.
func (d *Deliverer) send(ctx context.Context, to Destination, m message) (thread string, err error) {
	f, ok := formatOf(to.Format)
	if !ok {
		return "", fault.New(fault.Broken, "this version does not know the format %q", to.Format)
	}
	if !f.inside {
		if m.secret, err = d.Secrets.Secret(ctx, to.Secret); err != nil {
			return "", err
		}
	}
	return f.send(ctx, d, to, m)
}

// post sends a body, and returns the answer if it is a success.
func (d *Deliverer) post(ctx context.Context, url string, header map[string]string, body []byte) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, postTime)
	defer cancel()
	a, err := d.Servers.Post(ctx, url, header, body)
	if err == nil {
		err = faultOf(a)
	}
	return a, err
}

// answered is the fault of an answer that requests to wait.
type answered struct {
	error
	retryAfter time.Duration
}

// Unwrap returns the fault.
func (a *answered) Unwrap() error { return a.error }

// The statuses of an answer of a server that is too busy, or that did not get the whole request in time.
// https://www.rfc-editor.org/rfc/rfc9110#section-15
const (
	requestTimeout  = 408
	tooManyRequests = 429
)

// faultOf returns the fault of an answer: Unavailable if another attempt may help.
func faultOf(a Answer) error {
	switch {
	case a.Status >= 200 && a.Status < 300:
		return nil
	case a.Status >= 500, a.Status == tooManyRequests, a.Status == requestTimeout:
		return &answered{fault.New(fault.Unavailable, "the server answers %d", a.Status), a.RetryAfter}
	case a.Status >= 300 && a.Status < 400:
		return fault.New(fault.Refused, "the server answers %d, and redirects are not followed: write the last URL", a.Status)
	}
	return fault.New(fault.Refused, "the server answers %d: see its log, and check its URL and its secret", a.Status)
}

package cli

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"

	"github.com/stackwright/stackwright/pkg/fault"
)

// A door connects to the server that has the data folder. A server ends when it has nothing to do, also while another
// command uses it. The door then connects to the next server of the folder, and hosts one if there is none. A request
// whose connection was refused has not been sent, so the next server gets it.
type door struct {
	call     *call
	readOnly bool // a server that is hosted does not continue runs

	mu      sync.Mutex
	address string // host and port
	host    Host   // nil if another process hosts the folder
}

// openDoor finds the server of the data folder, or hosts one.
func (c *call) openDoor(ctx context.Context, readOnly bool) (*door, error) {
	d := &door{call: c, readOnly: readOnly}
	return d, d.find(ctx)
}

// url is the address that the door connects to.
func (d *door) url() string { return "http://" + d.address }

// find finds the server of the data folder, or hosts one.
func (d *door) find(ctx context.Context) error {
	c := d.call
	for startedAt := time.Now(); ; {
		url, held, err := c.Laptop.Holder(c.flags.data)
		switch {
		case err != nil:
			return err
		case held && url != "":
			d.address = strings.TrimPrefix(url, "http://")
			return nil
		}
		h, err := c.Laptop.Start(ctx, c.hosting("127.0.0.1:0", d.readOnly))
		if err == nil {
			d.address, d.host = strings.TrimPrefix(h.URL(), "http://"), h
			c.showPage(h)
			return nil
		}
		if !fault.Is(err, fault.Busy) || time.Since(startedAt) > recordTimeout {
			return err
		}
		if err := pause(ctx); err != nil { // another process opens or closes the folder
			return err
		}
	}
}

// pause waits for another process.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(pollInterval):
		return nil
	}
}

// client returns a client whose connections to the present address lead to the server of the folder, whichever it is then.
func (d *door) client() *awshttp.BuildableClient {
	known := d.address
	return awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		elsewhere := t.DialContext
		t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if address != known {
				return elsewhere(ctx, network, address)
			}
			return d.dial(ctx, network)
		}
	})
}

// dial connects to the server of the folder.
func (d *door) dial(ctx context.Context, network string) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for startedAt := time.Now(); ; {
		conn, err := new(net.Dialer).DialContext(ctx, network, d.address)
		if !errors.Is(err, syscall.ECONNREFUSED) || d.host != nil || time.Since(startedAt) > recordTimeout {
			return conn, err
		}
		was := d.address
		if failed := d.find(context.WithoutCancel(ctx)); failed != nil { // the server outlives the request
			return nil, failed
		}
		if d.address != was {
			continue
		}
		if failed := pause(ctx); failed != nil {
			return nil, failed
		}
	}
}

// hosted returns the server of this process, or nil.
func (d *door) hosted() Host {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.host
}

// end ends the server of this process.
func (d *door) end() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := d.host
	d.host = nil
	return h.Close()
}

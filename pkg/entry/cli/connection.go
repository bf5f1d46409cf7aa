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

// A connection leads to the server that has the data folder. A server ends when it has nothing to do, also while another
// command uses it. The connection then leads to the next server of the folder, and hosts one if there is none. A request
// whose connection was refused has not been sent, so the next server gets it.
type connection struct {
	call     *call
	readOnly bool // a server that is hosted does not continue runs

	mu      sync.Mutex
	address string // host and port
	host    Host   // nil if another process hosts the folder
}

// openConnection finds the server of the data folder, or hosts one.
func (c *call) openConnection(ctx context.Context, readOnly bool) (*connection, error) {
	n := &connection{call: c, readOnly: readOnly}
	return n, n.find(ctx)
}

// url is the address that the connection leads to.
func (n *connection) url() string { return "http://" + n.address }

// find finds the server of the data folder, or hosts one.
func (n *connection) find(ctx context.Context) error {
	c := n.call
	for startedAt := time.Now(); ; {
		url, held, err := c.Laptop.Holder(c.flags.data)
		switch {
		case err != nil:
			return err
		case held && url != "":
			n.address = strings.TrimPrefix(url, "http://")
			return nil
		}
		h, err := c.Laptop.Start(ctx, c.hosting("127.0.0.1:0", n.readOnly))
		if err == nil {
			n.address, n.host = strings.TrimPrefix(h.URL(), "http://"), h
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
func (n *connection) client() *awshttp.BuildableClient {
	known := n.address
	return awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		elsewhere := t.DialContext
		t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if address != known {
				return elsewhere(ctx, network, address)
			}
			return n.dial(ctx, network)
		}
	})
}

// dial connects to the server of the folder.
func (n *connection) dial(ctx context.Context, network string) (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for startedAt := time.Now(); ; {
		conn, err := new(net.Dialer).DialContext(ctx, network, n.address)
		if !errors.Is(err, syscall.ECONNREFUSED) || n.host != nil || time.Since(startedAt) > recordTimeout {
			return conn, err
		}
		was := n.address
		if failed := n.find(context.WithoutCancel(ctx)); failed != nil { // the server outlives the request
			return nil, failed
		}
		if n.address != was {
			continue
		}
		if failed := pause(ctx); failed != nil {
			return nil, failed
		}
	}
}

// hosted returns the server of this process, or nil.
func (n *connection) hosted() Host {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.host
}

// end ends the server of this process.
func (n *connection) end() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	h := n.host
	n.host = nil
	return h.Close()
}

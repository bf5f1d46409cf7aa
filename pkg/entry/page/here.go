package page

import (
	"fmt"
	"net"
	"net/http"

	"github.com/stackwright/stackwright/pkg/lib/loopback"
)

// usual is where the console is, unless somebody says otherwise.
const usual = "127.0.0.1:4567"

// Listen listens at an address of this machine. For "auto", that is the usual one or, if it is taken, a free port.
func Listen(address string) (net.Listener, error) {
	if address == "auto" {
		if l, err := net.Listen("tcp", usual); err == nil {
			return l, nil
		}
		address = "127.0.0.1:0"
	}
	if err := loopback.Check(address); err != nil {
		return nil, fmt.Errorf("--console %s: %w", address, err)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--console %s: %w: choose another address, or off", address, err)
	}
	return l, nil
}

// Here serves the page to browsers on this machine, and passes on other requests if a page of its own address has sent them, or
// a program on this machine. The page itself, which knows nothing, may be opened by a link from anywhere.
func (p Page) Here(api http.Handler) http.Handler { return loopback.Hosts(p.Or(loopback.OwnPage(api))) }

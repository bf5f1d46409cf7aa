package page

import (
	"net"
	"strings"
	"testing"
)

// A page is served only at addresses of this machine.
func TestListen(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "example.com:80", "192.168.1.2:0", "127.0.0.1", "[::]:0"} {
		if l, err := Listen(address); err == nil {
			t.Errorf("%s: listens at %s", address, l.Addr())
			_ = l.Close()
		}
	}
	taken, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if _, err := Listen(taken.Addr().String()); err == nil || !strings.Contains(err.Error(), "choose another address, or off") {
		t.Errorf("an address that is taken: %v", err)
	}
	var all []net.Listener
	for range 2 { // the second one finds the usual address taken, if the first one has not
		l, err := Listen("auto")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	for _, l := range all {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

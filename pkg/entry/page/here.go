package page

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
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
	host, _, err := net.SplitHostPort(address)
	if err == nil && !local(host) {
		err = fmt.Errorf("%s is not an address of this machine alone: everybody who can reach the page could deploy and destroy, so give 127.0.0.1:PORT", host)
	}
	if err != nil {
		return nil, fmt.Errorf("--console %s: %w", address, err)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--console %s: %w: choose another address, or off", address, err)
	}
	return l, nil
}

// local reports whether a host is this machine, as only programs on it can reach it.
func local(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// Here serves the page to browsers on this machine, and passes on other requests if a page of its own address has sent them, or
// a program on this machine.
func (p Page) Here(api http.Handler) http.Handler { return hosted(p.Or(ownPage(api))) }

// hosted refuses requests to other hosts: a web site whose name leads to this machine could read the answers.
func hosted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host, _, err := net.SplitHostPort(r.Host); err != nil || !local(host) {
			refuse(w, "the host %.100q is not this machine: open the page at the address that the command has printed", r.Host)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ownPage refuses requests that the page of another web site makes a browser send. The page itself, which knows nothing, may
// be opened by a link from anywhere.
// https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Sec-Fetch-Site
func ownPage(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
		if origin != "" && origin != "http://"+r.Host || site != "" && site != "same-origin" && site != "none" {
			refuse(w, "the request comes from the page of another site (%.100q): the console answers only its own page", origin)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refuse answers that a request is not allowed.
func refuse(w http.ResponseWriter, format string, values ...any) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusForbidden)
	fmt.Fprintf(w, format+"\n", values...)
}

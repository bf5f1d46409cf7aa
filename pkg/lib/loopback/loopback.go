// Package loopback guards servers that answer only programs, or one page, on this machine. Their requests need no
// signature, so a web site that a person visits must not reach them through the person's browser.
package loopback

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Is reports whether a host is this machine, as only programs on it can reach it.
func Is(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// Check refuses an address, host and port, that other machines can reach.
func Check(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err == nil && !Is(host) {
		return fmt.Errorf("%q is not an address of this machine alone: everybody who can reach it could deploy and destroy, so give 127.0.0.1:PORT", host)
	}
	return err
}

// Hosts refuses requests to other hosts: a web site whose name leads to this machine could read the answers.
func Hosts(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if host = strings.Trim(host, "[]"); !Is(host) && !strings.HasSuffix(host, ".localhost") {
			refuse(w, "the host %.100q is not this machine: use the address that the command has printed", r.Host)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// OwnPage refuses requests that the page of another web site makes a browser send.
// https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Sec-Fetch-Site
func OwnPage(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
		if origin != "" && origin != "http://"+r.Host || site != "" && site != "same-origin" && site != "none" {
			refuse(w, "the request comes from the page of another site (%.100q): only this server's own page is answered", origin)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Programs refuses requests that any page makes a browser send: the server has no page of its own, and what it stores may be
// shown as one.
func Programs(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
		if origin != "" || site != "" && site != "none" {
			refuse(w, "the request comes from a web page (%.100q): only programs are answered; for the page of Stackwright see --console", origin)
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

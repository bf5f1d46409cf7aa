package cli

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"os"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/cli/forward"
	"github.com/stackwright/stackwright/pkg/entry/page"
	"github.com/stackwright/stackwright/pkg/fault"
)

// openInstallation serves the page of an installation on AWS until it is stopped.
func openInstallation(ctx context.Context, c *call) (int, error) {
	if !c.flags.onAWS() {
		return ExitRefused, fault.New(fault.Invalid, "open is for an installation on AWS: name it with --installation or --api. On a laptop, serve --open opens the page")
	}
	at := c.flags.console
	switch {
	case at == "off" && c.flags.given["console"]:
		return ExitRefused, fault.New(fault.Invalid, "--console off: open has nothing else to serve: give an address, or leave it out")
	case at == "" || at == "off": // the variable is about the other commands
		at = "auto"
	}
	there, err := c.site(ctx)
	if err != nil {
		return ExitFailed, err
	}
	shown, err := there.api.Installation(ctx)
	if err != nil {
		return ExitFailed, err
	}
	listener, err := page.Listen(at)
	if err != nil {
		return ExitFailed, err
	}
	proxy := forward.New(there.api.Client())
	server := &http.Server{Handler: proxy, ReadHeaderTimeout: time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	address := proxy.Address("http://" + listener.Addr().String())
	fmt.Fprintf(c.Out, "%s as %s: open this address in your browser, once:\n%s\nWho opens it acts with your credentials: give it to nobody. Ctrl-C ends the page.\n", there.label, shown.Caller, address)
	forget := c.openInPrivate(address)
	defer forget()
	select {
	case <-ctx.Done():
	case <-c.Interrupts:
	case err := <-failed:
		return ExitFailed, fmt.Errorf("serve the page at %s: %w", listener.Addr(), err)
	}
	return ExitOK, server.Close()
}

// openInPrivate opens an address that other users of this machine must not see: they can see the arguments of processes, and so the
// browser gets the name of a file that leads to the address, and that only this user can read. The function that it returns removes the file.
func (c *call) openInPrivate(address string) (forget func()) {
	if c.flags.noBrowser {
		return func() {}
	}
	f, err := os.CreateTemp("", "stackwright-*.html") // only this user can read it
	if err == nil {
		_, err = fmt.Fprintf(f, "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n<title>Stackwright</title>\n", html.EscapeString(address))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		fmt.Fprintf(c.Err, "no browser was opened: %v\n", err)
		return func() {}
	}
	c.openPage("file://" + f.Name())
	return func() {
		if err := os.Remove(f.Name()); err != nil {
			fmt.Fprintf(c.Err, "remove the file that has opened the page: %v\n", err)
		}
	}
}

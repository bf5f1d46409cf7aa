// Package httpapi reads and steers an installation through its HTTP API, as commands need it: projects are named as in "shop@prod",
// lists are whole, and a run is found by its ID alone.
package httpapi

import (
	"context"
	"maps"
	"strings"
	"sync"

	"github.com/stackwright/stackwright/pkg/client"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
)

// An API is the API of an installation. Its methods may be called at the same time.
type API struct {
	client *client.Client

	mu       sync.Mutex
	caller   string            // as the installation names it, once that is known
	projects map[string]string // of runs, by their IDs
	pages    map[string]page   // of runs that were read before
}

// New returns the API that a client reaches. It sends no request.
func New(c *client.Client) *API {
	return &API{client: c, projects: make(map[string]string), pages: make(map[string]page)}
}

// Client is the client that reaches the API.
func (a *API) Client() *client.Client { return a.client }

// Installation describes the installation, and as whom it knows the caller.
func (a *API) Installation(ctx context.Context) (report.Installation, error) {
	shown, err := a.client.ShowInstallation(ctx)
	if err == nil && shown.Home.Account == "" {
		err = fault.New(fault.Invalid, "there is no API of Stackwright at %s: the output ApiUrl of the installation's stack has its URL", a.client.URL())
	}
	return shown, err
}

// Caller names the caller as the installation does, or "" if it does not answer.
func (a *API) Caller(ctx context.Context) string {
	a.mu.Lock()
	known := a.caller
	a.mu.Unlock()
	if known != "" {
		return known
	}
	shown, err := a.Installation(ctx)
	if err != nil {
		return ""
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.caller = shown.Caller
	return a.caller
}

// parts are the project and the environment in "shop@prod".
func parts(project string) (name, environment string) {
	name, environment, _ = strings.Cut(project, "@")
	return name, environment
}

// learn remembers the projects of runs.
func (a *API) learn(projects map[string]string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.Copy(a.projects, projects)
}

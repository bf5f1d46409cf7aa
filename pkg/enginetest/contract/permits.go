package contract

import (
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Registry is the registered targets of an installation, which a test controls.
type Registry interface {
	engine.Permits

	// Register registers a target for the projects of some patterns, in place of one that
	// has its name. The target default is changed in the installation's settings.
	Register(t project.Target, projects ...string)

	// Pass lets time pass.
	Pass(time.Duration)
}

// Permits tests an implementation of engine.Permits. open returns a registry without
// targets.
func Permits(t *testing.T, on func(t *testing.T, holds func(*testing.T, Registry))) {
	eu := project.Target{Name: "eu", Account: "111111111111", Region: "eu-west-1"}
	is := func(t *testing.T, r Registry, id string, want fault.Kind) {
		t.Helper()
		err := r.Permit(t.Context(), id, eu)
		if fault.KindOf(err) != want || err != nil && !strings.Contains(err.Error(), "target eu") {
			t.Errorf("%s: got %v (%s), want %q", id, err, fault.KindOf(err), want)
		}
	}
	for name, law := range map[string]func(*testing.T, Registry){
		"a target that is not registered is for no project": func(t *testing.T, r Registry) {
			is(t, r, "shop@prod", fault.Denied)
		},
		"a target is for the projects that it names": func(t *testing.T, r Registry) {
			r.Register(eu, "shop@prod", "team-*@*")
			for _, id := range []string{"shop@prod", "team-a@prod", "team-@default"} {
				is(t, r, id, "")
			}
			for _, id := range []string{"shop@default", "shop2@prod", "ateam-a@prod", "team@prod", "Shop@prod", "shop", "", "@"} {
				is(t, r, id, fault.Denied)
			}
		},
		"a target without patterns is for no project": func(t *testing.T, r Registry) {
			r.Register(eu)
			is(t, r, "shop@prod", fault.Denied)
		},
		"a permission that is given counts at once": func(t *testing.T, r Registry) {
			r.Register(eu, "other@*")
			is(t, r, "shop@prod", fault.Denied)
			r.Register(eu, "other@*", "shop@*")
			is(t, r, "shop@prod", "")
		},
		"a permission that is taken away counts after a minute": func(t *testing.T, r Registry) {
			r.Register(eu, "shop@*", "other@*")
			is(t, r, "shop@prod", "")
			r.Register(eu, "other@*")
			r.Pass(time.Minute)
			is(t, r, "shop@prod", fault.Denied)
			is(t, r, "other@prod", "")
		},
	} {
		t.Run(name, func(t *testing.T) { on(t, func(t *testing.T, r Registry) { law(t, r) }) })
	}
}

package resource_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stackwright/stackwright/infra/local/resource"
)

// The text of a property is that of a text, a number or a truth.
func TestProperty(t *testing.T) {
	const properties = `{"Engine": "mysql", "Nodes": 2, "MultiAZ": true}`
	for name, want := range map[string]string{"Engine": "mysql", "Nodes": "2", "MultiAZ": "true", "Other": ""} {
		if got := resource.Property(properties, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := resource.Property("no JSON", "Engine"); got != "" {
		t.Errorf("got %q", got)
	}
}

// What is switched off or on becomes so after a while, and cannot be switched meanwhile.
func TestSwitches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := resource.Statuses{On: "available", Starting: "starting", Off: "stopped", Stopping: "stopping"}
		var s resource.Switches
		is := func(want string) {
			t.Helper()
			if got := s.Status("a", of); got != want {
				t.Errorf("it is %s, want %s", got, want)
			}
		}
		toggles := func(on, want bool) {
			t.Helper()
			if got := s.Toggle("a", on, of, time.Minute); got != want {
				t.Errorf("switched to %v: %v", on, got)
			}
		}
		is("available")
		toggles(true, false)
		toggles(false, true)
		is("stopping")
		toggles(true, false)
		toggles(false, false)
		time.Sleep(time.Minute)
		is("stopped")
		if got := s.Status("b", of); got != "available" {
			t.Errorf("another one is %s", got)
		}
		toggles(true, true)
		is("starting")
		s.Set("a", false, 0)
		is("stopped")
	})
}

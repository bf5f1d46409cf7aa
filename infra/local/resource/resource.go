// Package resource has the resources of stacks as the emulators of their services need them.
package resource

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/stackwright/stackwright/pkg/lib/template"
)

// Property is the text of a property; "" if the properties, which are JSON, do not have it.
func Property(properties, name string) string {
	var all map[string]any
	if json.Unmarshal([]byte(properties), &all) != nil {
		return ""
	}
	text, _ := template.Text(all[name])
	return text
}

// Statuses are what a service calls a resource that is on, off, or becomes so.
type Statuses struct{ On, Starting, Off, Stopping string }

// Switches are resources of a service that requests switch off and on, each by a key. All are on in the zero value. The caller has a lock.
type Switches struct {
	Changed map[string]change
}

// A change is what a request has made of a resource.
type change struct {
	On   bool
	Over time.Time // when it is on, or off
}

// Status is that of a resource now.
func (s *Switches) Status(key string, of Statuses) string {
	is, changed := s.Changed[key]
	switch over := !time.Now().Before(is.Over); {
	case !changed, is.On && over:
		return of.On
	case is.On:
		return of.Starting
	case over:
		return of.Off
	}
	return of.Stopping
}

// Set switches a resource on or off, which takes some time.
func (s *Switches) Set(key string, on bool, takes time.Duration) {
	if s.Changed == nil {
		s.Changed = make(map[string]change)
	}
	s.Changed[key] = change{on, time.Now().Add(takes)}
}

// Toggle does what Set does with a resource that is in the other status. It reports false, and changes nothing, if it is in none of the two, or is so already.
func (s *Switches) Toggle(key string, on bool, of Statuses, takes time.Duration) bool {
	if from := map[bool]string{true: of.Off, false: of.On}[on]; s.Status(key, of) != from {
		return false
	}
	s.Set(key, on, takes)
	return true
}

// Keep returns what a service keeps of its requests, as JSON.
func Keep(lock sync.Locker, kept any) ([]byte, error) {
	lock.Lock()
	defer lock.Unlock()
	return json.Marshal(kept)
}

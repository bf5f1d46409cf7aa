package project_test

import (
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/project"
)

// An age is days or a positive duration, and nothing else.
func TestParseAge(t *testing.T) {
	for text, want := range map[string]time.Duration{"90d": 90 * 24 * time.Hour, "1d": 24 * time.Hour, "12h": 12 * time.Hour, "1h30m": 90 * time.Minute} {
		if got, err := project.ParseAge(text); err != nil || got != want {
			t.Errorf("%s is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "d", "0d", "-1d", "1.5d", "99999999d", "0h", "-2h", "week", "2026-03-01"} {
		if got, err := project.ParseAge(text); err == nil {
			t.Errorf("%s is %v", text, got)
		}
	}
}

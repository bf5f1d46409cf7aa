package project_test

import (
	"encoding/json"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A timeout is written as it is read, and rounded up to minutes for CloudFormation.
func TestTimeout(t *testing.T) {
	for _, c := range []struct {
		text, written string
		minutes       int
	}{
		{"1m", "1m", 1}, {"60s", "1m", 1}, {"61s", "1m1s", 2}, {"90s", "1m30s", 2}, {"10m", "10m", 10}, {"20m", "20m", 20}, {"2h", "2h", 120},
		{"1h30m", "1h30m", 90}, {"10h10m", "10h10m", 610}, {"100h0m10s", "100h0m10s", 6001}, {"168h", "168h", 10080},
	} {
		got, err := project.ParseTimeout(c.text)
		if err != nil || got.String() != c.written || got.Minutes() != c.minutes {
			t.Errorf("%s is %s, %d minutes, %v", c.text, got, got.Minutes(), err)
		}
		body, err := json.Marshal(got)
		var again project.Timeout
		if err != nil || json.Unmarshal(body, &again) != nil || again != got {
			t.Errorf("%s: %s is read as %s, %v", c.text, body, again, err)
		}
	}
	for _, text := range []string{"", "0", "0s", "30", "59s", "-5m", "168h1s", "1d", "1.5s", "1m0.5s", "soon", "9999999h"} {
		if got, err := project.ParseTimeout(text); !fault.Is(err, fault.Invalid) || got != 0 {
			t.Errorf("%q is read as %s, %v", text, got, err)
		}
	}
}

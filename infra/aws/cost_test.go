package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// What docs/deploy.md says that an installation costs is that of all that is
// charged by the piece and month.
func TestCostPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	count := make(map[string]int)
	for _, r := range the(t, plain).Resources {
		count[r.Type]++
	}
	for kind, line := range map[string]string{
		"AWS::CloudWatch::Alarm":     "| alarms | %d × 0.10 |",
		"AWS::CloudWatch::Dashboard": "| dashboard | %d × 3.00 |",
		"AWS::KMS::Key":              "| key of the notifications | %d × 1.00",
	} {
		if want := fmt.Sprintf(line, count[kind]); !strings.Contains(string(page), want) {
			t.Errorf("docs/deploy.md does not say %q", want)
		}
	}
}

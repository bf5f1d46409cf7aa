package project_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

func TestCheckRegion(t *testing.T) {
	for region, want := range map[string]string{
		"eu-west-1":     "",
		"us-gov-west-1": "",
		"cn-north-1":    "",
		"eu-west-5":     "", // may be newer than this version
		"eu-west-9":     `there is no AWS region "eu-west-9": did you mean eu-west-1?`,
		"eu-wset-1":     `there is no AWS region "eu-wset-1": did you mean eu-west-1?`,
		"us-east":       `there is no AWS region "us-east": did you mean us-east-1?`,
		"eu-west-0":     `there is no AWS region "eu-west-0": did you mean eu-west-1?`,
		"mars-north-1":  `there is no AWS region "mars-north-1": did you mean cn-north-1?`,
		"Europe":        `there is no AWS region "Europe": write one such as eu-west-1`,
		"":              `there is no AWS region "": write one such as eu-west-1`,
	} {
		got := ""
		if err := project.CheckRegion(region); err != nil {
			got = err.Error()
			if !fault.Is(err, fault.Invalid) {
				t.Errorf("%s: the error is of kind %q", region, fault.KindOf(err))
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", region, got, want)
		}
	}
}

// The table of regions has all that the AWS SDK knows.
func TestRegionsAreThoseOfTheSDK(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/aws/aws-sdk-go-v2").Output()
	if err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "internal/endpoints/awsrulesfn/partitions.json"))
	if err != nil {
		t.Fatal(err)
	}
	var sdk struct {
		Partitions []struct{ Regions map[string]any }
	}
	if err := json.Unmarshal(body, &sdk); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, r := range project.Regions() {
		known[r] = true
	}
	count := 0
	for _, p := range sdk.Partitions {
		for r := range p.Regions {
			if strings.HasSuffix(r, "-global") {
				continue
			}
			if count++; !known[r] {
				t.Errorf("the SDK knows the region %s, and region.go does not", r)
			}
		}
	}
	if count != len(known) {
		t.Errorf("the SDK knows %d regions, and region.go %d", count, len(known))
	}
}

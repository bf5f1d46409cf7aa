package wire_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/stackwright/stackwright/pkg/wire"
)

// On a day on which a schedule does not run, its event starts no run, and is not delivered again.
func TestSkippedSchedule(t *testing.T) {
	env, err := wire.FromEnv(func(k string) string { return complete()[k] })
	if err != nil {
		t.Fatal(err)
	}
	for day, skips := range map[string]bool{"2026-12-24": false, "2026-12-25": true} {
		b, log := &objects{file: grants()}, &bytes.Buffer{}
		h := wire.New(aws.Config{Region: env.Region, HTTPClient: b, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")}, env, log)
		text, err := invoke(t, h, "start", `{"source": "stackwright.schedule", "detail-type": "Stackwright Schedule", "time": "`+day+`T12:00:00Z", "detail": {"project": "shop@prod", "schedule": "nightly", "operation": "deploy", "except": {"time_zone": "UTC", "days": ["2026-12-25"]}}}`)
		if skipped := len(b.table) == 0 && err == nil && strings.Contains(log.String(), "schedule nightly of shop@prod, 2026-12-25: the schedule does not run on this day"); skipped != skips {
			t.Errorf("%s: %s, %v, %v\n%s", day, text, err, b.table, log)
		}
	}
}

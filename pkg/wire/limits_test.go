package wire_test

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/budget"
	"github.com/stackwright/stackwright/pkg/wire"
)

func TestFromEnvReadsLimits(t *testing.T) {
	env := complete()
	env["STACKWRIGHT_READS"] = "20"
	got, err := wire.FromEnv(func(k string) string { return env[k] })
	if want := (budget.Limits{Reads: 20, Writes: budget.CloudFormation().Writes}); err != nil || got.Limits != want {
		t.Errorf("got %v, %v", got.Limits, err)
	}
	for _, v := range []string{"0", "-1", "many", "1.5", "10000", " 5"} {
		env["STACKWRIGHT_WRITES"] = v
		_, err := wire.FromEnv(func(k string) string { return env[k] })
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "STACKWRIGHT_WRITES is not a number of requests a second from 1 to 9999: "+v) {
			t.Errorf("of %q it says %v", v, err)
		}
	}
}

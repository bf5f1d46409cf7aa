package run_test

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/run"
)

// A claim of the sender stands beside who made the request, marked and in quotes.
func TestClaimIsMarked(t *testing.T) {
	for _, c := range []struct{ who, claim, want string }{
		{"arn:aws:iam::111122223333:user/ann", "", "arn:aws:iam::111122223333:user/ann"},
		{"unknown principal of account 111122223333", "ann", `unknown principal of account 111122223333, says it is "ann"`},
		{"unknown principal", `x" (arn:aws:iam::111122223333:user/root`, `unknown principal, says it is "x\" (arn:aws:iam::111122223333:user/root"`},
		{"", "ann", `unknown principal, says it is "ann"`},
		{"", "", ""},
	} {
		if got := (run.Request{Who: c.who, Claim: c.claim}).By(); got != c.want {
			t.Errorf("%q, %q: %s", c.who, c.claim, got)
		}
	}
}

// On a laptop a run was requested by the user of the laptop. In an account of AWS the same
// name is a claim.
func TestClaimOnALaptop(t *testing.T) {
	for requester, want := range map[string]string{
		"000000000000": "ann@laptop",
		"111122223333": `unknown principal of account 111122223333, says it is "ann@laptop"`,
	} {
		q := run.Request{Who: "unknown principal of account " + requester, Claim: "ann@laptop", Requester: requester}
		if got := q.By(); got != want {
			t.Errorf("account %s: %s", requester, got)
		}
		if got := q.Known(); (got == "ann@laptop") != (want == "ann@laptop") {
			t.Errorf("account %s: a filter finds %s", requester, got)
		}
	}
}

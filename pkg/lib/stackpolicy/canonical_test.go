package stackpolicy

import "testing"

// However CloudFormation returns a policy, its canonical form is the one that Read returns.
func TestCanonical(t *testing.T) {
	const want = `{"Statement":[{"Action":"Update:*","Effect":"Deny","Principal":"*","Resource":"LogicalResourceId/<a&b>"}]}`
	for body, want := range map[string]string{
		want: want,
		"{\n  \"Statement\" : { \"Effect\": \"Deny\", \"Resource\": \"LogicalResourceId/<a&b>\",\n \"Principal\": \"*\", \"Action\": \"Update:*\" } }\n": want,
		"no policy": "no policy",
	} {
		if got := Canonical(body); got != want {
			t.Errorf("%s is %s, want %s", body, got, want)
		}
	}
}

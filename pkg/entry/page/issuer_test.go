package page

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
)

// document is what an issuer says of itself, with one text replaced by another.
func document(old, replaced string) []byte {
	return []byte(strings.Replace(`{"issuer":"https://i.example","authorization_endpoint":"https://i.example/authorize","token_endpoint":"https://t.example/token",
		"end_session_endpoint":"https://i.example/end","code_challenge_methods_supported":["plain","S256"]}`, old, replaced, 1))
}

// The page sends codes only to the issuer's endpoint for tokens, which the content security policy names.
func TestIssuer(t *testing.T) {
	s, err := Issuer("https://i.example", "page", document("", ""))
	want := SignIn{By: ByIssuer, Issuer: "https://i.example", Client: "page", Authorize: "https://i.example/authorize", Token: "https://t.example/token", End: "https://i.example/end"}
	if err != nil || s != want {
		t.Errorf("%+v, %v", s, err)
	}
	f, ok := Page{SignIn: s}.Open("/")
	if policy := f.Headers["Content-Security-Policy"]; !ok || !strings.Contains(policy, "connect-src 'self' https://t.example/token; ") || strings.Count(policy, "https:") != 1 {
		t.Errorf("the policy is %s", policy)
	}
	other, _ := Page{}.Open("/")
	if f.Headers["Etag"] == other.Headers["Etag"] {
		t.Error("a browser that has the page keeps it with the policy of another issuer")
	}
	for _, c := range []struct{ old, replaced, says string }{
		{`"issuer":"https://i.example"`, `"issuer":"https://i.example/"`, "the setting jwtIssuer must be as the issuer writes itself"},
		{`{`, ``, "is not JSON"},
		{`"S256"`, `"S512"`, "does not support PKCE with S256"},
		{`https://t.example/token`, ``, "no usable token_endpoint"},
		{`https://t.example/token`, `http://t.example/token`, "no usable token_endpoint"},
		{`https://t.example/token`, `https://t.example/token; script-src *`, "no usable token_endpoint"},
		{`https://t.example/token`, `https://t.example/token,x`, "no usable token_endpoint"},
		{`https://t.example/token`, `https://'unsafe-inline'/`, "no usable token_endpoint"},
		{`https://t.example/token`, `https://ann@t.example/token`, "no usable token_endpoint"},
		{`https://t.example/token`, `https://*.com/token`, "no usable token_endpoint"},
		{`https://t.example/token`, `https://t.example/\u00a0https://x.example`, "no usable token_endpoint"},
		{`https://t.example/token`, `https://exämple.de/token`, "no usable token_endpoint"},
		{`https://i.example/authorize`, `javascript:alert(1)`, "no usable authorization_endpoint"},
		{`https://i.example/end`, `javascript:alert(1)`, "no usable end_session_endpoint"},
	} {
		if _, err := Issuer("https://i.example", "page", document(c.old, c.replaced)); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.replaced, err, c.says)
		}
	}
	for _, optional := range [][2]string{{`["plain","S256"]`, `null`}, {`https://i.example/end`, ``}} {
		if _, err := Issuer("https://i.example", "page", document(optional[0], optional[1])); err != nil {
			t.Errorf("without %s: %v", optional[0], err)
		}
	}
}

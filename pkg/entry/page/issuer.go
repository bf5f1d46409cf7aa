package page

import (
	"encoding/json"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
)

// DiscoveryPath is where an issuer of OpenID Connect describes itself, behind its own URL.
// https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig
const DiscoveryPath = "/.well-known/openid-configuration"

// Issuer returns the SignIn at an issuer of tokens, of which a client ID names the page. The document is what the issuer has at
// DiscoveryPath. The error is of kind Invalid, and says what the issuer lacks.
func Issuer(issuer, client string, document []byte) (SignIn, error) {
	var said struct {
		Issuer    string   `json:"issuer"`
		Authorize string   `json:"authorization_endpoint"`
		Token     string   `json:"token_endpoint"`
		End       string   `json:"end_session_endpoint"`
		Methods   []string `json:"code_challenge_methods_supported"`
	}
	if err := json.Unmarshal(document, &said); err != nil {
		return SignIn{}, fault.New(fault.Invalid, "the document of the issuer %s is not JSON: %w", issuer, err)
	}
	if said.Issuer != issuer {
		return SignIn{}, fault.New(fault.Invalid, "the document of the issuer %s is of the issuer %.200q: the setting jwtIssuer must be as the issuer writes itself", issuer, said.Issuer)
	}
	if len(said.Methods) > 0 && !slices.Contains(said.Methods, "S256") {
		return SignIn{}, fault.New(fault.Invalid, "the issuer %s does not support PKCE with S256, but only %.200q: use an issuer that does", issuer, said.Methods)
	}
	s := SignIn{By: ByIssuer, Issuer: issuer, Client: client, Authorize: said.Authorize, Token: said.Token, End: said.End}
	for name, at := range map[string]string{"authorization_endpoint": s.Authorize, "token_endpoint": s.Token, "end_session_endpoint": s.End} {
		if !isEndpoint(at) && (at != "" || name != "end_session_endpoint") {
			return SignIn{}, fault.New(fault.Invalid, "the document of the issuer %s has no usable %s: %.200q is not an https URL", issuer, name, at)
		}
	}
	return s, nil
}

var (
	named = regexp.MustCompile(`^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(:[0-9]+)?$`) // a host, without a wildcard
	plain = regexp.MustCompile(`^[!-~]+$`)                                       // ASCII without blanks
)

// isEndpoint reports whether a text is a URL to which codes and tokens may be sent, and that a content security policy can name.
func isEndpoint(text string) bool {
	u, err := url.Parse(text)
	if err != nil || !named.MatchString(u.Host) || u.User != nil || u.Fragment != "" || !plain.MatchString(text) || strings.ContainsAny(text, ";,'\"") {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && ip != nil && ip.IsLoopback()
}

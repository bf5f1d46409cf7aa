package api

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Tokens is an authorizer JWT: it accepts the tokens of an issuer, signed with its key by RS256, for an audience.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-jwt-authorizer.html
type Tokens struct {
	Issuer   string
	Audience []string
	Key      *rsa.PublicKey
}

// claims returns the claims of a request's token, as API Gateway passes them on. It reports false without a token, and
// for a token that the authorizer does not accept.
func (t *Tokens) claims(r *http.Request, now time.Time) (map[string]string, bool) {
	text := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	parts := strings.Split(text, ".")
	var head struct{ Alg string }
	var said map[string]any
	if len(parts) != 3 || !read(parts[0], &head) || !read(parts[1], &said) || head.Alg != "RS256" {
		return nil, false
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err != nil || rsa.VerifyPKCS1v15(t.Key, crypto.SHA256, sum[:], signature) != nil {
		return nil, false
	}
	return written(said), said["iss"] == t.Issuer && t.isFor(said) && valid(said, now)
}

// read reads a part of a token.
func read(part string, into any) bool {
	text, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(text, into) == nil
}

// isFor reports whether a token is for one of the audiences: by aud, or without it by client_id.
func (t *Tokens) isFor(said map[string]any) bool {
	all, many := said["aud"].([]any)
	switch one, is := said["aud"].(string); {
	case is:
		all = []any{one}
	case !many:
		all = []any{said["client_id"]}
	}
	return slices.ContainsFunc(all, func(a any) bool {
		text, is := a.(string)
		return is && slices.Contains(t.Audience, text)
	})
}

// valid reports whether a token is valid at a time: exp is required; nbf and iat must not be later.
func valid(said map[string]any, now time.Time) bool {
	seconds := float64(now.Unix())
	expires, has := said["exp"].(float64)
	for _, name := range []string{"nbf", "iat"} {
		if since, is := said[name].(float64); is && since > seconds {
			return false
		}
	}
	return has && expires > seconds
}

// written writes claims as texts. A list becomes its values in brackets with blanks between them.
func written(said map[string]any) map[string]string {
	all := make(map[string]string)
	for name, value := range said {
		switch v := value.(type) {
		case string:
			all[name] = v
		case float64:
			all[name] = strconv.FormatFloat(v, 'f', -1, 64)
		default:
			all[name] = fmt.Sprint(v)
		}
	}
	return all
}

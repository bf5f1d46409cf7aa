package stackpolicy

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Canonical returns the body of a policy as Read returns it. A body that is no policy stays as it is.
func Canonical(body string) string {
	var policy map[string]any
	if json.Unmarshal([]byte(body), &policy) != nil {
		return body
	}
	text, err := encode(policy)
	if err != nil {
		return body
	}
	return text
}

// encode returns a policy as JSON without white space, its keys sorted.
func encode(policy map[string]any) (string, error) {
	if one, single := policy["Statement"].(map[string]any); single { // AWS documents a list only
		policy["Statement"] = []any{one}
	}
	body := &bytes.Buffer{}
	to := json.NewEncoder(body)
	to.SetEscapeHTML(false)
	err := to.Encode(policy)
	return strings.TrimSpace(body.String()), err
}

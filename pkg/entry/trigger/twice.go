package trigger

import (
	"encoding/json"
	"strings"
)

// twice finds a key that stands in one object of JSON a second time, in upper or
// lower case. Of its two values one would be lost, and whoever reviews requests
// with another reader may have seen the other.
func twice(d *json.Decoder) (string, error) {
	t, err := d.Token()
	open, ok := t.(json.Delim)
	if err != nil || !ok {
		return "", err
	}
	seen := make(map[string]bool)
	for d.More() {
		if open == '{' {
			key, err := d.Token()
			if err != nil {
				return "", err
			}
			name, _ := key.(string)
			name = strings.ToLower(strings.ToUpper(name)) // as encoding/json takes two for one
			if seen[name] {
				return name, nil
			}
			seen[name] = true
		}
		if name, err := twice(d); name != "" || err != nil {
			return name, err
		}
	}
	_, err = d.Token()
	return "", err
}

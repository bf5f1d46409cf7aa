package difference

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/pattern"
)

// sensitive are the words of names whose values are not shown.
var sensitive = pattern.New(`(?i)passw(or)?d|passphrase|secret|token|credential|(api|private|access|encryption|signing)[-_. ]?key`)

// Sensitive reports whether a text, such as the name of a property or of a variable, says that a value is secret.
func Sensitive(text string) bool { return sensitive.MatchString(text) }

// SensitiveAt reports whether the property at a path in properties, which are JSON, may be secret by its path, or by the name beside it:
// a variable of a container is {"Name": "DB_PASSWORD", "Value": "…"}. Segments are as Path takes them. Properties that are no JSON,
// because they are cut, have no names.
func SensitiveAt(properties string, segments []string) bool {
	if Sensitive(strings.Join(segments, ".")) {
		return true
	}
	var at any
	if err := json.Unmarshal([]byte(properties), &at); err != nil {
		return false
	}
	for _, segment := range segments {
		if named(at) {
			return true
		}
		switch v := at.(type) {
		case map[string]any:
			at = v[segment]
		case []any:
			i, err := strconv.Atoi(strings.Trim(segment, "[]"))
			if err != nil || i < 0 || i >= len(v) {
				return false
			}
			at = v[i]
		default:
			return false
		}
	}
	return named(at)
}

// named reports whether a value is a mapping whose name says that it is secret.
func named(v any) bool {
	mapping, _ := v.(map[string]any)
	for _, key := range []string{"Name", "Key", "ParameterKey", "name", "key"} {
		if name, ok := mapping[key].(string); ok && Sensitive(name) {
			return true
		}
	}
	return false
}

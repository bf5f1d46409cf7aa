package template

import (
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"go.yaml.in/yaml/v4"
)

var (
	// YAML 1.1, which CloudFormation supports, has more truth values, numbers and times than YAML 1.2.
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/template-formats.html
	// https://yaml.org/type/bool.html, https://yaml.org/type/int.html, https://yaml.org/type/float.html
	truths  = pattern.New(`^(?i:y|yes|n|no|on|off|=)$`)
	numbers = pattern.New(`^[-+]?\.?[0-9][-+.0-9_:a-fA-FoOxXtTzZ ]*$|^[-+]?\.(?i:inf|nan)$`)
	// plainly are numbers that are the same in all versions of YAML, and in the text that is made of them.
	plainly = pattern.New(`^(0|-?[1-9][0-9]{0,14})$|^-?(0|[1-9][0-9]{0,9})\.[0-9]{0,4}[1-9]$`)
)

// ambiguous reports whether a scalar is written so that it has another value in YAML 1.1 than in
// YAML 1.2, or another text as a number.
func ambiguous(n *yaml.Node) bool {
	quoted := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	return n.Kind == yaml.ScalarNode && !quoted && (truths.MatchString(n.Value) || numbers.MatchString(n.Value) && !plainly.MatchString(n.Value))
}

// comparable reports whether a known value can be compared with another: not what CloudFormation
// may replace by a value that nobody knows.
func comparable(v any) bool {
	switch v := v.(type) {
	case noValue:
		return false
	case string:
		return !strings.Contains(v, opening)
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !comparable(item) })
	}
	return true
}

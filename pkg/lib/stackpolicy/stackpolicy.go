// Package stackpolicy reads stack policies: which resources of a stack an update may change.
package stackpolicy

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/lib/document"
)

// MaxSize is how many bytes a policy may have.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_SetStackPolicy.html
const MaxSize = 16_384

// The elements of a statement, and its actions.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/protect-stack-resources.html
var (
	elements = []string{"Sid", "Effect", "Action", "NotAction", "Principal", "Resource", "NotResource", "Condition"}
	actions  = []string{"Update:Modify", "Update:Replace", "Update:Delete", "Update:*"}
)

// A Say reports what is wrong at a node.
type Say func(at *yaml.Node, format string, args ...any)

// Read returns a policy as JSON without white space, its keys sorted: the same policy has the same bytes, however it is written. It
// reports everything that is wrong, and returns "" then.
func Read(n *yaml.Node, report Say) string {
	good := true
	say := func(at *yaml.Node, format string, args ...any) {
		good = false
		report(at, format, args...)
	}
	checkPolicy(n, say)
	if !good {
		return ""
	}
	policy, _ := document.Value(n, func(n *yaml.Node) any { return n.Value }).(map[string]any) // every scalar of a policy is text
	text, err := encode(policy)
	if err != nil {
		say(n, "%v", err)
		return ""
	}
	if len(text) > MaxSize {
		say(n, "%d bytes: CloudFormation accepts at most %d", len(text), MaxSize)
		return ""
	}
	return text
}

func checkPolicy(n *yaml.Node, say Say) {
	if !isMapping(n) {
		say(n, "expected a policy with the key Statement, found %s", document.Kind(n))
		return
	}
	for _, p := range document.Pairs(n) {
		switch p.Key.Value {
		case "Version", "Id":
			checkText(p.Key.Value, p.Value, say)
		case "Statement":
		default:
			say(p.Key, "unknown key %.60q: a stack policy has the key Statement", p.Key.Value)
		}
	}
	statements, ok := document.Lookup(n, "Statement")
	switch {
	case !ok:
		say(n, "Statement is missing: write which updates are allowed or denied, such as {Effect: Deny, Action: \"Update:Replace\", Principal: \"*\", Resource: LogicalResourceId/Database}")
	case isMapping(statements):
		checkStatement(statements, say)
	case document.Resolve(statements).Kind != yaml.SequenceNode:
		say(statements, "Statement: expected a list of statements, found %s", document.Kind(statements))
	case len(document.Items(statements)) == 0:
		say(statements, "Statement: the list is empty")
	default:
		for _, one := range document.Items(statements) {
			checkStatement(one, say)
		}
	}
}

func isMapping(n *yaml.Node) bool {
	n = document.Resolve(n)
	return n != nil && n.Kind == yaml.MappingNode && document.Tagged(n) == ""
}

// checkStatement checks what CloudFormation says of a statement.
func checkStatement(n *yaml.Node, say Say) {
	if !isMapping(n) {
		say(n, "expected a statement, found %s", document.Kind(n))
		return
	}
	has := map[string]bool{}
	for _, p := range document.Pairs(n) {
		has[p.Key.Value] = true
		switch name := p.Key.Value; name {
		case "Effect":
			if v := document.Resolve(p.Value); v.Value != "Allow" && v.Value != "Deny" {
				say(p.Value, "Effect: write Allow or Deny")
			}
		case "Principal":
			if v := document.Resolve(p.Value); v.Value != "*" {
				say(p.Value, `Principal: write "*": a stack policy is for everybody`)
			}
		case "Action", "NotAction":
			for _, text := range checkTexts(name, p.Value, say) {
				if !slices.Contains(actions, text.Value) {
					say(text, "%s: unknown action %.60q: there are %s", name, text.Value, strings.Join(actions, ", "))
				}
			}
		case "Resource", "NotResource":
			for _, text := range checkTexts(name, p.Value, say) {
				if id, named := strings.CutPrefix(text.Value, "LogicalResourceId/"); text.Value != "*" && (!named || id == "") {
					say(text, `%s: %.60q: write "*" or LogicalResourceId/ID, with the ID of a resource in the template`, name, text.Value)
				}
			}
		case "Condition":
			checkCondition(p.Value, say)
		case "Sid":
			checkText(name, p.Value, say)
		default:
			say(p.Key, "unknown key %.60q: a statement has the keys %s", name, strings.Join(elements, ", "))
		}
	}
	for _, pair := range [][2]string{{"Action", "NotAction"}, {"Resource", "NotResource"}} {
		if has[pair[0]] == has[pair[1]] && !(pair[0] == "Resource" && has["Condition"] && !has["Resource"]) {
			say(n, "a statement needs either %s or %s", pair[0], pair[1])
		}
	}
	for _, name := range []string{"Effect", "Principal"} {
		if !has[name] {
			say(n, "%s is missing in a statement", name)
		}
	}
}

// checkCondition checks the only condition that a stack policy knows: the types of resources.
func checkCondition(n *yaml.Node, say Say) {
	if !isMapping(n) {
		say(n, "Condition: expected a mapping, found %s", document.Kind(n))
		return
	}
	for _, operator := range document.Pairs(n) {
		if name := operator.Key.Value; name != "StringEquals" && name != "StringLike" || !isMapping(operator.Value) {
			say(operator.Key, "Condition: write {StringEquals: {ResourceType: [TYPE]}} or {StringLike: …}")
			continue
		}
		for _, key := range document.Pairs(operator.Value) {
			if key.Key.Value != "ResourceType" {
				say(key.Key, "Condition: unknown key %.60q: a stack policy knows only ResourceType", key.Key.Value)
			}
			checkTexts("ResourceType", key.Value, say)
		}
	}
}

func checkText(what string, n *yaml.Node, say Say) bool {
	n = document.Resolve(n)
	if tag := document.Tagged(n); tag != "" {
		say(n, "%s: expected text, found the tag %.60s", what, tag)
		return false
	}
	if n == nil || n.Kind != yaml.ScalarNode || document.Null(n) {
		say(n, "%s: expected text, found %s", what, document.Kind(n))
		return false
	}
	return true
}

// checkTexts returns a text, or those of a list.
func checkTexts(what string, n *yaml.Node, say Say) (all []*yaml.Node) {
	items := []*yaml.Node{n}
	if r := document.Resolve(n); r.Kind == yaml.SequenceNode {
		if items = document.Items(r); len(items) == 0 {
			say(n, "%s: the list is empty", what)
		}
	}
	for _, item := range items {
		if checkText(what, item, say) {
			all = append(all, document.Resolve(item))
		}
	}
	return all
}

package stackpolicy

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
)

// A Policy says which updates of a stack are allowed: "all resources in the stack are protected by default" once a stack
// has one, and a denial "always overrides" an Allow.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/protect-stack-resources.html
type Policy struct{ Statement []Statement }

// A Statement of a policy.
type Statement struct {
	Effect, Principal string
	Action, NotAction texts
	Resource          texts
	NotResource       texts
	Condition         map[string]map[string]texts
}

// Parse reads the body of a policy, in JSON.
func Parse(body string) (Policy, error) {
	var p Policy
	err := json.Unmarshal([]byte(body), &p)
	return p, err
}

// texts is one text or a list of them.
type texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *texts) UnmarshalJSON(body []byte) error {
	var one string
	if json.Unmarshal(body, &one) == nil {
		*t = texts{one}
		return nil
	}
	return json.Unmarshal(body, (*[]string)(t))
}

func (t texts) match(name string) bool {
	return slices.ContainsFunc(t, func(pattern string) bool {
		ok, err := path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(name, "/", "\x00"))
		return pattern == "*" || err == nil && ok
	})
}

// about reports whether a statement is about an action on a resource of a type.
func (s Statement) about(action, logicalID, typ string) bool {
	id := "LogicalResourceId/" + logicalID
	is := (s.Action == nil || s.Action.match(action)) && (s.NotAction == nil || !s.NotAction.match(action)) &&
		(s.Resource == nil || s.Resource.match(id)) && (s.NotResource == nil || !s.NotResource.match(id))
	for _, values := range s.Condition {
		is = is && values["ResourceType"].match(typ)
	}
	return is
}

// Denial returns why a policy does not allow an action, such as Update:Replace, on a resource of a type, or "".
func (p Policy) Denial(action, logicalID, typ string) string {
	allowed := false
	for i, s := range p.Statement {
		switch {
		case !s.about(action, logicalID, typ):
		case s.Effect == "Deny":
			return fmt.Sprintf("Action denied by stack policy: Statement [#%d] does not allow [%s] for resource [LogicalResourceId/%s];",
				i+1, action, logicalID)
		default:
			allowed = true
		}
	}
	if allowed {
		return ""
	}
	return fmt.Sprintf("Action not allowed by stack policy: no statement allows [%s] for resource [LogicalResourceId/%s];", action, logicalID)
}

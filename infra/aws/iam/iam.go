// Package iam evaluates policies of IAM, so that tests can say of a request whether AWS would allow it. It knows the elements
// and operators that our policies use, and refuses others.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
package iam

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A Policy is a list of statements.
type Policy struct{ Statement List[Statement] }

// A Statement allows or denies actions.
type Statement struct {
	Sid, Effect           string
	Principal             Principal
	Action, NotAction     List[string]
	Resource, NotResource List[string]
	Condition             map[string]map[string]List[string]
}

// A List is one value or several: JSON of policies has both.
type List[T any] []T

// UnmarshalJSON reads one value or a list of them.
func (l *List[T]) UnmarshalJSON(body []byte) error {
	if strings.HasPrefix(strings.TrimSpace(string(body)), "[") {
		return json.Unmarshal(body, (*[]T)(l))
	}
	var one T
	err := json.Unmarshal(body, &one)
	*l = List[T]{one}
	return err
}

// A Principal is by which kind ("AWS", "Service") who is trusted; "*" alone is everybody.
type Principal map[string]List[string]

// UnmarshalJSON reads an object or "*".
func (p *Principal) UnmarshalJSON(body []byte) error {
	if string(body) == `"*"` {
		*p = Principal{"AWS": {"*"}}
		return nil
	}
	return json.Unmarshal(body, (*map[string]List[string])(p))
}

// Read reads a policy.
func Read(body []byte) (Policy, error) {
	var p Policy
	return p, json.Unmarshal(body, &p)
}

// A Request is what somebody wants to do. The context has the values of condition keys; a key that AWS does not send is
// missing.
type Request struct {
	Principal string // ARN of a role, or the name of a service; Context has "aws:PrincipalArn" by itself
	Action    string
	Resource  string
	Context   map[string]string
}

// An Answer is what AWS decides.
type Answer string

// The answers. What nothing allows is denied implicitly.
const (
	Allowed  Answer = "allowed"
	Denied   Answer = "denied explicitly"
	Implicit Answer = "denied implicitly"
)

// An Identity is a role with its policies. Without a boundary, only the policies count.
type Identity struct {
	ARN      string
	Policies []Policy
	Boundary *Policy
}

// May answers a request of a role, as far as its own policies decide it: the resource may have a policy of its own.
func (i Identity) May(r Request) (Answer, error) {
	r.Principal = i.ARN
	answer, err := evaluate(i.Policies, r, false)
	if err != nil || i.Boundary == nil || answer == Denied {
		return answer, err
	}
	limit, err := evaluate([]Policy{*i.Boundary}, r, false)
	if err != nil || limit != Allowed {
		return limit, err
	}
	return answer, nil
}

// Trusts answers whether a policy of a resource, such as the trust policy of a role, allows a request.
func (p Policy) Trusts(r Request) (Answer, error) { return evaluate([]Policy{p}, r, true) }

// evaluate answers a request by policies: a denial counts before everything else.
func evaluate(policies []Policy, r Request, resource bool) (Answer, error) {
	answer := Implicit
	for _, p := range policies {
		for _, s := range p.Statement {
			is, err := s.matches(r, resource)
			switch {
			case err != nil:
				return "", fmt.Errorf("statement %s: %w", s.Sid, err)
			case !is:
			case s.Effect == "Deny":
				return Denied, nil
			case s.Effect == "Allow":
				answer = Allowed
			default:
				return "", fmt.Errorf("statement %s: unknown effect %q", s.Sid, s.Effect)
			}
		}
	}
	return answer, nil
}

// matches reports whether a statement is about a request.
func (s Statement) matches(r Request, resource bool) (bool, error) {
	if resource && !s.Principal.is(r.Principal) {
		return false, nil
	}
	itself := resource && len(s.Resource)+len(s.NotResource) == 0 // a trust policy is about its role and does not name it
	if !either(s.Action, s.NotAction, r.Action, true) || !itself && !either(s.Resource, s.NotResource, r.Resource, false) {
		return false, nil
	}
	for operator, keys := range s.Condition {
		for key, values := range keys {
			got, has := r.value(key)
			holds, err := holds(operator, values, got, has)
			if err != nil || !holds {
				return false, err
			}
		}
	}
	return true, nil
}

// value is the value of a condition key.
func (r Request) value(key string) (string, bool) {
	if strings.EqualFold(key, "aws:PrincipalArn") && strings.HasPrefix(r.Principal, "arn:") {
		return r.Principal, true
	}
	for k, v := range r.Context {
		if strings.EqualFold(k, key) {
			return v, true
		}
	}
	return "", false
}

// is reports whether a principal is among those that are named. The root of an account stands for all of its roles.
func (p Principal) is(who string) bool {
	for _, names := range p {
		for _, name := range names {
			account, root := strings.CutSuffix(name, ":root")
			if name == "*" || name == who || root && strings.HasPrefix(who, account+":") {
				return true
			}
		}
	}
	return false
}

// either is whether a value is among the patterns, or not among the others.
func either(in, not List[string], value string, fold bool) bool {
	if len(not) > 0 {
		return !among(not, value, fold)
	}
	return among(in, value, fold)
}

func among(patterns []string, value string, fold bool) bool {
	for _, p := range patterns {
		if like(p, value, fold) {
			return true
		}
	}
	return false
}

// like reports whether a value is of a pattern with stars and question marks. Names of actions have no case. When the pattern does
// not fit, like lets the last star stand for one letter more.
func like(pattern, value string, fold bool) bool {
	if fold {
		pattern, value = strings.ToLower(pattern), strings.ToLower(value)
	}
	p, v, star, after := 0, 0, -1, 0
	for v < len(value) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, after = p, v
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == value[v]):
			p++
			v++
		case star >= 0:
			after++
			p, v = star+1, after
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// holds reports whether a condition holds. If the key is missing, an operator that compares does not hold, and one that negates
// does.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html
func holds(operator string, values []string, got string, has bool) (bool, error) {
	operator, ofAll := strings.CutPrefix(operator, "ForAllValues:") // of a key with several values, of which a Request has one
	if ofAll && !has {
		return true, nil
	}
	base, ifExists := strings.CutSuffix(operator, "IfExists")
	if ifExists && !has {
		return true, nil
	}
	equal := func(exact bool) bool {
		for _, v := range values {
			if exact && v == got || !exact && like(v, got, false) {
				return true
			}
		}
		return false
	}
	switch base {
	case "Null":
		return len(values) == 1 && (values[0] == "true") == !has, nil
	case "StringEquals", "Bool":
		return has && equal(true), nil
	case "StringNotEquals":
		return !has || !equal(true), nil
	case "StringLike", "ArnLike", "ArnEquals": // ArnEquals takes patterns too
		return has && equal(false), nil
	case "StringNotLike", "ArnNotLike", "ArnNotEquals":
		return !has || !equal(false), nil
	}
	return false, fmt.Errorf("operator %s is not known here: add it", operator)
}

package access

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/lib/shorten"
)

// A Principal is who makes a request, as far as AWS says it. Exactly one field is set; the zero
// Principal is nobody.
type Principal struct {
	ARN      string            // of an IAM user, of the session of a role, or of the root of an account
	Claims   map[string]string // of a token, as API Gateway has verified it
	Account  string            // of an upload or a request object: S3 names nothing more
	Schedule string            // of a project: EventBridge Scheduler calls for it
}

// nobody reports whether no field is set.
func (p Principal) nobody() bool {
	return p.ARN == "" && p.Claims == nil && p.Account == "" && p.Schedule == ""
}

// String names the principal for the owner of the installation.
func (p Principal) String() string {
	switch {
	case p.ARN != "":
		return p.ARN
	case p.Claims != nil:
		return fmt.Sprintf("token %q of %q for %q", p.Claims["sub"], p.Claims["iss"], audience(p.Claims))
	case p.Account != "":
		return "unknown principal of account " + p.Account
	case p.Schedule != "":
		return "schedule " + p.Schedule
	}
	return "nobody"
}

// session is the form of the ARN of a role's session, in partition, account, role and session.
var session = pattern.New(`^arn:(aws[a-z-]*):sts::(\d{12}):assumed-role/([^/]+)/([^/]+)$`)

// RoleOf returns the ARN of the role that a session has, and any other ARN as it is. The ARN of
// a session does not contain the path of the role, so this one has none: the names of roles are
// unique in an account.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html
func RoleOf(arn string) string {
	if m := session.FindStringSubmatch(arn); m != nil {
		return "arn:" + m[1] + ":iam::" + m[2] + ":role/" + m[3]
	}
	return arn
}

// The forms of patterns of ARNs: each names its account, and a star stands for any characters
// but a slash.
var (
	arnForm   = pattern.New(`^arn:aws[a-z-]*:(iam::\d{12}:(root|role/[\w+=,.@*-]+|user/([\w+=,.@*-]+/)*[\w+=,.@*-]+)|sts::\d{12}:(assumed-role/[\w+=,.@*-]+/[\w+=,.@*-]+|federated-user/[\w+=,.@*-]+))$`)
	roleUnder = pattern.New(`^(arn:aws[a-z-]*:iam::\d{12}:role/)(?:[^/]+/)+([\w+=,.@*-]+)$`)
)

// maxARN is how long the pattern of an ARN may be.
const maxARN = 700

// CheckARN returns why no caller can have an ARN of a pattern, as a sentence without its end; "" if one can.
func CheckARN(text string) string {
	switch m := roleUnder.FindStringSubmatch(text); {
	case len(text) > maxARN:
		return fmt.Sprintf("the ARN has %d characters, and at most %d may be", len(text), maxARN)
	case m != nil:
		return fmt.Sprintf("the caller's ARN does not contain the path of its role: write %s%s", m[1], m[2])
	case !arnForm.MatchString(text):
		return fmt.Sprintf("%q is not the ARN of a role, a user, a session or the root of an account: write arn:aws:iam::111122223333:role/NAME, with the account and without the path of the role; a star stands for any characters but a slash", short(text))
	}
	return ""
}

// MatchARN reports whether a principal's ARN, or that of its role, is of a pattern, in which a star stands for any
// characters but a slash.
func MatchARN(pattern, arn string) bool {
	for _, name := range []string{arn, RoleOf(arn)} {
		if ok, err := path.Match(pattern, name); ok && err == nil {
			return true
		}
	}
	return false
}

// A claim is what a token has to say. If it is a list, the token's claim must be a list that
// contains all values.
type claim struct {
	name   string
	values []string
	list   bool
}

// matches reports whether the claims of a token have it.
func (c claim) matches(claims map[string]string) bool {
	text, ok := claims[c.name]
	if c.name == "aud" {
		text = audience(claims)
		return text == c.values[0] || slices.Contains(listed(text), c.values[0])
	}
	if !c.list {
		return ok && text == c.values[0]
	}
	given := listed(text)
	return !slices.ContainsFunc(c.values, func(v string) bool { return !slices.Contains(given, v) })
}

// audience returns for whom a token is. Tokens without the claim aud, as Cognito's access tokens,
// have client_id; API Gateway compares the same claims with the audiences of the installation.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-jwt-authorizer.html
func audience(claims map[string]string) string {
	if aud := claims["aud"]; aud != "" {
		return aud
	}
	return claims["client_id"]
}

// listed returns the values of a claim that is a list: API Gateway writes ["a","b"] as "[a b]".
func listed(text string) []string {
	if inner, ok := strings.CutPrefix(text, "["); ok {
		if inner, ok = strings.CutSuffix(inner, "]"); ok {
			return strings.Fields(inner)
		}
	}
	return nil
}

// A who is the principals of one line of the file. Exactly one field is set.
type who struct {
	arn     string // a pattern
	claims  []claim
	account string
}

// matches reports whether a principal is one of them.
func (w who) matches(p Principal) bool {
	switch {
	case w.arn != "":
		return p.ARN != "" && MatchARN(w.arn, p.ARN)
	case w.account != "":
		return p.Account == w.account
	}
	return p.Claims != nil && !slices.ContainsFunc(w.claims, func(c claim) bool { return !c.matches(p.Claims) })
}

// String names the principals.
func (w who) String() string {
	switch {
	case w.arn != "":
		return w.arn
	case w.account != "":
		return "uploads of account " + w.account
	}
	var all []string
	for _, c := range w.claims {
		all = append(all, c.name+"="+strings.Join(c.values, ","))
	}
	return "tokens with " + strings.Join(all, " ")
}

// short cuts a text that is too long for a message.
func short(text string) string { return shorten.To(80, text) }

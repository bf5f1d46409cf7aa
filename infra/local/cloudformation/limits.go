package cloudformation

import (
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

var (
	nameForm  = regexp.MustCompile(`^[a-zA-Z][-a-zA-Z0-9]*$`)
	tokenForm = regexp.MustCompile(`^[a-zA-Z0-9][-a-zA-Z0-9]*$`)
)

func unsatisfied(member, value, constraint string) *problem {
	return invalid("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: Member must %s", value, member, constraint)
}

func tooLong(member, value string, most int) *problem {
	return unsatisfied(member, value, "have length less than or equal to "+itoa(most))
}

func tooShort(member string) *problem {
	return unsatisfied(member, "", "have length greater than or equal to 1")
}

// checkName refuses a name that a new stack or change set cannot have.
func checkName(member string, name *string) error {
	switch n := aws.ToString(name); {
	case name == nil:
		return invalid("1 validation error detected: Value null at '%s' failed to satisfy constraint: Member must not be null", member)
	case len(n) > 128:
		return tooLong(member, n, 128)
	case !nameForm.MatchString(n):
		return unsatisfied(member, n, "satisfy regular expression pattern: [a-zA-Z][-a-zA-Z0-9]*")
	}
	return nil
}

func checkToken(token *string) error {
	switch t := aws.ToString(token); {
	case token == nil:
		return nil
	case len(t) > 128:
		return tooLong("clientRequestToken", t, 128)
	case !tokenForm.MatchString(t):
		return unsatisfied("clientRequestToken", t, "satisfy regular expression pattern: [a-zA-Z0-9][-a-zA-Z0-9]*")
	}
	return nil
}

// tagsOf checks tags: at most 50, none twice, none of AWS's own.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-properties-resource-tags.html
func tagsOf(given []types.Tag) ([]pair, error) {
	if len(given) > 50 {
		return nil, unsatisfied("tags", "["+itoa(len(given))+" tags]", "have length less than or equal to 50")
	}
	all := make([]pair, 0, len(given))
	for _, t := range given {
		p := pair{aws.ToString(t.Key), aws.ToString(t.Value)}
		switch {
		case p.Key == "":
			return nil, tooShort("tags.member.key")
		case len(p.Key) > 128:
			return nil, tooLong("tags.member.key", p.Key, 128)
		case len(p.Value) > 256:
			return nil, tooLong("tags.member.value", p.Value, 256)
		case strings.HasPrefix(strings.ToLower(p.Key), "aws:"):
			return nil, invalid("aws: prefixed tag key names are not allowed for external use.")
		case slices.ContainsFunc(all, func(o pair) bool { return o.Key == p.Key }):
			return nil, invalid("Duplicate tag keys found. Please note that Tag keys are case insensitive.")
		}
		all = append(all, p)
	}
	return all, nil
}

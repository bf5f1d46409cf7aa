package dynamodb

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/truora/minidyn/interpreter/language"
)

// removed are the whole attributes that an update expression removes. Minidyn checks that it may and then leaves them
// where they are; what lies deeper it does remove.
func removed(expression *string, names map[string]string) []string {
	statement := language.NewUpdateParser(language.NewLexer(aws.ToString(expression))).ParseUpdateExpression()
	update, ok := statement.Expression.(*language.UpdateExpression)
	if !ok {
		return nil // minidyn says what is wrong with it
	}
	var out []string
	for _, e := range update.Expressions {
		action, ok := e.(*language.ActionExpression)
		if !ok || action == nil || action.Token.Type != language.REMOVE {
			continue
		}
		if attribute, ok := action.Left.(*language.Identifier); ok {
			out = append(out, named(attribute.Value, names))
		}
	}
	return out
}

// named is the attribute that a word of an expression stands for.
func named(word string, names map[string]string) string {
	if name, ok := names[word]; ok {
		return name
	}
	return word
}

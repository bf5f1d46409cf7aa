// Package loss is what CloudFormation loses of texts: GetTemplate and DescribeStacks return a question mark for each
// character that is not ASCII. The resources have the characters.
//
// github.com/aws-cloudformation/cloudformation-coverage-roadmap issues 814 and 1220. AWS's own CDK compares templates
// in the same way: mangleLikeCloudFormation in packages/@aws-cdk/cloudformation-diff/lib/diff/util.ts of
// github.com/aws/aws-cdk-cli.
package loss

import (
	"maps"
	"strings"
	"unicode"
)

// mark is what CloudFormation returns for a character that is not ASCII.
const mark = '?'

// Of returns a text as CloudFormation returns it.
func Of(text string) string {
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII {
			return mark
		}
		return r
	}, text)
}

// Beyond reports whether a text has a character that CloudFormation loses.
func Beyond(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) >= 0
}

// Possible reports whether a text that CloudFormation has returned may lack a character.
func Possible(returned string) bool { return strings.ContainsRune(returned, mark) }

// Same reports whether CloudFormation may have returned one text for the other.
func Same(returned, text string) bool { return returned == text || returned == Of(text) }

// Undo replaces each text that CloudFormation has returned by the one of the same name, if it may have returned the one
// for the other.
func Undo(returned, texts map[string]string) map[string]string {
	all := maps.Clone(returned)
	for name, value := range returned {
		if text, has := texts[name]; has && Same(value, text) {
			all[name] = text
		}
	}
	return all
}

// Doubt marks each place of a text that CloudFormation has returned, and that is written into a file, where a character
// may be lost: the file cannot be deployed before a person has read the source.
func Doubt(returned string) string { return strings.ReplaceAll(returned, string(mark), doubt) }

// Doubts counts the places of a text that Doubt has marked.
func Doubts(text string) int { return strings.Count(text, doubt) }

// doubt is the sign of Unicode for a character that cannot be read, and what CloudFormation has returned.
const doubt = "\uFFFD?"

package property

import "strings"

// kindNames are the kinds of JSON Schema in the words of Stackwright, and in those of CloudFormation.
var kindNames = map[rune][2]string{
	textKind:    {"text", "String"},
	numberKind:  {"a number", "Number"},
	integerKind: {"a whole number", "Integer"},
	truthKind:   {"true or false", "Boolean"},
	listKind:    {"a list", "JSONArray"},
	mappingKind: {"a mapping", "JSONObject"},
}

// valueNames are the kinds of values, in the same words.
var valueNames = map[Kind][2]string{
	Text:    {"text", "String"},
	Number:  {"a number", "Number"},
	Truth:   {"true or false", "Boolean"},
	List:    {"a list", "JSONArray"},
	Mapping: {"a mapping", "JSONObject"},
}

func inWords(kinds string) string {
	var all []string
	for _, k := range kinds {
		all = append(all, kindNames[k][0])
	}
	return strings.Join(all, " or ")
}

func found(v Value) string {
	name := valueNames[v.Kind][0]
	if v.Kind == Text && len(v.Text) <= 40 {
		return name + " (" + v.Text + ")"
	}
	return name
}

func javaType(kinds string) string {
	var all []string
	for _, k := range kinds {
		all = append(all, kindNames[k][1])
	}
	return strings.Join(all, " or ")
}

func javaFound(v Value) string { return valueNames[v.Kind][1] }

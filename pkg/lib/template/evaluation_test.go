package template_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

func names(exports []template.Export) string {
	var all []string
	for _, x := range exports {
		name := x.Name
		if x.Maybe {
			name += "?"
		}
		all = append(all, name)
	}
	return strings.Join(all, " ")
}

func imported(imports []template.Import) string {
	var all []string
	for _, x := range imports {
		all = append(all, x.Name)
	}
	return strings.Join(all, " ")
}

// One stack's import meets the other's export with only the parameters that
// are known when a plan is made.
func TestImportsMeetExports(t *testing.T) {
	network, service := load(t, "network.yaml"), load(t, "service.json")
	for name, c := range map[string]struct {
		of               *template.Template
		scope            template.Scope
		exports, import_ string
		hidden           int
	}{
		"a network without a zone":    {of: network, scope: template.Scope{StackName: "net", Parameters: network.Defaults()}, exports: "net-Network net-Subnets"},
		"a network that may have one": {of: network, scope: template.Scope{StackName: "net"}, exports: "net-Network net-Subnets net-Zone?"},
		"a network with a zone":       {of: network, scope: template.Scope{StackName: "net", Parameters: map[string]string{"Zone": "z"}}, exports: "net-Network net-Subnets net-Zone"},
		"a network without a name":    {of: network},
		"nothing known":               {of: service, import_: "never", hidden: 2},
		"no alerts":                   {of: service, scope: template.Scope{Parameters: map[string]string{"NetworkStack": "net", "AlertStack": ""}}, import_: "net-Subnets"},
		"perhaps live":                {of: service, scope: template.Scope{Parameters: map[string]string{"NetworkStack": "net", "AlertStack": "al"}}, import_: "al-Topic net-Subnets never"},
		"live":                        {of: service, scope: template.Scope{Parameters: map[string]string{"NetworkStack": "net", "AlertStack": "al", "Stage": "live"}}, import_: "al-Topic net-Subnets"},
		"not live":                    {of: service, scope: template.Scope{Parameters: map[string]string{"NetworkStack": "net", "Stage": "test"}}, import_: "net-Subnets"},
	} {
		t.Run(name, func(t *testing.T) {
			e := c.of.In(c.scope)
			if err := e.Err(); err != nil {
				t.Error(err)
			}
			if got := names(e.Exports()); got != c.exports {
				t.Errorf("exports %q, want %q", got, c.exports)
			}
			if got := imported(e.Imports()); got != c.import_ {
				t.Errorf("imports %q, want %q", got, c.import_)
			}
			if got := len(e.HiddenImports()); got != c.hidden {
				t.Errorf("%d hidden imports, want %d", got, c.hidden)
			}
		})
	}
}

func TestResourcesThatTheStackHas(t *testing.T) {
	network := load(t, "network.yaml")
	for zone, want := range map[string]string{"": "Network PrivateSubnet PublicSubnet", "z": "Network PrivateSubnet PublicSubnet PrivateZone"} {
		e := network.In(template.Scope{Parameters: map[string]string{"Zone": zone, "Block": "10.0.0.0/16"}, StackName: "net",
			Ref: func(resource string) (any, bool) { return "id-" + resource, true }, Region: "us-east-1", Zones: []string{"us-east-1a"}})
		var got []string
		for _, r := range e.Resources() {
			got = append(got, r.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("with zone %q: %v, want %s", zone, got, want)
		}
		tags := map[string]int{"": 1, "z": 2}[zone]
		v, err := e.Value(network.Resources["Network"].Properties)
		if err != nil {
			t.Fatal(err)
		}
		properties := v.(map[string]any)
		if n := len(properties["Tags"].([]any)); n != tags {
			t.Errorf("with zone %q: %d tags, want %d", zone, n, tags)
		}
		v, err = e.Value(network.Resources["PrivateSubnet"].Properties)
		want := map[string]any{"AvailabilityZone": "us-east-1a", "CidrBlock": "10.0.1.0/24", "VpcId": "id-Network"}
		if diff := cmp.Diff(want, v); diff != "" || err != nil {
			t.Error(err, diff)
		}
	}
}

// known is a scope in which everything that the expressions below need is known, but P.
func known() template.Scope {
	return template.Scope{
		Parameters: map[string]string{"Text": "text", "List": "a, b,c", "Empty": "", "Number": "3"},
		StackName:  "stack", Region: "eu-west-1", AccountID: "000000000000", Zones: []string{"eu-west-1a", "eu-west-1b"}, NotificationARNs: []string{},
		Ref:    func(resource string) (any, bool) { return "id-" + resource, resource == "Made" },
		GetAtt: func(resource, attribute string) (any, bool) { return resource + "'s " + attribute, resource == "Made" },
		Import: func(name string) (any, bool) { return "imported " + name, name == "there" },
	}
}

const around = `
Transform: AWS::LanguageExtensions
Parameters: {Text: {Type: String}, List: {Type: CommaDelimitedList}, Empty: {Type: String}, Number: {Type: Number}, P: {Type: String}}
Mappings: {M: {text: {a: 1, l: [x, y]}, 1: {b: z}}}
Conditions:
  Yes: !Equals [!Ref Text, text]
  No: !Not [!Condition Yes]
  Dark: !Equals [!Ref P, x]
  C: %s
Resources: {Made: {Type: 'A::B::C'}, Later: {Type: 'A::B::C'}, Absent: {Type: 'A::B::C', Condition: 'No'}}
Outputs: {O: {Value: %s}}
`

// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference.html
func TestFunctions(t *testing.T) {
	const dark = "?"
	for expression, want := range map[string]any{
		"!Ref Text":                     "text",
		"!Ref List":                     []any{"a", "b", "c"},
		"!Ref Made":                     "id-Made",
		"!Ref Later":                    dark,
		"!Ref P":                        dark,
		"!Ref AWS::StackName":           "stack",
		"!Ref AWS::Partition":           "aws",
		"!Ref AWS::URLSuffix":           "amazonaws.com",
		"!Ref AWS::StackId":             dark,
		"!Ref AWS::NotificationARNs":    []any{},
		"!Ref AWS::NoValue":             nil,
		"[!Ref AWS::NoValue, 1]":        []any{json.Number("1")},
		"{a: !Ref AWS::NoValue, b: x}":  map[string]any{"b": "x"},
		"{a: !Ref P, b: x}":             map[string]any{"a": template.Unknown{}, "b": "x"},
		"{Condition: 'Yes'}":            map[string]any{"Condition": "Yes"},
		"!GetAtt Made.Outputs.X":        "Made's Outputs.X",
		"!GetAtt [Made, Arn]":           "Made's Arn",
		"!GetAtt Later.Arn":             dark,
		"012345678901":                  "012345678901",
		"1.50":                          json.Number("1.50"),
		"2012-10-17":                    "2012-10-17",
		"!Sub 'a ${Text} ${!Text} $ {'": "a text ${Text} $ {",
		"!Sub '${Made.Arn}-${Made}'":    "Made's Arn-id-Made",
		"!Sub ['${x}${Text}', {x: !Ref Number, Text: mine}]": "3mine",
		"!Sub '${P}${Text}'":                           dark,
		"!Sub ['${Text}', {x: !Ref P}]":                "text",
		"!Join ['-', [a, 1, true]]":                    "a-1-true",
		"!Join [',', !Ref List]":                       "a,b,c",
		"!Join ['', [a, !Ref P]]":                      dark,
		"!Join ['', [a, !Ref AWS::NoValue, b]]":        "ab",
		"!Select [1, !Ref List]":                       "b",
		"!Select ['0', [x, !Ref P]]":                   "x",
		"!Select [1, [x, !Ref P]]":                     dark,
		"!Select [!Ref P, [x]]":                        dark,
		"!Select [0, !Split ['-', 'a-b']]":             "a",
		"!Split [',', !ImportValue gone]":              dark,
		"!Split [',', '']":                             []any{""},
		"!FindInMap [M, !Ref Text, a]":                 json.Number("1"),
		"!FindInMap [M, text, l]":                      []any{"x", "y"},
		"!FindInMap [M, 1, b]":                         "z",
		"!FindInMap [M, !Ref P, a]":                    dark,
		"!FindInMap [M, gone, a, {DefaultValue: d}]":   "d",
		"!If [Yes, a, b]":                              "a",
		"!If [No, a, !Ref AWS::NoValue]":               nil,
		"!If [Dark, a, b]":                             dark,
		"!If [Dark, a, !Ref Text]":                     dark,
		"!If [Dark, text, !Ref Text]":                  "text",
		"!If [Yes, a, !Select [9, [x]]]":               "a",
		"!ImportValue there":                           "imported there",
		"!ImportValue {'Fn::Sub': '${P}-x'}":           dark,
		"!GetAZs ''":                                   []any{"eu-west-1a", "eu-west-1b"},
		"!GetAZs {Ref: 'AWS::Region'}":                 []any{"eu-west-1a", "eu-west-1b"},
		"!GetAZs us-east-1":                            dark,
		"!Base64 abc":                                  "YWJj",
		"{'Fn::Base64': !Sub '${Text}'}":               "dGV4dA==",
		"!Cidr [10.0.0.0/16, 2]":                       []any{"10.0.0.0/24", "10.0.1.0/24"},
		"!Cidr ['10.0.0.0/24', '2', '5']":              []any{"10.0.0.0/27", "10.0.0.32/27"},
		"!Cidr ['fd00::/56', 2, 64]":                   []any{"fd00::/64", "fd00:0:0:1::/64"},
		"{'Fn::Length': !Ref List}":                    json.Number("3"),
		"{'Fn::Length': [!Ref P, 1]}":                  json.Number("2"),
		"{'Fn::ToJsonString': {b: [1, '<'], a: true}}": `{"a":true,"b":[1,"<"]}`,
		"{'Fn::Transform': {Name: M}}":                 dark,
		"{'Fn::ForEach::X': [a, [b], {}]}":             dark,
	} {
		t.Run(expression, func(t *testing.T) {
			read := parsed(t, fmt.Sprintf(around, "!Equals [a, a]", expression))
			got, err := read.In(known()).Value(read.Outputs["O"].Value)
			if err != nil {
				t.Fatal(err)
			}
			if want == dark {
				want = template.Unknown{}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What does not matter need not be known.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-conditions.html
func TestConditions(t *testing.T) {
	for expression, want := range map[string]string{
		"!Equals [!Ref Number, 3]":                    "true",
		"!Equals [true, 'true']":                      "true",
		"!Equals [!Ref Text, other]":                  "false",
		"!Equals [!Ref P, '']":                        "unknown",
		"!Equals [!Join ['', !Ref List], abc]":        "true",
		"!Equals [!Select [1, !Ref List], b]":         "true",
		"!Not [!Condition Dark]":                      "unknown",
		"!Not [{Condition: 'Yes'}]":                   "false",
		"!And [!Condition Dark, !Condition 'No']":     "false",
		"!And [!Condition Dark, !Condition 'Yes']":    "unknown",
		"!And [!Condition 'Yes', !Condition 'Yes']":   "true",
		"!Or [!Condition Dark, !Condition 'Yes']":     "true",
		"!Or [!Condition Dark, !Condition 'No']":      "unknown",
		"!Or [!Condition 'No', !Condition 'No']":      "false",
		"!Equals [!If [Dark, a, a], a]":               "true",
		"!Equals [!FindInMap [M, !Ref Text, a], '1']": "true",
		"!Condition Later":                            "true",
		"!Equals [!Sub '${AWS::StackName}', 'stack']": "true",
		"!Equals [!Ref AWS::StackId, 'stack']":        "unknown",
		"!Equals [[a, !Ref P], [b, c]]":               "unknown",
	} {
		t.Run(expression, func(t *testing.T) {
			body := strings.Replace(fmt.Sprintf(around, expression, "1"), "\nResources", "\n  Later: !Equals [1, 1]\nResources", 1)
			e := parsed(t, body).In(known())
			if err := e.Err(); err != nil {
				t.Fatal(err)
			}
			got := "unknown"
			if value, is := e.Condition("C"); is {
				got = fmt.Sprint(value)
			}
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestWhatGoesWrongInEvaluation(t *testing.T) {
	for expression, want := range map[string]string{
		"!Ref Absent":                       "Template format error: Unresolved resource dependencies [Absent] in the Outputs block of the template",
		"!Sub '${Absent.Arn}'":              "Template format error: Unresolved resource dependencies [Absent] in the Outputs block of the template",
		"!Select [3, !Ref List]":            "Template error: Fn::Select cannot select nonexistent value at index 3",
		"!FindInMap [M, !Ref Empty, a]":     "Template error: Unable to get mapping for M::::a",
		"!Sub '${List}'":                    "Template error: every value of Fn::Sub must be text: ${List} is not",
		"!Base64 {'Fn::Split': [',', 'a']}": "Template error: Fn::Base64 needs text here",
		"!Cidr [10.0.0.0/24, 2]":            "Template error: Fn::Cidr: 10.0.0.0/24 does not hold 2 blocks of 8 bits",
	} {
		t.Run(expression, func(t *testing.T) {
			read := parsed(t, fmt.Sprintf(around, "!Equals [a, a]", expression))
			v, err := read.In(known()).Value(read.Outputs["O"].Value)
			if err == nil {
				t.Fatalf("got %v, want %s", v, want)
			}
			if place, text, ok := strings.Cut(err.Error(), ": "); !ok || text != want || !strings.HasPrefix(place, "t:11:") {
				t.Errorf("got  %s\nwant t:11:…: %s", err, want)
			}
		})
	}
}

func TestFailedConditionIsReportedAndUnknown(t *testing.T) {
	e := parsed(t, fmt.Sprintf(around, "!Equals [!FindInMap [M, !Ref Empty, a], 1]", "1")).In(known())
	if _, is := e.Condition("C"); is {
		t.Error("C is known")
	}
	if err := e.Err(); err == nil || err.Error() != "t:9:15: Template error: Unable to get mapping for M::::a" {
		t.Errorf("got %v", err)
	}
	if value, is := e.Condition("Yes"); !value || !is {
		t.Error("Yes is true all the same")
	}
}

func TestValuesDoNotGrowWithoutEnd(t *testing.T) {
	x := "x"
	for range 30 {
		x = "!Sub ['${a}${a}${a}${a}', {a: " + x + "}]"
	}
	read := parsed(t, one("{a: "+x+"}"))
	_, err := read.In(template.Scope{}).Value(read.Resources["R"].Properties)
	if err == nil || !strings.Contains(err.Error(), "they grow without end") {
		t.Errorf("got %v", err)
	}
}

func TestAnEvaluationIsSharedByGoroutines(t *testing.T) {
	read := load(t, "service.json")
	e := read.In(known())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for _, r := range e.Resources() {
				if _, err := e.Value(r.Properties); err != nil {
					t.Error(err)
				}
			}
			if len(e.Imports()) == 0 {
				t.Error("no imports")
			}
		})
	}
	all.Wait()
}

package events_test

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/infra/local/events"
)

func TestPatterns(t *testing.T) {
	const event = `{"source":"aws.s3","n":300,"f":3.0e2,"null":null,"empty":"","list":["a","b"],"ip":"10.1.2.3","yes":true,
		"detail":{"object":{"key":"projects/Shop/prod.zip"},"items":[{"x":"1","y":"2"},{"x":"3","y":"4"}]}}`
	for _, c := range []struct {
		name, pattern string
		want          bool
	}{
		{"exact", `{"source":["aws.s3"]}`, true},
		{"one of", `{"source":["aws.ec2","aws.s3"]}`, true},
		{"none of", `{"source":["aws.ec2"]}`, false},
		{"all fields", `{"source":["aws.s3"],"yes":[false]}`, false},
		{"case counts", `{"source":["AWS.S3"]}`, false},
		{"a field that is not there", `{"region":["x"]}`, false},
		{"numbers as written", `{"n":[300]}`, true},
		{"numbers written otherwise", `{"f":[300]}`, false},
		{"a number is no text", `{"n":["300"]}`, false},
		{"true", `{"yes":[true]}`, true},
		{"null", `{"null":[null]}`, true},
		{"null is not empty", `{"empty":[null]}`, false},
		{"empty", `{"empty":[""]}`, true},
		{"an array has it", `{"list":["b","z"]}`, true},
		{"an array has it not", `{"list":["z"]}`, false},
		{"nested", `{"detail":{"object":{"key":["projects/Shop/prod.zip"]}}}`, true},
		{"a leaf where an object is asked for", `{"source":{"x":["y"]}}`, false},
		{"an object where a leaf is asked for", `{"detail":["x"]}`, false},
		{"one element of an array of objects", `{"detail":{"items":{"x":["3"],"y":["4"]}}}`, true},
		{"not mixed from two elements", `{"detail":{"items":{"x":["1"],"y":["4"]}}}`, false},
		{"prefix", `{"detail":{"object":{"key":[{"prefix":"projects/"}]}}}`, true},
		{"either prefix", `{"detail":{"object":{"key":[{"prefix":"requests/"},{"prefix":"projects/"}]}}}`, true},
		{"other prefix", `{"detail":{"object":{"key":[{"prefix":"requests/"}]}}}`, false},
		{"prefix of any case", `{"detail":{"object":{"key":[{"prefix":{"equals-ignore-case":"PROJECTS/shop"}}]}}}`, true},
		{"suffix", `{"detail":{"object":{"key":[{"suffix":".zip"}]}}}`, true},
		{"prefix of a number", `{"n":[{"prefix":"3"}]}`, false},
		{"any case", `{"source":[{"equals-ignore-case":"AWS.s3"}]}`, true},
		{"wildcard", `{"detail":{"object":{"key":[{"wildcard":"projects/*/prod.*"}]}}}`, true},
		{"wildcard otherwise", `{"detail":{"object":{"key":[{"wildcard":"projects/*/test.*"}]}}}`, false},
		{"a star itself", `{"source":[{"wildcard":"aws\\*"}]}`, false},
		{"anything but this", `{"source":[{"anything-but":"aws.s3"}]}`, false},
		{"anything but that", `{"source":[{"anything-but":["aws.ec2","aws.sns"]}]}`, true},
		{"anything but a prefix", `{"source":[{"anything-but":{"prefix":"aws."}}]}`, false},
		{"anything but prefixes", `{"source":[{"anything-but":{"prefix":["x","y"]}}]}`, true},
		{"anything but a number", `{"n":[{"anything-but":[300]}]}`, false},
		{"anything but, of what is not there", `{"region":[{"anything-but":"x"}]}`, false},
		{"exists", `{"null":[{"exists":true}]}`, true},
		{"exists not", `{"region":[{"exists":true}]}`, false},
		{"is absent", `{"region":[{"exists":false}]}`, true},
		{"is absent below what is absent", `{"a":{"b":[{"exists":false}]}}`, true},
		{"is not absent", `{"source":[{"exists":false}]}`, false},
		{"absent or this", `{"source":[{"exists":false},"aws.s3"]}`, true},
		{"number", `{"f":[{"numeric":["=",300]}]}`, true},
		{"range", `{"n":[{"numeric":[">",0,"<=",300]}]}`, true},
		{"out of range", `{"n":[{"numeric":[">",0,"<",300]}]}`, false},
		{"range of a text", `{"source":[{"numeric":[">",0]}]}`, false},
		{"cidr", `{"ip":[{"cidr":"10.0.0.0/8"}]}`, true},
		{"other cidr", `{"ip":[{"cidr":"10.2.0.0/16"}]}`, false},
		{"or", `{"$or":[{"source":["x"]},{"n":[300]}]}`, true},
		{"neither", `{"$or":[{"source":["x"]},{"n":[3]}]}`, false},
		{"or beside another", `{"yes":[false],"$or":[{"source":["x"]},{"n":[300]}]}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := events.Compile(c.pattern)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Match([]byte(event)); got != c.want {
				t.Errorf("%s: %v, want %v", c.pattern, got, c.want)
			}
		})
	}
}

func TestRefusedPatterns(t *testing.T) {
	for pattern, want := range map[string]string{
		`{`:                                      "not JSON",
		`[]`:                                     "not an object",
		`{}`:                                     "empty patterns",
		`{"a":"x"}`:                              `"a" must be an object or an array`,
		`{"a":[]}`:                               "empty arrays",
		`{"a":{}}`:                               "empty objects",
		`{"a":[["x"]]}`:                          "list within a list",
		`{"a":[{"contains":"x"}]}`:               "unrecognized match type contains",
		`{"a":[{"prefix":"x","suffix":"y"}]}`:    "only one key",
		`{"a":[{"prefix":1}]}`:                   "must be a string",
		`{"a":[{"exists":"yes"}]}`:               "either true or false",
		`{"a":[{"numeric":["~",1]}]}`:            "operator: ~",
		`{"a":[{"numeric":[">"]}]}`:              "one or two comparisons",
		`{"a":[{"numeric":[">","1"]}]}`:          "an operator and a number",
		`{"a":[{"anything-but":{"numeric":1}}]}`: "unsupported anything-but",
		`{"a":[{"anything-but":[]}]}`:            "list is empty",
		`{"a":[{"cidr":"10.0.0.0"}]}`:            "malformed CIDR",
		`{"a":[{"wildcard":"a**"}]}`:             "consecutive wildcard",
		`{"$or":[{"a":[1]},{"b":2}]}`:            `"b" must be`,
	} {
		if _, err := events.Compile(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", pattern, err, want)
		}
	}
}

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
		{"a leaf where an object is expected", `{"source":{"x":["y"]}}`, false},
		{"an object where a leaf is expected", `{"detail":["x"]}`, false},
		{"prefix", `{"detail":{"object":{"key":[{"prefix":"projects/"}]}}}`, true},
		{"either prefix", `{"detail":{"object":{"key":[{"prefix":"requests/"},{"prefix":"projects/"}]}}}`, true},
		{"other prefix", `{"detail":{"object":{"key":[{"prefix":"requests/"}]}}}`, false},
		{"prefix of a number", `{"n":[{"prefix":"3"}]}`, false},
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
		`{`:                             "not JSON",
		`[]`:                            "not an object",
		`{}`:                            "empty patterns",
		`{"a":"x"}`:                     `"a" must be an object or an array`,
		`{"a":[]}`:                      "empty arrays",
		`{"a":{}}`:                      "empty objects",
		`{"a":[{"exists":true}]}`:       "one operator",
		`{"a":[{"anything-but":"x"}]}`:  "one operator",
		`{"a":[["x"]]}`:                 "list within a list",
		`{"a":[{"contains":"x"}]}`:      "one operator",
		`{"a":[{"prefix":1}]}`:          "one operator",
		`{"$or":[{"a":[1]},{"b":[2]}]}`: "does not know $or",
	} {
		if _, err := events.Compile(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", pattern, err, want)
		}
	}
}

package dynamodb

import (
	"encoding/json"
	"testing"
)

// A value is read whatever its content, and written as it was. What is no value of one
// type is refused.
func TestValue(t *testing.T) {
	for text, want := range map[string]value{
		`{"S":"a, \"b\": {[ \\"}`:            {"S", json.RawMessage(`"a, \"b\": {[ \\"`)},
		`{ "N" : "1.5" }`:                    {"N", json.RawMessage(`"1.5"`)},
		`{"BOOL":true}`:                      {"BOOL", json.RawMessage(`true`)},
		`{"L":[{"S":"a"},{"N":"2"}]}`:        {"L", json.RawMessage(`[{"S":"a"},{"N":"2"}]`)},
		`{"M":{"a":{"S":"}"},"b":{"L":[]}}}`: {"M", json.RawMessage(`{"a":{"S":"}"},"b":{"L":[]}}`)},
		`{"SS":["a","b"]}`:                   {"SS", json.RawMessage(`["a","b"]`)},
	} {
		var got value
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.kind != want.kind || string(got.content) != string(want.content) {
			t.Errorf("%s is read as %s %s, %v; want %s %s", text, got.kind, got.content, err, want.kind, want.content)
		}
		if written, err := json.Marshal(got); err != nil || !json.Valid(written) {
			t.Errorf("%s is written as %s, %v", text, written, err)
		}
	}
	for _, text := range []string{`{}`, `null`, `"S"`, `[]`, `{"S":"a","N":"1"}`, `{"M":{},"L":[]}`, `{"X":"a"}`, `{"N":"a"}`, `{"N":1}`, `{"N":"0x1"}`} {
		var got value
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is read as %s %s", text, got.kind, got.content)
		}
	}
}

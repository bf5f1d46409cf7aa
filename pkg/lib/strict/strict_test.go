package strict

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestRead(t *testing.T) {
	for text, want := range map[string][]string{
		`{"text":"a","count":7,"size":8,"list":["b"],"inner":{"on":true}}`: nil,
		`{}`:       nil,
		` `:        {"the request is empty: send a JSON object"},
		`{"text":`: {"the request is not valid JSON: unexpected EOF"},
		`[{}] {}`:  {"the request is not valid JSON: there is more text behind the first value"},
		`null`:     {"the request: null found, an object expected"},
		`{"size":1.5,"list":"b","inner":{"off":true},"TEXT":"a"}`: {
			"size: the number 1.5 found, a whole number expected",
			"list: a string found, a list of strings expected",
			`"inner.off" is not a key of a request: available: on`,
			`"TEXT" is not a key of a request: did you mean text?`,
		},
		`{"text":null,"count":null,"list":null,"inner":{"on":null}}`: {
			"text: null found, a string expected", "count: null found, a whole number expected", "list: null found, a list of strings expected", "inner.on: null found, true or false expected",
		},
		`{"text":"a","text":"b"}`: {"text: this key occurs twice: keep one of them"},
	} {
		var v struct {
			Text  string
			Count *int
			Size  int64
			List  []string
			On    bool
		}
		wrong, ok := Read([]byte(text), Fields{"text": &v.Text, "count": &v.Count, "size": &v.Size, "list": &v.List, "inner": Fields{"on": &v.On}})
		if !slices.Equal(wrong, want) || ok != (text[0] == '{' && json.Valid([]byte(text))) {
			t.Errorf("%s: %q, %v, want %q", text, wrong, ok, want)
		}
		if want == nil && text != "{}" && (v.Text != "a" || *v.Count != 7 || v.Size != 8 || v.List[0] != "b" || !v.On) {
			t.Errorf("%s: %+v", text, v)
		}
	}
}

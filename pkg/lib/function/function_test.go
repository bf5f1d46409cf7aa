package function

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type list = []any
type object = map[string]any

func TestFunctions(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range []struct {
		name string
		args list
		want any
	}{
		{"join", list{"-", list{"a", json.Number("1.50"), true}}, "a-1.50-true"},
		{"join", list{"-", list{}}, ""},
		{"split", list{",", "a,,b"}, list{"a", "", "b"}},
		{"select", list{json.Number("1"), list{"a", "b"}}, "b"},
		{"select", list{"1", list{"a", "b"}}, "b"},
		{"select", list{"a", object{"a": list{}}}, list{}},
		{"sub", list{"${a}$${a}${b c}$", object{"a": "x", "b c": json.Number("2")}}, "x${a}2$"},
		{"lower", list{"ÄB"}, "äb"},
		{"upper", list{"äb"}, "ÄB"},
		{"base64", list{"hello"}, "aGVsbG8="},
		{"json", list{object{"b": nil, "a": list{"<x>", json.Number("1e3"), false}}}, `{"a":["<x>",1e3,false],"b":null}`},
		{"from_json", list{` {"a": [1.50, null, "x"]} `}, object{"a": list{json.Number("1.50"), nil, "x"}}},
		{"file", list{"a.txt"}, "of a.txt"},
		{"cidr", list{"10.0.0.0/16", json.Number("2")}, list{"10.0.0.0/24", "10.0.1.0/24"}},
		{"cidr", list{"10.0.0.0/16", "1", "4"}, list{"10.0.0.0/28"}},
	} {
		f, ok := Named(c.name)
		if !ok {
			t.Fatalf("there is no function %s", c.name)
		}
		seen[c.name] = true
		e := Evaluation{Files: func(path string) (string, error) { return "of " + path, nil }}
		got, err := e.Call(f, c.args)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s(%v): %v\n%s", c.name, c.args, err, diff)
		}
		if kind := KindOf(got); !kind.Fits(f.Gives) || e.Made == 0 {
			t.Errorf("%s gives %s, made %d bytes", c.name, kind, e.Made)
		}
	}
	for _, name := range Names() {
		if !seen[name] {
			t.Errorf("function %s is not tested", name)
		}
	}
}

func TestRefusedArguments(t *testing.T) {
	long := strings.Repeat("x", MaxText)
	for _, c := range []struct {
		name    string
		args    list
		want    string
		missing bool
	}{
		{"join", list{","}, "join has 2 arguments, and not 1: write join(separator, list)", false},
		{"join", list{",", "a"}, "join(separator, list): argument 2: expected a list, found a text", false},
		{"join", list{",", list{list{}}}, "join: item 0 of the list: expected a text, found a list", false},
		{"join", list{long, list{"a", "b", "c"}}, "join: the result is more than 64 KB", false},
		{"split", list{"", "a"}, "split: the separator is empty", false},
		{"select", list{"x", list{}}, `select: the index of a list: expected a whole number, found "x"`, false},
		{"select", list{json.Number("-1"), list{"a"}}, "select: the list has 1 items, counted from 0, and no item -1", true},
		{"select", list{"b", object{"a": 1}}, `select: the map has no key "b": available: a`, true},
		{"select", list{"b", "a"}, "select: expected a list or a map, found a text", false},
		{"sub", list{"${a}", object{"a": nil}}, "sub: ${a}: expected a text, found null", false},
		{"sub", list{strings.Repeat("${a}", 100), object{"a": long}}, "sub: the result is more than 64 KB", false},
		{"upper", list{list{}}, "upper(text): argument 1: expected a text, found a list", false},
		{"from_json", list{"{} x"}, "from_json: the text is not JSON: there is more after the first value", false},
		{"from_json", list{strings.Repeat("[", 51) + strings.Repeat("]", 51)}, "from_json: lists and maps are nested too deep: at most 50 levels are read", false},
		{"file", list{"a"}, "file: the files of the project are not at hand", false},
		{"base64", list{long}, "the result is more than 64 KB", false},
	} {
		f, _ := Named(c.name)
		_, err := new(Evaluation).Call(f, c.args)
		if got := fmt.Sprint(err); got != c.want || errors.Is(err, ErrMissing) != c.missing {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// One evaluation makes a limited number of bytes, however often it calls functions.
func TestWhatIsMadeIsLimited(t *testing.T) {
	var e Evaluation
	f, _ := Named("upper")
	var err error
	calls := 0
	for ; err == nil && calls < 1000; calls++ {
		_, err = e.Call(f, list{strings.Repeat("x", MaxText/2)})
	}
	if err == nil || calls > 2+MaxMade/(MaxText/2) {
		t.Errorf("%d calls: %v", calls, err)
	}
}

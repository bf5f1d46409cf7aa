package project_test

import (
	"encoding/json"
	"testing"

	"github.com/stackwright/stackwright/pkg/project"
)

// What the project writes itself is found in parts, defaults and arguments, and not in what only separates or chooses.
func TestWritten(t *testing.T) {
	out := project.Term{Node: "db", Output: "Key"}
	call := func(function string, arguments ...project.Term) project.Term {
		return project.Term{Expression: &project.Expression{Function: function, Arguments: arguments}}
	}
	known := func(v any) project.Term { return project.Term{Known: v} }
	part := func(t project.Term) project.Text { return project.Text{{Expression: t.Expression}} }
	for _, c := range []struct {
		text project.Text
		want bool
	}{
		{project.Literal("x"), true},
		{project.Literal(""), false},
		{project.Text{{Node: "db", Output: "Key"}}, false},
		{project.Text{{Node: "db", Output: "Key"}, {Literal: ","}, {Source: &project.Source{Stack: "a", Output: "B"}}}, false},
		{project.Text{{Literal: "x"}, {Node: "db", Output: "Key"}}, true},
		{part(call("upper", out)), false},
		{part(call("??", out, known("x"))), true},
		{part(call("??", out, known(""))), false},
		{part(call("??", out, known(json.Number("7")))), true},
		{part(call("upper", call("??", out, known(true)))), true},
		{part(call("select", known(json.Number("0")), call("split", known("-"), out))), false},
		{part(call("split", known("-"), call("??", out, known("a-b")))), true},
		{part(call("join", known(";"), project.Term{List: []project.Term{out, out}})), false},
		{part(call("join", known(";"), project.Term{List: []project.Term{out, known("x")}})), true},
		{part(call("json", project.Term{Map: map[string]project.Term{"a": out}})), false},
		{part(call("json", project.Term{Map: map[string]project.Term{"a": out, "b": known([]any{"", "x"})}})), true},
		{part(call("json", project.Term{Map: map[string]project.Term{"a": out, "b": known(map[string]any{"c": []any{"", nil}})}})), false},
	} {
		if got := c.text.Written(); got != c.want {
			t.Errorf("%s: %v", c.text, got)
		}
	}
}

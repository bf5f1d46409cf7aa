package project_test

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// An entry names projects before an equals sign, or is about all. An equals sign after a colon is part of its thing.
func TestEntry(t *testing.T) {
	for text, want := range map[string]struct {
		thing string
		about bool // shop@prod
		wrong fault.Kind
	}{
		"legacy-*":             {thing: "legacy-*", about: true},
		"shop@*=legacy-*":      {thing: "legacy-*", about: true},
		"*@test=a":             {thing: "a"},
		"shop@prod=arn:a:b=c":  {thing: "arn:a:b=c", about: true},
		"https://h.example/a=": {thing: "https://h.example/a=", about: true},
		"=arn:a":               {thing: "arn:a", about: true, wrong: fault.Invalid},
		"shop=arn:a":           {thing: "arn:a", wrong: fault.Invalid},
	} {
		e, err := project.ParseEntry(text)
		if e.Thing != want.thing || e.About("shop@prod") != want.about || fault.KindOf(err) != want.wrong || err == nil && e.String() != text {
			t.Errorf("%s: %+v, %v", text, e, err)
		}
	}
}

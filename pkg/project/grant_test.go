package project_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// Patterns are read as they are written, and everything that is wrong is said at once.
func TestParseGrants(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "",
		" , ":                       "",
		"shop@prod":                 "shop@prod",
		" shop@prod, team-*@* ,*@*": "shop@prod,team-*@*,*@*",
	} {
		got, err := project.ParseGrants(text)
		if err != nil || got.String() != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	const form = "is not a pattern: write PROJECT@ENVIRONMENT with letters, digits, hyphens and stars, such as shop@prod or team-*@*"
	for text, want := range map[string]string{
		"shop":                       "projects: shop has no environment: write shop@default for that environment, or shop@* for all",
		"*":                          `projects: "*" ` + form,
		"shop@":                      `projects: "shop@" ` + form,
		"@prod":                      `projects: "@prod" ` + form,
		"a@b@c":                      `projects: "a@b@c" ` + form,
		"sh[o]p@prod,sh?p@prod":      `projects: "sh[o]p@prod" ` + form + `; "sh?p@prod" ` + form,
		`sh\\op@prod`:                `projects: "sh\\op@prod" ` + form,
		"shop@prod,shop@prod":        "projects: shop@prod is listed twice: remove one",
		strings.Repeat("a", 100):     `projects: "` + strings.Repeat("a", 80) + `…" ` + form,
		strings.Join(many(101), ","): "projects: the patterns have 1009 characters, and at most 1000 may be: use stars, such as shop@* for all environments of shop",
	} {
		if _, err := project.ParseGrants(text); !fault.Is(err, fault.Invalid) || err.Error() != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
	if g, err := project.ParseGrants(strings.Join(many(100), ",")); err != nil || len(g) != 100 {
		t.Error(g, err)
	}
}

// many returns patterns of nine characters.
func many(n int) []string {
	var all []string
	for i := range n {
		all = append(all, "shop"+string(rune('a'+i/26))+string(rune('a'+i%26))+"@p*")
	}
	return slices.Clip(all)
}

// A pattern is that of a whole project and a whole environment.
func TestGrantsAllow(t *testing.T) {
	g := project.Grants{"shop@prod", "team-*@*", "*-web@eu*1"}
	for id, want := range map[string]bool{
		"shop@prod": true, "team-a@prod": true, "team-@default": true, "a-web@eu1": true, "a-web@eu-west-1": true,
		"shop@prod2": false, "shop2@prod": false, "ashop@prod": false, "ateam-a@prod": false, "Shop@prod": false, "a-web@eu": false, "shop": false, "@": false, "": false,
	} {
		if g.Allow(id) != want {
			t.Errorf("%q: %v, want %v", id, !want, want)
		}
	}
	if (project.Grants{}).Allow("shop@prod") || !(project.Grants{"*@*"}).Allow("shop@prod") {
		t.Error("no pattern allows a project, or stars do not")
	}
}

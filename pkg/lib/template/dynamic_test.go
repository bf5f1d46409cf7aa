package template_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/template"
)

// Each reference is read, and written again in the shortest way.
func TestDynamics(t *testing.T) {
	const arn, id = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:prod/db-AbCdEf", "11111111-2222-3333-4444-555555555555"
	for text, want := range map[string]struct {
		d       template.Dynamic
		written string // "" is as it was
		pinned  bool
	}{
		"{{resolve:ssm:/prod/ami}}":           {d: template.Dynamic{Service: template.SSM, Name: "/prod/ami"}},
		"{{resolve:ssm:/prod/ami:3}}":         {d: template.Dynamic{Service: template.SSM, Name: "/prod/ami", Version: "3"}, pinned: true},
		"{{resolve:ssm-secure:/prod/key:12}}": {d: template.Dynamic{Service: template.SSMSecure, Name: "/prod/key", Version: "12"}, pinned: true},
		"{{resolve:secretsmanager:db}}":       {d: template.Dynamic{Service: template.Secrets, Name: "db"}},
		"{{resolve:secretsmanager:db::::}}":   {d: template.Dynamic{Service: template.Secrets, Name: "db"}, written: "{{resolve:secretsmanager:db}}"},
		"{{resolve:secretsmanager:db:SecretString}}": {d: template.Dynamic{Service: template.Secrets, Name: "db"},
			written: "{{resolve:secretsmanager:db}}"},
		"{{resolve:secretsmanager:" + arn + ":SecretString:password}}": {d: template.Dynamic{Service: template.Secrets, Name: arn, Key: "password"}},
		"{{resolve:secretsmanager:" + arn + "}}":                       {d: template.Dynamic{Service: template.Secrets, Name: arn}},
		"{{resolve:secretsmanager:db:SecretString:k:AWSPREVIOUS}}":     {d: template.Dynamic{Service: template.Secrets, Name: "db", Key: "k", Stage: "AWSPREVIOUS"}},
		"{{resolve:secretsmanager:db:SecretString:k::" + id + "}}": {d: template.Dynamic{Service: template.Secrets, Name: "db", Key: "k", Version: id},
			pinned: true},
		"{{resolve:secretsmanager:db:SecretString:::" + id + "}}": {d: template.Dynamic{Service: template.Secrets, Name: "db", Version: id}, pinned: true},
	} {
		got := template.Dynamics("a " + text + " b")
		if len(got) != 1 || got[0] != want.d {
			t.Errorf("%s: got %+v", text, got)
			continue
		}
		written := want.written
		if written == "" {
			written = text
		}
		if got[0].String() != written {
			t.Errorf("%s: it is written %s", text, got[0])
		}
		if pinned := len(template.Unversioned(text)) == 0; pinned != want.pinned {
			t.Errorf("%s: pinned %t", text, pinned)
		}
	}
	for _, text := range []string{
		"", "{{resolve:ssm:/x", "{{resolve:ssm:}}", "{{resolve:ssm:/x:new}}", "{{resolve:s3:x}}", "{{ssm:/x}}",
		"{{resolve:secretsmanager:}}", "{{resolve:secretsmanager:db:SecretBinary}}", "{{resolve:secretsmanager:db:SecretString:a:b:c:d}}",
	} {
		if got := template.Dynamics(text); len(got) > 0 {
			t.Errorf("%s: got %+v", text, got)
		}
	}
}

func TestResolve(t *testing.T) {
	text := "{{resolve:ssm:/a:1}}-{{resolve:what}}-{{resolve:secretsmanager:b}}{{"
	got, err := template.Resolve(text, func(d template.Dynamic) (string, error) { return strings.ToUpper(d.Name), nil })
	if want := "/A-{{resolve:what}}-B{{"; got != want || err != nil {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	var names []string
	gone := errors.New("gone")
	_, err = template.Resolve(text, func(d template.Dynamic) (string, error) { names = append(names, d.Name); return "", gone })
	if !errors.Is(err, gone) || !slices.Equal(names, []string{"/a"}) {
		t.Errorf("got %v, after %v were resolved", err, names)
	}
}

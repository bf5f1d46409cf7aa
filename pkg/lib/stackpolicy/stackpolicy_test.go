package stackpolicy_test

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/stackpolicy"
)

// read reads a policy, and returns what is wrong with it.
func read(t *testing.T, text string) (policy, wrong string) {
	t.Helper()
	root, err := document.Read("policy", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	policy = stackpolicy.Read(root, func(at *yaml.Node, format string, args ...any) {
		wrong += fmt.Sprintf("%d: ", at.Line) + fmt.Sprintf(format, args...) + "\n"
	})
	return policy, wrong
}

// One policy has the same bytes in each notation: JSON and YAML, whatever the order of keys.
func TestSameBytes(t *testing.T) {
	const want = `{"Statement":[{"Action":"Update:*","Effect":"Deny","NotResource":["LogicalResourceId/A<b>"],"Principal":"*"}]}`
	for _, text := range []string{
		"Statement:\n- {Principal: '*', NotResource: ['LogicalResourceId/A<b>'], Effect: Deny, Action: 'Update:*'}",
		`{"Statement": [ {"Effect": "Deny", "Action": "Update:*", "Principal": "*", "NotResource": ["LogicalResourceId/A\u003cb>"]} ]}`,
		"Statement: {Principal: '*', NotResource: ['LogicalResourceId/A<b>'], Effect: Deny, Action: 'Update:*'}",
		"x: &x ['LogicalResourceId/A<b>']\nStatement: &s [{Principal: '*', NotResource: *x, Effect: Deny, Action: 'Update:*'}]",
	} {
		got, wrong := read(t, text)
		if strings.HasPrefix(text, "x:") { // a key of its own is refused
			if got != "" || wrong != "1: unknown key \"x\": a stack policy has the key Statement\n" {
				t.Errorf("%q, %q", got, wrong)
			}
			continue
		}
		if got != want || wrong != "" {
			t.Errorf("%s is read as\n%s\n%s", text, got, wrong)
		}
	}
}

// A policy can have as many bytes as CloudFormation accepts.
func TestSize(t *testing.T) {
	short := `{"Statement":[{"Action":"Update:*","Effect":"Deny","Principal":"*","Resource":"*","Sid":""}]}`
	for size, good := range map[int]bool{stackpolicy.MaxSize: true, stackpolicy.MaxSize + 1: false} {
		text := strings.Replace(short, `"Sid":"`, `"Sid":"`+strings.Repeat("x", size-len(short)), 1)
		if got, wrong := read(t, text); (got == text) != good || (wrong == "") != good {
			t.Errorf("%d bytes: %.60q, %q", size, got, wrong)
		}
	}
}

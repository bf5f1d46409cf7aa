package difference

import (
	"slices"
	"testing"
)

// Two documents are compared part by part. Lists of a statement have no order, and what is no whole mapping or list is not compared.
func TestDocuments(t *testing.T) {
	for _, test := range []struct {
		before, after string
		want          []string
	}{
		{`{"A":{"B":"1","C":[1,2]}}`, `{"A":{"C":[1,3],"B":"1","D":"x"}}`, []string{"P.A.C[1]: 2 → 3", "P.A.D: (none) → x"}},
		{`{"Statement":[{"Effect":"Allow","Action":["a","b"]}]}`, `{"Statement":[{"Effect":"Allow","Action":["b","a"]}]}`, nil},
		{`[{"A":"1"}]`, `[]`, []string{`P[0]: {A: 1} → (none)`}},
		{`{"A":"1"}`, `{"A":"{{resolve:secretsmanager:x}}"}`, []string{"P.A: secret"}},
		{`{"A":"1"}`, `{"A":"12345`, nil},
		{`one`, `two`, nil},
		{``, `{}`, nil},
	} {
		var got []string
		for _, p := range Documents("AWS::SQS::QueuePolicy", []string{"P"}, test.before, test.after) {
			if p.Secret {
				got = append(got, p.Path+": secret")
				continue
			}
			got = append(got, p.Path+": "+orNone(p.Before)+" → "+orNone(p.After))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s and %s: got %q, want %q", test.before, test.after, got, test.want)
		}
	}
}

package iam

import "testing"

// Requests are decided as AWS's documents say.
func TestMay(t *testing.T) {
	read := func(body string) Policy {
		p, err := Read([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	all := read(`{"Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`)
	boundary := read(`{"Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"},{"Effect":"Deny","Action":"s3:Delete*","Resource":"arn:aws:s3:::ours/*"}]}`)
	tagged := read(`{"Statement":[{"Effect":"Allow","NotAction":["iam:*"],"Resource":["arn:aws:x:::a?","arn:aws:x:::b"],"Condition":{"Null":{"aws:ResourceTag/k":"false"},"StringLike":{"aws:ResourceTag/k":["x*","y"]}}}]}`)
	limits := read(`{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"},{"Effect":"Deny","Action":"iam:CreateRole","Resource":"*","Condition":{"StringNotEquals":{"iam:PermissionsBoundary":"b"}}},` +
		`{"Effect":"Deny","Action":"*","NotResource":"arn:aws:x:::*","Condition":{"ArnNotLike":{"aws:PrincipalArn":"arn:aws:iam::1:role/ok/*"},"StringEqualsIfExists":{"k":"v"}}}]}`)
	several := read(`{"Statement":{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"ForAllValues:StringEquals":{"k":["a","b"]}}}}`)
	for _, c := range []struct {
		name string
		who  Identity
		r    Request
		want Answer
	}{
		{"without a policy", Identity{}, Request{Action: "s3:GetObject", Resource: "arn:aws:s3:::a"}, Implicit},
		{"all", Identity{Policies: []Policy{all}}, Request{Action: "s3:GetObject", Resource: "arn:aws:s3:::a"}, Allowed},
		{"beyond the boundary", Identity{Policies: []Policy{all}, Boundary: &boundary}, Request{Action: "iam:CreateRole", Resource: "arn:aws:iam::1:role/x"}, Implicit},
		{"in the boundary", Identity{Policies: []Policy{all}, Boundary: &boundary}, Request{Action: "S3:getobject", Resource: "arn:aws:s3:::a"}, Allowed},
		{"denied by the boundary", Identity{Policies: []Policy{all}, Boundary: &boundary}, Request{Action: "s3:DeleteObject", Resource: "arn:aws:s3:::ours/x"}, Denied},
		{"a boundary allows nothing", Identity{Boundary: &boundary}, Request{Action: "s3:GetObject", Resource: "arn:aws:s3:::a"}, Implicit},
		{"by tag", Identity{Policies: []Policy{tagged}}, Request{Action: "x:Do", Resource: "arn:aws:x:::ab", Context: map[string]string{"aws:resourcetag/k": "xy"}}, Allowed},
		{"another tag", Identity{Policies: []Policy{tagged}}, Request{Action: "x:Do", Resource: "arn:aws:x:::ab", Context: map[string]string{"aws:ResourceTag/k": "z"}}, Implicit},
		{"no tag", Identity{Policies: []Policy{tagged}}, Request{Action: "x:Do", Resource: "arn:aws:x:::ab"}, Implicit},
		{"another resource", Identity{Policies: []Policy{tagged}}, Request{Action: "x:Do", Resource: "arn:aws:x:::abc", Context: map[string]string{"aws:ResourceTag/k": "y"}}, Implicit},
		{"not this action", Identity{Policies: []Policy{tagged}}, Request{Action: "iam:Do", Resource: "arn:aws:x:::b", Context: map[string]string{"aws:ResourceTag/k": "y"}}, Implicit},
		{"all values", Identity{Policies: []Policy{several}}, Request{Action: "x:Do", Resource: "*", Context: map[string]string{"k": "b"}}, Allowed},
		{"another value", Identity{Policies: []Policy{several}}, Request{Action: "x:Do", Resource: "*", Context: map[string]string{"k": "c"}}, Implicit},
		{"all of no values", Identity{Policies: []Policy{several}}, Request{Action: "x:Do", Resource: "*"}, Allowed},
		{"a missing key", Identity{ARN: "arn:aws:iam::1:role/ok/a", Policies: []Policy{limits}}, Request{Action: "iam:CreateRole", Resource: "arn:aws:iam::1:role/x"}, Denied},
		{"with the key", Identity{ARN: "arn:aws:iam::1:role/ok/a", Policies: []Policy{limits}}, Request{Action: "iam:CreateRole", Resource: "arn:aws:iam::1:role/x", Context: map[string]string{"iam:PermissionsBoundary": "b"}}, Allowed},
		{"another principal", Identity{ARN: "arn:aws:iam::1:role/a", Policies: []Policy{limits}}, Request{Action: "x:Do", Resource: "arn:aws:y:::a"}, Denied},
		{"another principal, if it exists", Identity{ARN: "arn:aws:iam::1:role/a", Policies: []Policy{limits}}, Request{Action: "x:Do", Resource: "arn:aws:y:::a", Context: map[string]string{"k": "w"}}, Allowed},
	} {
		if got, err := c.who.May(c.r); err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", c.name, got, err, c.want)
		}
	}
	if _, err := (Identity{Policies: []Policy{read(`{"Statement":{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"DateLessThan":{"aws:CurrentTime":"x"}}}}`)}}).May(Request{Action: "a:b", Resource: "c"}); err == nil {
		t.Error("an operator that is not known decides")
	}
}

// Stars stand for any letters, and question marks for one.
func TestLike(t *testing.T) {
	for _, c := range []struct {
		pattern, value string
		want           bool
	}{
		{"*", "", true}, {"", "", true}, {"", "a", false}, {"a", "", false}, {"a*", "a", true}, {"*a*b", "xaxaxb", true}, {"*a*b", "xaxbx", false},
		{"a?c", "abc", true}, {"a?c", "ac", false}, {"?", "*", true}, {"a*c*", "abcd", true}, {"*:role/x-*", "arn:role/x-y/z", true}, {"A", "a", false},
	} {
		if got := like(c.pattern, c.value, false); got != c.want {
			t.Errorf("%q like %q: %v", c.value, c.pattern, got)
		}
	}
}

// A trust policy names who may assume a role.
func TestTrusts(t *testing.T) {
	p, err := Read([]byte(`{"Statement":[{"Effect":"Allow","Principal":{"AWS":["arn:aws:iam::1:role/a","arn:aws:iam::2:root"]},"Action":"sts:AssumeRole","Condition":{"StringEquals":{"sts:ExternalId":"x"}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for who, want := range map[string]Answer{"arn:aws:iam::1:role/a": Allowed, "arn:aws:iam::1:role/b": Implicit, "arn:aws:iam::2:role/b": Allowed} {
		if got, err := p.Trusts(Request{Principal: who, Action: "sts:AssumeRole", Context: map[string]string{"sts:ExternalId": "x"}}); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", who, got, err, want)
		}
		if got, err := p.Trusts(Request{Principal: who, Action: "sts:AssumeRole"}); err != nil || got != Implicit {
			t.Errorf("%s without the external ID: %s, %v", who, got, err)
		}
	}
}

package access_test

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/fault"
)

// arn is a principal with an ARN in account 111122223333.
func arn(service, resource string) access.Principal {
	return access.Principal{ARN: "arn:aws:" + service + "::111122223333:" + resource}
}

// token is a principal with claims: those of the issuer and the audience of the tests, and more.
func token(claims ...string) access.Principal {
	p := access.Principal{Claims: map[string]string{"iss": "https://issuer.example", "aud": "stackwright", "sub": "0a1b"}}
	for _, c := range claims {
		name, value, _ := strings.Cut(c, "=")
		p.Claims[name] = value
	}
	return p
}

var (
	ci    = arn("sts", "assumed-role/ci/build-7")
	admin = arn("sts", "assumed-role/AWSReservedSSO_Admin_0a1b/ann@example.com")
)

// What the file does not grant is denied, and the decision names the line.
func TestDecide(t *testing.T) {
	p := access.NewPolicy(nil, []byte(team))
	if p.Broken() != nil {
		t.Fatal(p.Broken())
	}
	const none = "no line of access/access.yaml grants "
	for _, c := range []struct {
		by      access.Principal
		role    access.Role
		project string
		allowed bool
		why     string
	}{
		{ci, access.Reader, "shop@prod", true, "access/access.yaml:6 grants deployer of shop@prod to arn:aws:iam::111122223333:role/ci"},
		{ci, access.Deployer, "shop@prod", true, ""},
		{ci, access.Approver, "shop@prod", false, "access/access.yaml:6 grants only deployer of shop@prod to arn:aws:iam::111122223333:role/ci"},
		{ci, access.Deployer, "shop@test", false, none + "arn:aws:sts::111122223333:assumed-role/ci/build-7 a role for shop@test"},
		{ci, access.Reader, "shop2@prod", false, ""},
		{arn("sts", "assumed-role/ci2/build-7"), access.Reader, "shop@prod", false, ""},
		{arn("sts", "assumed-role/build-7/ci"), access.Reader, "shop@prod", false, ""},
		{arn("iam", "user/ci"), access.Reader, "shop@prod", false, ""},
		{access.Principal{ARN: "arn:aws:sts::999988887777:assumed-role/ci/build-7"}, access.Reader, "shop@prod", false, ""},
		{access.Principal{ARN: "arn:aws-cn:sts::111122223333:assumed-role/ci/build-7"}, access.Reader, "shop@prod", false, ""},
		{arn("iam", "user/people/ann"), access.Reader, "shop@prod", true, "access/access.yaml:12 grants reader of shop@*,team-*@test to arn:aws:iam::111122223333:user/people/*"},
		{arn("iam", "user/people/ann"), access.Deployer, "shop@prod", false, "access/access.yaml:12 grants only reader of shop@*,team-*@test to arn:aws:iam::111122223333:user/people/*"},
		{arn("iam", "user/people/shop/ann"), access.Reader, "shop@prod", false, ""},
		{arn("iam", "user/ann"), access.Reader, "shop@prod", false, ""},
		{arn("iam", "user/people/ann"), access.Reader, "team-a@test", true, ""},
		{arn("iam", "user/people/ann"), access.Reader, "team-a@prod", false, ""},
		{admin, access.Admin, "any@where", true, ""},
		{arn("sts", "assumed-role/AWSReservedSSO_Admin_0a1b/eve@example.com"), access.Reader, "any@where", false, ""},

		{token("groups=[release other shop]"), access.Deployer, "shop@prod", true, "access/access.yaml:7 grants deployer of shop@prod to tokens with iss=https://issuer.example aud=stackwright groups=shop,release"},
		{token("groups=[shop]"), access.Deployer, "shop@prod", false, "access/access.yaml:13 grants only reader of shop@*,team-*@test to tokens with iss=https://issuer.example aud=stackwright"},
		{token("groups=shop release"), access.Deployer, "shop@prod", false, ""},
		{token("groups=[shop,release]"), access.Deployer, "shop@prod", false, ""},
		{token(), access.Reader, "shop@test", true, ""},
		{token("aud=[other stackwright]"), access.Reader, "shop@test", true, ""},
		{token("aud=", "client_id=stackwright"), access.Reader, "shop@test", true, ""},
		{token("aud=other"), access.Reader, "shop@test", false, none + `token "0a1b" of "https://issuer.example" for "other" a role for shop@test`},
		{token("aud=other", "client_id=stackwright"), access.Reader, "shop@test", false, ""},
		{token("aud=stackwright2"), access.Reader, "shop@test", false, ""},
		{token("iss=https://issuer.example.evil"), access.Reader, "shop@test", false, ""},
		{token("iss="), access.Reader, "shop@test", false, ""},
		{access.Principal{Claims: map[string]string{}}, access.Reader, "shop@test", false, ""},
		{token("sub=arn:aws:iam::111122223333:role/ci"), access.Deployer, "shop@prod", false, ""},

		{access.Principal{Account: "111122223333"}, access.Deployer, "shop@prod", true, "access/access.yaml:8 grants deployer of shop@prod to uploads of account 111122223333"},
		{access.Principal{Account: "111122223333"}, access.Deployer, "shop@test", false, none + "unknown principal of account 111122223333 a role for shop@test"},
		{access.Principal{Account: "999988887777"}, access.Deployer, "shop@prod", false, ""},
		{access.Principal{Account: "cloudformation.amazonaws.com"}, access.Deployer, "shop@prod", false, ""},

		{access.Principal{Schedule: "nightly"}, access.Deployer, "shop@prod", true, "a schedule may do what the deploy that made it was allowed to do: deployer"},
		{access.Principal{Schedule: "nightly"}, access.Approver, "shop@prod", false, ""},
		{access.Principal{}, access.Reader, "shop@prod", false, "the request has no principal"},
	} {
		got := p.Decide(c.by, c.role, c.project)
		if got.Allowed != c.allowed || c.why != "" && got.Why != c.why || got.Why == "" {
			t.Errorf("%s as %s of %s: %v\nwant %v %s", c.by, c.role, c.project, got, c.allowed, c.why)
		}
	}
}

// Without a file, an installation that has an owner denies all others; without an owner too, IAM decides, and
// tokens are denied. A file that cannot be used denies all but the owner. Nobody is never allowed.
func TestDecideWithoutAFile(t *testing.T) {
	owner, err := access.ParseOwner("arn:aws:iam::111122223333:role/boss\narn:aws:iam::111122223333:user/eve")
	if err != nil {
		t.Fatal(err)
	}
	boss := arn("sts", "assumed-role/boss/ann")
	all := []access.Principal{ci, token(), {Account: "111122223333"}, {Schedule: "nightly"}, {}, boss}
	for _, c := range []struct {
		name   string
		policy access.Policy
		want   string // one letter for each of them: + if it is allowed to deploy
		broken bool
	}{
		{"no file", access.NewPolicy(nil, nil), "+-++-+", false},
		{"no file but an owner", access.NewPolicy(owner, nil), "---+-+", false},
		{"zero policy", access.Policy{}, "+-++-+", false},
		{"empty file", access.NewPolicy(owner, []byte("")), "---+-+", true},
		{"no grants", access.NewPolicy(owner, []byte("grants: []")), "---+-+", false},
		{"malformed", access.NewPolicy(owner, []byte(team+"  - x\n")), "---+-+", true},
		{"malformed without an owner", access.NewPolicy(nil, []byte(team+"  - x\n")), "---+--", true},
		{"locks everybody out", access.NewPolicy(nil, []byte("grants: []")), "---+--", true},
		{"without an admin", access.NewPolicy(nil, []byte(strings.ReplaceAll(team, "admin", "reader"))), "---+--", true},
		{"grants", access.NewPolicy(owner, []byte(team)), "+-++-+", false},
	} {
		got := ""
		for _, by := range all {
			d := c.policy.Decide(by, access.Deployer, "shop@prod")
			got += map[bool]string{true: "+", false: "-"}[d.Allowed]
		}
		if got != c.want || (c.policy.Broken() != nil) != c.broken {
			t.Errorf("%s: %s, want %s; broken: %v", c.name, got, c.want, c.policy.Broken())
		}
	}
	if d := access.NewPolicy(owner, []byte("")).Decide(ci, access.Reader, "shop@prod"); d.Why != "access/access.yaml cannot be used, so all but the owner are denied: access/access.yaml: the file is empty: a document is expected" {
		t.Error(d.Why)
	}
	if d := access.NewPolicy(owner, nil).Decide(ci, access.Reader, "shop@prod"); d.Why != "there is no access/access.yaml, so all but the owner and schedules are denied: write the file, and put it with stackwright access put" {
		t.Error(d.Why)
	}
	if d := access.NewPolicy(nil, nil).Decide(token(), access.Reader, "shop@prod"); d.Why != "there is no access/access.yaml, and the installation has no owner: IAM alone decides, and tokens are denied" {
		t.Error(d.Why)
	}
	if d := access.NewPolicy(owner, []byte(team)).Decide(boss, access.Admin, "any@where"); !d.Allowed || d.Why != "the principal is an owner of the installation" {
		t.Error(d)
	}
}

func TestParseOwner(t *testing.T) {
	if o, err := access.ParseOwner(" "); err != nil || len(o) > 0 {
		t.Error(o, err)
	}
	if _, err := access.ParseOwner("ann arn:aws:iam::111122223333:role/x/y"); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), `"ann" is not the ARN`) || !strings.Contains(err.Error(), "write arn:aws:iam::111122223333:role/y") {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"arn:aws:iam::111122223333:role/boss*":                    "has a star: name each role and user",
		"arn:aws:iam::111122223333:user/people/*":                 "has a star: name each role and user",
		"arn:aws:sts::111122223333:assumed-role/boss/ann":         "is a session, whose name may be chosen by everybody who may assume the role: write arn:aws:iam::111122223333:role/boss, ",
		"arn:aws:iam::111122223333:root ann":                      `"ann" is not the ARN`,
		"arn:aws:sts::111122223333:assumed-role/boss/ann*":        "has a star",
		"arn:aws:iam::111122223333:role/boss arn:aws:iam::1:root": `"arn:aws:iam::1:root" is not the ARN`,
	} {
		if _, err := access.ParseOwner(text); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

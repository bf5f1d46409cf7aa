package access_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/fault"
)

// team is an access file with each kind of principal.
const team = `# who may do what
grants:
  - projects: shop@prod
    role: deployer
    to:
      - arn: arn:aws:iam::111122223333:role/ci
      - token: {iss: https://issuer.example, aud: stackwright, groups: [shop, release]}
      - account: 111122223333
  - projects: [shop@*, team-*@test]
    role: reader
    to:
      - arn: arn:aws:iam::111122223333:user/people/*
      - token: {iss: https://issuer.example, aud: stackwright}
  - projects: "*@*"
    role: admin
    to: [{arn: "arn:aws:sts::111122223333:assumed-role/AWSReservedSSO_Admin_*/ann@example.com"}]
`

func TestParse(t *testing.T) {
	f, err := access.Parse("access.yaml", []byte(team))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"+ deployer of shop@prod to arn:aws:iam::111122223333:role/ci",
		"+ deployer of shop@prod to tokens with iss=https://issuer.example aud=stackwright groups=shop,release",
		"+ deployer of shop@prod to uploads of account 111122223333",
		"+ reader of shop@*,team-*@test to arn:aws:iam::111122223333:user/people/*",
		"+ reader of shop@*,team-*@test to tokens with iss=https://issuer.example aud=stackwright",
		"+ admin of *@* to arn:aws:sts::111122223333:assumed-role/AWSReservedSSO_Admin_*/ann@example.com",
	}
	if d := cmp.Diff(want, f.Changes(access.File{})); d != "" {
		t.Error(d)
	}
}

// A file that is not understood is refused, with everything that is wrong and where.
func TestParseRefuses(t *testing.T) {
	grant := func(projects, role, to string) string {
		return "grants:\n  - projects: " + projects + "\n    role: " + role + "\n    to:\n      - " + to + "\n"
	}
	const ci = "arn: arn:aws:iam::111122223333:role/ci"
	for text, want := range map[string]string{
		"":           "access.yaml: the file is empty: a document is expected",
		"[]":         "access.yaml:1:1: a list found, an access file expected: a mapping with grants",
		"grant: []":  "access.yaml:1:1: \"grant\" is not a key of an access file: did you mean grants?",
		"access: []": "access.yaml:1:1: \"access\" is not a key of an access file: available: grants\naccess.yaml:1:1: grants: missing in an access file",
		"grant:\n  - project: shop\n    roles: redaer\n    too: [ci]\n": "access.yaml:1:1: \"grant\" is not a key of an access file: did you mean grants?\n" +
			"access.yaml:2:5: \"project\" is not a key of a grant: did you mean projects?\naccess.yaml:2:14: projects: shop has no environment: write shop@default for that environment, or shop@* for all\n" +
			"access.yaml:3:5: \"roles\" is not a key of a grant: did you mean role?\naccess.yaml:3:12: role: there is no such role: did you mean reader?\n" +
			"access.yaml:4:5: \"too\" is not a key of a grant: did you mean to?\naccess.yaml:4:11: text found, one principal expected: arn, token or account",
		"grants: all":                                           "access.yaml:1:9: grants: text found, a list of grants expected",
		"grants: [a]":                                           "access.yaml:1:10: text found, a grant expected: a mapping with projects, role, to",
		"grants: [{role: reader}]":                              "access.yaml:1:10: projects: missing in a grant\naccess.yaml:1:10: to: missing in a grant",
		grant("shop", "reader", ci):                             "access.yaml:2:15: projects: shop has no environment: write shop@default for that environment, or shop@* for all",
		grant("[]", "reader", ci):                               "access.yaml:2:15: projects: missing: write PROJECT@ENVIRONMENT, such as shop@prod or team-*@*",
		grant(`" "`, "reader", ci):                              "access.yaml:2:15: projects: empty: write a value, or remove the key\naccess.yaml:2:15: projects: missing: write PROJECT@ENVIRONMENT, such as shop@prod or team-*@*",
		grant("shop@*", "redaer", ci):                           "access.yaml:3:11: role: there is no such role: did you mean reader?",
		grant("shop@*", "none", ci):                             "access.yaml:3:11: role: there is no such role: available: reader, planner, deployer, approver, admin",
		"grants:\n  - {projects: shop@*, role: reader, to: []}": "access.yaml:2:42: to: the list is empty, so the grant is for nobody: write a principal, or remove the grant",
		"grants:\n  - {projects: shop@*, role: reader, to: everybody}":              "access.yaml:2:42: to: text found, a list of principals expected",
		grant("shop@*", "reader", "everybody"):                                      "access.yaml:5:9: text found, one principal expected: arn, token or account",
		grant("shop@*", "reader", "role: ci"):                                       "access.yaml:5:9: \"role\" is not a kind of principal: available: arn, token, account",
		grant("shop@*", "reader", "{"+ci+", account: 1}"):                           "access.yaml:5:9: a mapping found, one principal expected: arn, token or account",
		grant("shop@*", "reader", "arn: '*'"):                                       "access.yaml:5:14: arn: \"*\" is not the ARN of a role, a user, a session or the root of an account: write arn:aws:iam::111122223333:role/NAME, with the account and without the path of the role; a star stands for any characters but a slash",
		grant("shop@*", "reader", "arn: arn:aws:iam::111122223333:role/teams/a/ci"): "access.yaml:5:14: arn: the caller's ARN does not contain the path of its role: write arn:aws:iam::111122223333:role/ci",
		grant("shop@*", "reader", "account: 1234"):                                  "access.yaml:5:18: account: \"1234\" is not the ID of an account: it has twelve digits",
		grant("shop@*", "reader", "account: '*'"):                                   "access.yaml:5:18: account: \"*\" is not the ID of an account: it has twelve digits",
		grant("shop@*", "reader", "token: {}"):                                      "access.yaml:5:16: token: iss and aud missing: name the issuer and the audience, as otherwise tokens of anybody could match",
		grant("shop@*", "reader", "token: {aud: a, groups: [a b]}"):                 "access.yaml:5:16: token: iss missing: name the issuer and the audience, as otherwise tokens of anybody could match\naccess.yaml:5:33: groups: a value with a blank: API Gateway separates the values of a list by blanks, so this value cannot be found",
		grant("shop@*", "reader", "token: {aud: [a, b], iss: i, groups: []}"):       "access.yaml:5:22: aud: a list found, text expected: write a principal for each\naccess.yaml:5:46: groups: the list is empty: remove the claim, or write the values that the token must have",
		grant("shop@*", "reader", "token: {aud: a, iss: i, sub: {a: b}}"):           "access.yaml:5:38: sub: a mapping found, text expected",
		grant("shop@*", "admin", "token: {aud: a, iss: '*'}"):                       "access.yaml:5:30: iss: a value with a star: claims are compared as they are, so a star does not stand for other characters: write each value, or grant to a group",
		grant("shop@*", "admin", "token: {aud: a, iss: i, groups: [a*]}"):           "access.yaml:5:41: groups: a value with a star: claims are compared as they are, so a star does not stand for other characters: write each value, or grant to a group",
		grant("shop@*", "reader", "token: {aud: a, iss: ''}"):                       "access.yaml:5:30: iss: empty: write a value, or remove the key",
	} {
		_, err := access.Parse("access.yaml", []byte(text))
		if err == nil || err.Error() != want || !fault.Is(err, fault.Invalid) {
			t.Errorf("%s\nis refused with\n%v\nwant\n%s", text, err, want)
		}
	}
	if _, err := access.Parse("access.yaml", []byte("#"+strings.Repeat("x", access.MaxBytes))); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
	many := "grants:\n  - projects: shop@*\n    role: reader\n    to:\n" + strings.Repeat("      - account: 111122223333\n", 1001)
	if _, err := access.Parse("access.yaml", []byte(many)); err == nil || !strings.Contains(err.Error(), "access.yaml:1005:9: more than 1000 principals") {
		t.Error(err)
	}
}

// A file under which nobody could change anything is refused: the role admin for uploads is not
// enough, because an upload has no person.
func TestFileLocksEverybodyOut(t *testing.T) {
	for text, locks := range map[string]bool{
		"grants: []": true,
		team:         false,
		strings.ReplaceAll(team, "admin", "approver"):                                                        true,
		"grants: [{projects: '*@*', role: admin, to: [{account: 111122223333}]}]":                            true,
		"grants: [{projects: 'a@*', role: admin, to: [{token: {iss: i, aud: a}}]}]":                          false,
		"grants: [{projects: '*@*', role: admin, to: [{arn: 'arn:aws:iam::111122223333:user/ann'}]}]":        false,
		"grants: [{projects: '*@*', role: reader, to: [{arn: 'arn:aws:iam::111122223333:user/ann'}]}] # all": true,
	} {
		f, err := access.Parse("access.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.CheckOwner(nil); fault.Is(err, fault.Refused) != locks {
			t.Errorf("%s: %v", text, err)
		}
		if err := f.CheckOwner(access.Owner{"arn:aws:iam::111122223333:root"}); err != nil {
			t.Error(err)
		}
	}
}

func TestChanges(t *testing.T) {
	before, err := access.Parse("access.yaml", []byte(team))
	if err != nil {
		t.Fatal(err)
	}
	after, err := access.Parse("access.yaml", []byte(strings.Replace(strings.Replace(team, "role/ci", "role/cd", 1), "# who may do what\n", "", 1)))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"- deployer of shop@prod to arn:aws:iam::111122223333:role/ci", "+ deployer of shop@prod to arn:aws:iam::111122223333:role/cd"}
	if d := cmp.Diff(want, after.Changes(before)); d != "" {
		t.Error(d)
	}
	if same := after.Changes(after); len(same) > 0 {
		t.Errorf("from itself it differs in %q", same)
	}
}

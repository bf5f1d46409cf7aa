package access_test

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/fault"
)

// Any bytes as an access file are a file or an error that says where. A file allows no more to a
// role than to those that the role includes, and nothing to nobody; a file that is no file allows
// nothing to anybody but the owner.
func FuzzParse(f *testing.F) {
	f.Add([]byte(team), "shop@prod")
	f.Add([]byte("grants: [{projects: '*@*', role: admin, to: [{token: {iss: i, aud: a, groups: [x]}}, {account: 0}]}]"), "a@b")
	f.Add([]byte("grants: &g [{projects: '*@*', role: admin, to: *g}]"), "*@*")
	f.Add([]byte("grants: !x []"), "")
	f.Fuzz(func(t *testing.T, text []byte, project string) {
		file, err := access.Parse("f", text)
		if err != nil && (!fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), "f:")) {
			t.Errorf("%v", err)
		}
		if same := file.Changes(file); len(same) > 0 {
			t.Errorf("from itself it differs in %q", same)
		}
		owner := access.Owner{"arn:aws:iam::111122223333:root"}
		p := access.NewPolicy(owner, append([]byte{}, text...))
		if (p.Broken() != nil) != (err != nil) {
			t.Errorf("it is broken: %v, and parsed: %v", p.Broken(), err)
		}
		for _, by := range []access.Principal{ci, admin, token("groups=[shop]"), {Account: "111122223333"}, {}, {ARN: project}} {
			before := true
			for _, role := range []access.Role{access.Reader, access.Deployer, access.Approver, access.Admin} {
				d := p.Decide(by, role, project)
				if d.Allowed && (!before || err != nil || by.String() == "nobody") || d.Why == "" {
					t.Errorf("%s as %s of %q: %v, %v", by, role, project, d, err)
				}
				before = d.Allowed
			}
		}
		if d := p.Decide(access.Principal{ARN: owner[0]}, access.Admin, project); !d.Allowed {
			t.Errorf("the owner is denied: %v", d)
		}
	})
}

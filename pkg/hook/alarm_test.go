package hook_test

import (
	"fmt"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/hook"
	"github.com/stackwright/stackwright/pkg/project"
)

// Of the alarms of a target, those are on that are in the state ALARM. A project reads only those that its hooks may wait for.
func TestInAlarm(t *testing.T) {
	in := project.Target{Name: "cn", Account: "000000000000", Region: "cn-north-1"}
	for _, c := range []struct {
		project string
		names   []string
		want    string
		kind    fault.Kind
	}{
		{"shop@prod", []string{"hook-calm", "hook-errors", "hook-other"}, "[hook-errors hook-other]", ""},
		{"shop@prod", []string{"hook-calm"}, "[]", ""},
		{"shop@prod", []string{"hook-calm", "missing"}, "[]", fault.Denied},
		{"shop@prod", []string{"hook-none"}, "[]", fault.Refused},
		{"lab@prod", []string{"hook-calm"}, "[]", fault.Denied},
		{"shop@prod", []string{"hook-own"}, "[]", fault.Denied},
	} {
		s := &services{}
		all := hook.Services{Alarms: s, Allowed: hook.Allowed{"shop@*=arn:aws-cn:cloudwatch:cn-north-1:000000000000:alarm:hook-*"}, Own: hook.Allowed{"arn:*:cloudwatch:*:alarm:hook-own"}}
		on, err := all.InAlarm(t.Context(), c.project, in, c.names)
		if fmt.Sprint(on) != c.want || fault.KindOf(err) != c.kind || c.kind == fault.Denied && len(s.called) > 0 {
			t.Errorf("%s %v: %v, %v", c.project, c.names, on, err)
		}
	}
}

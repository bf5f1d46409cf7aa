package api_test

import (
	"fmt"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/run"
)

// The audit log has who requested each run, and who gave it which command; of a refused run, why it was refused.
func TestAudit(t *testing.T) {
	h := newApp()
	h.runs[1].State, h.runs[1].Messages = run.StateRefused, []string{"not allowed"}
	first := read[report.AuditPage](t, h, "GET"+ofShop+"/audit", "query.limit=2")
	var got []string
	for _, e := range first.Entries {
		got = append(got, fmt.Sprint(e.Run, " ", e.What, " ", e.Who, " ", e.State, " ", e.Messages, " ", e.Why))
	}
	want := []string{newest + " pause eve  [] <b>no</b>", newest + " deploy bob running [] ", middle + " deploy bob refused [not allowed] "}
	if fmt.Sprint(got) != fmt.Sprint(want) || first.Before != middle {
		t.Errorf("%q, before %s", got, first.Before)
	}
	second := read[report.AuditPage](t, h, "GET"+ofShop+"/audit", "query.limit=2", "query.before="+first.Before)
	if len(second.Entries) != 1 || second.Entries[0].Run != oldest || second.Before != "" {
		t.Errorf("%+v", second)
	}
}

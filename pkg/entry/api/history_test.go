package api_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/report"
)

// The pages of the history of a stack lead from one to the next. A stack without a history is one that is recorded, or there is none.
func TestHistoryOfAStack(t *testing.T) {
	h := newApp()
	const history = "GET" + ofShop + "/stacks/history"
	first := read[report.HistoryPage](t, h, history, "query.stack=a", "query.limit=1")
	second := read[report.HistoryPage](t, h, history, "query.stack=a", "query.limit=1", "query.after="+first.After)
	if len(first.Steps) != 1 || first.Steps[0].Run != newest || first.Steps[0].Who != "bob" || first.Steps[0].Source.Version != "v" || first.Steps[0].Why != "<b>no</b>" ||
		len(second.Steps) != 1 || second.Steps[0].Run != middle || second.After != "" {
		t.Errorf("%+v, then %+v", first, second)
	}
	if none := read[report.HistoryPage](t, h, history, "query.stack=b"); none.Steps == nil || len(none.Steps) > 0 {
		t.Errorf("nothing was done, and there is %+v", none)
	}
	h.runs[0].Operation = "plan"
	if all := read[report.HistoryPage](t, h, history, "query.stack=a"); len(all.Steps) != 1 || all.Steps[0].Run != middle {
		t.Errorf("with the steps of a plan: %+v", all)
	}
	forged := base64.RawURLEncoding.EncodeToString([]byte("listHistory shop@prod a\n\U0010FFFF"))
	for _, c := range []struct {
		words, want string
		status      int
	}{
		{"query.stack=", "stack: missing", 400},
		{"query.stack=d", `no stack "d" of shop@prod is recorded`, 404},
		{"query.stack=a query.after=x", `after: "x" is not from an answer of this list about stack "a"`, 400},
		{"query.stack=b query.after=" + first.After, "after: ", 400},
		{"query.stack=a query.after=" + forged, "after: ", 400},
	} {
		if r, said := h.ask(t, call(history, "", strings.Fields(c.words)...)); r.StatusCode != c.status || !strings.HasPrefix(said.Detail, c.want) {
			t.Errorf("%s: %d %s, want %d %s", c.words, r.StatusCode, said.Detail, c.status, c.want)
		}
	}
}

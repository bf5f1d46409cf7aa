package notify

import (
	"context"
	"slices"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
)

// A bucket of reports has those of some runs.
type bucketOfReports struct {
	runs []string
	err  error
}

// WriteReport implements Reports.
func (b *bucketOfReports) WriteReport(_ context.Context, run string) error {
	b.runs = append(b.runs, run)
	return b.err
}

// The report of a run is written when the run has ended, once, without a secret and without a request to a server. If the bucket does not answer, it
// is tried again.
func TestReport(t *testing.T) {
	w, b := newBackend(), &bucketOfReports{}
	d := w.deliverer(t, "reports;report=html;projects=shop@*")
	d.Reports, d.Secrets = b, nil
	for id, e := range map[string][2]string{
		"e1": {"shop@prod", "running"}, "e2": {"shop@prod", "waiting"}, "e3": {"shop@prod", "superseded"}, "e4": {"other@prod", "failed"},
	} {
		if err := d.Deliver(t.Context(), event(t, id, e[0], e[1])); err != nil || len(b.runs) > 0 {
			t.Errorf("%s of %s: %v, %v", e[1], e[0], b.runs, err)
		}
	}
	for range 2 { // the event is delivered twice
		if err := d.Deliver(t.Context(), event(t, "e5", "shop@prod", "failed")); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(b.runs, []string{"r1"}) || len(w.got) > 0 {
		t.Errorf("reports of %v, requests %v", b.runs, w.got)
	}
	b.err = fault.New(fault.Unavailable, "S3 does not answer")
	if err := d.Deliver(t.Context(), event(t, "e6", "shop@prod", "succeeded")); !fault.Is(err, fault.Unavailable) || len(b.runs) != 1+attempts {
		t.Errorf("%v, %v", b.runs, err)
	}
	if all := d.Destinations; len(all.Secrets()) > 0 || !all.Has("report") || all.Has("slack") || all.String() != "reports;report=html;projects=shop@*" {
		t.Errorf("%s has the secrets %v", all, all.Secrets())
	}
}

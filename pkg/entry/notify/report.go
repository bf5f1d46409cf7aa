package notify

import (
	"context"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// Reports writes runs as files into the bucket of the installation.
type Reports interface {
	// WriteReport writes the report of a run, in place of one that is there already. Of a run that is not recorded it writes none.
	WriteReport(ctx context.Context, run string) error
}

// reportFormat writes the report of a run into the bucket of the installation when the run has ended: nothing is sent anywhere.
func reportFormat() format {
	return format{
		name: "report", check: checkReport, inside: true, send: sendReport,
		states: []run.State{run.StateSucceeded, run.StateFailed, run.StateCancelled, run.StateRefused},
	}
}

func checkReport(value string) error {
	if value != "html" {
		return fault.New(fault.Invalid, "report has the value html: a report is one file of HTML")
	}
	return nil
}

func sendReport(ctx context.Context, by *Deliverer, _ Destination, m message) (string, error) {
	return "", by.Reports.WriteReport(ctx, m.Run)
}

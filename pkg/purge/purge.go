// Package purge deletes old runs, and the objects in the bucket that nothing names any more.
//
// It is safe while runs are planned and executed. A plan puts all objects again that its run needs, and purge deletes only versions
// of objects that were put before the oldest run that has not ended was requested: the version that such a run has put stays, whatever purge
// has seen before. It can be repeated at any time, and goes on where it has stopped.
package purge

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// Table has the runs and records.
type Table interface {
	// Projects lists the projects that have had a run.
	Projects(ctx context.Context) ([]string, error)

	// List returns the newest runs of a project, newest first, without steps; 0 is all.
	List(ctx context.Context, project string, most int) ([]run.Run, error)

	// Lock returns the lock of a project.
	Lock(ctx context.Context, project string) (run.Lock, error)

	// Records returns the records of a project by node.
	Records(ctx context.Context, project string) (map[string]plan.Record, error)

	// Open lists the runs that have not ended.
	Open(ctx context.Context) ([]string, error)

	// Run returns a run without its steps, or an error of kind Missing.
	Run(ctx context.Context, id string) (run.Run, error)

	// DeleteRun deletes a run that has ended, with all that belongs to it. It is Stale if the run has not ended. To delete it twice has no effect.
	DeleteRun(ctx context.Context, r run.Run) error

	// RecordChange writes an entry of the audit log of the installation, once for each ID and time.
	RecordChange(ctx context.Context, id string, e run.AuditEntry) error
}

// Bucket has the objects.
type Bucket interface {
	// Versions returns a page of the versions of the objects whose keys have a prefix, sorted by key, and the place of the next page; none follows the last one.
	Versions(ctx context.Context, prefix, after string) (page []Version, next string, err error)

	// DeleteVersions deletes versions, at most as many as a page has. To delete one twice has no effect.
	DeleteVersions(ctx context.Context, all []Version) error

	// Current returns the current version of an object, or an error of kind Missing.
	Current(ctx context.Context, key string) ([]byte, error)
}

// A Version is a version of an object.
type Version struct {
	Key, ID string
	Put     time.Time
	Bytes   int64
	Current bool // it is the newest one of its key
}

// A Purge deletes what is old. All its fields are needed.
type Purge struct {
	Table  Table
	Bucket Bucket
	Now    func() time.Time
}

// Least is how old the runs and objects are at least that a purge deletes: clocks differ, and an upload is requested some time after it was put.
const Least = 24 * time.Hour

// margin is how much earlier than the request of a run an object may seem to be put, by the clock of S3, that the run has put.
const margin = time.Hour

// Freed is what was deleted, or would be.
type Freed struct {
	Runs     int            `json:"run_count"`
	Versions map[string]int `json:"versions"` // of objects, by the folder of the bucket
	Bytes    int64          `json:"bytes"`    // of these
}

// add adds a version.
func (f *Freed) add(folder string, v Version) {
	f.Versions[folder]++
	f.Bytes += v.Bytes
}

// Check refuses a retention with which the purge would not be safe.
func Check(k run.Retention) error {
	switch {
	case k.OlderThan < Least:
		return fault.New(fault.Invalid, "older_than: %s: give at least %s: what is newer may be in use", k.OlderThan, Least)
	case k.Keep < 1:
		return fault.New(fault.Invalid, "keep: %d: keep at least 1 run of each project", k.Keep)
	}
	return nil
}

// Begin writes into the audit log of the installation that somebody purges it.
func (p Purge) Begin(ctx context.Context, k run.Retention, who, from string) error {
	if err := Check(k); err != nil {
		return err
	}
	return p.Table.RecordChange(ctx, "purge", run.AuditEntry{
		Time: p.Now().UTC(), What: fmt.Sprintf("purge: older than %s, and not among the newest %d runs of a project", k.OlderThan, k.Keep), Who: who, From: from,
	})
}

// Some deletes what is old from a place on, "" at first, until it has worked for a time, and returns the place at which the next call goes on; none
// follows when all is done. With only, it deletes nothing.
func (p Purge) Some(ctx context.Context, k run.Retention, only bool, after string, long time.Duration) (f Freed, next string, err error) {
	f.Versions = make(map[string]int)
	if err := Check(k); err != nil {
		return f, "", err
	}
	began := p.Now()
	named, err := p.mark(ctx, k, only)
	if err != nil {
		return f, "", err
	}
	for next = after; ; {
		stage, at, _ := strings.Cut(next, "/")
		switch {
		case next == "" || stage == "runs":
			if next, err = p.runs(ctx, only, named, at, &f); err == nil && next == folders[0]+"/" && f.Runs > 0 { // what these runs have named is not named any more
				named, err = p.mark(ctx, k, only)
			}
		default:
			next, err = p.objects(ctx, only, named, next, &f)
		}
		if err != nil || next == "" || p.Now().Sub(began) >= long {
			return f, next, err
		}
	}
}

// runs deletes the old runs of the project behind another one.
func (p Purge) runs(ctx context.Context, only bool, m *marks, behind string, f *Freed) (next string, err error) {
	i := slices.IndexFunc(m.projects, func(id string) bool { return id > behind })
	if i < 0 {
		return folders[0] + "/", nil
	}
	for _, r := range m.old[m.projects[i]] {
		if !only {
			err := p.Table.DeleteRun(ctx, r)
			if err != nil && !fault.Is(err, fault.Stale) {
				return "", fmt.Errorf("delete run %s of %s: %w", r.ID, r.Project, err)
			}
		}
		f.Runs++
	}
	return "runs/" + m.projects[i], nil
}

// folders are the folders of the bucket whose objects are deleted, in this order. What other folders hold expires, or its owner deletes it.
var folders = []string{"specs", "templates", "artifacts", "remote", "revisions", "projects"}

// objects deletes the old versions of a page.
func (p Purge) objects(ctx context.Context, only bool, m *marks, place string, f *Freed) (next string, err error) {
	folder, after, _ := strings.Cut(place, "/")
	at := slices.Index(folders, folder)
	if at < 0 {
		return "", fault.New(fault.Invalid, "after: %.80q is not from an answer of a purge: begin without it", place)
	}
	page, more, err := p.Bucket.Versions(ctx, folder+"/", after)
	if err != nil {
		return "", fmt.Errorf("list %s/: %w", folder, err)
	}
	var old []Version
	for _, v := range page {
		stays, err := p.stays(ctx, m, folder, v)
		if err != nil {
			return "", err
		}
		if !stays {
			old = append(old, v)
		}
	}
	if old, err = p.unnamed(ctx, m, folder, old); err != nil {
		return "", err
	}
	if len(old) > 0 && !only {
		if err := p.Bucket.DeleteVersions(ctx, old); err != nil {
			return "", fmt.Errorf("delete objects of %s/: %w", folder, err)
		}
	}
	for _, v := range old {
		f.add(folder, v)
	}
	switch {
	case more != "":
		return folder + "/" + more, nil
	case at+1 < len(folders):
		return folders[at+1] + "/", nil
	}
	return "", nil
}

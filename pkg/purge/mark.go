package purge

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// marks are what is old, and what is named.
type marks struct {
	before   time.Time // versions that were put later stay
	projects []string  // sorted
	old      map[string][]run.Run
	digests  map[string]bool // that locks, records and the runs that stay name
	sources  map[run.Source]bool
	kept     map[string]bool // the digests of these sources
	versions map[string]bool // of configurations with which recorded stacks were deployed

	templates map[string][]string        // of the records, by the name of the project, without the environment
	unknown   map[string]bool            // names of projects of which it is not known what is deployed
	artifacts map[string]map[string]bool // the digests that the deployed templates name, by the name of the project, once they were read
}

// hexDigits is how many hexadecimal digits a SHA-256 has.
const hexDigits = 64

// digestsIn lists what may be a digest in a text: each part of it that has as many hexadecimal digits.
func digestsIn(text string) []string {
	var all []string
	digits := 0
	for i := range len(text) {
		if c := text[i]; c < '0' || c > '9' && c < 'a' || c > 'f' {
			digits = 0
			continue
		}
		if digits++; digits >= hexDigits {
			all = append(all, text[i+1-hexDigits:i+1])
		}
	}
	return all
}

// mark finds what is old and what is named. It reads the runs that have not ended first: what a later one needs is put later.
func (p Purge) mark(ctx context.Context, k run.Retention, only bool) (*marks, error) {
	now := p.Now()
	m := &marks{
		before: now.Add(-k.OlderThan), old: make(map[string][]run.Run), digests: make(map[string]bool), sources: make(map[run.Source]bool), kept: make(map[string]bool), versions: make(map[string]bool),
		templates: make(map[string][]string), unknown: make(map[string]bool), artifacts: make(map[string]map[string]bool),
	}
	open, err := p.openRuns(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range open {
		if at := r.Requested.Add(-margin); at.Before(m.before) {
			m.before = at
		}
		m.name(r.Source)
	}
	if m.projects, err = p.Table.Projects(ctx); err != nil {
		return nil, fmt.Errorf("list the projects: %w", err)
	}
	slices.Sort(m.projects)
	for _, id := range m.projects {
		if err := p.project(ctx, m, k, only, id, now); err != nil {
			return nil, fmt.Errorf("read %s: %w", id, err)
		}
	}
	return m, nil
}

// openRuns reads the runs that have not ended.
func (p Purge) openRuns(ctx context.Context) ([]run.Run, error) {
	ids, err := p.Table.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the runs that have not ended: %w", err)
	}
	var all []run.Run
	for _, id := range ids {
		r, err := p.Table.Run(ctx, id)
		if fault.Is(err, fault.Missing) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", id, err)
		}
		all = append(all, r)
	}
	return all, nil
}

// project marks what is old and what is named of a project. Where old runs are deleted, those that are still there name what they need. A
// purge that only shows what it would delete leaves them out.
func (p Purge) project(ctx context.Context, m *marks, k run.Retention, only bool, id string, now time.Time) error {
	l, err := p.Table.Lock(ctx, id)
	if err != nil {
		return err
	}
	records, err := p.Table.Records(ctx, id)
	if err != nil {
		return err
	}
	runs, err := p.Table.List(ctx, id, 0)
	if err != nil {
		return err
	}
	m.old[id] = k.Old(runs, l, records, now)
	stay := slices.DeleteFunc(slices.Clone(runs), func(r run.Run) bool {
		return only && slices.ContainsFunc(m.old[id], func(old run.Run) bool { return old.ID == r.ID })
	})
	for _, r := range stay {
		m.name(r.Source)
	}
	for _, s := range []run.Source{l.LastSuccessful, l.LastFull, l.LastAttempted.Source} {
		m.name(s)
	}
	for _, r := range l.Kept() { // a rollback to one of them deploys it again, or a restore
		m.name(r.Source)
	}
	name, _, _ := strings.Cut(id, "@")
	for _, r := range records {
		m.unknown[name] = m.unknown[name] || r.Digest == "" || r.Template == ""
		m.templates[name] = append(m.templates[name], r.Template)
		m.versions[r.Revision] = true
	}
	return m.mentioned(l, records, stay)
}

// mentioned marks the digests in some values.
func (m *marks) mentioned(all ...any) error {
	for _, v := range all {
		text, err := json.Marshal(v)
		if err != nil {
			return fault.New(fault.Broken, "what names objects cannot be written as JSON: %w", err)
		}
		for _, d := range digestsIn(string(text)) {
			m.digests[d] = true
		}
	}
	return nil
}

// name marks a configuration.
func (m *marks) name(s run.Source) {
	if s != (run.Source{}) {
		m.sources[s], m.kept[s.Digest()] = true, true
	}
}

// stays reports whether a version in a folder stays: it is not old, or named.
func (p Purge) stays(ctx context.Context, m *marks, folder string, v Version) (bool, error) {
	if !v.Put.Before(m.before) {
		return true, nil
	}
	parts := strings.Split(v.Key, "/")
	switch folder {
	case "specs", "templates":
		return named(m.digests, v.Key), nil
	case "artifacts": // artifacts/PROJECT/DIGEST
		if len(parts) != 3 {
			return true, nil
		}
		deployed, err := p.deployed(ctx, m, parts[1])
		return err != nil || m.unknown[parts[1]] || named(m.digests, v.Key) || named(deployed, v.Key), err
	case "remote": // remote/CONFIGURATION/ADDRESS
		return len(parts) != 3 || m.kept[parts[1]], nil
	}
	return folder == "projects" && v.Current || m.versions[v.ID] || m.sources[run.Source{Key: v.Key, Version: v.ID}], nil
}

// named reports whether some digests have one that is in a key.
func named(digests map[string]bool, key string) bool {
	return slices.ContainsFunc(digestsIn(key), func(d string) bool { return digests[d] })
}

// mostScanned is how many bytes of an artifact are read to find what it names: a nested template has at most as many.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
const mostScanned = 1 << 20

// deployed returns the digests that the deployed templates of the environments of a project name, and those that nested templates name. If a template
// cannot be read, it is not known what is deployed.
func (p Purge) deployed(ctx context.Context, m *marks, project string) (map[string]bool, error) {
	if got, read := m.artifacts[project]; read || m.unknown[project] {
		return got, nil
	}
	all := make(map[string]bool)
	next := make(map[string]bool) // keys that are not read yet
	for _, t := range m.templates[project] {
		next["templates/"+t] = true
	}
	for len(next) > 0 {
		found := make(map[string]bool)
		for key := range next {
			body, err := p.Bucket.Current(ctx, key)
			switch {
			case fault.Is(err, fault.Missing, fault.Invalid) && strings.HasPrefix(key, "templates/"):
				m.unknown[project] = true
				return nil, nil
			case fault.Is(err, fault.Missing, fault.Invalid): // no file of the project, or too large for a template
				continue
			case err != nil:
				return nil, fmt.Errorf("read %s: %w", key, err)
			case len(body) > mostScanned:
				continue
			}
			for _, d := range digestsIn(string(body)) {
				if !all[d] {
					all[d], found["artifacts/"+project+"/"+d] = true, true
				}
			}
		}
		next = found
	}
	m.artifacts[project] = all
	return all, nil
}

// unnamed returns those of some versions of configurations that no run names which was requested meanwhile.
func (p Purge) unnamed(ctx context.Context, m *marks, folder string, old []Version) ([]Version, error) {
	if len(old) == 0 || folder != "revisions" && folder != "projects" && folder != "remote" {
		return old, nil
	}
	open, err := p.openRuns(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range open {
		m.name(r.Source)
	}
	var left []Version
	for _, v := range old {
		stays, err := p.stays(ctx, m, folder, v)
		if err != nil {
			return nil, err
		}
		if !stays {
			left = append(left, v)
		}
	}
	return left, nil
}

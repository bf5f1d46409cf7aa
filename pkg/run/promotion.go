package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Promotion is a revision of one environment of a project, and another environment to which it is to be deployed.
type Promotion struct {
	From, To string   // the environments, as "shop@staging"
	Named    bool     // the request names the revision
	Revision Revision // of From

	Target              History    // of To
	Latest              Run        // the run of From that started last to bring it to its files; the zero Run if that is not recorded any more
	Working             []Run      // the runs of From that change it, or wait to do so
	Revisions, Deployed []Revision // those of From, and those of To, newest first
}

// Refused returns why the revision is not promoted: all reasons, or nil. A revision that the request names may be older than others.
func (p Promotion) Refused() error {
	var all []error
	refuse := func(format string, args ...any) { all = append(all, fault.New(fault.Refused, format, args...)) }
	v := p.Revision
	if !v.good() {
		refuse("run %s of %s has not deployed its files successfully to all stacks (%s): only a revision that has is promoted: stackwright revisions lists them", v.Run, p.From, v.outcome())
	}
	if !p.Named {
		for _, r := range p.Working {
			refuse("run %s (%s, %s), requested by %s, is not over, and deploys to %s: wait until it has ended, or name the revision with --revision %s", r.ID, r.Operation, r.State, r.By(), p.From, v.Run)
		}
		if l := p.Latest; l.State.Over() && l.State != StateSucceeded {
			refuse("the newest deploy of %s has not succeeded: run %s (%s, %s), requested by %s: correct it and deploy again, or name the revision before it with --revision %s", p.From, l.ID, l.Operation, l.State, l.By(), v.Run)
		}
	}
	has, newer := p.newer()
	if newer && !p.Named {
		refuse("the files of %s are newer than those of run %s of %s, which was requested at %s: run %s (%s), requested by %s at %s, has deployed them: promote a newer revision, or go back with --revision %s",
			p.To, v.Run, p.From, at(v.Requested), has.Run, has.Operation, has.Who, at(has.Requested), v.Run)
	}
	if newer {
		if err := p.Target.MovedSince(v); err != nil {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// Overtaken says which run has brought From to other files than run id did, or does so now; "" if none does. A deploy that has failed is no reason to give up silently.
func (p Promotion) Overtaken(id string) string {
	for _, r := range p.Working {
		return fmt.Sprintf("run %s (%s, %s), requested by %s, deploys to %s now", r.ID, r.Operation, r.State, r.By(), p.From)
	}
	if l := p.Latest; l.ID != "" && l.ID != id && l.State == StateSucceeded && !(l.Source == p.Revision.Source && (l.Schedule != "" || l.Partial())) { // the same files, and no promotion follows it
		return fmt.Sprintf("run %s (%s), requested by %s, was about %s since", l.ID, l.Operation, l.By(), p.From)
	}
	return ""
}

// Unwanted refuses a promotion that nobody requests if the files that were last deployed successfully to To do not say that this environment is promoted to it: who may
// deploy to From could otherwise deploy to To.
func (p Promotion) Unwanted(from string) error {
	if of := p.Target.Promotion; of != nil && of.From == from {
		return nil
	}
	return fault.New(fault.Refused, "the files that were last deployed to %s do not say that %s is promoted to it by itself: promote yourself once: stackwright promote --from %s", p.To, p.From, from)
}

// Messages say which revision is promoted, and what people should know of it.
func (p Promotion) Messages() []string {
	v := p.Revision
	all := []string{fmt.Sprintf("the files are those of run %s of %s (%s, %s), requested by %s at %s", v.Run, p.From, v.Operation, v.State, v.Who, at(v.Requested))}
	if p.Target.LastSuccessful == v.Source && p.Target.LastFull == v.Source {
		all = append(all, p.To+" was deployed with these files already: there is nothing to do, unless values from outside the project or stacks have changed since")
	}
	if l := p.Latest; !p.Named && l.ID != v.Run && l.Partial() && l.Source != v.Source {
		all = append(all, fmt.Sprintf("since then, run %s (%s, %s) was about some stacks of %s: what it has changed there is not promoted", l.ID, l.Operation, l.State, p.From))
	}
	if has, newer := p.newer(); newer {
		all = append(all, fmt.Sprintf("they are older than the files of %s, which run %s has deployed, requested by %s at %s", p.To, has.Run, has.Who, at(has.Requested)))
	}
	return all
}

// newer reports whether the files that were last deployed to all stacks of To are newer than those of the revision, and which run has
// deployed them. If these files were deployed to From, too, it is their time there that counts: they may have been promoted later.
func (p Promotion) newer() (has Revision, newer bool) {
	full := p.Target.LastFull
	if full == (Source{}) || full == p.Revision.Source {
		return Revision{}, false
	}
	of := func(v Revision) bool { return v.Source == full }
	i := slices.IndexFunc(p.Deployed, of)
	if i < 0 {
		return Revision{}, false
	}
	has = p.Deployed[i]
	since := has.Requested
	if j := slices.IndexFunc(p.Revisions, of); j >= 0 {
		since = p.Revisions[j].Requested
	}
	return has, since.After(p.Revision.Requested)
}

// outcome says how the run of the revision has ended, for people.
func (v Revision) outcome() string {
	if v.Partial {
		return string(v.State) + ", some stacks"
	}
	return string(v.State)
}

// at is a time in a message.
func at(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// promotes is the promotion to the next environment that follows r, of operation o, which has ended, without an ID: nil if none does. It follows a deploy of all stacks that has
// succeeded, and neither a rollback nor a schedule, which deploys what was deployed before.
func (r Run) promotes(o plan.Operation) *Run {
	p := r.Promotion
	if p == nil || p.To == "" || r.State != StateSucceeded || !r.IsRevision(o) || r.Partial() || o.Restores || o.DeploysAgain() || r.Schedule != "" {
		return nil
	}
	name, environment, _ := strings.Cut(r.Project, "@")
	return &Run{
		Request: Request{
			Project: project.ID(name, p.To), Operation: plan.PromoteName, Follows: r.ID, Who: r.Who, Subject: r.Subject, Authors: r.Authors, Claim: r.Claim, Requester: r.Requester, From: r.From,
			Options: Options{FromEnvironment: environment, FromRevision: r.ID},
		},
		Version: Version, Command: Continue, State: StatePending, Requested: r.Ended, NotBefore: r.Ended.Add(time.Duration(p.Soak)),
	}
}

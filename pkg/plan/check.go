package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/project"
)

// check compares the live stacks with their records.
func check() Operation {
	return Operation{
		Name: "check", Plan: Check,
		Requestable: true, Compares: true, Retryable: true, Schedulable: true,
		Options: append(Selecting(), OptionRefuse),
		Effect:  "it compares the live stacks with their records, and changes nothing",
	}
}

// VerificationVersion is the version of the arguments of Verify: a Verification.
const VerificationVersion = 1

// A Verification says which target is verified.
type Verification struct {
	project.Target
	Template string `json:"template,omitempty"` // the digest of a template with which one of its stacks was deployed; empty if none is known
}

// Check compares every recorded stack, and verifies every target that has one. Its steps have no order.
func Check(v View) (Plan, error) {
	p, err := eachRecorded(v, Compare)
	if err != nil {
		return p, err
	}
	templates := make(map[project.Target]string)
	for _, s := range p.Steps {
		r := v.Recorded[s.Node]
		templates[r.Target] = cmp.Or(templates[r.Target], r.Template)
	}
	for _, t := range slices.SortedFunc(maps.Keys(templates), project.Target.Compare) {
		arguments, err := NewArguments(VerificationVersion, Verification{t, templates[t]})
		if err != nil {
			return p, err
		}
		p.Steps = append(p.Steps, Step{ID: StepID("", Verify, t.Name), Where: t.Where(), Verb: Verify, Qualifier: t.Name, Arguments: arguments})
	}
	return p, nil
}

// The kinds of the findings of a check.
const (
	CheckMissing    = "missing"    // the stack does not exist
	CheckOther      = "other"      // another stack has its name
	CheckProject    = "project"    // its tag does not name the project
	CheckStatus     = "status"     // its last operation failed
	CheckUpdated    = "updated"    // it was changed outside Stackwright
	CheckUnproved   = "unproved"   // nobody knows what was last deployed to it
	CheckProtection = "protection" // its termination protection differs
	CheckPolicy     = "policy"     // its stack policy differs
	CheckTag        = "tag"        // a tag differs
	CheckOutput     = "output"     // an output differs
	CheckTemplate   = "template"   // its template differs
	CheckParameter  = "parameter"  // a parameter differs

	CheckNotifications = "notifications" // the topics that get its events differ

	CheckAccess = "access" // a target cannot be used
	CheckBucket = "bucket" // CloudFormation cannot read a template from the bucket with the role of a target
	CheckQuota  = "quota"  // an account has as many stacks in a region as it may have
)

// Compared lists what differs between a record of the project with an ID such as "shop@prod" and the live stack, on
// which no operation is in progress, and its stack policy. The digest of its template is needed if the record is not
// Current; it is empty if the template cannot be read. Values are not part of it: they may be secret.
func (r Record) Compared(id string, live Live, template string, policy project.StackPolicy) []Finding {
	if gone := r.comparedID(live); gone != nil {
		return gone
	}
	live = r.Known(live)
	var all []Finding
	if live.Project != id && !(r.IsAdopted() && live.Project == "") { // an adopted stack gets the tag with its first update
		all = append(all, Finding{Kind: CheckProject, Expected: id, Actual: live.Project})
	}
	if !live.Status.Good() && !live.Status.Restored() {
		all = append(all, Finding{Kind: CheckStatus, Actual: string(live.Status)})
	}
	switch {
	case r.Proves(live, template):
	case !r.LastUpdated.Equal(live.LastUpdated):
		all = append(all, Finding{Kind: CheckUpdated, Expected: r.LastUpdated.UTC().Format(time.RFC3339), Actual: live.LastUpdated.UTC().Format(time.RFC3339)})
	case r.Digest == "":
		all = append(all, Finding{Kind: CheckUnproved})
	}
	if template != "" && r.Template != "" && template != r.Template {
		all = append(all, Finding{Kind: CheckTemplate, Expected: r.Template, Actual: template})
	}
	all = append(all, r.Settings.compared(live)...)
	if r.HasOtherPolicy(policy) {
		all = append(all, Finding{Kind: CheckPolicy, Expected: cmp.Or(r.Policy, valueNone), Actual: cmp.Or(policy.Digest, valueNone)})
	}
	return append(all, comparedValues(CheckOutput, r.Outputs, live.Outputs)...)
}

// comparedID says that the recorded stack does not exist. It returns nil if it does.
func (r Record) comparedID(live Live) []Finding {
	switch {
	case live.Status.Gone():
		return []Finding{{Kind: CheckMissing, Expected: r.Stack, Actual: valueNone}}
	case live.StackID != r.StackID:
		return []Finding{{Kind: CheckOther, Expected: r.StackID, Actual: live.StackID}}
	}
	return nil
}

// HasOtherPolicy reports whether a stack has another policy than the project has given it last. A policy that allows every update is as good as
// none. What an adopted stack had before is not recorded.
func (r Record) HasOtherPolicy(live project.StackPolicy) bool {
	digest := func(d string) string {
		if d == project.NewStackPolicy(project.AllowAll).Digest {
			return ""
		}
		return d
	}
	return digest(r.Policy) != digest(live.Digest) && !(r.Policy == "" && r.IsAdopted())
}

// SayCompared says for people what differs, and what to do. There is a difference.
func SayCompared(all []Finding) string {
	var texts, outputs, tags, parameters []string
	for _, f := range all {
		switch f.Kind {
		case CheckMissing:
			texts = append(texts, "it does not exist any more: refresh forgets it, and the next deploy creates it")
		case CheckOther:
			texts = append(texts, "another stack has its name now: refresh forgets the recorded one")
		case CheckProject:
			texts = append(texts, fmt.Sprintf("its tag stackwright:project names %q instead of %s: find out who has changed it", f.Actual, f.Expected))
		case CheckStatus:
			texts = append(texts, "it is "+f.Actual+": read its events, and deploy again")
		case CheckUpdated:
			texts = append(texts, fmt.Sprintf("it was changed outside Stackwright at %s: the next deploy updates it", f.Actual))
		case CheckUnproved:
			texts = append(texts, "it is not known what was last deployed to it: the next deploy updates it")
		case CheckProtection:
			texts = append(texts, fmt.Sprintf("its termination protection is %s instead of %s: the next deploy turns it %s", f.Actual, f.Expected, f.Expected))
		case CheckPolicy:
			texts = append(texts, sayPolicy(f))
		case CheckTemplate:
			texts = append(texts, "it has another template than was deployed: plan shows what the next deploy undoes")
		case CheckNotifications:
			texts = append(texts, "other topics get its events than recorded: the next deploy updates it")
		case CheckParameter:
			parameters = append(parameters, f.Property)
		case CheckTag:
			tags = append(tags, f.Property)
		case CheckOutput:
			outputs = append(outputs, f.Property)
		}
	}
	if len(parameters) > 0 {
		texts = append(texts, "other parameters than recorded: "+strings.Join(parameters, ", ")+": the next deploy updates it")
	}
	if len(tags) > 0 {
		texts = append(texts, "other tags than recorded: "+strings.Join(tags, ", ")+": the next deploy updates it")
	}
	if len(outputs) > 0 {
		texts = append(texts, "other outputs than recorded: "+strings.Join(outputs, ", ")+": refresh records them")
	}
	return strings.Join(texts, "; ")
}

// sayPolicy says for people that a stack policy differs, and what to do.
func sayPolicy(f Finding) string {
	if f.Expected == valueNone {
		return "it has a stack policy that the project has not given it: write it into the files (stack_policy), or set one that allows everything with aws cloudformation set-stack-policy"
	}
	return "its stack policy was changed outside Stackwright: refresh records that, and the next deploy sets it again"
}

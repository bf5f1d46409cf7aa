package resolve

import (
	"slices"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/project"
)

// setPromotion finds the place of the environment in the order in which revisions are promoted.
func (r *resolver) setPromotion() {
	order := r.declared.Promote
	i := slices.IndexFunc(order, func(s declared.Stage) bool { return s.Environment == r.Environment && s.Environment != "" })
	if i < 0 {
		return
	}
	p := &project.Promotion{}
	if i > 0 {
		p.From = order[i-1].Environment
	}
	if i < len(order)-1 {
		p.To, p.Soak = order[i+1].Environment, order[i].Soak
		for _, a := range order[i].Alarms {
			t, known := r.options.Targets[a.Target]
			if !known {
				r.addUnregistered(project.Target{Name: a.Target}, a.At)
				continue
			}
			p.Alarms = append(p.Alarms, project.PromotionAlarm{Name: a.Name, Target: t})
		}
	}
	r.Promotion = p
}

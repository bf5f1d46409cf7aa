package native

import (
	"slices"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/project"
	"go.yaml.in/yaml/v4"
)

// maxAlarmName is how long the name of an alarm may be.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
const maxAlarmName = 255

// promote reads the order in which revisions are promoted: a list of environments, or a mapping with that and what holds for all of them.
func (p *parser) promote(n *yaml.Node) []declared.Stage {
	if n == nil {
		return nil
	}
	order, all := n, declared.Stage{}
	if isMapping(n) {
		keys := p.keys("promote", n, promoteKeys, nil)
		all = p.waits("promote: ", keys)
		if order = keys["order"]; order == nil {
			p.Add(p.at(n), "promote: order is missing: write the environments, the first one first, such as order: [dev, staging, prod]")
			return nil
		}
	}
	var stages []declared.Stage
	items := p.items("promote", order)
	for i, item := range items {
		s := p.stage(item, all, i == len(items)-1)
		if slices.ContainsFunc(stages, func(other declared.Stage) bool { return s.Environment != "" && other.Environment == s.Environment }) {
			p.Add(p.at(item), "promote: environment %s is listed twice: a revision goes through each environment once", s.Environment)
		}
		stages = append(stages, s)
	}
	switch {
	case len(items) == 0 && isList(order):
		p.Add(p.at(order), "promote: there are no environments: write at least two, or remove promote")
	case len(items) == 1:
		p.Add(p.at(order), "promote: there is one environment: write those to which it is promoted behind it, or remove promote")
	case len(items) > project.MaxPromotions:
		p.Add(p.at(order), "promote: %d environments: at most %d are allowed", len(items), project.MaxPromotions)
	}
	return stages
}

// stage reads an environment of the order: its name, or a mapping with what holds for it instead of what holds for all.
func (p *parser) stage(n *yaml.Node, all declared.Stage, last bool) declared.Stage {
	s := all
	if isMapping(n) {
		keys := p.keys("promote", n, stageKeys, nil)
		own := p.waits("promote: ", keys)
		if keys["soak"] != nil {
			s.Soak = own.Soak
		}
		if keys["alarms"] != nil {
			s.Alarms = own.Alarms
		}
		if last && (keys["soak"] != nil || keys["alarms"] != nil) {
			p.Add(p.at(n), "promote: the last environment is not promoted: remove soak and alarms from it, or write them at the environment before it")
		}
		name := keys["environment"]
		if name == nil {
			if keys != nil {
				p.Add(p.at(n), "promote: environment is missing: write the name of the environment")
			}
			return s
		}
		n = name
	}
	switch name, ok := p.literal("promote", n); {
	case !ok:
	case declared.IsPattern(name):
		p.Add(p.at(n), "promote: %s is a pattern of environments: write the name of one", problem.Short(name))
	case !slices.Contains(p.environmentNames, name):
		p.Add(p.at(n), "promote: there is no environment %s%s", problem.Short(name), p.Hint(name, slices.DeleteFunc(slices.Clone(p.environmentNames), declared.IsPattern)))
	default:
		s.Environment = name
	}
	return s
}

// waits reads what a promotion waits for.
func (p *parser) waits(of string, keys map[string]*yaml.Node) declared.Stage {
	s := declared.Stage{Soak: p.duration(of+"soak", keys["soak"])}
	if keys["alarms"] == nil {
		return s
	}
	items := p.items(of+"alarms", keys["alarms"])
	for _, item := range items {
		if a := p.promotionAlarm(of+"alarms", item); a.Name != "" {
			s.Alarms = append(s.Alarms, a)
		}
	}
	if len(items) > project.MaxPromotionAlarms {
		p.Add(p.at(keys["alarms"]), "%salarms: %d alarms: at most %d are allowed: make a composite alarm of them", of, len(items), project.MaxPromotionAlarms)
	}
	return s
}

// promotionAlarm reads the name of an alarm, or its name and target.
func (p *parser) promotionAlarm(what string, n *yaml.Node) declared.StageAlarm {
	a := declared.StageAlarm{Target: project.DefaultTarget, At: p.at(n)}
	if !isMapping(n) {
		a.Name = p.nameOf(what, n)
		return a
	}
	keys := p.keys(what, n, alarmKeys, nil)
	if keys != nil && keys["name"] == nil {
		p.Add(p.at(n), "%s: name is missing: write the name of the alarm", what)
	}
	if keys["name"] != nil {
		a.Name = p.nameOf(what+": name", keys["name"])
	}
	if keys["target"] != nil {
		a.Target = p.nameOf(what+": target", keys["target"])
	}
	return a
}

// nameOf reads a text without references that is not empty.
func (p *parser) nameOf(what string, n *yaml.Node) string {
	text, ok := p.literal(what, n)
	switch {
	case ok && text == "":
		p.Add(p.at(n), "%s: it is empty: write a name", what)
	case len(text) > maxAlarmName:
		p.Add(p.at(n), "%s: %s is too long: names have at most %d characters", what, problem.Short(text), maxAlarmName)
	}
	return text
}

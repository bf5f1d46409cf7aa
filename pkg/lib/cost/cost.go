// Package cost estimates what the resources of a template cost a month.
//
// It knows what runs all the time: instances, volumes, gateways, keys. What is charged by use, such as requests and traffic, it names and does
// not estimate. It never takes what it does not know for nothing: it says what it is.
package cost

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/price"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// An Estimate is what the resources of a stack cost.
type Estimate struct {
	Resources []Resource // sorted by ID, without those that are free
}

// A Resource is what a resource costs a month.
type Resource struct {
	ID, Type string
	Parts    []Part
	Usage    string   // what else is charged, by use; empty if nothing is
	Unknown  []string // why a part of the fixed price is not known: the parts lack it
	Assumed  []string // what the parts assume
	Hidden   bool     // it is a macro or a loop: what it makes may differ although it is the same
}

// A Part is a part of a price that is fixed.
type Part struct {
	What    string // as "2 × db.m5.large, mysql: $0.171 an hour each"
	Monthly price.Dollars
}

// Monthly is the sum of the parts that are known.
func (r Resource) Monthly() price.Dollars {
	var sum price.Dollars
	for _, p := range r.Parts {
		sum += p.Monthly
	}
	return sum
}

// Monthly is the sum of all parts that are known.
func (e Estimate) Monthly() price.Dollars {
	var sum price.Dollars
	for _, r := range e.Resources {
		sum += r.Monthly()
	}
	return sum
}

// A row is what is known about the price of a type of resources.
type row struct {
	usage string         // what is charged by use
	fixed func(*pricing) // adds the parts of the price that are fixed; nil if there are none
}

// types are the types that have a price. Those of free, and of a service in freeServices, have none, and the price of all others is not known.
var types = joined(compute, databases, networks, storage, others)

func joined(tables ...map[string]row) map[string]row {
	all := make(map[string]row)
	for _, t := range tables {
		for name, r := range t {
			all[name] = r
		}
	}
	return all
}

// Of estimates what the resources of an evaluated template cost in a region. A value that the evaluation does not know makes a price unknown. Why
// says why the values of parameters are not known; it may lack some.
func Of(e *template.Evaluation, t *template.Template, region string, why map[string]string) Estimate {
	var all Estimate
	for _, name := range t.Makers() {
		kind, _, _ := strings.Cut(name, " ")
		if strings.HasPrefix(name, "Fn::ForEach::") {
			kind = "Fn::ForEach"
		}
		all.Resources = append(all.Resources, Resource{ID: name, Type: kind, Unknown: []string{hidden}, Hidden: true})
	}
	s := &stack{e: e, t: t, why: why, region: region, resources: make(map[string]template.Resource)}
	present := e.Resources()
	for _, r := range present {
		s.resources[r.Name] = r
	}
	for _, r := range present {
		if one, costs := s.resource(r); costs {
			all.Resources = append(all.Resources, one)
		}
	}
	slices.SortFunc(all.Resources, func(a, b Resource) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// hidden is why the price of what a macro or a nested stack makes is not known.
const hidden = "what it makes is not in the template"

// stack is a template that is estimated.
type stack struct {
	e         *template.Evaluation
	t         *template.Template
	why       map[string]string // the value of a parameter is not known
	region    string
	resources map[string]template.Resource
}

// resource estimates one resource. It reports false if the resource is free.
func (s *stack) resource(r template.Resource) (Resource, bool) {
	one := Resource{ID: r.Name, Type: r.Type}
	row, known := types[r.Type]
	switch {
	case known:
	case isFree(r.Type):
		return one, false
	case isMade(r.Type):
		one.Unknown = []string{hidden}
		return one, true
	default:
		one.Unknown = []string{"Stackwright has no price for this type"}
		return one, true
	}
	one.Usage = row.usage
	if row.fixed != nil {
		p := &pricing{stack: s, object: s.object(r), out: &one}
		row.fixed(p)
	}
	if r.Condition != "" && (len(one.Parts) > 0 || len(one.Unknown) > 0) {
		if _, known := s.e.Condition(r.Condition); !known {
			one.Parts, one.Unknown = nil, append(one.Unknown, "whether it exists is not known: "+r.Condition+" is a condition with unknown values")
		}
	}
	return one, len(one.Parts) > 0 || len(one.Unknown) > 0 || one.Usage != ""
}

// An object is a mapping in a template, with values as far as they are known.
type object struct {
	s    *stack
	name string // for people; empty for the properties
	all  map[string]any
	hole *template.Call // the mapping is not known: it is what this call returns
}

func (s *stack) object(r template.Resource) object {
	return s.within("", s.e.Reduce(r.Properties))
}

// within is an object of a value.
func (s *stack) within(name string, v any) object {
	o := object{s: s, name: name}
	switch v := v.(type) {
	case map[string]any:
		o.all = v
	case template.Call:
		o.hole = &v
	}
	return o
}

// A state says whether a value is known.
type state int

// The states.
const (
	absent state = iota
	unknown
	known
)

// at returns the value at a key.
func (o object) at(key string) (any, state) {
	if o.hole != nil {
		return *o.hole, unknown
	}
	v, ok := o.all[key]
	switch v := v.(type) {
	case nil:
		return nil, absent
	case template.Call:
		return v, unknown
	case string:
		if strings.Contains(v, "{{resolve:") {
			return v, unknown
		}
	}
	if !ok {
		return nil, absent
	}
	return v, known
}

// in is the object at a key.
func (o object) in(key string) object {
	name := strings.TrimPrefix(o.name+"."+key, ".")
	v, is := o.at(key)
	if o.hole != nil || is == absent {
		return object{s: o.s, name: name, hole: o.hole}
	}
	return o.s.within(name, v)
}

// has reports whether there is a value at a key, known or not.
func (o object) has(key string) bool {
	_, is := o.at(key)
	return is != absent
}

// list is the list at a key. It is not known if it is not known which items it has.
func (o object) list(key string) ([]object, state) {
	v, is := o.at(key)
	if is != known {
		return nil, is
	}
	items, ok := v.([]any)
	if !ok {
		return nil, unknown
	}
	all := make([]object, len(items))
	for i, item := range items {
		if perhaps(item) {
			return nil, unknown
		}
		all[i] = o.s.within(key, item)
	}
	return all, known
}

// perhaps reports whether an item of a list may be missing, or be several items: it is a macro, or an Fn::If with a condition that is not known.
func perhaps(item any) bool {
	call, ok := item.(template.Call)
	if !ok {
		return false
	}
	switch call.Name {
	case "Fn::Transform", template.TooLarge:
		return true
	case "Fn::If":
		return slices.ContainsFunc(call.Arguments[1:min(3, len(call.Arguments))], func(v any) bool { return isNone(v) || perhaps(v) })
	}
	return false
}

// isNone reports whether a reduced value is AWS::NoValue.
func isNone(v any) bool {
	call, ok := v.(template.Call)
	return ok && call.Name == "Ref" && len(call.Arguments) == 1 && call.Arguments[0] == "AWS::NoValue"
}

// target is the resource of the template that the value at a key refers to.
func (o object) target(key string) (template.Resource, bool) {
	v, _ := o.at(key)
	call, ok := v.(template.Call)
	if !ok || call.Name != "Ref" && call.Name != "Fn::GetAtt" || len(call.Arguments) == 0 {
		return template.Resource{}, false
	}
	name, _ := call.Arguments[0].(string)
	r, ok := o.s.resources[name]
	return r, ok
}

// pricing prices one resource.
type pricing struct {
	*stack
	object
	out *Resource
}

// lacks says that a value is not known.
func (p *pricing) lacks(o object, key string) {
	v, is := o.at(key)
	name := strings.TrimPrefix(o.name+"."+key, ".")
	if is == absent {
		p.unknown("it has no " + name)
		return
	}
	text := "a dynamic reference"
	switch v := v.(type) {
	case template.Call:
		text = shorten(template.Compact(v)) + p.because(v)
	case []any, map[string]any:
		text = shorten(template.Compact(v)) + p.because(v)
	}
	p.unknown(name + " is not known: it is " + text)
}

// because says why the parameters in a value are not known.
func (s *stack) because(v any) string {
	var all []string
	for _, r := range template.References(v) {
		why := s.why[r.Name]
		if s.t.Parameters[r.Name].NoEcho {
			why = "a secret, because of NoEcho"
		}
		if why != "" && !slices.Contains(all, why) {
			all = append(all, why)
		}
	}
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	return " (" + strings.Join(all, "; ") + ")"
}

// shorten leaves the beginning of a long text.
func shorten(text string) string {
	const most = 80
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// unknown says why a part of the price is not known, once.
func (p *pricing) unknown(why string) {
	if !slices.Contains(p.out.Unknown, why) {
		p.out.Unknown = append(p.out.Unknown, why)
	}
}

// assume says what the price assumes, once.
func (p *pricing) assume(what string) {
	if !slices.Contains(p.out.Assumed, what) {
		p.out.Assumed = append(p.out.Assumed, what)
	}
}

// text is the text at a key: what instead says if there is none, unless that is empty. It reports false, and has said why, if it is not
// known.
func (p *pricing) text(o object, key, instead string) (string, bool) {
	v, is := o.at(key)
	if is == absent && instead != "" {
		return instead, true
	}
	text, ok := template.Text(v)
	if is == known && ok && text == "" {
		p.unknown(strings.TrimPrefix(o.name+"."+key, ".") + " is empty")
		return "", false
	}
	if is != known || !ok || text == "****" { // CloudFormation's mask of a NoEcho parameter
		if text == "****" {
			p.unknown(strings.TrimPrefix(o.name+"."+key, ".") + " is a secret")
			return "", false
		}
		p.lacks(o, key)
		return "", false
	}
	return text, true
}

// number is the number at a key, or what instead says if there is none. It reports false, and has said why, if it is not known.
func (p *pricing) number(o object, key string, instead float64) (float64, bool) {
	if instead >= 0 && !o.has(key) && o.hole == nil {
		return instead, true
	}
	text, ok := p.text(o, key, "")
	if !ok {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(f >= 0 && f <= 1e9) { // NaN is neither
		p.unknown(strings.TrimPrefix(o.name+"."+key, ".") + " is not a number that has a price")
		return 0, false
	}
	return f, true
}

// needed makes number say that a value which is missing is not known.
const needed = -1

// yes is the truth value at a key, false if there is none. It reports false for ok, and has said why, if it is not known.
func (p *pricing) yes(o object, key string) (value, ok bool) {
	text, ok := p.text(o, key, "false")
	return strings.EqualFold(text, "true"), ok
}

// add adds n pieces of something at a price.
func (p *pricing) add(n float64, what string, at price.Price, found bool) {
	if !found {
		p.unknown("no price is known for " + shorten(what) + " in " + p.region)
		return
	}
	if n == 0 {
		return
	}
	if float64(at.Dollars)*n*price.Hours > mostPart {
		p.unknown("so many of " + shorten(what) + " have no price")
		return
	}
	if at.Region != p.region {
		p.assume("the price of " + at.Region)
	}
	unit, count, each := "a month", "", ""
	if at.Unit == price.Hour {
		unit = "an hour"
	}
	if n != 1 {
		count, each = strconv.FormatFloat(n, 'f', -1, 64)+" × ", " each"
	}
	for _, measure := range []string{"GB ", "IOPS", "MBps ", "vCPU "} {
		if strings.HasPrefix(what, measure) {
			count = strings.Replace(count, " ×", "", 1)
		}
	}
	p.out.Parts = append(p.out.Parts, Part{fmt.Sprintf("%s%s: %s %s%s", count, what, at.Exact(), unit, each), at.Monthly(n)})
}

// mostPart is the largest part of a price, in millionths of a dollar: a billion dollars a month.
const mostPart = 1e15

// flat adds n pieces of what flat.txt has the price of.
func (p *pricing) flat(n float64, what, name string) {
	at, ok := price.Flat(name, p.region)
	p.add(n, what, at, ok)
}

// flatly is the price of one piece of something.
func flatly(what, name string) func(*pricing) { return func(p *pricing) { p.flat(1, what, name) } }

// instances adds n instances of a service.
func (p *pricing) instances(n float64, service, kind, name string) {
	at, ok := price.Instance(service, kind, name, p.region)
	what := name
	if kind != "" {
		what += ", " + kind
	}
	p.add(n, what, at, ok)
}

// Types lists the types that have a price, and those that are free, each sorted.
func Types() (priced, without []string) {
	without = slices.Sorted(slices.Values(free))
	return slices.Sorted(maps.Keys(types)), without
}

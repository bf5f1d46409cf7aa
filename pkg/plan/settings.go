package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/loss"
)

// Settings are what a stack has besides its resources, as the last successful create, update or adoption has left it.
type Settings struct {
	Protected bool              `json:"protected"`      // termination protection
	Tags      map[string]string `json:"tags,omitempty"` // by key, the digests of the values, which may be secret

	Whole         bool              `json:"whole,omitempty"`         // it has what follows: older versions recorded none of it
	Project       string            `json:"project,omitempty"`       // in the tag that Stackwright adds
	Parameters    map[string]string `json:"parameters,omitempty"`    // by name, the digests of the values; "" for NoEcho
	Ignored       []string          `json:"ignored,omitempty"`       // parameters that anybody may change, sorted
	Notifications []string          `json:"notifications,omitempty"` // ARNs of the topics that get its events, sorted
	Beyond        bool              `json:"beyond,omitempty"`        // some parameter may have characters that are not ASCII
	Others        []string          `json:"others,omitempty"`        // which ones these are, sorted; empty if an older version has recorded it
}

// digestBytes is how much of the digest of a value is kept: it is only compared.
const digestBytes = 8

// NewSettings returns the settings of a live stack, without the tags that Stackwright adds. The ignored parameters
// are not part of them.
func NewSettings(live Live, ignored []string) *Settings {
	s := &Settings{Protected: live.Protected, Whole: true, Project: live.Project, Ignored: ignored, Notifications: live.Notifications}
	s.Tags = digests(live.Tags, func(key, _ string) bool { return strings.HasPrefix(key, "aws:") }) // AWS adds them
	s.Parameters = digests(live.Parameters, func(name, _ string) bool { return slices.Contains(ignored, name) })
	for name := range s.Parameters {
		if live.Parameters[name] == hidden {
			s.Parameters[name] = ""
		}
	}
	s.notPlain(live.Parameters, loss.Possible)
	return s
}

// notPlain records which parameters may have characters that are not ASCII.
func (s *Settings) notPlain(parameters map[string]string, may func(value string) bool) {
	s.Others = nil
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		if may(parameters[name]) {
			s.Others = append(s.Others, name)
		}
	}
	s.Beyond = len(s.Others) > 0
}

// digests returns the digests of values by their names, but for the ones that are left out; nil if there are none.
func digests(values map[string]string, without func(name, value string) bool) map[string]string {
	var all map[string]string
	for name, value := range values {
		if without(name, value) {
			continue
		}
		if all == nil {
			all = make(map[string]string, len(values))
		}
		sum := sha256.Sum256([]byte(loss.Of(value))) // as CloudFormation returns it
		all[name] = hex.EncodeToString(sum[:digestBytes])
	}
	return all
}

// Given is the settings of a stack that was given these parameters.
func (s *Settings) Given(parameters map[string]string) *Settings {
	given := *s
	given.notPlain(parameters, loss.Beyond)
	return &given
}

// beyond reports whether a parameter of the stack may have characters that are not ASCII.
func (s *Settings) beyond(parameter string) bool {
	known := s != nil && s.Whole && (len(s.Others) > 0 || !s.Beyond)
	return !known || slices.Contains(s.Others, parameter)
}

// compared lists what differs between recorded settings and those of the live stack. A record without settings is
// older than they are.
func (s *Settings) compared(live Live) []Finding {
	if s == nil {
		return nil
	}
	is := NewSettings(live, s.Ignored)
	var all []Finding
	if s.Protected != is.Protected {
		all = append(all, Finding{Kind: CheckProtection, Expected: onOff(s.Protected), Actual: onOff(is.Protected)})
	}
	all = append(all, comparedValues(CheckTag, s.Tags, is.Tags)...)
	if !s.Whole {
		return all
	}
	all = append(all, comparedValues(CheckParameter, s.Parameters, is.Parameters)...)
	if !slices.Equal(s.Notifications, is.Notifications) {
		all = append(all, Finding{Kind: CheckNotifications, Expected: valueRecorded, Actual: valueOther})
	}
	return all
}

// prove reports whether the live stack has these settings for certain. Older versions did not record all of them, and
// CloudFormation hides the values of parameters with NoEcho.
func (s *Settings) prove(live Live) bool {
	return s != nil && s.Whole && s.Project == live.Project && len(s.compared(live)) == 0 &&
		!slices.Contains(slices.Collect(maps.Values(s.Parameters)), "")
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// What a finding says in place of a value, which may be secret.
const (
	valueRecorded = "the recorded value"
	valueOther    = "another value"
	valueNone     = "none"
)

// comparedValues lists the names whose values differ.
func comparedValues(kind string, recorded, live map[string]string) []Finding {
	names := slices.Concat(slices.Collect(maps.Keys(recorded)), slices.Collect(maps.Keys(live)))
	slices.Sort(names)
	var all []Finding
	for _, name := range slices.Compact(names) {
		was, had := recorded[name]
		is, has := live[name]
		f := Finding{Kind: kind, Property: name, Expected: valueRecorded, Actual: valueOther}
		switch {
		case had == has && was == is:
			continue
		case !had:
			f.Expected, f.Actual = valueNone, "a value"
		case !has:
			f.Actual = valueNone
		}
		all = append(all, f)
	}
	return all
}

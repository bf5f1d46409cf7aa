package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
)

// Settings are what a stack has besides its resources, as the last successful create, update or adoption has left it.
type Settings struct {
	Protected bool              `json:"protected"`      // termination protection
	Tags      map[string]string `json:"tags,omitempty"` // by key, the digests of the values, which may be secret
}

// digestBytes is how much of the digest of a tag is kept: a check only compares it.
const digestBytes = 8

// NewSettings returns the settings of a stack with these tags, without those that Stackwright adds.
func NewSettings(protected bool, tags map[string]string) *Settings {
	s := &Settings{Protected: protected}
	for key, value := range tags {
		if strings.HasPrefix(key, "aws:") { // AWS adds it
			continue
		}
		if s.Tags == nil {
			s.Tags = make(map[string]string, len(tags))
		}
		sum := sha256.Sum256([]byte(value))
		s.Tags[key] = hex.EncodeToString(sum[:digestBytes])
	}
	return s
}

// compared lists what differs between recorded settings and those of the live stack. A record without settings is older than they are.
func (s *Settings) compared(live *Settings) []Finding {
	if s == nil {
		return nil
	}
	var all []Finding
	if s.Protected != live.Protected {
		all = append(all, Finding{Kind: CheckProtection, Expected: onOff(s.Protected), Actual: onOff(live.Protected)})
	}
	return append(all, comparedValues(CheckTag, s.Tags, live.Tags)...)
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

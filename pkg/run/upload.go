package run

import "strings"

// Uploads are the sequencers of the newest uploads that were seen, by key. They
// are part of a project's lock, so that two uploads that arrive together are
// compared with each other.
type Uploads map[string]string

// outdated reports whether r was requested by an upload that is older than one
// that was seen.
func (u Uploads) outdated(r Run) bool { return r.Upload && older(r.Sequencer, u[r.Source.Key]) }

// with adds the upload that requested r, if one did.
func (u Uploads) with(r Run) Uploads {
	if !r.Upload || r.Sequencer == "" {
		return u
	}
	if u == nil {
		u = make(Uploads)
	}
	u[r.Source.Key] = r.Sequencer
	return u
}

// older reports whether sequencer a is older than b. Sequencers are hexadecimal
// numbers; to compare two, the shorter is padded with zeros on the right.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-content-structure.html
func older(a, b string) bool {
	n := max(len(a), len(b))
	pad := func(s string) string { return strings.ToLower(s) + strings.Repeat("0", n-len(s)) }
	return a != "" && b != "" && pad(a) < pad(b)
}

package run

// A Request is what an upload, a request object, an HTTP request, a schedule or
// the command line asks for: a run of an operation, or a command to a run. It
// goes unchanged from where it was made into the run, and is stored with it.
type Request struct {
	ID        string `json:"run"`     // of the run that it makes; a request with an ID that is stored already does nothing
	Project   string `json:"project"` // "shop@prod"
	Operation string `json:"operation"`
	Source    Source `json:"source"`
	Of        string `json:"of,omitempty"`        // the run that a retry, a rollback or a command is about
	Who       string `json:"who,omitempty"`       // made the request, as far as its sender says so
	Requester string `json:"requester,omitempty"` // the account, or the service of AWS, that S3 names as the sender of the object
	Upload    bool   `json:"upload,omitempty"`    // made by an upload: the newest upload wins
	Sequencer string `json:"sequencer,omitempty"` // of the upload: which of two uploads of one key is newer
	Schedule  string `json:"schedule,omitempty"`  // the name of the schedule that made it, if one did
	Options

	Problems []string `json:"-"` // what is wrong with the request; its run stores them as messages and is refused
}

// A Source is the configuration that a run deploys: a version of an object in the
// bucket.
type Source struct {
	Key     string `json:"key,omitempty"`
	Version string `json:"version,omitempty"`
}

// Options are what a request may say beyond its operation and what that is about.
type Options struct {
	Only         []string `json:"only,omitempty"`          // names of the stacks that it is about; none is all
	MaxDeletions *int     `json:"max_deletions,omitempty"` // how many stacks it may delete for good; nil is what the project says
	Rollback     bool     `json:"rollback,omitempty"`      // roll back if the deploy fails, or once it is cancelled
	Refuse       bool     `json:"refuse,omitempty"`        // refuse the run instead of queueing it
	Force        bool     `json:"force,omitempty"`         // retry though a newer revision was deployed since; cancel the updates in progress too
	Reason       string   `json:"reason,omitempty"`        // why, for the record
}

// A Body is a request as it is written in JSON: in a request object in the bucket,
// and in the body of an HTTP request.
type Body struct {
	Operation string `json:"operation"`
	Source
	Options struct {
		Run string `json:"run,omitempty"`
		Who string `json:"who,omitempty"`
		Options
	} `json:"options"`
}

// Body returns how q is written. What follows from where a request is sent to, such
// as its ID and its project, is not part of it.
func (q Request) Body() Body {
	b := Body{Operation: q.Operation, Source: q.Source}
	b.Options.Run, b.Options.Who, b.Options.Options = q.Of, q.Who, q.Options
	return b
}

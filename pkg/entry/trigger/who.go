package trigger

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/shorten"
	"github.com/stackwright/stackwright/pkg/run"
)

// maxWho is how much of a claim is stored, in bytes. The longest ARN of a user or a
// session has about 650.
const maxWho = 700

// addClaim adds to a request who its sender says that he is. The claim is the name in the
// request; if it is empty, the metadata of the object has the name.
func addClaim(ctx context.Context, q run.Request, claim string, c objectEvent, objects Objects) (run.Request, error) {
	if claim == "" {
		var err error
		claim, err = objects.Who(ctx, c.Object.Key, c.Object.Version)
		switch {
		case fault.Is(err, fault.Missing, fault.Invalid, fault.Denied): // a second attempt would not help
			q.Upload, q.Problems = false, append(q.Problems, fmt.Sprintf("who made the request cannot be read: %v", err))
		case err != nil:
			return q, fmt.Errorf("read who made the request %s: %w", c.Object.Key, err)
		}
	}
	q.Claim = printable(claim)
	return q, nil
}

// requesterName names the requester as far as the event of S3 does: "requester" is the ID of
// an account, or a service of AWS. The event does not name the user or the role.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/ev-events.html
func requesterName(requester string) string {
	requester = printable(requester)
	switch {
	case requester == "":
		return "unknown principal"
	case strings.Trim(requester, "0123456789") == "":
		return "unknown principal of account " + requester
	}
	return "service " + requester
}

// printable makes a text safe for a terminal: unprintable characters become question
// marks, and a long text is cut.
func printable(text string) string {
	return shorten.To(maxWho, strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, strings.TrimSpace(text)))
}

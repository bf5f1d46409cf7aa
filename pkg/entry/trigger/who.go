package trigger

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// maxWho is how much of a claim is stored, in bytes. The longest ARN of a user or a
// session has about 650.
const maxWho = 700

// addRequester adds the requester to a request. The claim is the name in the request; if
// it is empty, the metadata of the object has the name.
func addRequester(ctx context.Context, q run.Request, claim string, c objectEvent, objects Objects) (run.Request, error) {
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
	q.Who = requesterName(claim, c.Requester)
	return q, nil
}

// requesterName names the requester. The sender of an object writes the claim, and nothing
// checks it. The requester is the account, or the service of AWS, that the event of
// S3 names. If the claim is an ARN of another account, the event's requester is used.
func requesterName(claim, requester string) string {
	claim, requester = printable(claim), printable(requester)
	known := "service " + requester
	switch {
	case requester == "":
		return claim
	case strings.Trim(requester, "0123456789") == "":
		known = "somebody in account " + requester
	}
	parts := strings.SplitN(claim, ":", 6) // arn:aws:sts::111122223333:assumed-role/developer/ann
	switch {
	case claim == "":
		return known
	case parts[0] == "arn" && (len(parts) < 6 || parts[4] != requester):
		return printable(fmt.Sprintf("%s, not %s as the upload claims", known, claim))
	}
	return claim
}

// printable makes a text safe for a terminal: unprintable characters become question
// marks, and a long text is cut.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, strings.TrimSpace(text))
	if len(text) <= maxWho {
		return text
	}
	return strings.ToValidUTF8(text[:maxWho], "") + "…"
}

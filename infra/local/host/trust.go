package host

import (
	"regexp"

	accounts "github.com/stackwright/stackwright/pkg/aws/sts"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

var laptopRole = regexp.MustCompile(`^arn:aws:iam::(\d{12}):role/stackwright/stackwright-orchestrator$`)

// trust is that of the roles on a laptop: in every account there is one, called
// as in infra/aws/target, which lets the installation in that knows its external
// ID.
func trust(role string) (externalID string, ok bool) {
	m := laptopRole.FindStringSubmatch(role)
	if m == nil {
		return "", false
	}
	return accounts.ExternalID(cli.MachineARN(), m[1]), true
}

package host

import (
	"regexp"

	accounts "github.com/stackwright/stackwright/pkg/aws/sts"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

var laptopRole = regexp.MustCompile(`^arn:aws:iam::(\d{12}):role/stackwright/stackwright-orchestrator$`)

// trust returns the external ID that a role requires. On a laptop, every account has the
// role that infra/aws/target creates.
func trust(role string) (externalID string, ok bool) {
	m := laptopRole.FindStringSubmatch(role)
	if m == nil {
		return "", false
	}
	return accounts.ExternalID(cli.MachineARN(), m[1]), true
}

package cloudformation

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// A deployment is how an operation is carried out.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DeploymentConfig.html
type deployment struct {
	Mode            types.DeploymentConfigMode // empty if the request gave none
	DisableRollback bool
}

// expressFactor is by how much an operation is faster in express mode: CloudFormation is up to four times as fast.
// https://aws.amazon.com/about-aws/whats-new/2026/06/aws-cloudformation-cdk/
const expressFactor = 4

// deploymentOf is how a request wants its operation to be carried out. In express mode a failure is not rolled back, unless
// the deployment configuration says that it is.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-express-mode.html (rollback behavior)
func deploymentOf(c *types.DeploymentConfig, disableRollback *bool) (deployment, error) {
	d := deployment{DisableRollback: aws.ToBool(disableRollback)}
	if c == nil {
		return d, nil
	}
	switch c.Mode {
	case "", types.DeploymentConfigModeStandard:
	case types.DeploymentConfigModeExpress:
		d.DisableRollback = true
	default:
		return d, unsatisfied("deploymentConfig.mode", string(c.Mode), "satisfy enum value set: [STANDARD, EXPRESS]")
	}
	if d.Mode = c.Mode; c.DisableRollback != nil {
		d.DisableRollback = *c.DisableRollback
	}
	return d, nil
}

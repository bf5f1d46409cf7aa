package cloudformation

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// unread begins what CloudFormation says when it cannot read a template from S3, which it does with the permissions of its caller.
const unread = "S3 error: "

// ReadTemplate implements action.Cloud. Whether the template is a valid one does not matter: it was deployed before.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ValidateTemplate.html
func (c *Cloud) ReadTemplate(ctx context.Context, t project.Target, digest string) error {
	client, err := c.client(ctx, t)
	if err != nil {
		return err
	}
	_, err = client.ValidateTemplate(ctx, &sdk.ValidateTemplateInput{TemplateURL: aws.String(c.templates.URL(digest))})
	if code, message := awserr.Answer(err); code == "ValidationError" && !strings.HasPrefix(message, rateExceeded) {
		if strings.HasPrefix(message, unread) {
			first, _, _ := strings.Cut(message, "\n")
			return fault.New(fault.Denied, "CloudFormation cannot read template %s from the bucket of the installation (%s): the role there needs s3:GetObject on its templates, and the policy of the bucket has to allow it; if the template is missing, the next deploy that changes its stack writes it again", digest, first)
		}
		return nil
	}
	if err != nil {
		return requestFault("have CloudFormation read a template", err)
	}
	return nil
}

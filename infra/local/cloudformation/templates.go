package cloudformation

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/lib/loss"
)

func (s *Service) getTemplate(_ context.Context, in *cfn.GetTemplateInput) (*cfn.GetTemplateOutput, error) {
	out := &cfn.GetTemplateOutput{StagesAvailable: []types.TemplateStage{types.TemplateStageOriginal, types.TemplateStageProcessed}}
	return out, s.locked(func() error {
		if in.ChangeSetName != nil {
			_, c, err := s.findChangeSet(in.ChangeSetName, in.StackName)
			if err == nil {
				out.TemplateBody = aws.String(loss.Of(c.Version.Template))
			}
			return err
		}
		st, err := s.describedStack(in.StackName)
		if err != nil {
			return err
		}
		if st.Now.Template == "" {
			return invalid("Template not yet available for stack %s", st.Name)
		}
		out.TemplateBody = aws.String(loss.Of(st.Now.Template)) // coverage roadmap 814
		return nil
	})
}

// validateTemplate reads a template and says what a request with it has to give. "CloudFormation first checks if the template is valid JSON. If it
// isn't, CloudFormation checks if the template is valid YAML. If both these checks fail, CloudFormation returns a template validation error."
// "Conditional: You must specify either TemplateURL or TemplateBody."
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ValidateTemplate.html
func (s *Service) validateTemplate(ctx context.Context, in *cfn.ValidateTemplateInput) (*cfn.ValidateTemplateOutput, error) {
	body, err := s.templateOf(ctx, in.TemplateBody, in.TemplateURL)
	if err != nil {
		return nil, err
	}
	if body == "" {
		return nil, invalid("Either Template URL or Template Body must be specified.")
	}
	t, err := parseTemplate(body)
	if err != nil {
		return nil, err
	}
	out := &cfn.ValidateTemplateOutput{Description: &t.Description, DeclaredTransforms: t.Transforms}
	for _, name := range t.ParameterNames() {
		p := t.Parameters[name]
		out.Parameters = append(out.Parameters, types.TemplateParameter{ParameterKey: &name, DefaultValue: p.Default, Description: &p.Description, NoEcho: aws.Bool(p.NoEcho)})
	}
	return out, nil
}

package cloudformation

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

func (s *Service) getTemplate(_ context.Context, in *cfn.GetTemplateInput) (*cfn.GetTemplateOutput, error) {
	out := &cfn.GetTemplateOutput{StagesAvailable: []types.TemplateStage{types.TemplateStageOriginal, types.TemplateStageProcessed}}
	return out, s.locked(func() error {
		if in.ChangeSetName != nil {
			_, c, err := s.findChangeSet(in.ChangeSetName, in.StackName)
			if err == nil {
				out.TemplateBody = &c.Version.Template
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
		out.TemplateBody = aws.String(st.Now.Template)
		return nil
	})
}

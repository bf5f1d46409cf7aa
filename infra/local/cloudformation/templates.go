package cloudformation

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/lib/template"
)

func (s *Service) getTemplate(_ context.Context, in *cfn.GetTemplateInput) (*cfn.GetTemplateOutput, error) {
	out := &cfn.GetTemplateOutput{StagesAvailable: []types.TemplateStage{types.TemplateStageOriginal, types.TemplateStageProcessed}}
	return out, s.under(func() error {
		if in.ChangeSetName != nil {
			_, c, err := s.proposed(in.ChangeSetName, in.StackName)
			if err == nil {
				out.TemplateBody = &c.Version.Template
			}
			return err
		}
		st, err := s.asked(in.StackName)
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

func (s *Service) getTemplateSummary(ctx context.Context, in *cfn.GetTemplateSummaryInput) (*cfn.GetTemplateSummaryOutput, error) {
	body, err := s.templateOf(ctx, in.TemplateBody, in.TemplateURL)
	if err != nil {
		return nil, err
	}
	if in.StackName != nil {
		if err := s.under(func() error {
			st, err := s.asked(in.StackName)
			if err == nil {
				body = st.Now.Template
			}
			return err
		}); err != nil {
			return nil, err
		}
	}
	t, err := parsed(body)
	if err != nil {
		return nil, err
	}
	out := &cfn.GetTemplateSummaryOutput{
		Description: optional(t.Description), DeclaredTransforms: t.Transforms, Version: aws.String("2010-09-09"),
		Capabilities: capabilities(t), CapabilitiesReason: optional(t.CapabilitiesReason()),
		Parameters: []types.ParameterDeclaration{}, ResourceTypes: []string{},
	}
	for _, name := range t.ParameterNames() {
		p := t.Parameters[name]
		out.Parameters = append(out.Parameters, types.ParameterDeclaration{
			ParameterKey: &name, ParameterType: aws.String(p.Type), DefaultValue: p.Default, Description: optional(p.Description),
			NoEcho: aws.Bool(p.NoEcho), ParameterConstraints: &types.ParameterConstraints{AllowedValues: p.AllowedValues},
		})
	}
	for _, name := range t.ResourceNames() {
		if kind := t.Resources[name].Type; !slices.Contains(out.ResourceTypes, kind) {
			out.ResourceTypes = append(out.ResourceTypes, kind)
		}
	}
	return out, nil
}

func (s *Service) validateTemplate(ctx context.Context, in *cfn.ValidateTemplateInput) (*cfn.ValidateTemplateOutput, error) {
	body, err := s.templateOf(ctx, in.TemplateBody, in.TemplateURL)
	if err != nil {
		return nil, err
	}
	t, err := parsed(body)
	if err != nil {
		return nil, err
	}
	out := &cfn.ValidateTemplateOutput{
		Description: optional(t.Description), DeclaredTransforms: t.Transforms,
		Capabilities: capabilities(t), CapabilitiesReason: optional(t.CapabilitiesReason()), Parameters: []types.TemplateParameter{},
	}
	for _, name := range t.ParameterNames() {
		p := t.Parameters[name]
		out.Parameters = append(out.Parameters, types.TemplateParameter{
			ParameterKey: &name, DefaultValue: p.Default, Description: optional(p.Description), NoEcho: aws.Bool(p.NoEcho)})
	}
	return out, nil
}

func capabilities(t *template.Template) []types.Capability {
	var all []types.Capability
	for _, c := range t.Capabilities() {
		all = append(all, types.Capability(c))
	}
	return all
}

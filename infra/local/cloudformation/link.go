package cloudformation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
)

// estimateTemplateCost answers with a link to AWS's calculator for a template that a stack could be made of with the given parameters. "The return
// value is an Amazon Web Services Simple Monthly Calculator URL with a query string that describes the resources required to run the template."
// It has no capabilities and needs none, and no stack exists before or after. What the local emulator links to is not there.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_EstimateTemplateCost.html
func (s *Service) estimateTemplateCost(ctx context.Context, in *cfn.EstimateTemplateCostInput) (*cfn.EstimateTemplateCostOutput, error) {
	body, err := s.templateOf(ctx, in.TemplateBody, in.TemplateURL)
	if err != nil {
		return nil, err
	}
	t, err := parseTemplate(body)
	if err != nil {
		return nil, err
	}
	out := &cfn.EstimateTemplateCostOutput{}
	return out, s.locked(func() error {
		values, err := s.parameters(t, in.Parameters, &version{})
		if err != nil {
			return err
		}
		sum := sha256.New()
		sum.Write([]byte(body))
		for _, v := range values {
			sum.Write([]byte("\x00" + v.Key + "\x00" + v.Value))
		}
		out.Url = aws.String("https://calculator.s3.amazonaws.com/calc5.html?key=cloudformation/" + hex.EncodeToString(sum.Sum(nil)[:16]))
		return nil
	})
}

package contract

import (
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/lib/loss"
	"github.com/stackwright/stackwright/pkg/plan"
)

// lossLaws are what CloudFormation returns of texts.
// https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/814
var lossLaws = map[string]func(fixture){
	"a question mark is returned for each character that is not ASCII": func(s fixture) {
		t := s.task("vpc", plan.Create, "v1")
		text := strings.Replace(topicText, "v1", "Größe, 東京", 1) + "Parameters:\n  Title: { Type: String }\n"
		t.Node.Template = templateOf(text)
		t.Want.Tags, t.Want.Parameters = map[string]string{"team": "Köln"}, map[string]string{"Title": "Überschrift?"}
		t = s.begin(t, "")
		s.Pass(30 * time.Second)
		live := s.status("vpc", "CREATE_COMPLETE")
		if live.Tags["team"] != "K?ln" || live.Parameters["Title"] != "?berschrift?" {
			s.Errorf("live is %+v", live)
		}
		at := plan.Location{Node: "vpc", Stack: "vpc", StackID: t.Receipt.StackID, Target: t.Node.Target}
		body, err := s.DeployedTemplate(s.Context(), at)
		if err != nil || string(body) != loss.Of(text) {
			s.Errorf("the template is %s, %v", body, err)
		}
		for recorded, same := range map[string]bool{text: true, topicText: false, "": false} {
			got, err := s.TemplateDigest(s.Context(), at, recorded)
			if err != nil || (got == recorded) != same {
				s.Errorf("the digest is %s, not %s: %v", got, recorded, err)
			}
		}
	},
}

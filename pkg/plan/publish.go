package plan

import (
	"path"
	"strconv"
	"strings"

	"github.com/stackwright/stackwright/pkg/project"
)

// A Publication is the arguments of the verb Publish: the asset, and where its stack is.
type Publication struct {
	Asset  project.Asset  `json:"asset"`
	Target project.Target `json:"target"`
}

// PublicationVersion is the version of Publication.
const PublicationVersion = 1

// publish adds a step for each asset that a node with a deploy phase needs, before the phase. Nodes that need one
// asset in one place share its step, which is that of the first of them.
func (b *builder) publish() error {
	published := make(map[string]string) // the steps, by the asset's place
	for _, name := range b.deploys.names() {
		n := b.view.Desired.Nodes[name]
		if !changes(b.deploys[name]) {
			continue
		}
		for _, a := range n.Assets {
			place := n.Target.Where() + " " + a.Bucket + "/" + a.Key
			if published[place] == "" {
				arguments, err := NewArguments(PublicationVersion, Publication{a, n.Target})
				if err != nil {
					return err
				}
				s := Step{Node: name, Where: n.Target.Where(), Verb: Publish, Qualifier: b.qualifier(name, a.Key), Arguments: arguments, Timeout: n.Timeout}
				s.ID = StepID(name, Publish, s.Qualifier)
				b.steps[s.ID] = s
				b.graph.Add(s.ID)
				published[place] = s.ID
			}
			b.graph.Add(b.deploys.first(name), published[place])
		}
	}
	return nil
}

// changes reports whether steps change the stack, and do not only record it.
func changes(steps []Step) bool {
	for _, s := range steps {
		if s.does(Create, Update, CreateEmpty, Execute) {
			return true
		}
	}
	return false
}

// qualifier names an asset among those of a node: the beginning of its key, which is that of a digest.
func (b *builder) qualifier(node, key string) string {
	const letters = 12
	name := strings.TrimSuffix(path.Base(key), path.Ext(key))
	short := name[:min(len(name), letters)]
	for q, n := short, 2; ; q, n = short+"-"+strconv.Itoa(n), n+1 {
		if _, taken := b.steps[StepID(node, Publish, q)]; !taken {
			return q
		}
	}
}

package stepfn_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/project"
)

// A publishing backend has stacks with assets.
type publishing interface {
	Assets(stack string, keys ...string) // that it needs from now on
	Publications() []string              // how often each was published since the last call, such as "code×2", sorted
}

// assets gives a stack assets.
func (s *scenario) assets(st statement) {
	s.backend.(publishing).Assets(st.args[0], st.args[1:]...)
}

// published compares what was published since the last such line.
func (s *scenario) published(st statement) {
	s.expect(strings.Join(s.backend.(publishing).Publications(), " "), strings.Join(st.args, " "))
}

// Assets implements publishing.
func (p *memoryBackend) Assets(stack string, keys ...string) {
	var all []project.Asset
	for _, key := range keys {
		all = append(all, project.Asset{Digest: key, Bucket: "cdk-assets", Key: key + ".zip", Role: "publishing"})
	}
	if p.assets == nil {
		p.assets = make(map[string][]project.Asset)
	}
	p.assets[stack] = all
}

// Publications implements publishing.
func (p *memoryBackend) Publications() []string {
	var all []string
	for _, place := range slices.Sorted(maps.Keys(p.Published)) {
		if n := p.Published[place] - p.publications[place]; n > 0 {
			_, key, _ := strings.Cut(place, "/")
			all = append(all, fmt.Sprintf("%s×%d", strings.TrimSuffix(key, ".zip"), n))
		}
	}
	p.publications = maps.Clone(p.Published)
	slices.Sort(all)
	return all
}

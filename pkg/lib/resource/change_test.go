package resource

import (
	"slices"
	"strings"
	"testing"
)

// An update policy has some properties changed in place.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-updatepolicy.html
func TestUpdatePolicies(t *testing.T) {
	for _, test := range []struct {
		typ, path string
		policy    any
		want      Replacement
	}{
		{"AWS::OpenSearchService::Domain", "EngineVersion", nil, Always},
		{"AWS::OpenSearchService::Domain", "EngineVersion", map[string]any{"EnableVersionUpgrade": true}, Never},
		{"AWS::OpenSearchService::Domain", "EngineVersion", map[string]any{"EnableVersionUpgrade": "true"}, Never},
		{"AWS::OpenSearchService::Domain", "EngineVersion", map[string]any{"EnableVersionUpgrade": false}, Always},
		{"AWS::OpenSearchService::Domain", "EngineVersion", map[string]any{"EnableVersionUpgrade": struct{}{}}, Conditional},
		{"AWS::OpenSearchService::Domain", "EngineVersion", struct{}{}, Conditional},
		{"AWS::OpenSearchService::Domain", "DomainName", map[string]any{"EnableVersionUpgrade": true}, Always},
		{"AWS::Elasticsearch::Domain", "ElasticsearchVersion", nil, Always},
		{"AWS::Elasticsearch::Domain", "ElasticsearchVersion", map[string]any{"EnableVersionUpgrade": true}, Never},
		{"AWS::ElastiCache::ReplicationGroup", "NumNodeGroups", nil, Always},
		{"AWS::ElastiCache::ReplicationGroup", "NumNodeGroups", map[string]any{"UseOnlineResharding": true}, Never},
		{"AWS::ElastiCache::ReplicationGroup", "NodeGroupConfiguration/0/Slots", map[string]any{"UseOnlineResharding": true}, Never},
		{"AWS::ElastiCache::ReplicationGroup", "NodeGroupConfiguration/0/Slots", map[string]any{"UseOnlineResharding": false}, Always},
	} {
		typ, _ := Named(test.typ)
		if got := typ.Under(test.policy).Change(strings.Split(test.path, "/"), "a", "b"); got != test.want {
			t.Errorf("%s of %s under %v: replacement %s, want %s", test.path, test.typ, test.policy, got, test.want)
		}
	}
}

// An attribute of a table whose name is not known may be another one, or the same one with another type.
func TestAttributeDefinitions(t *testing.T) {
	table, _ := Named("AWS::DynamoDB::Table")
	item := func(name any) any { return map[string]any{"AttributeName": name, "AttributeType": "S"} }
	for _, test := range []struct {
		path          string
		before, after any
		want          Replacement
	}{
		{"AttributeDefinitions/0/AttributeType", "S", "N", Always},
		{"AttributeDefinitions/0", item("a"), nil, Never},
		{"AttributeDefinitions/0", nil, item("a"), Never},
		{"AttributeDefinitions/0", nil, item(struct{}{}), Conditional},
		{"AttributeDefinitions", []any{item("a")}, struct{}{}, Conditional},
	} {
		if got := table.Change(strings.Split(test.path, "/"), test.before, test.after); got != test.want {
			t.Errorf("%s: replacement %s, want %s", test.path, got, test.want)
		}
	}
	before, after := []any{item("a"), item("b"), item("c")}, []any{item("d"), item("c"), item("a")}
	a, b := table.Aligned([]string{"AttributeDefinitions"}, before, after)
	if want := []any{nil, item("c"), item("a"), item("b")}; !equal(a, want) || !equal(b, append(after, nil)) {
		t.Errorf("aligned to %v and %v", a, b)
	}
	a, b = table.Aligned([]string{"KeySchema"}, before[:1], after)
	if !equal(a, []any{item("a"), nil, nil}) || !equal(b, after) {
		t.Errorf("aligned to %v and %v", a, b)
	}
}

func equal(a, b []any) bool {
	return slices.EqualFunc(a, b, func(x, y any) bool {
		m, _ := x.(map[string]any)
		n, _ := y.(map[string]any)
		return (m == nil) == (n == nil) && m["AttributeName"] == n["AttributeName"]
	})
}

// Each correction says something else than the sources.
func TestCorrectionsAreNeeded(t *testing.T) {
	s := readSources(t)
	for name, all := range corrections() {
		is := Type{Name: name}
		for path, r := range s.replacements(name) {
			switch r {
			case Always:
				is.createOnly = append(is.createOnly, path)
			case Conditional:
				is.conditional = append(is.conditional, path)
			}
		}
		for _, c := range all {
			if is.Replacement(strings.Split(c.path, "/")) == c.replacement {
				t.Errorf("%s of %s: the sources say %s already", c.path, name, c.replacement)
			}
			if !slices.Contains(Replacements(), c.replacement) {
				t.Errorf("%s of %s: there is no replacement %s", c.path, name, c.replacement)
			}
		}
	}
}

package native

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"go.yaml.in/yaml/v4"
)

// maxImports is how many files a project file may import, those that imported files import too.
const maxImports = 1000

// anchors begins the names of keys at the top of a file that only hold values with anchors.
const anchors = "x-"

// withoutAnchors is a mapping without the keys that only hold values with anchors.
func withoutAnchors(root *yaml.Node) *yaml.Node {
	left := *root
	left.Content = nil
	for _, pair := range document.Pairs(root) {
		if !strings.HasPrefix(pair.Key.Value, anchors) {
			left.Content = append(left.Content, pair.Key, pair.Value)
		}
	}
	return &left
}

// mergedLevels is how deep the values of a key at the top are merged, if it is not one level.
var mergedLevels = map[string]int{"environments": 3}

// read reads a file, and merges those that it imports.
func (p *parser) read(f archive.Files, file string) (*yaml.Node, bool) {
	im := importer{parser: p, files: f, read: map[string]bool{}}
	root, ok := im.file(file, []string{file}, nil)
	return root, ok && im.good
}

// An importer reads files that import one another.
type importer struct {
	*parser
	files archive.Files
	read  map[string]bool
	good  bool
}

// file reads a file and merges what it imports. The path has the files that import it, and ends
// with it; at is where its name is written.
func (im *importer) file(name string, by []string, at *yaml.Node) (*yaml.Node, bool) {
	if im.read[name] = true; len(by) == 1 {
		im.good = true
	}
	if im.weight += document.Weight(im.files[name]); im.weight > document.MaxNodes && at != nil {
		im.Add(im.at(at), "imports: the files have more than %d keys and values: divide the project into several", document.MaxNodes)
		return nil, false
	}
	root, err := document.ReadMerged(name, im.files[name])
	if err != nil {
		im.unreadable(name, im.files[name], err)
		return nil, false
	}
	if at != nil {
		im.own(root, name)
	}
	if root.Kind != yaml.MappingNode {
		if at != nil {
			im.Add(im.at(root), "an imported file is a mapping with the keys of a project file, and this is %s", document.Kind(root))
		}
		return root, at == nil
	}
	if n, has := document.Lookup(root, "project"); has && at != nil {
		im.Add(im.at(n), "project: only %s says the name of the project: remove it", by[0])
		im.good = false
	}
	list, has := document.Lookup(root, "imports")
	if !has {
		return root, true
	}
	for _, item := range im.items("imports", list) {
		im.one(root, item, by)
	}
	return root, true
}

// one merges one file into the file that imports it.
func (im *importer) one(root, item *yaml.Node, by []string) {
	name, ok := im.path(item, by)
	if !ok {
		im.good = false
		return
	}
	if len(im.read) > maxImports {
		im.Add(im.at(item), "imports: more than %d files", maxImports)
		im.good = false
		return
	}
	other, ok := im.file(name, append(slices.Clone(by), name), item)
	if !ok {
		im.good = false
		return
	}
	pairs := slices.DeleteFunc(document.Pairs(withoutAnchors(other)), func(p document.Pair) bool { return p.Key.Value == "imports" || p.Key.Value == "project" })
	im.merge(root, pairs, "", func(key string) int { return cmp.Or(mergedLevels[key], 1) })
}

// merge adds pairs to a mapping. If the mapping has a key, the values are merged, down to the given number of
// levels; what is in both then is refused.
func (im *importer) merge(into *yaml.Node, pairs []document.Pair, what string, levels func(key string) int) {
	index := make(map[string]int, len(into.Content)/2)
	for i := 0; i+1 < len(into.Content); i += 2 {
		index[document.Resolve(into.Content[i]).Value] = i
	}
	for _, pair := range pairs {
		key := pair.Key.Value
		i, has := index[key]
		if !has {
			into.Content = append(into.Content, pair.Key, pair.Value)
			continue
		}
		have, value := document.Resolve(into.Content[i+1]), document.Resolve(pair.Value)
		depth := levels(key)
		switch {
		case document.Null(value):
		case document.Null(have):
			into.Content[i+1] = pair.Value
		case depth > 0 && have.Kind == yaml.MappingNode && value.Kind == yaml.MappingNode:
			both := im.separate(have)
			into.Content[i+1] = both
			im.merge(both, document.Pairs(value), what+problem.Short(key)+": ", func(string) int { return depth - 1 })
		case what == "" && key == "moved" && have.Kind == yaml.SequenceNode && value.Kind == yaml.SequenceNode:
			both := im.separate(have)
			into.Content[i+1] = both
			both.Content = append(both.Content, value.Content...)
		default:
			im.Add(im.at(pair.Key), "%s%s is at %s already: remove one of them", what, problem.Short(key), im.at(into.Content[i]))
			im.good = false
		}
	}
}

// separate copies a mapping or a list, because an alias may refer to it.
func (im *importer) separate(n *yaml.Node) *yaml.Node {
	c := *n
	c.Anchor, c.Content = "", slices.Clone(n.Content)
	if file := im.fileOf[n]; file != "" {
		im.fileOf[&c] = file
	}
	return &c
}

// path returns the path of a file that is imported.
func (im *importer) path(item *yaml.Node, by []string) (name string, ok bool) {
	v, ok := im.scalar("imports", item)
	if !ok {
		return "", false
	}
	written, plain := v.Literal()
	name = path.Clean(written)
	why := ""
	switch inadmissible := archive.Inadmissible(name); {
	case !plain:
		why = ": references are not allowed here: write the path itself"
	case written == "":
		why = ": the path is empty: write one, such as stacks/network.yaml"
	case inadmissible != "":
		why = " " + inadmissible
	case slices.Contains(by, name):
		why = ": the files import one another in a circle: " + strings.Join(append(slices.Clone(by[slices.Index(by, name):]), name), " → ")
	case im.read[name]:
		why = ": it is imported already: remove one of them"
	case im.files[name] == nil:
		why = fmt.Sprintf(": there is no such file%s", im.Closest(name, im.files.Paths()))
	}
	if shown := document.Resolve(item).Value; why != "" {
		im.Add(v.At, "imports: %s%s", cmp.Or(problem.Short(shown), `""`), why)
	}
	return name, why == ""
}

// own records the file of all nodes in it.
func (im *importer) own(n *yaml.Node, file string) {
	if im.fileOf == nil {
		im.fileOf = make(map[*yaml.Node]string)
	}
	im.fileOf[n] = file
	if n.Kind != yaml.AliasNode {
		for _, child := range n.Content {
			im.own(child, file)
		}
	}
}

package cdk

import (
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// assetManifest reads the assets that a manifest lists.
func (r *reader) assetManifest(a *assembly, file string) {
	if _, done := r.assets[file]; file == "" || done {
		return
	}
	r.assets[file] = nil
	root, ok := r.document(file)
	if !ok || !r.version(file, root) {
		return
	}
	r.known(file, "the assets", root, assetManifestKeys)
	files, _ := document.Lookup(root, "files")
	for _, p := range r.pairs(file, "files", files) {
		r.assets[file] = append(r.assets[file], r.asset(a, file, p)...)
	}
	images, _ := document.Lookup(root, "dockerImages")
	for _, p := range r.pairs(file, "dockerImages", images) {
		what := "container image " + r.nameOf(p)
		r.known(file, what, p.Value, assetKeys)
		one := declared.Asset{At: r.at(file, p.Key), ID: p.Key.Value, Name: r.nameOf(p), Image: true}
		r.assets[file] = append(r.assets[file], r.destinations(file, what, p.Value, one, "repositoryName", "imageTag")...)
	}
}

// nameOf names an asset in messages.
func (r *reader) nameOf(p document.Pair) string {
	if name, ok := document.Lookup(p.Value, "displayName"); ok {
		return problem.Short(name.Value)
	}
	return problem.Short(p.Key.Value)
}

// asset reads a file asset: one for each of its destinations.
func (r *reader) asset(a *assembly, file string, p document.Pair) []declared.Asset {
	what := "asset " + r.nameOf(p)
	r.known(file, what, p.Value, assetKeys)
	at := r.at(file, p.Key)
	source, _ := document.Lookup(p.Value, "source")
	r.known(file, what, source, sourceKeys)
	if _, built := document.Lookup(source, "executable"); built {
		r.Add(at, "%s: a command makes it, and Stackwright runs no commands: make the file before cdk synth, and give its path", what)
		return nil
	}
	one := declared.Asset{At: at, ID: p.Key.Value, Name: r.nameOf(p)}
	packaging := r.optional(file, what+": packaging", source, "packaging")
	switch packaging {
	case "", "file":
	case "zip":
		one.Folder = true
	default:
		r.Add(at, "%s: unknown packaging %q: synthesize with another version of aws-cdk-lib", what, problem.Short(packaging))
		return nil
	}
	if one.Path = r.sourceOf(a, file, what, source, one.Folder); one.Path == "" {
		return nil
	}
	return r.destinations(file, what, p.Value, one, "bucketName", "objectKey")
}

// destinations returns an asset for each place where it has to be. The keys are those that name the place.
func (r *reader) destinations(file, what string, asset *yaml.Node, one declared.Asset, bucket, key string) []declared.Asset {
	var all []declared.Asset
	destinations, _ := document.Lookup(asset, "destinations")
	for _, d := range r.pairs(file, what+": destinations", destinations) {
		r.known(file, what, d.Value, destinationKeys)
		to := one
		to.Bucket, to.Key = r.text(file, what+": "+bucket, d.Value, bucket), r.text(file, what+": "+key, d.Value, key)
		to.Region = r.optional(file, what+": region", d.Value, "region")
		to.Role = r.optional(file, what+": assumeRoleArn", d.Value, "assumeRoleArn")
		to.ExternalID = r.optional(file, what+": assumeRoleExternalId", d.Value, "assumeRoleExternalId")
		if n, ok := document.Lookup(d.Value, "assumeRoleAdditionalOptions"); ok && !document.Null(n) {
			r.Add(r.at(file, n), "%s: assumeRoleAdditionalOptions are not supported: remove them from the synthesizer", what)
		}
		all = append(all, to)
	}
	return all
}

// sourceOf returns the path of an asset's file or folder, or "".
func (r *reader) sourceOf(a *assembly, file, what string, source *yaml.Node, folder bool) string {
	written := r.text(file, what+": path", source, "path")
	if written == "" {
		return ""
	}
	n, _ := document.Lookup(source, "path")
	at := r.at(file, n)
	name, why := within(path.Dir(file), written)
	if why != "" {
		r.Add(at, "%s: %s: %s", what, problem.Short(written), why)
		return ""
	}
	if !r.exists(name, folder) {
		kind := "file"
		if folder {
			kind = "folder"
		}
		r.Add(at, "%s: there is no %s %s: upload the whole folder that cdk synth has written", what, kind, problem.Short(name))
		return ""
	}
	return name
}

// exists reports whether there is a file, or a folder with a file in it.
func (r *reader) exists(name string, folder bool) bool {
	if !folder {
		_, ok := r.files[name]
		return ok
	}
	if r.paths == nil {
		r.paths = r.files.Paths()
	}
	i, _ := slices.BinarySearch(r.paths, name+"/")
	return i < len(r.paths) && strings.HasPrefix(r.paths[i], name+"/")
}

// assetsOf lists the assets that have to be published before a stack is deployed. Templates of
// stacks are not among them: Stackwright sends them itself.
func (r *reader) assetsOf(s *stack) []declared.Asset {
	var all []declared.Asset
	for _, manifest := range s.assets {
		for _, one := range r.assets[manifest] {
			if one.Image || !r.own[one.Path] {
				all = append(all, one)
			}
		}
	}
	return all
}

// nestedOf lists the nested stacks of a template whose templates are assets, and follow from the
// project alone. around are the templates in which it is nested.
func (r *reader) nestedOf(file string, assets []declared.Asset, around []string) []string {
	if len(assets) == 0 || slices.Contains(around, file) {
		return nil
	}
	root, _, err := document.ReadRepeating(file, r.files[file])
	if err != nil {
		return nil // reading the template reports it
	}
	resources, _ := document.Lookup(root, "Resources")
	var all []string
	for _, p := range document.Pairs(resources) {
		kind, _ := document.Lookup(p.Value, "Type")
		properties, _ := document.Lookup(p.Value, "Properties")
		url, _ := document.Lookup(properties, "TemplateURL")
		if kind == nil || kind.Value != "AWS::CloudFormation::Stack" || url == nil {
			continue
		}
		i := slices.IndexFunc(assets, func(a declared.Asset) bool { return !a.Folder && !a.Image && ends(url, "/"+a.Key) })
		if i >= 0 && r.pinned(assets[i].Path, assets, append(around, file)) {
			all = append(all, p.Key.Value)
		}
	}
	return all
}

// pinned reports whether the bytes of a nested template decide what it deploys.
func (r *reader) pinned(file string, assets []declared.Asset, around []string) bool {
	t, err := template.Parse(file, r.files[file])
	if err != nil {
		return false // CloudFormation says what is wrong with it
	}
	nested := r.nestedOf(file, assets, around)
	return !slices.ContainsFunc(t.Loose(), func(l template.Loose) bool {
		return l.NestedStack == "" || !slices.Contains(nested, l.NestedStack)
	})
}

// ends reports whether the last text in a value ends with a suffix.
func ends(n *yaml.Node, suffix string) bool {
	n = document.Resolve(n)
	if n.Kind == yaml.ScalarNode {
		return strings.HasSuffix(n.Value, suffix)
	}
	return len(n.Content) > 0 && ends(n.Content[len(n.Content)-1], suffix)
}

package resolve

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/packages"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
)

// The bucket, repository and roles that the CDK's bootstrap stack creates. An asset goes nowhere else, and no other role is
// assumed for it: a project names them, and the functions may assume more roles than a project may use.
// https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html
var (
	bootstrapBucket     = pattern.New(`^cdk-([a-z0-9]{1,10})-assets-([0-9]{12})-([a-z0-9-]+)$`)
	bootstrapRepository = pattern.New(`^cdk-([a-z0-9]{1,10})-container-assets-([0-9]{12})-([a-z0-9-]+)$`)

	filePublishing = pattern.New(
		`^arn:[a-z-]+:iam::([0-9]{12}):role/cdk-([a-z0-9]{1,10})-file-publishing-role-([0-9]{12})-([a-z0-9-]+)$`)
	imagePublishing = pattern.New(
		`^arn:[a-z-]+:iam::([0-9]{12}):role/cdk-([a-z0-9]{1,10})-image-publishing-role-([0-9]{12})-([a-z0-9-]+)$`)
)

// The key of an asset is an optional prefix, the hash with which the ID of the asset ends, and the extension of its file.
// aws-cdk-lib 2.270.0, core/lib/stack-synthesizers/asset-manifest-builder.js: defaultAddFileAsset, defaultAddDockerImageAsset
var (
	assetHash = pattern.New(`(?:^|-)([0-9a-f]{64})$`)
	keyPrefix = pattern.New(`^[A-Za-z0-9!_.*'()/-]*$`)
	tagPrefix = pattern.New(`^([A-Za-z0-9_][A-Za-z0-9_.-]*)?$`)
)

const (
	maxKey = 1024 // bytes: https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html
	maxTag = 128  // characters: https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_PutImage.html
)

// A bootstrap is what cdk bootstrap has made for assets of one kind.
type bootstrap struct {
	place, role pattern.Pattern
	is, named   string // the place, and its name
	as          string // the name of the role
	property    string // of the synthesizer, to name another place
	option      string // likewise, another role
	key         string // what the name of the asset in its place is called
	prefix      pattern.Pattern
	most        int // the most characters of a key
}

var (
	forFiles = bootstrap{
		bootstrapBucket, filePublishing, "bucket", "cdk-QUALIFIER-assets-ACCOUNT-REGION",
		"cdk-QUALIFIER-file-publishing-role-ACCOUNT-REGION", "fileAssetsBucketName", "fileAssetPublishingRoleArn",
		"key", keyPrefix, maxKey,
	}
	forImages = bootstrap{
		bootstrapRepository, imagePublishing, "repository", "cdk-QUALIFIER-container-assets-ACCOUNT-REGION",
		"cdk-QUALIFIER-image-publishing-role-ACCOUNT-REGION", "imageAssetsRepositoryName", "imageAssetPublishingRoleArn",
		"tag", tagPrefix, maxTag,
	}
)

// names reports whether a key is one that the CDK gives an asset.
func (b bootstrap) names(key string, a declared.Asset) bool {
	hash := assetHash.FindStringSubmatch(a.ID)
	if hash == nil || len(key) > b.most {
		return false
	}
	prefix, ok := strings.CutSuffix(key, hash[1]+extension(a))
	return ok && b.prefix.MatchString(prefix)
}

// extension is that of an asset's key. A name that begins with a dot has none before its second dot.
func extension(a declared.Asset) string {
	switch {
	case a.Image:
		return ""
	case a.Folder:
		return ".zip"
	}
	return path.Ext(strings.TrimLeft(path.Base(a.Path), "."))
}

// Objects lists the digests of the objects that the stack needs in the installation's bucket.
func (s *Stack) Objects() []string {
	all := slices.Clone(s.Template.Objects)
	for _, a := range s.Node.Assets {
		if !a.Image {
			all = append(all, a.Digest)
		}
	}
	for _, h := range s.Node.Hooks {
		if h.Files != "" {
			all = append(all, h.Files)
		}
	}
	return all
}

// setAssets sets the assets that a stack needs, in its target.
func (r *resolver) setAssets(s *Stack) {
	if s.targetsUnknown {
		return
	}
	t := s.Node.Target
	fill := strings.NewReplacer("${AWS::AccountId}", t.Account, "${AWS::Region}", t.Region, "${AWS::Partition}", t.Partition()).Replace
	for _, a := range s.assets {
		what := "stack " + s.Name + ": asset " + a.Name
		one := project.Asset{Image: a.Image, Bucket: fill(a.Bucket), Key: fill(a.Key), Role: fill(a.Role), ExternalID: fill(a.ExternalID)}
		if !r.isBootstrap(what, a, one, t) {
			continue
		}
		if a.Image {
			s.Node.Assets = append(s.Node.Assets, one)
			continue
		}
		var err error
		if one.Digest, err = r.templates.packager.Asset(a.Path, a.Folder); err != nil {
			if !errors.Is(err, packages.ErrReported) {
				r.Add(a.At, "%s: %v", what, err)
			}
			continue
		}
		s.Node.Assets = append(s.Node.Assets, one)
	}
}

// isBootstrap reports whether an asset goes to the bucket or the repository that the CDK's bootstrap stack has made in a
// target, by the role that it has made, under a key that the CDK gives.
func (r *resolver) isBootstrap(what string, a declared.Asset, one project.Asset, t project.Target) bool {
	made := forFiles
	if a.Image {
		made = forImages
	}
	place, role := made.place.FindStringSubmatch(one.Bucket), made.role.FindStringSubmatch(one.Role)
	region := strings.ReplaceAll(a.Region, "${AWS::Region}", t.Region)
	elsewhere := region != "" && region != t.Region ||
		place != nil && (place[2] != t.Account || place[3] != t.Region) ||
		role != nil && (role[1] != t.Account || role[3] != t.Account || role[4] != t.Region)
	switch {
	case one.Role == "":
		r.Add(a.At, "%s: no role is named that may publish it, and Stackwright publishes nothing with its own permissions: "+
			"use the DefaultStackSynthesizer", what)
	case elsewhere:
		r.Add(a.At, "%s: it goes to %s with %s, and the stack to account %s, region %s: run cdk synth again with the environment of the target",
			what, problem.Short(one.Bucket), problem.Short(one.Role), t.Account, t.Region)
	case place == nil:
		r.Add(a.At, "%s: %s is not the name of a %s of cdk bootstrap, %s: remove %s from the synthesizer",
			what, problem.Short(one.Bucket), made.is, made.named, made.property)
	case role == nil:
		r.Add(a.At, "%s: %s is not a role of cdk bootstrap, %s: remove %s from the synthesizer",
			what, problem.Short(one.Role), made.as, made.option)
	case place[1] == project.InstallationQualifier || role[2] == project.InstallationQualifier:
		r.Add(a.At, "%s: the code of Stackwright itself is installed from what cdk bootstrap --qualifier %s creates, "+
			"and no project may change that: give the synthesizer another qualifier", what, project.InstallationQualifier)
	case !made.names(one.Key, a):
		r.Add(a.At, "%s: %q is not a %s that the CDK gives this asset: run cdk synth again", what, problem.Short(one.Key), made.key)
	default:
		return true
	}
	return false
}

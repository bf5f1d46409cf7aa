package resolve

import (
	"errors"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/packages"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
)

// What the CDK's bootstrap stack makes. An asset goes nowhere else, and no other role is assumed
// for it: a project names them, and the functions may assume more roles than a project may use.
// https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html
var (
	bootstrapBucket = pattern.New(`^cdk-[a-z0-9]{1,10}-assets-([0-9]{12})-([a-z0-9-]+)$`)
	filePublishing  = pattern.New(`^arn:([a-z-]+):iam::([0-9]{12}):role/cdk-[a-z0-9]{1,10}-file-publishing-role-([0-9]{12})-([a-z0-9-]+)$`)

	bootstrapRepository = pattern.New(`^cdk-[a-z0-9]{1,10}-container-assets-([0-9]{12})-([a-z0-9-]+)$`)
	imagePublishing     = pattern.New(`^arn:([a-z-]+):iam::([0-9]{12}):role/cdk-[a-z0-9]{1,10}-image-publishing-role-([0-9]{12})-([a-z0-9-]+)$`)
	imageTag            = pattern.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
)

// A bootstrap is what cdk bootstrap has made for assets of one kind.
type bootstrap struct {
	place, role pattern.Pattern
	is, named   string // the place, and its name
	as          string // the name of the role
	property    string // of the synthesizer, to name another place
	option      string // likewise, another role
}

var (
	forFiles  = bootstrap{bootstrapBucket, filePublishing, "bucket", "cdk-QUALIFIER-assets-ACCOUNT-REGION", "cdk-QUALIFIER-file-publishing-role-ACCOUNT-REGION", "fileAssetsBucketName", "fileAssetPublishingRoleArn"}
	forImages = bootstrap{bootstrapRepository, imagePublishing, "repository", "cdk-QUALIFIER-container-assets-ACCOUNT-REGION", "cdk-QUALIFIER-image-publishing-role-ACCOUNT-REGION", "imageAssetsRepositoryName", "imageAssetPublishingRoleArn"}
)

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

// isBootstrap reports whether an asset goes to the bucket or the repository that the CDK's bootstrap stack has made in a target, by
// the role that it has made.
func (r *resolver) isBootstrap(what string, a declared.Asset, one project.Asset, t project.Target) bool {
	made := forFiles
	if a.Image {
		made = forImages
	}
	bucket, role := made.place.FindStringSubmatch(one.Bucket), made.role.FindStringSubmatch(one.Role)
	region := strings.ReplaceAll(a.Region, "${AWS::Region}", t.Region)
	switch {
	case one.Role == "":
		r.Add(a.At, "%s: no role is named that may publish it, and Stackwright publishes nothing with its own permissions: use the DefaultStackSynthesizer", what)
	case region != "" && region != t.Region || bucket != nil && (bucket[1] != t.Account || bucket[2] != t.Region) || role != nil && (role[2] != t.Account || role[3] != t.Account || role[4] != t.Region):
		r.Add(a.At, "%s: it goes to %s with %s, and the stack to account %s, region %s: run cdk synth again with the environment of the target",
			what, problem.Short(one.Bucket), problem.Short(one.Role), t.Account, t.Region)
	case bucket == nil:
		r.Add(a.At, "%s: %s is not the name of a %s of cdk bootstrap, %s: remove %s from the synthesizer", what, problem.Short(one.Bucket), made.is, made.named, made.property)
	case role == nil:
		r.Add(a.At, "%s: %s is not a role of cdk bootstrap, %s: remove %s from the synthesizer", what, problem.Short(one.Role), made.as, made.option)
	case a.Image && !imageTag.MatchString(one.Key):
		r.Add(a.At, "%s: %q is not a tag of an image: run cdk synth again", what, problem.Short(one.Key))
	case len(one.Key) > maxKey || strings.Contains(one.Key, "${") || one.Key == "":
		r.Add(a.At, "%s: %q is not a key of an object: run cdk synth again", what, problem.Short(one.Key))
	default:
		return true
	}
	return false
}

const maxKey = 1024 // bytes: https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html

package cdk

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
)

// The keys that are known: all of the schema, version 55, and additionalDependencies, which aws-cdk-lib writes
// besides. Those that are not read here change nothing in what is deployed.
// https://github.com/aws/aws-cdk-cli/tree/main/packages/@aws-cdk/cloud-assembly-schema/schema
const (
	manifestKeys = "version minimumCliVersion artifacts missing runtime"
	artifactKeys = "type environment metadata additionalMetadataFile dependencies properties displayName"
	stackKeys    = "templateFile parameters tags notificationArns stackName terminationProtection assumeRoleArn assumeRoleExternalId " +
		"assumeRoleAdditionalOptions cloudFormationExecutionRoleArn lookupRole stackTemplateAssetObjectUrl requiresBootstrapStackVersion " +
		"bootstrapStackVersionSsmParameter validateOnSynth additionalDependencies"
	assetsKeys        = "file requiresBootstrapStackVersion bootstrapStackVersionSsmParameter"
	assemblyKeys      = "directoryName displayName"
	assetManifestKeys = "version files dockerImages"
	assetKeys         = "displayName source destinations"
	sourceKeys        = "executable path packaging"
	destinationKeys   = "bucketName objectKey repositoryName imageTag region assumeRoleArn assumeRoleExternalId assumeRoleAdditionalOptions"
)

const upgrade = "upgrade Stackwright, or synthesize with an older aws-cdk-lib"

// known refuses keys of what is deployed that are not known: without them it could be deployed wrongly.
func (r *reader) known(file, what string, of *yaml.Node, keys string) {
	for _, p := range r.unknown(of, keys) {
		r.Add(r.at(file, p.Key), "%s has the key %q, which this Stackwright does not know: "+upgrade,
			problem.Short(what), problem.Short(p.Key.Value))
	}
}

// mayIgnore warns of keys that are not known.
func (r *reader) mayIgnore(file, what string, of *yaml.Node, keys string) {
	for _, p := range r.unknown(of, keys) {
		r.Warn(r.at(file, p.Key), "%s has the key %q, which this Stackwright does not know: it is not read", what,
			problem.Short(p.Key.Value))
	}
}

// unknown lists the entries of a mapping that are not known. In an assembly of a version that was checked all are.
func (r *reader) unknown(of *yaml.Node, keys string) []document.Pair {
	if !r.newer {
		return nil
	}
	all := strings.Fields(keys)
	return slices.DeleteFunc(document.Pairs(of), func(p document.Pair) bool {
		return slices.Contains(all,
			p.Key.Value) || document.Null(p.Value)
	})
}

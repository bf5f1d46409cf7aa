package cloudformation

import (
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	schema "github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// importable reports whether a resource can be imported into a stack with this status.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/import-resources-manually.html
func importable(status types.StackStatus) bool {
	return updatable(status) && status != types.StackStatusCreateFailed && status != types.StackStatusUpdateFailed
}

// identified are the physical IDs of the resources that a request imports, by their logical IDs. It refuses what the
// request alone shows to be wrong.
//
// The emulator has no resources outside stacks: a resource exists that is in no stack and that a request imports.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ResourceToImport.html
func identified(in *cfn.CreateChangeSetInput, t *template.Template) (map[string]string, error) {
	if in.ChangeSetType != types.ChangeSetTypeImport {
		if len(in.ResourcesToImport) > 0 {
			return nil, invalid("ResourcesToImport can be specified only for change sets of type IMPORT")
		}
		return nil, nil
	}
	if len(in.ResourcesToImport) == 0 {
		return nil, invalid("Must Provide at least one resource to import")
	}
	all := map[string]string{}
	var missing []string
	for i, r := range in.ResourcesToImport {
		name, listed := aws.ToString(r.LogicalResourceId), aws.ToString(r.ResourceType)
		if len(r.ResourceIdentifier) == 0 {
			return nil, invalid("1 validation error detected: Value null at 'resourcesToImport.%d.member.resourceIdentifier' failed to satisfy constraint: Member must not be null", i+1)
		}
		if _, twice := all[name]; twice {
			return nil, invalid("Every resource to import must have unique LogicalResourceId")
		}
		declared, ok := t.Resources[name]
		if !ok {
			missing = append(missing, name)
			continue
		}
		typ, _ := schema.Named(listed)
		switch {
		case len(typ.Identifier) == 0:
			return nil, invalid("ResourceTypes [%s] are not supported for Import", listed)
		case !slices.Equal(sorted(r.ResourceIdentifier), typ.Identifier):
			return nil, invalid("Invalid resource identifier for resource type %s. Expected [%s]", listed, strings.Join(typ.Identifier, ", "))
		case declared.Type != listed:
			return nil, invalid("Resource type of [%s] passed in ResourceToImport does not match with resource type defined in the template. "+
				"Resource type in ResourceToImport: %s; Resource type in Template: %s.", name, listed, declared.Type)
		}
		var values []string
		for _, property := range typ.Identifier {
			values = append(values, r.ResourceIdentifier[property])
		}
		all[name] = strings.Join(values, "|")
	}
	if len(missing) > 0 {
		return nil, invalid("The logical resource ids [%s] provided in ResourceToImport do not exist in the template.", strings.Join(missing, ", "))
	}
	return all, nil
}

// checkImport refuses a version that does anything else than to import: "Import operations don't allow new resource
// creations, resource deletions, or changes to property configurations", "Each resource to import must have a
// DeletionPolicy attribute", and outputs, tags and the role can be neither added nor changed.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/import-resources-manually.html
func (b *plan) checkImport(st *stack, v *version, t *template.Template) error {
	var present, unlisted, modified, unprotected []string
	here := st.existing()
	for _, name := range sorted(v.Identified) {
		if here[name] != nil {
			present = append(present, name)
		} else if t.Resources[name].DeletionPolicy == nil {
			unprotected = append(unprotected, name)
		}
	}
	for _, one := range b.steps {
		switch one.Action {
		case importing:
		case create:
			unlisted = append(unlisted, one.Resource.Logical)
		default:
			modified = append(modified, one.Resource.Logical)
		}
	}
	for _, one := range b.cleanup {
		modified = append(modified, one.Resource.Logical)
	}
	slices.Sort(modified)
	modified = slices.Compact(modified)
	list := func(names []string) string { return "[" + strings.Join(names, ", ") + "]" }
	switch {
	case len(present) == len(v.Identified) && len(unlisted) == 0:
		return invalid("The template should contain at least one new resource to import.")
	case len(present) > 0:
		return invalid("Resources %s passed in ResourceToImport are already in a stack and cannot be imported.", list(present))
	case len(unlisted) > 0:
		return invalid("Resources %s is missing from ResourceToImport list", list(unlisted))
	case len(unprotected) > 0:
		return invalid("The following resources to import %s must have DeletionPolicy attribute specified in the template.", list(unprotected))
	case len(modified) > 0:
		return invalid("You have modified resources %s in your template that are not being imported. Update, create or delete operations cannot be executed during import operations.", list(modified))
	}
	if frozen := b.frozen(st, v); len(frozen) > 0 {
		return invalid("As part of the import operation, you cannot modify or add %s", list(frozen))
	}
	return nil
}

// frozen are what a version changes and an import may not: outputs, the role and the tags. A stack that an import creates has none.
// https://github.com/aws/aws-cdk/issues/24954
func (b *plan) frozen(st *stack, v *version) []string {
	var all []string
	if !slices.Equal(sortedOutputs(st.Now.Outputs), sortedOutputs(b.outputs)) {
		all = append(all, "Outputs")
	}
	if v.Role != st.Now.Role {
		all = append(all, "RoleArn")
	}
	if !slices.Equal(sortedTags(v.Tags), sortedTags(st.Now.Tags)) {
		all = append(all, "Tags")
	}
	return all
}

// taken says which of the resources to import is in a stack already, in the words of the status of the change set; ""
// if none is. "You cannot import the same resource into multiple stacks."
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/import-resources-manually.html
func (s *Service) taken(v *version) string {
	for _, name := range sorted(v.Identified) {
		if why := s.holder(v.Identified[name]); why != "" {
			return why
		}
	}
	return ""
}

// holder says which stack has a resource; "" if none has.
func (s *Service) holder(physical string) string {
	if st, err := s.stackOfResource(nil, &physical); err == nil {
		return physical + " already exists in stack " + st.ID
	}
	return ""
}

// importInto starts the import of resources into a stack.
func (s *Service) importInto(st *stack, token string, w desired) (operation string, err error) {
	if !importable(st.Status) && st.Status != types.StackStatusReviewInProgress {
		return "", invalid("Stack:%s is in %s state and can not be updated.", st.ID, st.Status)
	}
	v, t, err := s.version(w, &st.Now)
	if err != nil {
		return "", err
	}
	b, err := s.evaluate(st, v, t)
	if err != nil {
		return "", err
	}
	if err := b.checkImport(st, v, t); err != nil {
		return "", err
	}
	for i, one := range b.steps { // another stack may have it since the change set was made
		if why := s.holder(one.Resource.Physical); why != "" {
			b.steps[i].Failure = why
		}
	}
	was := st.Now
	st.Before, st.Rollback = &was, nil
	v.Imports, v.Outputs = b.imports, st.Now.Outputs
	st.Now, st.Updated = *v, time.Now()
	st.outdateChangeSets()
	operation = st.newOperation(types.OperationTypeUpdateStack)
	f := &stackOperation{Phase: importingAll, Token: token, ID: operation, Duration: s.duration(st) / 2, Levels: b.levels(), Outputs: b.outputs, Failure: b.failure}
	st.Operation = f
	s.setStatus(st, types.StackStatusImportInProgress, "User Initiated")
	s.applyFault(st, "import", f)
	s.start(st, f)
	return operation, nil
}

// endImport ends the import of a resource: CloudFormation then gives the resource the tags of its stack.
func (s *Service) endImport(st *stack, r *resource) {
	s.setResourceStatus(st, r, types.ResourceStatusImportComplete, "Resource import completed.")
	s.setResourceStatus(st, r, types.ResourceStatusUpdateInProgress, "Apply stack-level tags to imported resource if applicable.")
	s.setResourceStatus(st, r, types.ResourceStatusUpdateComplete, "")
}

// rollBackImport returns a stack to the template before an import. No resource is deleted.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/import-resources-manually.html (status codes)
func (s *Service) rollBackImport(st *stack, why string) {
	f := &stackOperation{Phase: rollingBackImport, Token: st.Operation.Token, ID: st.newOperation(types.OperationTypeRollback), Duration: s.duration(st) / 2}
	st.Operation = f
	s.setStatus(st, types.StackStatusImportRollbackInProgress, why)
	st.Now, st.Before, st.Holds = *st.Before, nil, st.Now.Imports
	for _, name := range sorted(st.Rollback) {
		if r := st.Resources[name]; r != nil && st.Rollback[name] == nil {
			s.setResourceStatus(st, r, types.ResourceStatusImportRollbackInProgress, "")
			s.setResourceStatus(st, r, types.ResourceStatusImportRollbackComplete, "")
			delete(st.Resources, name)
		}
	}
	s.applyFault(st, "rollback", f)
	s.start(st, f)
}

package stepfn_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"

	schedules "github.com/stackwright/stackwright/pkg/aws/scheduler"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// Submit uploads a project, or puts a request object into the bucket.
func (r *emulators) Submit(operation string, w stacks, of string, with ...options) string {
	if operation == "deploy" && len(with) == 0 {
		key := "projects/" + r.project + "/" + r.environment + ".zip"
		id := engine.RunID("stackwright", key, r.upload(key, w))
		r.requested = append(r.requested, id)
		return id
	}
	request, about := map[string]any{"operation": operation}, map[string]any{}
	for _, o := range with {
		for name, stacks := range map[string][]string{"only": o.only, "exclude": o.exclude, "adopt": o.adopt, "retain": o.retain, "skip": o.skip} {
			if stacks != nil {
				about[name] = stacks
			}
		}
		about["rollback"], about["refuse"], about["force"] = o.rollback, o.refuse, o.force
		if o.plan != "" {
			about["plan"] = o.plan
		}
		if o.apart || o.together {
			about["with_dependencies"] = o.together
		}
		if o.dependents {
			about["with_dependents"] = true
		}
		if o.since != "" {
			about["changed_since"] = o.since
		}
		if o.whileSuspended {
			about["while_suspended"] = true
		}
		if o.exact {
			about["exact"] = true
		}
		if o.to != "" {
			about["to"] = o.to
		}
		if o.from != "" {
			about["from_environment"] = o.from
		}
		if o.revision != "" {
			about["from_revision"] = o.revision
		}
		if operation == "extend" {
			about = map[string]any{"for": project.TTL(o.lives).String()}
			if !o.until.IsZero() {
				about = map[string]any{"until": o.until.UTC()}
			}
		}
		if o.noBackups {
			about["no_backups"] = true
		}
		if o.keepBackups {
			about["keep_backups"] = true
		}
		if o.called != "" {
			about["snapshot"] = o.called
		}
		if o.deletions != nil {
			about["max_deletions"] = *o.deletions
		}
	}
	switch operation {
	case "deploy", "plan", "adopt", "plan-adopt", "prune", "plan-prune", "replace", "plan-replace":
		if len(with) > 0 && with[0].source != (run.Source{}) {
			request["key"], request["version"] = with[0].source.Key, with[0].source.Version
			break
		}
		key := fmt.Sprintf("revisions/%s/%s/%d.zip", r.project, r.environment, r.next())
		request["key"], request["version"] = key, r.upload(key, w)
	case "retry", "pause", "continue", "cancel":
		about["run"] = of
	case "approve", "reject":
		about["run"], about["reason"], about["plan_digest"] = of, "not now", with[0].digest
		if with[0].step != "" {
			about["step"] = with[0].step
		}
	case "unlock":
		about["run"], about["reason"], about["who"] = of, "it is stuck", "somebody"
	}
	request["options"] = about
	body, err := json.Marshal(request)
	if err != nil {
		r.Fatal(err)
	}
	key := fmt.Sprintf("requests/%s/%s/%d.json", r.project, r.environment, r.next())
	id := engine.RunID("stackwright", key, r.put(key, body))
	if !slices.Contains([]string{"pause", "continue", "cancel", "unlock", "approve", "reject"}, operation) {
		r.requested = append(r.requested, id)
	}
	return id
}

func (r *emulators) ProjectFile(exists bool) { r.noProjectFile = !exists }

func (r *emulators) FewAtOnce(most int) {
	r.setKey("groups", fmt.Sprintf("{ few: { max_parallel: %d } }", most))
}

func (r *emulators) KeepSnapshots(p project.SnapshotPolicy) {
	var keys []string
	if p.Keep > 0 {
		keys = append(keys, fmt.Sprintf("keep: %d", p.Keep))
	}
	if p.For > 0 {
		keys = append(keys, "for: "+p.For.String())
	}
	r.setKey("snapshots", "{ "+strings.Join(keys, ", ")+" }")
}

func (r *emulators) MaxFailures(most int) { r.setKey("max_failures", fmt.Sprint(most)) }

func (r *emulators) MaxDeletions(deletions int) { r.setKey("max_deletions", fmt.Sprint(deletions)) }

func (r *emulators) OnFailure(word string) { r.setKey("on_failure", word) }

func (r *emulators) Rule(installed bool, level, when string) {
	policies := "{}"
	if when != "" {
		policies = fmt.Sprintf("{ rule: { %s: '%s', message: no way } }", level, strings.ReplaceAll(when, "'", "''"))
	}
	if installed {
		r.put("policies/rules.yaml", []byte("policies: "+policies))
		return
	}
	r.setKey("policies", policies)
}

// Schedules sets schedules that are due in the far future. Scenarios fire them.
func (r *emulators) Schedules(operations map[string]string) {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(operations)) {
		all = append(all, fmt.Sprintf("%s: { operation: %s, cron: 0 3 1 1 ? 2199 }", name, operations[name]))
	}
	r.setKey("schedules", "{ "+strings.Join(all, ", ")+" }")
}

func (r *emulators) Scheduled() []string {
	all, err := schedules.New(scheduler.NewFromConfig(r.direct(r.cloud.Schedules)), scheduleGroup).List(r.Context(), r.id())
	if err != nil {
		r.Fatal(err)
	}
	var names []string
	for _, s := range all {
		names = append(names, s.Schedule)
	}
	return names
}

func (r *emulators) Fire(name string) string {
	id := engine.RunID("schedule", r.id(), name, time.Now().UTC().Format(time.RFC3339))
	if !r.cloud.Schedules.Fire(scheduleGroup.Name, r.project+"."+r.environment+"."+name) {
		r.Fatalf("there is no schedule %s", name)
	}
	r.requested = append(r.requested, id)
	return id
}

// Timeout sets the timeout of a stack, in the defaults of the project file. Setting it
// twice for one stack makes a duplicate key, which Stackwright refuses.
func (r *emulators) Timeout(stack string, d time.Duration) {
	if stack == "" {
		r.setKey("timeout", d.String())
		return
	}
	of := strings.TrimSuffix(strings.TrimPrefix(r.keys["defaults"], "{ "), " }")
	if of != "" {
		of += ", "
	}
	r.setKey("defaults", fmt.Sprintf("{ %s%s: { timeout: %s } }", of, stack, d))
}

func (r *emulators) As(project string) { r.project = project }

// id is the ID of the project whose requests are sent.
func (r *emulators) id() string { return r.project + "@" + r.environment }

func (r *emulators) In(environment string) { r.environment = environment }

// Environments is backend.
func (r *emulators) Environments(names []string) { r.environments = names }

// Pipeline is backend.
func (r *emulators) Pipeline(p pipeline) {
	if p.order == nil {
		delete(r.keys, "promote")
		return
	}
	value := "order: [" + strings.Join(p.order, ", ") + "], alarms: [" + strings.Join(p.alarms, ", ") + "]"
	if p.soak > 0 {
		value += ", soak: " + p.soak.String()
	}
	r.setKey("promote", "{ "+value+" }")
}

// environmentsOf is the key environments: of a project file.
func (r *emulators) environmentsOf(w stacks) string {
	var all []string
	for _, name := range r.environments {
		var stacks []string
		for _, s := range w {
			stacks = append(stacks, fmt.Sprintf("%s: { stack_name: %s }", s.name, inEnvironment(name, s.physical)))
		}
		all = append(all, name+": { stacks: { "+strings.Join(stacks, ", ")+" } }")
	}
	return "{ " + strings.Join(all, ", ") + " }"
}

// setKey sets a top-level key in every project file from now on.
func (r *emulators) setKey(key, value string) {
	if r.keys == nil {
		r.keys = make(map[string]string)
	}
	r.keys[key] = value
}

func (r *emulators) next() int { r.count++; return r.count }

// put puts an object into the bucket and returns its version.
func (r *emulators) put(key string, body []byte) string {
	out, err := r.bucket.PutObject(r.Context(), &s3.PutObjectInput{Bucket: aws.String("stackwright"), Key: &key, Body: bytes.NewReader(body)})
	if err != nil {
		r.Fatal(err)
	}
	for r.speedup > 1 && r.cloud.Bus.Undelivered() > 0 { // events arrive in the order of puts
		time.Sleep(10 * time.Millisecond)
	}
	return aws.ToString(out.VersionId)
}

// upload puts a project archive into the bucket and returns the version of the object.
func (r *emulators) upload(key string, w stacks) string {
	files := w.files()
	files["stackwright.yaml"] = append([]byte("project: "+r.project+"\n"), files["stackwright.yaml"]...)
	keys := maps.Clone(r.keys)
	if keys == nil {
		keys = make(map[string]string)
	}
	for _, s := range w {
		maps.Copy(files, filesOf(hooksOf(r.hookLog.hooks, s.name)))
	}
	if len(r.environments) > 0 {
		keys["environments"] = r.environmentsOf(w)
	}
	if hooks := textOf(r.hookLog.hooks, ""); hooks != "" {
		keys["hooks"] = hooks
	}
	if of := strings.TrimSuffix(strings.TrimPrefix(keys["defaults"], "{ "), " }"); len(r.hookLog.hooks) > 0 {
		keys["defaults"] = "{ " + strings.Join(slices.DeleteFunc(append(r.hookDefaults(w), of), func(s string) bool { return s == "" }), ", ") + " }"
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		files["stackwright.yaml"] = append([]byte(key+": "+keys[key]+"\n"), files["stackwright.yaml"]...)
	}
	if r.noProjectFile {
		delete(files, "stackwright.yaml")
	}
	for _, s := range w {
		r.register(s.targets...)
	}
	body, err := archive.Pack(files)
	if err != nil {
		r.Fatal(err)
	}
	return r.put(key, body)
}

// file returns the name of the template. Of a very long name it has the beginning.
func (s stack) file() string { return s.name[:min(len(s.name), 40)] + ".yaml" }

// files returns the project file, without the name of the project, and the templates of w.
func (w stacks) files() archive.Files {
	var b strings.Builder
	var moved []string
	files := make(archive.Files)
	b.WriteString("stacks:\n")
	for _, s := range w {
		fmt.Fprintf(&b, "  %s:\n    template: %s\n", s.name, s.file())
		if s.moved == "" {
			fmt.Fprintf(&b, "    stack_name: %s\n", s.physical)
		} else {
			moved = append(moved, fmt.Sprintf("{ from: %s, to: %s }", s.moved, s.name))
		}
		if len(s.targets) > 0 {
			fmt.Fprintf(&b, "    targets: [%s]\n", strings.Join(s.targets, ", "))
		}
		if s.protected {
			b.WriteString("    protect: true\n")
		}
		for _, name := range s.options {
			fmt.Fprintf(&b, "    %s\n", stackOptions[name].yaml)
		}
		if s.approve != "" {
			fmt.Fprintf(&b, "    approve: %s\n", s.approve)
		}
		if s.adopts {
			b.WriteString("    adopt: true\n")
		}
		if s.importsTable {
			b.WriteString("    import: { Table: auto }\n")
		}
		if s.giver != "" {
			fmt.Fprintf(&b, "    move_from: { %s: { Table: Table } }\n", s.giver)
		}
		if s.express {
			b.WriteString("    deployment: express\n")
		}
		if len(s.needs) > 0 || s.restorable() != nil {
			b.WriteString("    parameters:\n")
		}
		for _, n := range s.needs {
			fmt.Fprintf(&b, "      %s: %s\n", n.param(), n.written())
		}
		for _, resource := range s.restorable() {
			fmt.Fprintf(&b, "      %s: ${restored:%s}\n", backupParameter+resource, resource)
		}
		files[s.file()] = s.template(w)
		if sim.HasNested(s.version) {
			files[s.innerFile()] = s.innerTemplate()
		}
	}
	fmt.Fprintf(&b, "moved: [%s]\n", strings.Join(moved, ", "))
	files["stackwright.yaml"] = []byte(b.String())
	return files
}

// template returns the template of s. It imports what s needs and has two outputs: the
// name of the stack, and a value that depends on the version and the parameters.
func (s stack) template(w stacks) []byte {
	var params, values, imports strings.Builder
	if len(s.needs) > 0 || s.restorable() != nil {
		params.WriteString("Parameters:\n")
	}
	for _, resource := range s.restorable() {
		fmt.Fprintf(&params, "  %s: { Type: String, Default: \"\" }\n", backupParameter+resource)
	}
	for i, n := range s.needs {
		if i == 0 {
			fmt.Fprintf(&values, ", !Ref %s", n.param())
		}
		fmt.Fprintf(&params, "  %s: { Type: String }\n", n.param())
		fmt.Fprintf(&imports, ", !Ref %s", n.param())
		if w.uses(s, n) {
			fmt.Fprintf(&imports, ", !ImportValue %s-Name", w.named(n.name).physical)
		}
	}
	for i, resource := range s.restorable() {
		if i == 0 {
			params.WriteString("Conditions:\n")
		}
		fmt.Fprintf(&params, "  Restored%s: !Not [!Equals [!Ref %s, \"\"]]\n", resource, backupParameter+resource)
	}
	exports := ""
	for _, x := range s.exports {
		if _, nested := strings.CutPrefix(x, sim.InNested); !nested {
			exports += exportText(x)
		}
	}
	for _, x := range s.imports {
		if _, nested := strings.CutPrefix(x, sim.InNested); !nested {
			fmt.Fprintf(&imports, ", !ImportValue %s", x)
		}
	}
	return fmt.Appendf(nil, `Description: %s
%sResources:
  Topic:
    Type: AWS::SNS::Topic
    Properties: { %sDisplayName: !Join [" ", [%s%s]] }
%s%sOutputs:
  Name:
    Value: !Ref AWS::StackName
    Export: { Name: !Sub "${AWS::StackName}-Name" }
  Value: { Value: !Join [".", [%s%s]] }
%s`, s.version, params.String(), s.topicName(), s.version, imports.String(), s.tableText(), s.groupsText(), s.version, values.String(), exports)
}

// groupsText are the Auto Scaling groups, databases, tables with data and ECS services of a stack, in the section Resources of its template.
func (s stack) groupsText() string {
	var text strings.Builder
	for i, name := range sim.GroupsOf(s.physical, s.version) {
		fmt.Fprintf(&text, "  Group%d: { Type: \"AWS::AutoScaling::AutoScalingGroup\", Properties: { AutoScalingGroupName: %s, MinSize: \"%d\", MaxSize: \"%d\", DesiredCapacity: \"%d\" } }\n", i, name, sim.FirstSize.Min, sim.FirstSize.Max, sim.FirstSize.Desired)
	}
	if both := sim.DatabasesOf(s.physical, s.version); both != nil {
		properties := "DBInstanceIdentifier: " + both[0]
		if s.restorable() != nil { // CloudFormation chooses its name, because it replaces the database
			properties = "DBSnapshotIdentifier: " + restoredValue("Database")
		}
		fmt.Fprintf(&text, "  Database: { Type: \"AWS::RDS::DBInstance\", Properties: { %s, Engine: mysql } }\n", properties)
		fmt.Fprintf(&text, "  Cluster: { Type: \"AWS::RDS::DBCluster\", Properties: { DBClusterIdentifier: %s, Engine: aurora-mysql } }\n", both[1])
	}
	if both := sim.TablesOf(s.physical, s.version); both != nil {
		fmt.Fprintf(&text, "  Items: { Type: \"AWS::DynamoDB::Table\", Properties: { TableName: %s, "+
			"KeySchema: [{ AttributeName: id, KeyType: HASH }] } }\n", both[0])
		fmt.Fprintf(&text, "  Global: { Type: \"AWS::DynamoDB::GlobalTable\", Properties: { TableName: %s, Replicas: [{ Region: us-east-1 }] } }\n", both[1])
	}
	if sim.HasNested(s.version) {
		fmt.Fprintf(&text, "  %s: { Type: \"AWS::CloudFormation::Stack\", Properties: { TemplateURL: %s } }\n", sim.Nested, s.innerFile())
		return text.String()
	}
	for i, arn := range sim.ServicesOf(s.physical, s.version) {
		fmt.Fprintf(&text, "  Tasks%d: { Type: \"AWS::ECS::TaskDefinition\", Properties: { Cpu: %d, Memory: %d } }\n", i, sim.TaskCPU, sim.TaskMemory)
		fmt.Fprintf(&text, "  Service%d: { Type: \"AWS::ECS::Service\", Properties: { ServiceName: %s, Cluster: cluster, DesiredCount: %d, LaunchType: FARGATE, TaskDefinition: !Ref Tasks%d } }\n", i, arn[strings.LastIndexByte(arn, '/')+1:], sim.FirstTasks, i)
	}
	for _, one := range sim.StoresOf(s.physical, s.version) {
		fmt.Fprintf(&text, "  %s: { Type: %q, Properties: { %s } }\n", one.ID, one.Type, storeProperties[one.Type])
	}
	for i, kind := range slices.Sorted(maps.Keys(sim.MachinesOf(s.physical, s.version))) {
		if storeProperties[kind] != "" && strings.HasPrefix(s.version, "w") {
			continue // it is there already
		}
		fmt.Fprintf(&text, "  Machine%d: { Type: %q, Properties: {%s} }\n", i, kind, map[string]string{
			"AWS::Redshift::Cluster": warehouse,
			"AWS::EC2::Instance":     " InstanceType: " + sim.InstanceType + " ", "AWS::SageMaker::NotebookInstance": " NotebookInstanceName: Lab-" + s.physical +
				", InstanceType: ml.t3.medium, RoleArn: \"arn:aws:iam::111122223333:role/lab\" ", // its ARN has no capitals
		}[kind])
	}
	return text.String()
}

// innerFile is the name of the template of the stack that is nested in s.
func (s stack) innerFile() string { return "nested/" + s.file() }

// innerTemplate is that template.
func (s stack) innerTemplate() []byte {
	services := s
	services.version = "s" + s.version[1:]
	says, outputs := "expected", ""
	for _, x := range s.imports {
		if name, nested := strings.CutPrefix(x, sim.InNested); nested {
			says = "!ImportValue " + name
		}
	}
	text := "Resources:\n  Topic: { Type: \"AWS::SNS::Topic\", Properties: { DisplayName: " + says + " } }\n" + services.groupsText()
	for _, x := range s.exports {
		if name, nested := strings.CutPrefix(x, sim.InNested); nested {
			outputs += exportText(name)
		}
	}
	if outputs != "" {
		text += "Outputs:\n" + outputs
	}
	return []byte(text)
}

// exportText is an output that is exported.
func exportText(name string) string {
	return fmt.Sprintf("  X%s: { Value: !Ref Topic, Export: { Name: %s } }\n", name, name)
}

// warehouse is what a cluster of Redshift must have.
const warehouse = "ClusterType: single-node, NodeType: ra3.large, DBName: dev, MasterUsername: admin"

// storeProperties are the properties of what sim.StoresOf has, by type. CloudFormation chooses the names.
var storeProperties = map[string]string{
	"AWS::Redshift::Cluster": warehouse + ", SnapshotIdentifier: " + restoredValue("Warehouse"),
	"AWS::EFS::FileSystem":   "Encrypted: true",
	"AWS::EC2::Volume":       "AvailabilityZone: us-east-1a, Size: 1, SnapshotId: " + restoredValue("Volume"),
}

// restoredValue is the value of the property that names the backup from which a resource is restored.
func restoredValue(resource string) string {
	return "!If [Restored" + resource + ", !Ref " + backupParameter + resource + ", !Ref AWS::NoValue]"
}

// backupParameter begins the name of the parameter that names the backup from which a resource of a stack is restored. Its logical ID follows.
const backupParameter = "BackupOf"

// restorable lists the resources of the stack that have that parameter: a version that starts with the letter b has databases, and one that starts with w other
// stores.
func (s stack) restorable() []string {
	switch s.version[:min(1, len(s.version))] {
	case "b":
		return []string{"Database"}
	case "w":
		return []string{"Volume", "Warehouse"}
	}
	return nil
}

// topicName is the property of the topic that gives it a name: a version that starts with the letter r has one.
func (s stack) topicName() string {
	if strings.HasPrefix(s.version, "r") {
		return "TopicName: " + s.physical + "-" + s.version + ", "
	}
	return ""
}

// ApprovePlans is backend.
func (r *emulators) ApprovePlans(expires time.Duration) {
	if expires == 0 {
		delete(r.keys, "approve_plan")
		delete(r.keys, "expires")
		return
	}
	r.setKey("approve_plan", "true")
	r.setKey("expires", expires.String())
}

package stepfn_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdkautoscaling "github.com/aws/aws-sdk-go-v2/service/autoscaling"
	sdkbackup "github.com/aws/aws-sdk-go-v2/service/backup"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	sdkcloudwatch "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	sdkdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	sdkec2 "github.com/aws/aws-sdk-go-v2/service/ec2"
	sdkecs "github.com/aws/aws-sdk-go-v2/service/ecs"
	sdkrds "github.com/aws/aws-sdk-go-v2/service/rds"
	rdstypes "github.com/aws/aws-sdk-go-v2/service/rds/types"
	sdkredshift "github.com/aws/aws-sdk-go-v2/service/redshift"
	sdks3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sdksts "github.com/aws/aws-sdk-go-v2/service/sts"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/hook"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/suspend"
)

// A testHook is a hook of a scenario.
type testHook struct {
	stack, moment, name, kind string // no stack: of the project
	key                       string
	value                     string // what is called, if hookCalls does not say
	processes                 string // of Auto Scaling groups
	bucket                    string // into which it uploads
	deletes                   bool   // other objects of the bucket
	ignored                   bool
	timeout                   time.Duration
}

// The things that hooks of scenarios call, by their types.
const (
	hookFunction = "hook-call" // for hooks that invoke
	hookWork     = "hook-work" // for the state machine
)

var hookCalls = map[string]string{
	"invoke": arn(hookFunction),
	"start":  "arn:aws:states:us-east-1:000000000000:stateMachine:hook",
	"event":  "arn:aws:events:us-east-1:000000000000:event-bus/default",

	"webhook":    "https://hooks.example.com/deploys",
	"wait_alarm": "arn:aws:cloudwatch:*:*:alarm:errors", // for the setting: a hook names its alarm

	"suspend_scaling": "arn:aws:autoscaling:*:autoScalingGroup:*:autoScalingGroupName/group-*", // for the setting
	"resume_scaling":  "arn:aws:autoscaling:us-east-1:*:autoScalingGroup:*:autoScalingGroupName/group-*",

	"empty_bucket": "*@*=arn:aws:s3:::bucket-*", // for the setting: a hook names its bucket, and so do those that upload
}

// hookSecret is with what hooks of scenarios sign their requests.
const hookSecret = "arn:aws:secretsmanager:us-east-1:000000000000:secret:hook-AbCdEf"

// alarmPrefix begins the ARNs of alarms.
const alarmPrefix = "arn:aws:cloudwatch:us-east-1:000000000000:alarm:"

// hook is the hook as its file declares it.
func (h testHook) hook() project.Hook {
	moments := project.StackMoments()
	if h.stack == "" {
		moments = project.ProjectMoments()
	}
	made := project.Hook{
		Name: h.name, Moments: moments[project.Moment(h.moment)], Type: h.kind, Ignore: h.ignored, Timeout: project.Timeout(h.timeout),
		Values: map[string]project.Text{h.kind: project.Literal(cmp.Or(h.value, hookCalls[h.kind]))},
	}
	if h.kind == "webhook" {
		made.Values["secret"] = project.Literal(hookSecret)
	}
	if h.bucket != "" {
		made.Values["bucket"] = project.Literal(h.bucket)
	}
	if h.deletes {
		made.Values["delete"] = project.Literal("true")
	}
	if h.processes != "" {
		made.Values["processes"] = project.Literal(h.processes)
	}
	if t, ok := hook.Named(h.kind); ok {
		made.Loses = t.Loses
		for _, k := range t.Keys {
			if made.Values[k.Name].String() == "true" {
				made.Loses = k.Loses
			}
		}
	}
	if h.key != "" {
		made.CacheKey = project.Literal(h.key)
	}
	return made
}

// text is the hook in a project file.
func (h testHook) text() string {
	text := fmt.Sprintf("name: %s, %s: %q", h.name, h.kind, cmp.Or(h.value, hookCalls[h.kind]))
	if h.kind == "webhook" {
		text += ", secret: \"" + hookSecret + "\""
	}
	if h.bucket != "" {
		text += ", bucket: " + h.bucket
	}
	if h.deletes {
		text += ", delete: true"
	}
	if h.processes != "" {
		text += ", processes: \"" + h.processes + "\""
	}
	if h.key != "" {
		text += ", cache_key: " + h.key
	}
	if h.ignored {
		text += ", on_error: ignore"
	}
	if h.timeout > 0 {
		text += ", timeout: " + h.timeout.String()
	}
	return "{ " + text + " }"
}

// withHook returns hooks with another one, in the place of one with its name.
func withHook(all []testHook, h testHook) []testHook {
	return append(slices.DeleteFunc(slices.Clone(all), func(o testHook) bool { return o.stack == h.stack && o.name == h.name }), h)
}

// textOf is the hooks of a stack, or of deploys, in a project file; "" if there are none.
func textOf(all []testHook, stack string) string {
	by := make(map[string][]string)
	for _, h := range all {
		if h.stack == stack {
			by[h.moment] = append(by[h.moment], h.text())
		}
	}
	var moments []string
	for _, m := range slices.Sorted(maps.Keys(by)) {
		moments = append(moments, fmt.Sprintf("%s: [%s]", m, strings.Join(by[m], ", ")))
	}
	if moments == nil {
		return ""
	}
	return "{ " + strings.Join(moments, ", ") + " }"
}

// hooked is the words of scenarios about hooks.
type hooked interface {
	Hook(h testHook)                       // in project files from now on
	Unhook(name string)                    // no longer
	FailHook(name string)                  // its next call fails
	SlowHook(name string, d time.Duration) // the executions that it starts take so long
	HookFault(name string, m sim.Fault)    // of its next call
	Alarm(name, state string)              // an alarm has this state from now on; it is created first
	Fill(bucket string, objects int)       // a bucket has so many objects; it is created first
	Objects(bucket string) int             // how many it has
	Contents(bucket string) []string       // what it has, as key=body, sorted
	Group(name string)                     // a stack of somebody else creates an Auto Scaling group
	Suspended(group string) []string       // its processes that are suspended, sorted
	Size(group string) suspend.Size        // its sizes
	Resize(group string, to suspend.Size)  // a user sets them
	Database(name string) string           // its status
	Tasks(service string) int              // of an ECS service
	Switches() suspend.Services            // what stops and starts resources
	Scale(service string, tasks int)       // a user sets how many it has
	GroupFault(group string, m sim.Fault)  // of the next request that does so for Stackwright
	FailBackup(database string)            // its next backup fails
	LagBackups(d time.Duration)            // lists show each backup of a table so late, from now on
	Backups() []string                     // the ARNs of the backups that exist, sorted
	Called() []string                      // the names of the hooks that were called since the last call
}

// hooksOf returns the hooks of a stack, in the order of their moments.
func hooksOf(all []testHook, stack string) []project.Hook {
	var made []project.Hook
	some := slices.DeleteFunc(slices.Clone(all), func(h testHook) bool { return h.stack != stack })
	slices.SortStableFunc(some, func(a, b testHook) int { return project.Moment(a.moment).Compare(project.Moment(b.moment)) })
	for _, h := range some {
		made = append(made, h.hook())
	}
	return made
}

// closedAt returns the hook with a window that is closed at a time and on the next days, if it has a window and does not say which.
func (h testHook) closedAt(now time.Time) testHook {
	if h.value == "opening" { // closed for ten minutes from now on, and the same minutes of each day
		h.value = "daily " + now.UTC().Add(10*time.Minute).Format("15:04") + "-" + now.UTC().Format("15:04")
	}
	if h.kind == "window" && h.value == "" {
		h.value = strings.ToLower(now.UTC().AddDate(0, 0, 3).Weekday().String()[:3]) + " 00:00-24:00"
	}
	return h
}

func (p *memoryBackend) Hook(h testHook) { p.hooks = withHook(p.hooks, h.closedAt(p.Now())) }
func (p *memoryBackend) Unhook(name string) {
	p.hooks = slices.DeleteFunc(p.hooks, func(h testHook) bool { return h.name == name })
}
func (p *memoryBackend) FailHook(name string) { p.Hooks.Fail[name]++ }
func (p *memoryBackend) SlowHook(name string, d time.Duration) {
	p.Hooks.Seconds[name] = d.Seconds()
}
func (p *memoryBackend) HookFault(name string, m sim.Fault) { p.faults["hook "+name] = m }
func (p *memoryBackend) Alarm(name, state string)           { p.Hooks.SetAlarm(name, state) }
func (p *memoryBackend) Fill(bucket string, objects int) {
	p.Hooks.Buckets[bucket], p.Hooks.Objects[bucket] = objects, make(map[string]string)
}
func (p *memoryBackend) Objects(bucket string) int            { return p.Hooks.Buckets[bucket] }
func (p *memoryBackend) Group(name string)                    { p.Hooks.Suspended[name] = nil }
func (p *memoryBackend) Suspended(group string) []string      { return p.Hooks.Suspended[group] }
func (p *memoryBackend) Size(group string) suspend.Size       { return p.Cloud.Size(group) }
func (p *memoryBackend) Resize(group string, to suspend.Size) { p.Cloud.Sizes[group] = to }
func (p *memoryBackend) GroupFault(group string, m sim.Fault) { p.faults["resize "+group] = m }
func (p *memoryBackend) Database(name string) string          { return p.Cloud.DatabaseStatus(name) }
func (p *memoryBackend) Tasks(service string) int             { return p.Cloud.TasksOf(sim.ServiceARN(service)) }
func (p *memoryBackend) Scale(service string, tasks int) {
	p.Cloud.Tasks[sim.ServiceARN(service)] = tasks
}
func (p *memoryBackend) LagBackups(d time.Duration) { p.Cloud.BackupsLag = d }

func (p *memoryBackend) FailBackup(name string) { p.Cloud.FailBackup(name) }
func (p *memoryBackend) Backups() []string      { return p.Cloud.Backups() }
func (p *memoryBackend) Called() []string {
	var names []string
	for _, c := range p.Hooks.Calls[p.hooksSeen:] {
		names = append(names, c.Message.Hook)
	}
	p.hooksSeen = len(p.Hooks.Calls)
	return names
}

// A hookLog is what the hooks of the emulators have called.
type hookLog struct {
	mu     sync.Mutex
	hooks  []testHook
	called []hook.Message
	seen   int
	fail   map[string]int
	slow   map[string]time.Duration
	faults map[string]sim.Fault
}

// record adds a call, and returns how long it takes and whether it fails.
func (l *hookLog) record(m hook.Message) (slow time.Duration, fails bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.called = append(l.called, m)
	if fails = l.fail[m.Hook] > 0; fails {
		l.fail[m.Hook]--
	}
	return l.slow[m.Hook], fails
}

// fault takes the fault of the next call of a hook.
func (l *hookLog) fault(payload []byte) sim.Fault {
	var m hook.Message
	if json.Unmarshal(payload, &m) != nil {
		return sim.None
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.faults[m.Hook]
	delete(l.faults, m.Hook)
	return f
}

// functions are the functions that hooks call.
func (l *hookLog) functions() map[string]any {
	call := func(work bool) any {
		return func(_ context.Context, m hook.Message) (struct{}, error) {
			slow, fails := l.record(m)
			if work {
				time.Sleep(slow)
			}
			if fails {
				return struct{}{}, errors.New("it was to fail")
			}
			return struct{}{}, nil
		}
	}
	return map[string]any{hookFunction: call(false), hookWork: call(true)}
}

// SecretValue implements hook.Secrets.
func (l *hookLog) SecretValue(context.Context, project.Target, string) ([]byte, error) {
	return []byte("the secret of all hooks"), nil
}

// Post implements hook.Webhooks.
func (l *hookLog) Post(_ context.Context, _ string, _ map[string]string, body []byte) (int, error) {
	var m hook.Message
	if err := json.Unmarshal(body, &m); err != nil {
		return 0, err
	}
	lost := l.fault(body) // the only fault that is played here
	if _, fails := l.record(m); fails {
		return http.StatusBadRequest, nil
	}
	if lost != sim.None {
		return 0, fault.New(fault.Unavailable, "the answer is lost")
	}
	return http.StatusOK, nil
}

func (r *emulators) Hook(h testHook) {
	r.hookLog.hooks = withHook(r.hookLog.hooks, h.closedAt(time.Now()))
	if h.kind != "start" {
		return
	}
	definition := fmt.Sprintf(`{"StartAt":"Work","States":{"Work":{"Type":"Task","Resource":%q,"End":true}}}`, arn(hookWork))
	_, err := sfn.NewFromConfig(r.direct(r.cloud.StateMachines)).CreateStateMachine(r.Context(), &sfn.CreateStateMachineInput{
		Name: aws.String("hook"), Definition: &definition, RoleArn: aws.String("arn:aws:iam::000000000000:role/hook"),
	})
	if err != nil {
		r.Fatal(err)
	}
}

func (r *emulators) Unhook(name string) {
	r.hookLog.hooks = slices.DeleteFunc(r.hookLog.hooks, func(h testHook) bool { return h.name == name })
}
func (r *emulators) FailHook(name string)                  { r.hookLog.fail[name]++ }
func (r *emulators) SlowHook(name string, d time.Duration) { r.hookLog.slow[name] = d / r.speedup }
func (r *emulators) HookFault(name string, m sim.Fault)    { r.hookLog.faults[name] = m }

// Alarm sets the state of an alarm, which a stack of somebody else has: in the default target, or as errors@eu.
func (r *emulators) Alarm(name, state string) {
	name, target, _ := strings.Cut(name, "@")
	client := sdkcloudwatch.NewFromConfig(r.configIn(target))
	found, err := client.DescribeAlarms(r.Context(), &sdkcloudwatch.DescribeAlarmsInput{AlarmNames: []string{name}})
	if err != nil {
		r.Fatal(err)
	}
	if len(found.MetricAlarms) == 0 {
		r.createResourceIn(target, "alarm-"+name, "AWS::CloudWatch::Alarm", "AlarmName", name)
	}
	in := &sdkcloudwatch.SetAlarmStateInput{AlarmName: &name, StateValue: types.StateValue(state), StateReason: aws.String("a scenario")}
	if _, err := client.SetAlarmState(r.Context(), in); err != nil {
		r.Fatal(err)
	}
}

// configIn is the configuration of a client in a target, whose role it has assumed.
func (r *emulators) configIn(target string) aws.Config {
	config := r.cloud.Config()
	a, placed := accesses[target]
	if !placed {
		return config
	}
	out, err := sdksts.NewFromConfig(config).AssumeRole(r.Context(), &sdksts.AssumeRoleInput{RoleArn: &a.Role, RoleSessionName: aws.String("somebody"), ExternalId: &a.ExternalID})
	if err != nil {
		r.Fatal(err)
	}
	c := out.Credentials
	config.Region = a.Region
	config.Credentials = credentials.NewStaticCredentialsProvider(aws.ToString(c.AccessKeyId), aws.ToString(c.SecretAccessKey), aws.ToString(c.SessionToken))
	return config
}

// Group creates an Auto Scaling group.
func (r *emulators) Group(name string) {
	r.createResource(name, "AWS::AutoScaling::AutoScalingGroup", "AutoScalingGroupName", name)
}

func (r *emulators) Suspended(group string) []string {
	out, err := sdkautoscaling.NewFromConfig(r.cloud.Config()).DescribeAutoScalingGroups(r.Context(), &sdkautoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{group}})
	if err != nil || len(out.AutoScalingGroups) != 1 {
		r.Fatal(out, err)
	}
	var all []string
	for _, p := range out.AutoScalingGroups[0].SuspendedProcesses {
		all = append(all, *p.ProcessName)
	}
	return all
}

// Size describes a group, whose instances are all in service.
func (r *emulators) Size(group string) suspend.Size {
	out, err := sdkautoscaling.NewFromConfig(r.cloud.Config()).DescribeAutoScalingGroups(r.Context(), &sdkautoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{group}})
	if err != nil || len(out.AutoScalingGroups) != 1 {
		r.Fatal(out, err)
	}
	g := out.AutoScalingGroups[0]
	return suspend.Size{Min: int(*g.MinSize), Max: int(*g.MaxSize), Desired: int(*g.DesiredCapacity)}
}

func (r *emulators) Resize(group string, to suspend.Size) {
	_, err := sdkautoscaling.NewFromConfig(r.cloud.Config()).UpdateAutoScalingGroup(r.Context(), &sdkautoscaling.UpdateAutoScalingGroupInput{
		AutoScalingGroupName: &group, MinSize: aws.Int32(int32(to.Min)), MaxSize: aws.Int32(int32(to.Max)), DesiredCapacity: aws.Int32(int32(to.Desired)),
	})
	if err != nil {
		r.Fatal(err)
	}
}

// Database describes a DB instance, or else a DB cluster.
func (r *emulators) Database(name string) string {
	client := sdkrds.NewFromConfig(r.cloud.Config())
	one, err := client.DescribeDBInstances(r.Context(), &sdkrds.DescribeDBInstancesInput{Filters: []rdstypes.Filter{{Name: aws.String("db-instance-id"), Values: []string{name}}}})
	if err == nil && len(one.DBInstances) == 1 {
		return *one.DBInstances[0].DBInstanceStatus
	}
	cluster, err := client.DescribeDBClusters(r.Context(), &sdkrds.DescribeDBClustersInput{Filters: []rdstypes.Filter{{Name: aws.String("db-cluster-id"), Values: []string{name}}}})
	if err != nil || len(cluster.DBClusters) != 1 {
		r.Fatal(cluster, err)
	}
	return *cluster.DBClusters[0].Status
}

// Tasks describes an ECS service.
func (r *emulators) Tasks(service string) int {
	out, err := sdkecs.NewFromConfig(r.cloud.Config()).DescribeServices(r.Context(), &sdkecs.DescribeServicesInput{Cluster: aws.String("cluster"), Services: []string{sim.ServiceARN(service)}})
	if err != nil || len(out.Services) != 1 {
		r.Fatal(out, err)
	}
	return int(out.Services[0].DesiredCount)
}

func (r *emulators) Scale(service string, tasks int) {
	_, err := sdkecs.NewFromConfig(r.cloud.Config()).UpdateService(r.Context(), &sdkecs.UpdateServiceInput{Cluster: aws.String("cluster"), Service: aws.String(sim.ServiceARN(service)), DesiredCount: aws.Int32(int32(tasks))})
	if err != nil {
		r.Fatal(err)
	}
}

// Switches are the adapters.
func (r *emulators) Switches() suspend.Services { return testGround{r}.Services() }

// LagBackups is backend.
func (r *emulators) LagBackups(d time.Duration) { r.cloud.LagBackups(d / r.speedup) }

// FailBackup is backend.
func (r *emulators) FailBackup(database string) { r.cloud.FailBackup(database) }

// Backups is backend.
func (r *emulators) Backups() []string {
	client := sdkrds.NewFromConfig(r.cloud.Config())
	one, err := client.DescribeDBSnapshots(r.Context(), &sdkrds.DescribeDBSnapshotsInput{})
	all, other := client.DescribeDBClusterSnapshots(r.Context(), &sdkrds.DescribeDBClusterSnapshotsInput{})
	if err := errors.Join(err, other); err != nil {
		r.Fatal(err)
	}
	var arns []string
	for _, s := range one.DBSnapshots {
		arns = append(arns, *s.DBSnapshotArn)
	}
	for _, s := range all.DBClusterSnapshots {
		arns = append(arns, *s.DBClusterSnapshotArn)
	}
	tables, err := sdkdynamodb.NewFromConfig(r.cloud.Config()).ListBackups(r.Context(), &sdkdynamodb.ListBackupsInput{})
	if err != nil {
		r.Fatal(err)
	}
	for _, s := range tables.BackupSummaries {
		arns = append(arns, *s.BackupArn)
	}
	warehouses, err := sdkredshift.NewFromConfig(r.cloud.Config()).DescribeClusterSnapshots(r.Context(), &sdkredshift.DescribeClusterSnapshotsInput{})
	if err != nil {
		r.Fatal(err)
	}
	for _, s := range warehouses.Snapshots {
		arns = append(arns, *s.SnapshotArn)
	}
	volumes, err := sdkec2.NewFromConfig(r.cloud.Config()).DescribeSnapshots(r.Context(), &sdkec2.DescribeSnapshotsInput{})
	if err != nil {
		r.Fatal(err)
	}
	for _, s := range volumes.Snapshots {
		arns = append(arns, "arn:aws:ec2:us-east-1::snapshot/"+*s.SnapshotId)
	}
	jobs, err := sdkbackup.NewFromConfig(r.cloud.Config()).ListBackupJobs(r.Context(), &sdkbackup.ListBackupJobsInput{})
	if err != nil {
		r.Fatal(err)
	}
	for _, j := range jobs.BackupJobs {
		_, err := testGround{r}.Backups().Files.Backup(r.Context(), testGround{r}.Target(), *j.RecoveryPointArn)
		switch {
		case err == nil:
			arns = append(arns, *j.RecoveryPointArn)
		case !fault.Is(err, fault.Missing):
			r.Fatal(err)
		}
	}
	slices.Sort(arns)
	return arns
}

// GroupFault does nothing: only the backend in memory crashes functions at a request to Auto Scaling.
func (r *emulators) GroupFault(string, sim.Fault) {}

// createResource creates a stack with a resource of a type that has a name.
func (r *emulators) createResource(physical, kind, property, name string) {
	r.createResourceIn("", physical, kind, property, name)
}

// createResourceIn does so in a target.
func (r *emulators) createResourceIn(target, physical, kind, property, name string) {
	outside := r.outsideIn(target)
	unchecked := func(o *cloudformation.Options) { // it has none of the other properties that its type requires
		o.APIOptions = append(o.APIOptions, smithyhttp.SetHeaderValue("X-Stackwright-Unchecked", kind))
	}
	body := fmt.Sprintf(`{"Resources": {"One": {"Type": %q, "Properties": {%q: %q}}}}`, kind, property, name)
	if _, err := outside.CreateStack(r.Context(), &cloudformation.CreateStackInput{StackName: &physical, TemplateBody: &body}, unchecked); err != nil {
		r.Fatal(err)
	}
	if err := cloudformation.NewStackCreateCompleteWaiter(outside).Wait(r.Context(), &cloudformation.DescribeStacksInput{StackName: &physical}, time.Hour); err != nil {
		r.Fatal(err)
	}
}

// Fill puts objects into a bucket. Each is a version and a delete marker.
func (r *emulators) Fill(bucket string, objects int) {
	if err := r.cloud.Objects.MakeBucket(bucket); err != nil {
		r.Fatal(err)
	}
	client := r.bucket
	for i := range objects {
		key := aws.String(fmt.Sprint("object", i))
		_, put := client.PutObject(r.Context(), &sdks3.PutObjectInput{Bucket: &bucket, Key: key, Body: strings.NewReader("data")})
		_, del := client.DeleteObject(r.Context(), &sdks3.DeleteObjectInput{Bucket: &bucket, Key: key})
		if err := errors.Join(put, del); err != nil {
			r.Fatal(err)
		}
	}
}

func (r *emulators) Objects(bucket string) int {
	out, err := r.bucket.ListObjectVersions(r.Context(), &sdks3.ListObjectVersionsInput{Bucket: &bucket})
	if err != nil {
		r.Fatal(err)
	}
	return max(len(out.Versions), len(out.DeleteMarkers))
}

func (r *emulators) Called() []string {
	r.hookLog.mu.Lock()
	defer r.hookLog.mu.Unlock()
	var names []string
	for _, m := range r.hookLog.called[r.hookLog.seen:] {
		names = append(names, m.Hook)
	}
	r.hookLog.seen = len(r.hookLog.called)
	return names
}

// hookDefaults are the hooks of the stacks, as entries of the defaults of a project file.
func (r *emulators) hookDefaults(w stacks) (defaults []string) {
	var stacks []string
	for _, h := range r.hookLog.hooks {
		if h.stack != "" && slices.ContainsFunc(w, func(s stack) bool { return s.name == h.stack }) && !slices.Contains(stacks, h.stack) {
			stacks = append(stacks, h.stack)
		}
	}
	for _, name := range stacks {
		defaults = append(defaults, fmt.Sprintf("%s: { hooks: %s }", name, textOf(r.hookLog.hooks, name)))
	}
	return defaults
}

// hook declares a hook.
func (s *scenario) hook(st statement) { s.Hook(parseHook(st.args)) }

// parseHook reads the arguments of the word hook.
func parseHook(args []string) testHook {
	h := testHook{kind: "invoke"}
	if len(args) > 1 && !slices.Contains(hookMoments(), args[0]) {
		h.stack, args = args[0], args[1:]
	}
	h.moment, h.name, args = args[0], args[1], args[2:]
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "starting":
			h.kind = "start"
		case "putting":
			h.kind = "event"
		case "posting":
			h.kind = "webhook"
		case "open":
			h.kind, h.value = "window", "daily 00:00-24:00"
		case "opening":
			h.kind, h.value = "window", "opening"
		case "closed":
			h.kind = "window"
		case "watching":
			i++
			h.kind, h.value = "wait_alarm", alarmPrefix+args[i]
		case "emptying":
			i++
			h.kind, h.value = "empty_bucket", args[i]
		case "uploading", "mirroring":
			h.kind, h.deletes = "upload", args[i] == "mirroring"
			h.bucket, h.value, i = args[i+1], args[i+2], i+2
		case "suspending", "resuming":
			h.kind = map[string]string{"suspending": "suspend_scaling", "resuming": "resume_scaling"}[args[i]]
			h.value, h.processes, i = args[i+1], args[i+2], i+2
		case "ignored":
			h.ignored = true
		case "keyed":
			i++
			h.key = args[i]
		case "within":
			i++
			h.timeout = seconds(args[i])
		}
	}
	return h
}

// hookMoments are the moments as files write them.
func hookMoments() []string {
	all := maps.Clone(project.StackMoments())
	maps.Copy(all, project.ProjectMoments())
	var names []string
	for m := range all {
		names = append(names, string(m))
	}
	slices.Sort(names)
	return names
}

func (s *scenario) unhook(st statement) { s.Unhook(st.args[0]) }

func (s *scenario) failHook(st statement) { s.FailHook(st.args[0]) }

func (s *scenario) slowHook(st statement) { s.SlowHook(st.args[0], seconds(st.args[1])) }

func (s *scenario) alarm(st statement) { s.Alarm(st.args[0], st.args[1]) }

func (s *scenario) fill(st statement) { s.Fill(st.args[0], number(st.args[1])) }

func (s *scenario) holdsObjects(st statement) {
	s.expect(fmt.Sprint(s.Objects(st.args[0])), st.args[1])
}

func (s *scenario) group(st statement) { s.Group(st.args[0]) }

func (s *scenario) suspended(st statement) {
	s.expect(strings.Join(s.Suspended(st.args[0]), " "), strings.Join(st.args[1:], " "))
}

// sizes reads a minimum, a maximum and a desired capacity.
func sizes(args []string) suspend.Size {
	return suspend.Size{Min: number(args[0]), Max: number(args[1]), Desired: number(args[2])}
}

func (s *scenario) resize(st statement) { s.Resize(st.args[0], sizes(st.args[1:])) }

func (s *scenario) size(st statement) {
	s.expect(fmt.Sprintf("%+v", s.Size(st.args[0])), fmt.Sprintf("%+v", sizes(st.args[1:])))
}

func (s *scenario) database(st statement) { s.expect(s.Database(st.args[0]), st.args[1]) }

func (s *scenario) tasks(st statement) { s.expect(fmt.Sprint(s.Tasks(st.args[0])), st.args[1]) }

func (s *scenario) scale(st statement) { s.Scale(st.args[0], number(st.args[1])) }

// state checks the state of what a stack has of a type.
func (s *scenario) state(st statement) {
	record, in := s.Recorded()[st.args[1]], testGround{}.Target()
	ids, err := s.Switches().Stacks.ResourcesByType(s.Context(), in, record.StackID)
	if err != nil {
		s.Fatal(err)
	}
	k, _ := suspend.Named(st.args[0])
	seen, err := k.See(s.Context(), s.Switches(), in, ids[st.args[0]])
	if err != nil {
		s.Fatal(err)
	}
	var states []string
	for _, one := range seen {
		states = append(states, string(one.State))
	}
	s.expect(strings.Join(sorted(states), " "), strings.Join(st.args[2:], " "))
}

func (s *scenario) groupFault(st statement) { s.GroupFault(st.args[1], scenarioFaults[st.args[0]]) }

func (s *scenario) asleep(st statement) {
	var names []string
	for name, r := range s.Recorded() {
		if r.Suspended != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	s.expect(strings.Join(names, " "), strings.Join(st.args, " "))
}

func (s *scenario) hookFault(st statement) {
	s.HookFault(st.args[1], scenarioFaults[st.args[0]])
}

func (s *scenario) called(st statement) {
	s.expect(strings.Join(s.Called(), " "), strings.Join(st.args, " "))
}

// takeHookOption takes one option of a hook.
func takeHookOption(_ *reader, _ *statement, args []string) int {
	switch {
	case len(args) == 0:
		return 0
	case slices.Contains([]string{"starting", "putting", "posting", "ignored", "open", "opening", "closed"}, args[0]):
		return 1
	case slices.Contains([]string{"keyed", "within", "watching", "emptying"}, args[0]) && len(args) > 1:
		return 2
	case slices.Contains([]string{"suspending", "resuming", "uploading", "mirroring"}, args[0]) && len(args) > 2:
		return 3
	}
	return 0
}

// takeNewHook takes the name of a hook.
func takeNewHook(r *reader, _ *statement, args []string) int {
	if len(args) == 0 {
		return 0
	}
	r.hooks[args[0]] = true
	return 1
}

// isHookStep reports whether arg is the step of a hook: STACK/hook:NAME or hook:NAME.
func (r *reader) isHookStep(arg string) bool {
	stack, name, ok := strings.Cut(arg, "hook:")
	return ok && r.hooks[name] && (stack == "" || r.isStack(strings.TrimSuffix(stack, "/")))
}

package ministack

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/google/go-cmp/cmp"
)

var (
	program  = flag.String("ministack", "", "the `program` ministack; without it, there is no test")
	release  = flag.String("release", "", "a `folder` with this version: stackwright, functions built for this machine, and in synth the template with them")
	previous = flag.String("previous", "", "a `folder` with the same of the version that is upgraded")
)

// An act is a part of the life of an installation. It needs those before it.
type act struct {
	what string
	do   func(*life)
}

// An installation is upgraded and removed, and another one is installed from nothing, used and removed.
func TestLife(t *testing.T) {
	if *program == "" {
		t.Skip("make integration runs it")
	}
	l := &life{server: start(t, *program), folder: t.TempDir(), played: make(map[string]int)}
	l.is(l.create("CDKToolkit", []byte(bootstrap)), types.StackStatusCreateComplete)
	acts := []act{
		{"a first installation that fails leaves nothing", (*life).failsToInstall},
		{"install from nothing", (*life).installs},
		{"make smoke", (*life).smokes},
		{"deploy by the HTTP API, and be refused without a signature", (*life).usesAPI},
		{"a stack fails", (*life).fails},
		{"retry", (*life).retries},
		{"change one stack of three, while no events arrive", (*life).changes},
		{"a schedule starts a run", (*life).waitsForSchedule},
		{"a project that the target does not name is refused", (*life).refusesStranger},
		{"destroy the project", (*life).destroys},
		{"uninstall", (*life).uninstalls},
	}
	if *previous != "" {
		acts = append([]act{
			{"install the last release", (*life).installsPrevious},
			{"upgrade it while a stack is created", (*life).upgrades},
			{"destroy the project", (*life).destroys},
			{"uninstall", (*life).uninstalls},
		}, acts...)
	}
	began := time.Now()
	for n, a := range acts {
		fmt.Printf("%d. %s\n", n+1, a.what)
		a.do(l)
		if t.Failed() {
			t.Fatalf("failed: %s", a.what)
		}
	}
	if l.played["States.Timeout"] == 0 {
		t.Error("no wait has ended by its timeout, although no events arrived")
	}
	fmt.Printf("%d acts on MiniStack passed in %s; played for it: %v\n", len(acts), time.Since(began).Round(time.Second), l.played)
}

// saw prints what an act saw.
func (l *life) saw(format string, values ...any) { fmt.Printf("   "+format+"\n", values...) }

// template is the template of this version.
func (l *life) template() template { return synthesized(l.T, *release) }

// failsToInstall installs a template with one more resource, which fails after the table and the bucket were created. They are
// deleted too, although they are kept otherwise: the operation that failed has created them.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-deletionpolicy.html
func (l *life) failsToInstall() {
	all := l.template()
	l.uploadFunctions(all, *release)
	stack := l.create("stackwright", all.with(l.T, "Fails", map[string]any{
		"Type": "AWS::CloudFormation::WaitCondition", "DependsOn": all.kept(), "CreationPolicy": map[string]any{"ResourceSignal": map[string]any{"Timeout": "PT1S"}},
	}))
	l.is(stack, types.StackStatusRollbackComplete)
	created := l.had(*stack.StackId, types.ResourceStatusCreateComplete)
	for _, name := range all.kept() {
		if !slices.Contains(created, name) {
			l.Errorf("%s was never created, so that this shows nothing", name)
		}
	}
	if d := cmp.Diff(created, l.had(*stack.StackId, types.ResourceStatusDeleteComplete)); d != "" {
		l.Errorf("not everything that was created is deleted (-created +deleted):\n%s", d)
	}
	l.noTable("stackwright-")
	l.is(l.remove(*stack.StackId), types.StackStatusDeleteComplete)
	l.saw("%s after %d resources were created; %v are gone", stack.StackStatus, len(created), all.kept())
}

// installs installs this version.
func (l *life) installs() {
	all := l.template()
	l.uploadFunctions(all, *release)
	l.open(l.create("stackwright", all.body), all)
}

// installsPrevious installs the last release, and deploys a project with it until its second stack is being created.
func (l *life) installsPrevious() {
	all := synthesized(l.T, *previous)
	l.uploadFunctions(all, *previous)
	l.open(l.create("stackwright", all.body), all)
	l.lacked = l.create("lacked", []byte(lacked))
	l.is(l.lacked, types.StackStatusCreateComplete)
	l.write("one", "")
	l.begin(*previous)
}

// upgrades updates the installation to this version, and then lets the stack be created. The functions of this version end the
// run that those of the last release have started.
func (l *life) upgrades() {
	all := l.template()
	l.uploadFunctions(all, *release)
	l.stop()
	updated := l.update("stackwright", all.body)
	l.is(l.remove(*l.lacked.StackId), types.StackStatusDeleteComplete)
	l.open(updated, all)
	l.signal(types.ResourceSignalStatusSuccess)
	l.ends("succeeded", "first/create done", "middle/create done", "last/create done")
}

// smokes runs make smoke, as docs/deploy.md tells users to do.
func (l *life) smokes() {
	_, err := l.command(l.Context(), "../..", "make", "smoke", "STACKWRIGHT_SMOKE=1", "STACKWRIGHT_INSTALLATION=stackwright")
	if err != nil {
		l.Fatal(err)
	}
	l.saw("three stacks were deployed, changed and destroyed, and nothing is left")
}

// usesAPI deploys a project by a request that is signed, and destroys it. A request without a signature is refused.
func (l *life) usesAPI() {
	const project = "smoke-api"
	key := "revisions/" + project + "/default/1.zip"
	version := l.put(key, archived(l.T, os.DirFS("../../examples/smoke"), "project: smoke\n", "project: "+project+"\n"))
	request := fmt.Sprintf(`{"operation": "deploy", "key": %q, "version": %q}`, key, version)
	if status, body := l.ask("POST", runsPath(project), request, false); status != 403 {
		l.Fatalf("a request without a signature is answered %d: %s", status, body)
	}
	run := l.request(project, request)
	l.saw("%s of %s by %s: %s", run.Operation, run.Project, run.Who, run.State)
	run = l.request(project, `{"operation": "destroy"}`)
	l.saw("%s of %s: %s", run.Operation, run.Project, run.State)
}

// fails deploys a project whose second stack cannot be created.
func (l *life) fails() {
	l.write("one", "")
	l.begin(*release)
	l.signal(types.ResourceSignalStatusFailure)
	l.ends("failed", "first/create done", "middle/create failed", "last/create skipped")
}

// retries repeats the run that has failed.
func (l *life) retries() {
	l.begin(*release, "retry", l.run)
	l.signal(types.ResourceSignalStatusSuccess)
	l.ends("succeeded", "middle/delete done", "middle/create done", "last/create done")
}

// changes changes a parameter of the first stack, whose output stays. No event reports that, so that waits end by their timeouts.
func (l *life) changes() {
	l.player.quiet.Store(true)
	defer l.player.quiet.Store(false)
	l.write("two", "")
	l.begin(*release)
	l.ends("succeeded", "first/update done", "middle/update done unchanged", "last/update done unchanged")
}

// waitsForSchedule deploys a schedule that starts a run within seconds.
func (l *life) waitsForSchedule() {
	at := time.Now().UTC().Add(15 * time.Second)
	l.write("two", "schedules:\n  soon: { operation: refresh, once: "+at.Format("2006-01-02T15:04:05")+" }\n")
	l.begin(*release)
	l.ends("succeeded")
	l.wait("the run of the schedule", func() (bool, error) {
		runs, err := l.table.List(l.Context(), lifeProject, 1)
		if err == nil && len(runs) == 1 && runs[0].Operation == "refresh" {
			l.run = runs[0].ID
			return true, nil
		}
		return false, err
	})
	l.ends("succeeded", "first/read done as recorded", "middle/read done as recorded", "last/read done as recorded")
}

// refusesStranger deploys a project that the installation's setting projects does not name.
func (l *life) refusesStranger() {
	l.put("projects/stranger/default.zip", archived(l.T, os.DirFS("../../examples/smoke"), "project: smoke\n", "project: stranger\n"))
	l.wait("the run of the stranger", func() (bool, error) {
		runs, err := l.table.List(l.Context(), "stranger@default", 1)
		if err != nil || len(runs) == 0 || !runs[0].State.Over() {
			return false, err
		}
		if runs[0].State != "refused" || len(runs[0].Messages) == 0 {
			return false, fmt.Errorf("it is %s: %v", runs[0].State, runs[0].Messages)
		}
		l.saw("refused: %s", runs[0].Messages[0])
		return true, nil
	})
	l.noStack("stranger-")
}

// destroys deletes the stacks of the project.
func (l *life) destroys() {
	l.begin(*release, "destroy", "--yes")
	l.ends("succeeded", "last/delete done", "middle/delete done", "first/delete done")
	l.noStack("life-")
}

// uninstalls deletes the installation. What keeps data stays, with everything in it.
func (l *life) uninstalls() {
	l.stop()
	l.is(l.remove(*l.added.StackId), types.StackStatusDeleteComplete)
	l.is(l.remove(*l.stack.StackId), types.StackStatusDeleteComplete)
	l.stays()
	l.added, l.stack = types.Stack{}, types.Stack{}
}

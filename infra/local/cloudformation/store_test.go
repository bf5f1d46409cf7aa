package cloudformation_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
)

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Everything that was answered is stored, even if the service is never closed. After a
// restart, an operation continues in any state.
func TestReopened(t *testing.T) {
	for _, after := range []time.Duration{0, 300 * time.Millisecond, 700 * time.Millisecond, 1100 * time.Millisecond, 1400 * time.Millisecond, 2 * time.Second} {
		for _, c := range []struct {
			what string
			do   func(w *account)
			want types.StackStatus
		}{
			{"create", func(w *account) { w.create("s", three, createToken("t")) }, types.StackStatusCreateComplete},
			{"failed create", func(w *account) { w.create("s", three, createWith("Fail", "create")) }, types.StackStatusRollbackComplete},
			{"update", func(w *account) { w.up("s", three); w.update("s", three, updateWith("V", "b")) }, types.StackStatusUpdateComplete},
			{"replacement", func(w *account) { w.up("s", network); w.update("s", network, updateWith("Cidr", "10.1.0.0/16")) }, types.StackStatusUpdateComplete},
			{"failed update", func(w *account) { w.up("s", three); w.update("s", three, updateWith("V", "b", "Fail", "update")) }, types.StackStatusUpdateRollbackComplete},
			{"delete", func(w *account) { w.up("s", three); w.remove("s") }, types.StackStatusDeleteComplete},
		} {
			scenarioIn(t, t.TempDir(), cloudformation.Options{Seed: 7}, func(w *account) {
				c.do(w)
				id := *w.stack("s").StackId
				time.Sleep(after)
				dir := w.dir
				before := w.history(id)
				if err := w.service.Close(); err != nil {
					t.Fatal(err)
				}
				w.open(dir)
				if got := w.history(id); got != before {
					t.Errorf("%s after %s: lost:\n%s\nof\n%s", c.what, after, got, before)
				}
				w.wait(id, c.want)
				if c.what == "create" {
					w.create("s", three, createToken("t")) // the token still starts nothing new
				}
				whole := w.history(id)
				uninterrupted(w, c.do, func(other string) {
					if other != whole {
						t.Errorf("%s after %s:\n%s\nuninterrupted:\n%s", c.what, after, whole, other)
					}
				})
			})
		}
	}
}

// uninterrupted does the same in another account, without a restart.
func uninterrupted(w *account, do func(*account), check func(history string)) {
	other := &account{T: w.T, options: w.options}
	other.open("")
	do(other)
	id := *other.stack("s").StackId
	time.Sleep(time.Minute)
	check(other.history(id))
	if err := other.service.Close(); err != nil {
		w.Error(err)
	}
}

// A folder of a service that was killed is complete: nothing is written only by Close.
func TestKilled(t *testing.T) {
	scenarioIn(t, t.TempDir(), cloudformation.Options{}, func(w *account) {
		id := w.up("a", topic)
		w.create("b", topic)
		w.fault("POST", `{"stack":"c","operation":"create","reason":"stored"}`, 200)
		left := t.TempDir() // the folder as a kill would leave it
		if err := os.CopyFS(left, os.DirFS(w.dir)); err != nil {
			t.Fatal(err)
		}
		killed := w.service
		w.open(left)
		if *w.stack("a").StackId != id || w.stack("b").StackStatus != types.StackStatusCreateInProgress {
			t.Error("lost a stack")
		}
		w.wait("b", types.StackStatusCreateComplete)
		w.create("c", topic)
		w.wait("c", types.StackStatusRollbackComplete)
		w.has("c", "CREATE_FAILED", "stored")
		if err := killed.Close(); err != nil {
			t.Error(err)
		}
	})
}

// With a seed, all results follow from it, whatever runs concurrently.
func TestSeed(t *testing.T) {
	run := func(seed uint64, others int) (history string) {
		scenarioIn(t, "", cloudformation.Options{Seed: seed}, func(w *account) {
			for i := range others {
				w.create(fmt.Sprint("other", i), topic)
			}
			w.up("net", network)
			history = asJSON(t, w.stackEvents("net")) + asJSON(t, w.stack("net").Outputs) + asJSON(t, w.stack("net").LastOperations)
		})
		return history
	}
	if run(1, 0) != run(1, 3) {
		t.Error("the same seed gives different IDs")
	}
	if run(1, 0) == run(2, 0) {
		t.Error("different seeds give the same IDs")
	}
	if once, again := run(0, 0), run(0, 0); once == again {
		t.Error("without a seed the IDs repeat")
	}
}

// Lists have pages, and the newest stack is first.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ListStacks.html
func TestPages(t *testing.T) {
	scenario(t, func(w *account) {
		for i := range 250 {
			w.create(fmt.Sprint("s", i), topic)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Minute)
		w.remove("s7")
		time.Sleep(time.Minute)
		var names []string
		pages := cfn.NewDescribeStacksPaginator(w.client, &cfn.DescribeStacksInput{})
		for pages.HasMorePages() {
			out, err := pages.NextPage(w.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, st := range out.Stacks {
				names = append(names, *st.StackName)
			}
		}
		if len(names) != 249 || names[0] != "s249" || names[248] != "s0" {
			t.Errorf("%d: %v", len(names), names)
		}
		for filter, want := range map[types.StackStatus]int{types.StackStatusDeleteComplete: 1, types.StackStatusCreateComplete: 249, "": 250} {
			in := &cfn.ListStacksInput{}
			if filter != "" {
				in.StackStatusFilter = []types.StackStatus{filter}
			}
			got := 0
			pages := cfn.NewListStacksPaginator(w.client, in)
			for pages.HasMorePages() {
				out, err := pages.NextPage(w.Context())
				if err != nil {
					t.Fatal(err)
				}
				for _, st := range out.StackSummaries {
					if len(st.LastOperations) > 0 {
						got++
					}
				}
			}
			if got != want {
				t.Errorf("%s: %d", filter, got)
			}
		}
		_, err := w.client.ListStacks(w.Context(), &cfn.ListStacksInput{NextToken: aws.String("x")})
		w.refused(err, "ValidationError", "NextToken")
		if got := w.service.Calls(); got["CreateStack"] != 250 || got["DeleteStack"] != 1 || len(got) != 2 {
			t.Errorf("calls: %v", got)
		}
	})
}

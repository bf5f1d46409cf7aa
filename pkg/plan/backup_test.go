package plan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// holding are the recorded stacks db and web, of which db holds two databases, and the snapshots old and new of it.
func holding() plan.View {
	v := plan.View{Backable: true, Recorded: make(map[string]plan.Record), Live: make(map[string]plan.Live)}
	v.Desired.Name, v.Desired.Environment = "shop", "prod"
	for _, name := range []string{"db", "web"} {
		v.Recorded[name], v.Live[name] = plan.Record{Node: name, StackID: name}, plan.Live{StackID: name, Status: "CREATE_COMPLETE"}
	}
	data := []plan.Data{
		{Resource: "Cluster", Type: "AWS::RDS::DBCluster", Kind: "DB cluster", Property: "SnapshotIdentifier", ID: "c"},
		{Resource: "Database", Type: "AWS::RDS::DBInstance", Kind: "DB instance", Property: "DBSnapshotIdentifier", ID: "d"},
	}
	v.Snapshots = plan.Snapshots{Name: "next", Current: "run", Named: []string{"new", "old"}, Holding: []string{"db"}, Holdings: map[string]plan.Holdings{"db": {Data: data}}, Now: time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)}
	for i, name := range v.Snapshots.Named {
		kept := plan.KeptSnapshot{Name: name, Made: v.Snapshots.Now.AddDate(0, 0, -1-30*i)}
		for _, d := range data {
			d.Node = "db"
			kept.Backups = append(kept.Backups, plan.Backup{Data: d, ARN: "arn:aws:rds:eu-west-1:111122223333:snapshot:" + name + "-" + d.ID})
		}
		v.Snapshots.Kept = append(v.Snapshots.Kept, kept)
	}
	return v
}

// A snapshot has a step for each database, and one that deletes their backups if a step fails. Without them it has none, and says why.
func TestSnapshotBacksUp(t *testing.T) {
	for name, c := range map[string]struct {
		change     func(*plan.View)
		want, says string
	}{
		"databases": {func(*plan.View) {}, "db/back-up:Cluster\ndb/back-up:Database\ndelete-backup:next-1 ← db/back-up:Cluster db/back-up:Database", ""},
		"nothing":   {func(v *plan.View) { v.Snapshots.Holdings = nil }, "", ""},
		"nested":    {func(v *plan.View) { v.Snapshots.Holdings["web"] = plan.Holdings{Nested: []string{"Inner"}} }, "db/back-up:Cluster\ndb/back-up:Database\ndelete-backup:next-1 ← db/back-up:Cluster db/back-up:Database", "nested stacks are not backed up: web (Inner): a restore could not pass a backup on to what is in them: if they hold data, let them be stacks of the project, or back them up with AWS Backup"},
		"skipped": {func(v *plan.View) {
			v.Snapshots.Holdings["web"] = plan.Holdings{Skipped: []string{"file system of EFS Files (fs-1), which needs the setting backupVault"}}
		}, "db/back-up:Cluster\ndb/back-up:Database\ndelete-backup:next-1 ← db/back-up:Cluster db/back-up:Database", "the snapshot is not whole: it has no backup of stack web: file system of EFS Files (fs-1), which needs the setting backupVault: ask the owner of the installation for the setting"},
		"as requested":   {func(v *plan.View) { v.Snapshots.Without = true }, "", "no data is backed up, as requested"},
		"not allowed":    {func(v *plan.View) { v.Backable = false }, "", "these stacks may hold some: db: the snapshot has only the files: for backups, ask the owner of the installation to add shop@prod to the setting backups"},
		"not needed":     {func(v *plan.View) { v.Backable, v.Snapshots.Holding = false, nil }, "", ""},
		"many databases": {func(v *plan.View) { v.Snapshots.Holdings["db"] = plan.Holdings{Data: make([]plan.Data, 7)} }, "", ""},
	} {
		v := holding()
		c.change(&v)
		p, err := plan.TakeSnapshot(v)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if name == "many databases" {
			if len(p.Steps) != 9 || !p.Steps[7].OnFailure || !p.Steps[8].OnFailure || len(p.Steps[8].After) != 7 {
				t.Errorf("%s:\n%s", name, p)
			}
			continue
		}
		var got []string
		for line := range strings.Lines(p.String()) {
			id, after, _ := strings.Cut(strings.TrimSpace(line), " ")
			if _, edges, has := strings.Cut(after, "} ← "); has {
				id += " ← " + edges
			}
			got = append(got, id)
		}
		if strings.Join(got, "\n") != c.want || !strings.Contains(strings.Join(p.Messages, "\n"), c.says) {
			t.Errorf("%s: got\n%s\nwant\n%s\nmessages %q", name, strings.Join(got, "\n"), c.want, p.Messages)
		}
		if len(p.Steps) > 0 && (p.Steps[0].OnFailure || !p.Steps[2].OnFailure) {
			t.Errorf("%s: the wrong steps are for failures", name)
		}
	}
}

// What cannot be backed up now is refused with all reasons, and what to do. Without backups it is not.
func TestSnapshotRefusesWhatIsNotReady(t *testing.T) {
	v := holding()
	v.Snapshots.Holdings["db"] = plan.Holdings{Data: make([]plan.Data, 2), Unready: []string{"DB instance Database (d): it is stopped: start it first"}}
	v.Live["web"] = plan.Live{AccessError: "no role"}
	for range plan.MostBackups {
		v.Snapshots.Kept[0].Backups = append(v.Snapshots.Kept[0].Backups, plan.Backup{})
	}
	_, err := plan.TakeSnapshot(v)
	want := "stack db: DB instance Database (d): it is stopped: start it first; or repeat the request with no_backups (--no-backups)\n" +
		"stack web cannot be read, so nobody knows whether it holds data: no role; or repeat the request with no_backups (--no-backups)\n" +
		"shop@prod: the stacks hold 2 resources with data, and the snapshots have 404 backups; at most 400 may be: delete a snapshot first: stackwright snapshots delete NAME"
	if got := strings.Join(fault.Messages(err), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	v.Snapshots.Without = true
	if _, err := plan.TakeSnapshot(v); err != nil {
		t.Error(err)
	}
}

// The backups of all snapshots are part of one item, so their names may not be longer together than it has room for.
func TestSnapshotRefusesWhatDoesNotFit(t *testing.T) {
	v := holding()
	v.Snapshots.Holdings["db"] = plan.Holdings{Data: slices.Repeat([]plan.Data{{Resource: strings.Repeat("r", 120), Type: "AWS::RDS::DBInstance", Kind: "DB instance", ID: strings.Repeat("i", 63)}}, 350)}
	if _, err := plan.TakeSnapshot(v); err != nil {
		t.Error(err)
	}
	v.Recorded["db"] = plan.Record{Node: "db", StackID: "db", Stack: strings.Repeat("s", 128)}
	if _, err := plan.TakeSnapshot(v); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "bytes of the item that has the lock, and at most 200000 may be: delete a snapshot first") {
		t.Error(err)
	}
}

// The deletion of a snapshot deletes its backups first. It is refused while a stack names one of them, by its ARN or its name.
func TestDeleteSnapshotWithBackups(t *testing.T) {
	v := holding()
	v.Snapshots.Name = "old"
	p, err := plan.DeleteSnapshot(v)
	if err != nil || len(p.Steps) != 3 || p.Steps[0].ID != "db/delete-backup:old.Cluster" || p.Steps[2].ID != "drop-snapshot:old" || len(p.Steps[2].After) != 2 {
		t.Errorf("%s, %v", p, err)
	}
	for in, live := range map[string]plan.Live{
		"parameter Backup of stack web": {StackID: "web", Parameters: map[string]string{"Backup": "arn:aws:rds:eu-west-1:111122223333:snapshot:old-d"}},
		"parameter Named of stack web":  {StackID: "web", Parameters: map[string]string{"Named": "old-c"}},
		"parameter List of stack web":   {StackID: "web", Parameters: map[string]string{"List": "x,arn:aws:rds:eu-west-1:111122223333:snapshot:old-d"}},
		"tag from of stack web":         {StackID: "web", Tags: map[string]string{"from": "old-c"}},
		"stack web cannot be read":      {AccessError: "no role"},
	} {
		v.Live["web"] = live
		if _, err := plan.DeleteSnapshot(v); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), in) || !strings.Contains(err.Error(), "--keep-backups") {
			t.Errorf("%s: %v", in, err)
		}
	}
	delete(v.Live, "web")
	v.Recorded["web"] = plan.Record{Node: "web", Restored: map[string]project.Restored{"Database": {Parameter: "Backup", Value: "old-c"}}}
	if _, err := plan.DeleteSnapshot(v); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "is needed: stack web does not exist, and its record says that the next deploy restores Database from the backup: forget the stack first") {
		t.Errorf("a stack that is created again: %v", err)
	}
	delete(v.Recorded, "web")
	v.Snapshots.Unrestored = map[string]string{"db.Database": "arn:aws:rds:eu-west-1:111122223333:snapshot:old-d"}
	if _, err := plan.DeleteSnapshot(v); err != nil {
		t.Errorf("the stack exists: %v", err)
	}
	v.Live["db"] = plan.Live{}
	if _, err := plan.DeleteSnapshot(v); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "is needed: stack db does not exist, and a restore was to create it from the backup: if you do not want that data, write an empty text") {
		t.Errorf("a restore that has not started: %v", err)
	}
	v.Snapshots.Without = true
	if p, err := plan.DeleteSnapshot(v); err != nil || len(p.Steps) > 0 || !strings.Contains(p.Messages[0], "snapshot:old-c, arn:aws:rds:eu-west-1:111122223333:snapshot:old-d") {
		t.Errorf("%v, %v", p, err)
	}
}

// Snapshots of the files alone are newer than the only one with backups, which a prune keeps all the same.
func TestPruneKeepsTheNewestBackups(t *testing.T) {
	v := holding()
	v.Snapshots.Policy = project.SnapshotPolicy{Keep: 1}
	v.Snapshots.Kept[0].Backups = nil
	for i := range v.Snapshots.Kept[1].Backups {
		v.Snapshots.Kept[1].Backups[i].Node = "db"
	}
	p, err := plan.PruneSnapshots(v)
	if err != nil || len(p.Steps) > 0 || len(p.Snapshots) != 2 {
		t.Errorf("%+v, %v", p, err)
	}
}

// A prune deletes what the policy does not keep, by its place or its age, and keeps and names what is in use.
func TestPruneSnapshots(t *testing.T) {
	for name, c := range map[string]struct {
		policy project.SnapshotPolicy
		uses   string
		want   string
		says   string
	}{
		"by number":  {project.SnapshotPolicy{Keep: 1}, "", "drop-snapshot:old", "snapshot old of 2026-02-28T12:00:00Z is deleted, with 2 backups: it is not among the newest 1"},
		"by age":     {project.SnapshotPolicy{For: project.TTL(48 * time.Hour)}, "", "drop-snapshot:old", "it is older than 2d"},
		"nothing":    {project.SnapshotPolicy{Keep: 2, For: project.TTL(60 * 24 * time.Hour)}, "", "", "no snapshot is deleted: the policy is to keep the newest 2, each for 60d"},
		"everything": {project.SnapshotPolicy{For: project.TTL(time.Hour)}, "", "drop-snapshot:new drop-snapshot:old", ""},
		"in use":     {project.SnapshotPolicy{For: project.TTL(time.Hour)}, "new-c", "drop-snapshot:old", "kept: snapshot new is in use"},
	} {
		v := holding()
		v.Snapshots.Policy = c.policy
		v.Live["web"] = plan.Live{StackID: "web", Parameters: map[string]string{"P": c.uses}}
		p, err := plan.PruneSnapshots(v)
		var got []string
		for _, s := range p.Steps {
			if s.Drops() {
				got = append(got, s.ID)
			}
		}
		var deleted []string
		for _, s := range p.Snapshots {
			if s.Deleted && len(s.Backups) == 2 && s.Backups[1].Deleted && len(s.Reasons) == 1 {
				deleted = append(deleted, "drop-snapshot:"+s.Snapshot)
			}
		}
		if err != nil || len(p.Snapshots) != len(v.Snapshots.Kept) || !slices.Equal(deleted, got) {
			t.Errorf("%s: %+v, %v", name, p.Snapshots, err)
		}
		if err != nil || strings.Join(got, " ") != c.want || !strings.Contains(strings.Join(p.Messages, "\n"), c.says) || len(p.Steps) != 3*len(got) {
			t.Errorf("%s: %q, %q, %v", name, got, p.Messages, err)
		}
	}
	if _, err := plan.PruneSnapshots(holding()); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "write snapshots: with keep: or for: into the project file, and deploy it") {
		t.Error(err)
	}
}

// Outside a restore, a parameter keeps what its stack has. A restore puts the backup there, in another form if the stack has it already, unless a run that is
// retried has done so.
func TestRestored(t *testing.T) {
	b := holding().Snapshots.Kept[0].Backups[1]
	of := func(resource string) project.Text {
		return project.Text{{Source: &project.Source{Restored: resource}}}
	}
	p := project.Project{Nodes: map[string]project.Node{"db": {Name: "db", Parameters: map[string]project.Text{"Backup": of("Database"), "Other": of("Cluster"), "Size": project.Literal("s")}}}}
	for name, c := range map[string]struct {
		now     string
		backups []plan.Backup
		again   bool
		want    string
	}{
		"created":            {"", nil, false, ""},
		"as it is":           {"somewhere", nil, false, "somewhere"},
		"restored":           {"", []plan.Backup{b}, false, b.ARN},
		"from another":       {"somewhere", []plan.Backup{b}, false, b.ARN},
		"restored again":     {b.ARN, []plan.Backup{b}, false, "new-d"},
		"and again":          {"new-d", []plan.Backup{b}, false, b.ARN},
		"retried":            {b.ARN, []plan.Backup{b}, true, b.ARN},
		"retried by name":    {"new-d", []plan.Backup{b}, true, "new-d"},
		"retried, not there": {"somewhere", []plan.Backup{b}, true, b.ARN},
	} {
		live := map[string]plan.Live{"db": {StackID: "id", Parameters: map[string]string{"Backup": c.now, "Other": "other"}}}
		got, err := plan.Restored(p, nil, live, plan.Restoring{Backups: c.backups, Again: map[string]bool{"db": c.again}})
		if err != nil {
			t.Fatal(name, err)
		}
		n := got.Nodes["db"]
		if value, known := n.Parameters["Backup"].Known(); !known || value != c.want || n.Parameters["Other"].String() != "other" || n.Parameters["Size"].String() != "s" || got.Restored["db.Database"].Value != c.want {
			t.Errorf("%s: %s, %+v", name, n.Parameters["Backup"], got.Restored)
		}
	}
	if len(p.Nodes["db"].Parameters["Backup"].Sources()) != 1 {
		t.Error("the project itself was changed")
	}
	for value, want := range map[string]string{"****": "remove NoEcho", "denied": "no role"} {
		live := map[string]plan.Live{"db": {Parameters: map[string]string{"Backup": value}}}
		if value == "denied" {
			live["db"] = plan.Live{AccessError: "no role"}
		}
		if _, err := plan.Restored(p, nil, live, plan.Restoring{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", value, err)
		}
	}
}

// A property names a backup as its service takes it: by its ARN or its name, or by its name in letters of another case. Each is the same backup, also to what
// uses it.
func TestNamings(t *testing.T) {
	const arn = "arn:aws:redshift:eu-west-1:111122223333:snapshot:cluster/sw-old-w"
	for naming, c := range map[plan.Naming]struct{ first, again, third string }{
		plan.ByARN: {arn, "sw-old-w", arn}, plan.ByName: {"sw-old-w", "SW-OLD-W", "sw-old-w"}, plan.AtFirst: {"sw-old-w", "sw-old-w", "sw-old-w"},
	} {
		b := plan.Backup{Data: plan.Data{Node: "db", Resource: "Warehouse", Type: "AWS::Redshift::Cluster", Naming: naming}, ARN: arn}
		if got := []string{b.Identifier(""), b.Identifier(c.first), b.Identifier(c.again)}; !slices.Equal(got, []string{c.first, c.again, c.third}) {
			t.Errorf("%q: %q", naming, got)
		}
		for _, value := range []string{c.first, c.again, "x, " + c.again} {
			v := holding()
			v.Snapshots.Name, v.Snapshots.Kept[1].Backups = "old", []plan.Backup{b}
			v.Live["web"] = plan.Live{StackID: "web", Parameters: map[string]string{"Backup": value}}
			if _, err := plan.DeleteSnapshot(v); !fault.Is(err, fault.Refused) {
				t.Errorf("%q: while a stack has %s: %v", naming, value, err)
			}
		}
	}
}

// A restore changes what names the snapshot of a volume only if CloudFormation creates the volume: the stack is new, its creation has failed, or it has no parameter for the volume.
func TestRestoredAtFirst(t *testing.T) {
	b := plan.Backup{Data: plan.Data{Node: "db", Resource: "Disk", Type: "AWS::EC2::Volume", Kind: "volume of EBS", Property: "SnapshotId", Naming: plan.AtFirst}, ARN: "arn:aws:ec2:us-east-1::snapshot/snap-2"}
	p := project.Project{Nodes: map[string]project.Node{"db": {Name: "db", Stack: "db", Parameters: map[string]project.Text{"From": {{Source: &project.Source{Restored: "Disk"}}}}}}}
	for name, c := range map[string]struct {
		live  plan.Live
		again bool
		want  string
		fixed bool
		says  string
	}{
		"a stack that is there": {live: plan.Live{StackID: "db", Status: "CREATE_COMPLETE", Parameters: map[string]string{"From": ""}}, fixed: true,
			says: "the data of db.Disk is not restored: CloudFormation gives a volume of EBS the data of a backup only when it creates it, and changes none that is there: write a volume of EBS with another logical ID beside it, whose property SnapshotId has the value ${snapshot:new/db.Disk}, or restore the snapshot after a destroy; the backup is arn:aws:ec2:us-east-1::snapshot/snap-2"},
		"restored from another":   {live: plan.Live{StackID: "db", Status: "UPDATE_COMPLETE", Parameters: map[string]string{"From": "snap-1"}}, want: "snap-1", fixed: true, says: "is not restored: CloudFormation gives a volume"},
		"restored from the same":  {live: plan.Live{StackID: "db", Status: "UPDATE_COMPLETE", Parameters: map[string]string{"From": "snap-2"}}, want: "snap-2", fixed: true, says: "is not restored: CloudFormation gives a volume"},
		"without a parameter":     {live: plan.Live{StackID: "db", Status: "UPDATE_COMPLETE", Parameters: map[string]string{"Other": "x"}}, want: "snap-2", says: "the data of db.Disk is restored if the stack has no volume of EBS Disk now"},
		"a failed creation":       {live: plan.Live{StackID: "db", Status: "ROLLBACK_COMPLETE", Parameters: map[string]string{"From": "snap-1"}}, want: "snap-2"},
		"a stack that is created": {want: "snap-2", says: "the data of db.Disk is restored: the stack is created, with a volume of EBS that has the data"},
		"a retry":                 {live: plan.Live{StackID: "db", Status: "CREATE_COMPLETE", Parameters: map[string]string{"From": "snap-2"}}, again: true, want: "snap-2", fixed: true, says: "is not restored again"},
	} {
		got, err := plan.Restored(p, nil, map[string]plan.Live{"db": c.live}, plan.Restoring{Backups: []plan.Backup{b}, Again: map[string]bool{"db": c.again}})
		if want := (project.Restored{Parameter: "From", Value: c.want, Again: c.again, Fixed: c.fixed}); err != nil || got.Restored["db.Disk"] != want {
			t.Errorf("%s: %+v, want %+v: %v", name, got.Restored, want, err)
		}
		v := holding()
		v.Snapshots.Name, v.Snapshots.Kept[0].Backups = "new", []plan.Backup{b}
		v.Desired.Nodes, v.Desired.Restored, v.Live["db"] = map[string]project.Node{"db": {Name: "db"}, "web": {Name: "web"}}, got.Restored, c.live
		if c.live.StackID == "" {
			delete(v.Recorded, "db")
		}
		if restored, err := plan.Restore(v); err != nil || !strings.Contains(strings.Join(restored.Messages, "\n"), c.says) {
			t.Errorf("%s: %q, %v", name, restored.Messages, err)
		}
	}
}

// A restore says of each backup what becomes of its data.
func TestRestoreSaysWhatItRestores(t *testing.T) {
	for want, change := range map[string]func(*plan.View){
		"the data of db.Database is not restored: no parameter of stack db has the value ${restored:Database} for the property DBSnapshotIdentifier": func(*plan.View) {},
		"the data of db.Database is not restored: the files of the snapshot have no stack db":                                                        func(v *plan.View) { delete(v.Desired.Nodes, "db") },
		"the data of db.Database is not restored: CloudFormation creates no DB instance from a backup":                                               func(v *plan.View) { v.Snapshots.Kept[0].Backups[1].Property = "" },
		"CloudFormation creates no DB instance from a backup, and what is there stays as it is: restore the backup next to it yourself: aws restore --arn arn:aws:rds:eu-west-1:111122223333:snapshot:new-d --region eu-west-1 (what else the command needs: https://github.com/stackwright/stackwright/blob/main/docs/how-to/snapshots.md#restore-it)": func(v *plan.View) {
			b := &v.Snapshots.Kept[0].Backups[1]
			b.Property, b.Restore, b.Target.Region = "", "aws restore --arn", "eu-west-1"
			v.Desired.Restored = map[string]project.Restored{"db.Database": {Value: "new-d"}} // a parameter may refer to it: it creates nothing
		},
		"the data of db.Database is restored by a replacement, not in place": func(v *plan.View) {
			v.Desired.Restored = map[string]project.Restored{"db.Database": {Value: "new-d"}}
		},
		"the data of db.Database is restored: the stack is created": func(v *plan.View) {
			v.Desired.Restored, v.Live["db"] = map[string]project.Restored{"db.Database": {Value: "new-d"}}, plan.Live{}
			delete(v.Recorded, "db")
		},
		"the data of db.Database is not restored again": func(v *plan.View) {
			v.Desired.Restored = map[string]project.Restored{"db.Database": {Value: "new-d", Again: true}}
		},
		"snapshot new has no backups: no data is restored": func(v *plan.View) { v.Snapshots.Kept[0].Backups = nil },
	} {
		v := holding()
		v.Snapshots.Name = "new"
		v.Desired.Nodes = map[string]project.Node{"db": {Name: "db"}, "web": {Name: "web"}}
		change(&v)
		p, err := plan.Restore(v)
		if err != nil || !strings.Contains(strings.Join(p.Messages, "\n"), want) {
			t.Errorf("want %s: %q, %v", want, p.Messages, err)
		}
	}
}

// A stack that is to be created again has the values of its record. A parameter that has another name in the stack keeps its value, and one of which
// nobody knows what it was is refused.
func TestRestoredFromRecord(t *testing.T) {
	const arn, name = "arn:aws:rds:us-east-1:1:snapshot:sw-shop-a1-0123456789abcdef01234567", "sw-shop-a1-0123456789abcdef01234567"
	other := plan.Backup{Data: plan.Data{Node: "db", Resource: "Database"}, ARN: "arn:aws:rds:us-east-1:1:snapshot:sw-shop-b2-0123456789abcdef01234567"}
	volume := plan.Backup{Data: plan.Data{Node: "db", Resource: "Disk", Type: "AWS::EC2::Volume"}, ARN: "arn:aws:ec2:us-east-1::snapshot/snap-2"}
	p := project.Project{Nodes: map[string]project.Node{"db": {Name: "db", Stack: "db", Parameters: map[string]project.Text{"Bak": {{Source: &project.Source{Restored: "Database"}}}, "Size": project.Literal("s")}}}}
	recorded := func(parameter, value string) map[string]plan.Record {
		return map[string]plan.Record{"db": {Node: "db", Stack: "db", Restored: map[string]project.Restored{"Database": {Parameter: parameter, Value: value}}}}
	}
	for about, c := range map[string]struct {
		records map[string]plan.Record
		has     map[string]string // the parameters of the stack; nil if it is gone
		backups []plan.Backup
		want    string
		refused string

		unrestored map[string]string
		dead       bool // the stack is ROLLBACK_COMPLETE
		kept       []plan.Backup
	}{
		"gone":                             {records: recorded("Bak", arn), want: arn},
		"gone, with another name":          {records: recorded("Backup", arn), want: arn},
		"gone, never restored":             {records: recorded("Bak", ""), want: ""},
		"gone, not recorded":               {want: ""},
		"gone, and to be restored":         {records: recorded("Bak", other.ARN), backups: []plan.Backup{other}, want: other.ARN},
		"created empty":                    {records: recorded("Bak", arn), has: map[string]string{}, want: arn},
		"renamed":                          {records: recorded("Backup", arn), has: map[string]string{"Backup": name, "Size": "s"}, want: name},
		"renamed, never restored":          {records: recorded("Backup", ""), has: map[string]string{"Backup": "", "Size": "s"}, want: ""},
		"renamed, and hidden":              {records: recorded("Backup", arn), has: map[string]string{"Backup": "****"}, refused: "parameter Backup, because the template says NoEcho"},
		"the stack is right":               {records: recorded("Bak", "older"), has: map[string]string{"Bak": arn}, want: arn},
		"written for the first time":       {has: map[string]string{"Size": "s", "Name": "sw-2"}, want: ""},
		"changed outside":                  {records: recorded("Backup", arn), has: map[string]string{"Size": "s"}, refused: "the stack has no parameter Backup any more"},
		"renamed, and not recorded":        {has: map[string]string{"Backup": arn, "Size": "s"}, refused: "write " + arn + " as the value of Bak"},
		"renamed, by name":                 {has: map[string]string{"Backup": name}, refused: "the files have no parameter Backup any more, which names the backup " + name},
		"a snapshot of EBS":                {has: map[string]string{"Mine": "snap-0123456789abcdef0"}, want: ""},
		"that a user has made":             {has: map[string]string{"Mine": "snap-0123456789abcdef0"}, kept: []plan.Backup{volume}, want: ""},
		"that Stackwright has made":        {has: map[string]string{"Backup": "snap-2"}, kept: []plan.Backup{volume}, refused: "write snap-2 as the value of Bak"},
		"that is of another type":          {has: map[string]string{"Backup": "snap-2"}, kept: []plan.Backup{volume, other}, want: ""},
		"another parameter, still given":   {has: map[string]string{"Size": arn}, want: ""},
		"a restore has not started":        {unrestored: map[string]string{"db.Database": arn}, want: arn},
		"of another resource":              {unrestored: map[string]string{"db.Cluster": arn}, want: ""},
		"it has not started, and recorded": {records: recorded("Bak", other.ARN), unrestored: map[string]string{"db.Database": arn}, want: arn},
		"it was created meanwhile":         {has: map[string]string{"Bak": other.ARN}, unrestored: map[string]string{"db.Database": arn}, want: other.ARN},
		"its creation has failed":          {has: map[string]string{"Bak": other.ARN}, dead: true, unrestored: map[string]string{"db.Database": arn}, want: arn},
		"another restore":                  {unrestored: map[string]string{"db.Database": arn}, backups: []plan.Backup{other}, want: other.ARN},
	} {
		live := map[string]plan.Live{}
		if c.has != nil {
			live["db"] = plan.Live{StackID: "id", Status: "UPDATE_COMPLETE", Parameters: c.has}
			if c.dead {
				live["db"] = plan.Live{StackID: "id", Status: "ROLLBACK_COMPLETE", Parameters: c.has}
			}
		}
		got, err := plan.Restored(p, c.records, live, plan.Restoring{Backups: c.backups, Again: map[string]bool{"db": c.backups != nil}, Unrestored: c.unrestored, Kept: c.kept})
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: refused with %v", about, err)
			}
			continue
		}
		value, known := got.Nodes["db"].Parameters["Bak"].Known()
		want, late := project.Restored{Parameter: "Bak", Value: c.want}, project.Restored{Parameter: "Bak", Value: c.want, Late: c.unrestored["db.Database"] != "" && c.want == arn}
		if err != nil || !known || value != c.want || got.Restored["db.Database"] != late || got.Nodes["db"].Restored["Database"] != want {
			t.Errorf("%s: %q, %+v, %v", about, value, got.Restored, err)
		}
	}
	if p.Nodes["db"].Restored != nil {
		t.Error("the project itself was changed")
	}
}

package backup_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/backup"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// services are the resources of one stack, and the backups that there are.
type services struct {
	has     []plan.StackResource
	unready string
	made    map[string]backup.Made // by ARN
	called  []string
	fails   map[string]error // by the call
}

func (s *services) all() backup.Services {
	return backup.Services{Stacks: s, Instances: s, Clusters: s}
}

// The command that restores a file system has its ID, the role of the vault in the account of the target, and a token that names the file system.
func TestRestoreCommand(t *testing.T) {
	s := &services{has: []plan.StackResource{{ID: "Files", Type: "AWS::EFS::FileSystem", PhysicalID: "fs-1"}}}
	all := s.all()
	all.Files = s
	for want, vault := range map[string]backup.Vault{
		"--iam-role-arn arn:aws-cn:iam::111122223333:role/service-role/ours ": {Name: "Default", Role: "service-role/ours"},
		"--iam-role-arn ROLE ": {},
	} {
		all.Vault = vault
		h, err := all.Holdings(t.Context(), project.Target{Account: "111122223333", Region: "cn-north-1"}, "web")
		want = "aws backup start-restore-job " + want + "--metadata file-system-id=fs-1,Encrypted=true,PerformanceMode=generalPurpose,CreationToken=restored-fs-1,newFileSystem=true --recovery-point-arn"
		if err != nil || len(h.Data) != 1 || h.Data[0].Restore != want {
			t.Errorf("got %+v, want %s: %v", h.Data, want, err)
		}
	}
}

// A kind that needs a setting of the installation is left out without it, with the name of the setting, and neither backed up nor deleted.
func TestWithoutSetting(t *testing.T) {
	s := &services{has: []plan.StackResource{{ID: "Files", Type: "AWS::EFS::FileSystem", PhysicalID: "fs-1"}}}
	h, err := s.all().Holdings(t.Context(), project.Target{}, "stack")
	if err != nil || len(h.Data)+len(h.Unready) > 0 || strings.Join(h.Skipped, "; ") != "file system of EFS Files (fs-1), which needs the setting backupVault" {
		t.Errorf("%+v, %v", h, err)
	}
	d := plan.Data{Node: "web", Resource: "Files", Type: "AWS::EFS::FileSystem", ID: "fs-1"}
	_, one := s.all().BackUp(t.Context(), d, "b", nil)
	two := s.all().Delete(t.Context(), []plan.Backup{{Data: d, ARN: "arn:b"}}, nil)
	for _, err := range []error{one, two} {
		if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "a backup of a file system of EFS needs the setting backupVault of the installation, which is empty") {
			t.Error(err)
		}
	}
	all := s.all()
	all.Files = s
	if h, err := all.Holdings(t.Context(), project.Target{}, "stack"); err != nil || len(h.Data) != 1 || len(h.Skipped) > 0 {
		t.Errorf("%+v, %v", h, err)
	}
}

// What has failed and left nothing is not left, and needs no deletion.
func TestGone(t *testing.T) {
	s := &services{made: map[string]backup.Made{"arn:b": {State: backup.Failed, Says: "FAILED", Gone: true}, "arn:c": {State: backup.Failed, Says: "failed"}}}
	two := []plan.Backup{{Data: main, ARN: "arn:b"}, {Data: main, ARN: "arn:c"}}
	left, err := s.all().Left(t.Context(), two, nil)
	if deleted := s.all().Delete(t.Context(), two, nil); err != nil || deleted != nil || strings.Join(left, "; ") != "arn:c is failed" || strings.Join(s.called, "; ") != "delete arn:c" {
		t.Errorf("left %q, called %q: %v, %v", left, s.called, err, deleted)
	}
	if _, _, err := s.all().Ready(t.Context(), two[0]); !fault.Is(err, fault.Refused) {
		t.Error(err)
	}
}

// A vault is written as it is read, and the name of a role has its path and no ARN.
func TestParseVault(t *testing.T) {
	for text, good := range map[string]bool{
		"": true, "Default,service-role/AWSBackupDefaultServiceRole": true, "ours_2,backs-up": true,
		"Default": false, ",role": false, "a,role": false, "Default,": false, "Default,/role": false, "Default,arn:aws:iam::1:role/r": false, "no vault,role": false, strings.Repeat("v", 51) + ",role": false,
	} {
		v, err := backup.ParseVault(text)
		if good && (err != nil || v.String() != text) || !good && (!fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "write VAULT,ROLE")) {
			t.Errorf("%q: %v, %v", text, v, err)
		}
	}
}

func (s *services) call(name string) error {
	s.called = append(s.called, name)
	return s.fails[name]
}

func (s *services) ResourcesInStack(context.Context, project.Target, string) ([]plan.StackResource, error) {
	return s.has, s.call("find")
}

func (s *services) See(_ context.Context, _ project.Target, ids []string) (map[string]backup.Seen, error) {
	all := make(map[string]backup.Seen)
	for _, id := range ids {
		if id != "member" {
			all[id] = backup.Seen{Unready: s.unready}
		}
	}
	return all, s.call("see")
}

func (s *services) BackUp(_ context.Context, _ project.Target, id, name string, _ map[string]string) (string, error) {
	return "arn:" + name, s.call("back up " + id)
}

func (s *services) Find(_ context.Context, _ project.Target, _, name string) (string, error) {
	if _, is := s.made["arn:"+name]; !is {
		return "", fault.New(fault.Missing, "none")
	}
	return "arn:" + name, s.call("find " + name)
}

func (s *services) Backup(_ context.Context, _ project.Target, arn string) (backup.Made, error) {
	m, is := s.made[arn]
	if !is {
		return m, fault.New(fault.Missing, "none")
	}
	return m, s.fails["read"]
}

func (s *services) Delete(_ context.Context, _ project.Target, arn string) error {
	return s.call("delete " + arn)
}

// Each kind is one row, and its resources are found by their type.
func TestKinds(t *testing.T) {
	seen := make(map[string]bool)
	types := strings.Join(backup.Services{}.Types(), " ")
	for _, k := range backup.All() {
		if seen[k.Type] || k.Name == "" || k.Of == nil || !strings.Contains(types, k.Type) {
			t.Errorf("%+v", k)
		}
		seen[k.Type] = true
	}
	if !strings.Contains(types, backup.NestedStack) {
		t.Error("nested stacks are not found")
	}
}

// What a stack holds is sorted, without members of clusters and other resources, and says what is not backed up.
func TestHoldings(t *testing.T) {
	s := &services{unready: "it is stopped", has: []plan.StackResource{
		{ID: "Topic", Type: "AWS::SNS::Topic", PhysicalID: "t"}, {ID: "Member", Type: "AWS::RDS::DBInstance", PhysicalID: "member"}, {ID: "Main", Type: "AWS::RDS::DBInstance", PhysicalID: "main"},
		{ID: "Graph", Type: "AWS::Neptune::DBCluster", PhysicalID: "g"}, {ID: "Inner", Type: backup.NestedStack, PhysicalID: "i"},
	}}
	in := project.Target{Name: "eu"}
	h, err := s.all().Holdings(t.Context(), in, "stack")
	if err != nil || len(h.Data) != 2 || h.Data[0].Resource != "Graph" || h.Data[0].Property != "SnapshotIdentifier" || h.Data[1].ID != "main" || h.Data[1].Target != in || strings.Join(h.Nested, " ") != "Inner" ||
		strings.Join(h.Unready, "; ") != "DB instance Main (main): it is stopped; Neptune cluster Graph (g): it is stopped" {
		t.Errorf("%+v, %v", h, err)
	}
	for _, call := range []string{"find", "see"} {
		s.fails = map[string]error{call: fault.New(fault.Unavailable, "lost")}
		if _, err := s.all().Holdings(t.Context(), in, "stack"); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: %v", call, err)
		}
	}
}

var main = plan.Data{Node: "db", Resource: "Main", Type: "AWS::RDS::DBInstance", Kind: "DB instance", ID: "main"}

// A backup that has failed, or is deleted, never becomes ready, and a database that is gone is not backed up.
func TestReady(t *testing.T) {
	s := &services{made: map[string]backup.Made{"arn:b": {State: backup.Making, Says: "creating"}}}
	b, err := s.all().BackUp(t.Context(), main, "b", nil)
	if err != nil || b.ARN != "arn:b" {
		t.Fatal(b, err)
	}
	for state, want := range map[backup.State]string{backup.Making: "false", backup.Available: "true", backup.Failed: "refused", backup.Deleting: "refused"} {
		s.made["arn:b"] = backup.Made{State: state, Says: string(state)}
		ready, _, err := s.all().Ready(t.Context(), b)
		got := map[bool]string{true: "true", false: "false"}[ready]
		if fault.Is(err, fault.Refused) {
			got = "refused"
		}
		if got != want {
			t.Errorf("%s: %s, %v", state, got, err)
		}
	}
	s.fails = map[string]error{"back up main": fault.New(fault.Missing, "none")}
	if _, err := s.all().BackUp(t.Context(), main, "b", nil); !fault.Is(err, fault.Refused) {
		t.Error(err)
	}
	other := main
	other.Type = "AWS::Fly::Fly"
	if _, err := s.all().BackUp(t.Context(), other, "b", nil); !fault.Is(err, fault.Broken) {
		t.Error(err)
	}
}

// A deletion finds backups without an ARN by their names, leaves alone what is gone or being deleted, waits for what is made, and does the rest although one is refused.
func TestDelete(t *testing.T) {
	name := func(d plan.Data) string { return d.Resource }
	other := main
	other.Resource = "Other"
	for what, c := range map[string]struct {
		made  map[string]backup.Made
		fails map[string]error
		want  string
		err   fault.Kind
	}{
		"available": {map[string]backup.Made{"arn:Main": {State: backup.Available}, "arn:Other": {State: backup.Failed}}, nil, "find Main, delete arn:Main, delete arn:Other", ""},
		"gone":      {map[string]backup.Made{"arn:Other": {State: backup.Deleting}}, nil, "", ""},
		"made":      {map[string]backup.Made{"arn:Main": {State: backup.Making}, "arn:Other": {State: backup.Available}}, nil, "find Main", fault.Busy},
		"refused":   {map[string]backup.Made{"arn:Main": {State: backup.Available}, "arn:Other": {State: backup.Available}}, map[string]error{"delete arn:Main": fault.New(fault.Refused, "no")}, "find Main, delete arn:Main, delete arn:Other", fault.Refused},
		"lost":      {map[string]backup.Made{"arn:Main": {State: backup.Available}}, map[string]error{"delete arn:Main": fault.New(fault.Unavailable, "lost")}, "find Main, delete arn:Main", fault.Unavailable},
		"meanwhile": {map[string]backup.Made{"arn:Main": {State: backup.Available}}, map[string]error{"delete arn:Main": fault.New(fault.Missing, "none")}, "find Main, delete arn:Main", ""},
	} {
		s := &services{made: c.made, fails: c.fails}
		err := s.all().Delete(t.Context(), []plan.Backup{{Data: main}, {Data: other, ARN: "arn:Other"}}, name)
		if got := strings.Join(s.called, ", "); got != c.want || fault.KindOf(err) != c.err {
			t.Errorf("%s: %s, %v", what, got, err)
		}
	}
	s := &services{made: map[string]backup.Made{"arn:Main": {State: backup.Deleting, Says: "deleting"}}}
	left, err := s.all().Left(t.Context(), []plan.Backup{{Data: main}, {Data: other}}, name)
	if err != nil || strings.Join(left, ", ") != "arn:Main is deleting" {
		t.Errorf("%q, %v", left, err)
	}
	s.fails = map[string]error{"read": fault.New(fault.Unavailable, "lost")}
	if _, err := s.all().Left(t.Context(), []plan.Backup{{Data: main}}, name); !fault.Is(err, fault.Unavailable) {
		t.Error(err)
	}
}

package rds_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/rds"

	"github.com/stackwright/stackwright/pkg/aws/rds"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/suspend"
)

var _ suspend.Machines = (*rds.Databases)(nil)

// A service keeps the requests, and answers the first with what it is to say.
type service struct {
	got    []string
	said   string
	then   string // what it is to say to the second
	status int
	code   string

	failsThen bool // the second request is denied
}

// Do is aws.HTTPClient.
func (s *service) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	s.got = append(s.got, string(body))
	if s.failsThen && len(s.got) == 2 {
		s.status, s.code = http.StatusForbidden, "AccessDenied"
	}
	action, _, _ := strings.Cut(strings.TrimPrefix(string(body), "Action="), "&")
	said := "<R><" + action + "Result>" + s.said + "</" + action + "Result></R>"
	if s.said, s.then = s.then, ""; s.code != "" {
		said = "<ErrorResponse><Error><Code>" + s.code + "</Code><Message>it failed</Message></Error></ErrorResponse>"
	}
	return &http.Response{StatusCode: max(s.status, http.StatusOK), Request: r, Header: http.Header{"Content-Type": {"text/xml"}}, Body: io.NopCloser(strings.NewReader(said))}, err
}

func clients(s *service) func(context.Context, project.Target) (rds.Client, error) {
	client := sdk.New(sdk.Options{Region: "us-east-1", HTTPClient: s, Retryer: aws.NopRetryer{}, Credentials: aws.AnonymousCredentials{}})
	return func(context.Context, project.Target) (rds.Client, error) { return client, nil }
}

// Databases are read by their identifiers, twenty with a request, and RDS writes these in lower case. What cannot be stopped has a reason.
func TestDatabases(t *testing.T) {
	one := func(id, rest string) string {
		return "<DBInstance><DBInstanceIdentifier>" + id + "</DBInstanceIdentifier><DBInstanceStatus>available</DBInstanceStatus>" + rest + "</DBInstance>"
	}
	s := &service{said: "<DBInstances>" + one("plain", "<Engine>mysql</Engine><MultiAZ>true</MultiAZ><DBInstanceClass>db.t3.medium</DBInstanceClass><LicenseModel>general-public-license</LicenseModel>") + one("member", "<DBClusterIdentifier>c</DBClusterIdentifier>") +
		one("source", "<ReadReplicaDBInstanceIdentifiers><ReadReplicaDBInstanceIdentifier>r</ReadReplicaDBInstanceIdentifier></ReadReplicaDBInstanceIdentifiers>") +
		one("replica", "<ReadReplicaSourceDBInstanceIdentifier>source</ReadReplicaSourceDBInstanceIdentifier>") +
		one("sql", "<Engine>sqlserver-se</Engine><MultiAZ>true</MultiAZ>") + one("single", "<Engine>sqlserver-se</Engine>") + one("custom", "<Engine>custom-oracle-ee</Engine>") +
		one("other", "") + "</DBInstances>"}
	ids := []string{"Plain", "member", "source", "replica", "sql", "single", "custom"}
	for i := range 14 {
		ids = append(ids, fmt.Sprintf("d%02d", i))
	}
	got, err := rds.Instances(clients(s)).Machines(t.Context(), project.Target{}, ids)
	want := map[string]suspend.Machine{
		"Plain": {Status: "available", Charged: "2 rds mysql db.t3.medium"}, "member": {Status: "available", Member: true}, "source": {Status: "available", Fixed: "it has a read replica"},
		"replica": {Status: "available", Fixed: "it is a read replica"}, "sql": {Status: "available", Fixed: "it is an SQL Server in several Availability Zones"},
		"single": {Status: "available"}, "custom": {Status: "available", Fixed: "it is of RDS Custom"},
	}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %+v, want %+v: %v", got, want, err)
	}
	if len(s.got) != 2 || !strings.Contains(s.got[0], "Filters.Filter.1.Name=db-instance-id") || !strings.Contains(s.got[0], "Value.20=d12") || !strings.Contains(s.got[1], "Value.1=d13") {
		t.Errorf("sent %q", s.got)
	}
}

// Only clusters of Aurora, Neptune and DocumentDB can be stopped, and not all of them.
func TestClusters(t *testing.T) {
	one := func(id, rest string) string {
		return "<DBCluster><DBClusterIdentifier>" + id + "</DBClusterIdentifier><Status>stopped</Status>" + rest + "</DBCluster>"
	}
	const aurora = "<Engine>aurora-mysql</Engine>"
	s := &service{said: "<DBClusters>" + one("plain", aurora+"<EngineMode>provisioned</EngineMode>") + one("mysql", "<Engine>mysql</Engine>") + one("neptune", "<Engine>neptune</Engine><EngineMode>provisioned</EngineMode>") + one("docdb", "<Engine>docdb</Engine><EngineMode>provisioned</EngineMode>") + one("old", aurora+"<EngineMode>serverless</EngineMode>") +
		one("global", aurora+"<GlobalClusterIdentifier>g</GlobalClusterIdentifier>") + one("replica", aurora+"<ReplicationSourceIdentifier>s</ReplicationSourceIdentifier>") +
		one("source", aurora+"<ReadReplicaIdentifiers><ReadReplicaIdentifier>r</ReadReplicaIdentifier></ReadReplicaIdentifiers>") + "</DBClusters>"}
	got, err := rds.Clusters(clients(s)).Machines(t.Context(), project.Target{}, []string{"plain", "mysql", "neptune", "docdb", "old", "global", "replica", "source"})
	for id, fixed := range map[string]string{"plain": "", "mysql": "it is no cluster of Aurora, Neptune or DocumentDB", "neptune": "", "docdb": "", "old": "its engine mode is serverless", "global": "it belongs to a global database", "replica": "it is a read replica", "source": "it has a read replica"} {
		if err != nil || got[id] != (suspend.Machine{Status: "stopped", Fixed: fixed}) {
			t.Errorf("%s: %+v, want %q: %v", id, got[id], fixed, err)
		}
	}
	if len(s.got) != 1 || !strings.Contains(s.got[0], "Filters.Filter.1.Name=db-cluster-id") {
		t.Errorf("sent %q", s.got)
	}
}

// A cluster that is available is charged for its DB instances, which are read with one more request.
func TestClusterIsChargedForItsInstances(t *testing.T) {
	cluster := func(id, rest string) string {
		return "<DBCluster><DBClusterIdentifier>" + id + "</DBClusterIdentifier><Status>available</Status><Engine>aurora-mysql</Engine>" + rest + "</DBCluster>"
	}
	members := func(ids ...string) string {
		return "<DBClusterMembers><DBClusterMember><DBInstanceIdentifier>" + strings.Join(ids, "</DBInstanceIdentifier></DBClusterMember><DBClusterMember><DBInstanceIdentifier>") + "</DBInstanceIdentifier></DBClusterMember></DBClusterMembers>"
	}
	instance := func(id, class string) string {
		return "<DBInstance><DBInstanceIdentifier>" + id + "</DBInstanceIdentifier><Engine>aurora-mysql</Engine><DBInstanceClass>" + class + "</DBInstanceClass></DBInstance>"
	}
	s := &service{said: "<DBClusters>" + cluster("two", members("a", "b")) + cluster("elastic", members("a", "s")) + cluster("none", "") + strings.Replace(cluster("graph", members("n")), "aurora-mysql", "neptune", 1) + cluster("optimized", "<StorageType>aurora-iopt1</StorageType>"+members("a")) + "</DBClusters>",
		then: "<DBInstances>" + instance("a", "db.r6g.large") + instance("b", "db.t3.medium") + instance("s", "db.serverless") + strings.Replace(instance("n", "db.r6g.large"), "aurora-mysql", "neptune", 1) + "</DBInstances>"}
	got, err := rds.Clusters(clients(s)).Machines(t.Context(), project.Target{}, []string{"two", "elastic", "none", "graph", "optimized"})
	for id, want := range map[string]string{"two": "1 rds aurora-mysql db.r6g.large; 1 rds aurora-mysql db.t3.medium", "elastic": "", "none": "nothing", "graph": "", "optimized": ""} {
		if err != nil || got[id].Charged != want || got[id].Status != "available" {
			t.Errorf("%s: %+v, want %q: %v", id, got[id], want, err)
		}
	}
	denied := &service{said: "<DBClusters>" + cluster("two", members("a", "b")) + cluster("none", "") + "</DBClusters>", failsThen: true}
	got, err = rds.Clusters(clients(denied)).Machines(t.Context(), project.Target{}, []string{"two", "none"})
	if err != nil || got["two"].Charged != "" || got["two"].Status != "available" || got["none"].Charged != "nothing" || len(denied.got) != 2 {
		t.Errorf("without its instances: %+v, %v", got, err)
	}
	if len(s.got) != 2 || !strings.Contains(s.got[1], "Action=DescribeDBInstances") || !strings.Contains(s.got[1], "Value.1=a") {
		t.Errorf("sent %q", s.got)
	}
}

// A request names the database, and each refusal has its kind.
func TestChanges(t *testing.T) {
	in := project.Target{Account: "000000000000", Region: "eu-west-1"}
	type reach = func(context.Context, project.Target) (rds.Client, error)
	all := map[string]func(reach) error{
		"Action=StopDBInstance&DBInstanceIdentifier=a&":  func(c reach) error { return rds.Instances(c).StopMachine(t.Context(), in, "a") },
		"Action=StartDBInstance&DBInstanceIdentifier=a&": func(c reach) error { return rds.Instances(c).StartMachine(t.Context(), in, "a") },
		"Action=StopDBCluster&DBClusterIdentifier=a&":    func(c reach) error { return rds.Clusters(c).StopMachine(t.Context(), in, "a") },
		"Action=StartDBCluster&DBClusterIdentifier=a&":   func(c reach) error { return rds.Clusters(c).StartMachine(t.Context(), in, "a") },
	}
	for want, do := range all {
		s := &service{}
		if err := do(clients(s)); err != nil || len(s.got) != 1 || !strings.HasPrefix(s.got[0], want) {
			t.Errorf("sent %q, want %s: %v", s.got, want, err)
		}
		for code, kind := range map[string]fault.Kind{
			"InvalidDBInstanceState": fault.Busy, "InvalidDBClusterStateFault": fault.Busy, "DBInstanceNotFound": fault.Missing, "DBClusterNotFoundFault": fault.Missing,
			"Throttling": fault.Throttled, "InsufficientDBInstanceCapacity": fault.Refused, "AccessDenied": fault.Denied, "InternalFailure": fault.Unavailable,
		} {
			if err := do(clients(&service{status: 400, code: code})); fault.KindOf(err) != kind {
				t.Errorf("%s: %s is of kind %s: %v", want, code, fault.KindOf(err), err)
			}
		}
	}
	for what, err := range map[string]error{
		"instances": second(rds.Instances(clients(&service{status: 400, code: "Throttling"})).Machines(t.Context(), in, []string{"a"})),
		"clusters":  second(rds.Clusters(clients(&service{status: 400, code: "Throttling"})).Machines(t.Context(), in, []string{"a"})),
	} {
		if !fault.Is(err, fault.Throttled) {
			t.Errorf("describe %s: %v", what, err)
		}
	}
	denied := func(context.Context, project.Target) (rds.Client, error) {
		return nil, fault.New(fault.Denied, "no role")
	}
	all["instances"] = func(c reach) error {
		return second(rds.Instances(c).Machines(t.Context(), project.Target{Name: "eu"}, []string{"a"}))
	}
	all["clusters"] = func(c reach) error {
		return second(rds.Clusters(c).Machines(t.Context(), project.Target{Name: "eu"}, []string{"a"}))
	}
	for what, do := range all {
		if err := do(denied); !fault.Is(err, fault.Denied) {
			t.Errorf("%s without a role: %v", what, err)
		}
	}
}

// second is the error of a call.
func second(_ map[string]suspend.Machine, err error) error { return err }

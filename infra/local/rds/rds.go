// Package rds emulates RDS on this machine as far as suspended stacks and snapshots use it: it stops, starts and backs up the DB instances and clusters that stacks
// have created. There are no databases.
package rds

import (
	"encoding/json"
	"encoding/xml"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/resource"
)

// A kind is DB instances or DB clusters.
type kind struct {
	resources [3]string // the resource types
	name      string    // as operations call it
	filter    string
	id        string // the parameter that names one
	state     string // the error of one that is in another status
	missing   string // the error if there is none
}

var (
	instances = kind{[3]string{"AWS::RDS::DBInstance", "AWS::Neptune::DBInstance", "AWS::DocDB::DBInstance"}, "DBInstance", "db-instance-id", "DBInstanceIdentifier", "InvalidDBInstanceState", "DBInstanceNotFound"}
	clusters  = kind{[3]string{"AWS::RDS::DBCluster", "AWS::Neptune::DBCluster", "AWS::DocDB::DBCluster"}, "DBCluster", "db-cluster-id", "DBClusterIdentifier", "InvalidDBClusterStateFault", "DBClusterNotFoundFault"}
)

// Service is an http.Handler that speaks the query protocol of RDS. Use it by its address.
type Service struct {
	// Find returns the properties, as JSON, of the resource of a type and name that a stack has, and the ID of the stack, in the account and
	// region of a request. It reports false if there is none.
	Find func(r *http.Request, kind, name string) (properties, stack string, ok bool)
	// Replicas returns the names of the read replicas of a DB instance, in the account and region of a request.
	Replicas func(r *http.Request, name string) []string
	// Members returns the names of the DB instances of a DB cluster, in the account and region of a request.
	Members func(r *http.Request, name string) []string
	// Place is the account and region of a request.
	Place func(*http.Request) (account, region string)
	// Takes is how long it takes to stop or start a database.
	Takes time.Duration

	mu sync.Mutex
	kept
	failing map[string]bool // the names of the databases whose next snapshot fails
}

// kept is what requests have made of the resources.
type kept struct {
	Databases resource.Switches   // by place, stack, type and name
	Snapshots map[string]snapshot // by place, type of the source and identifier
}

// Keep returns what requests have made of the resources, as JSON. Restore takes it over again, in a new process.
func (s *Service) Keep() ([]byte, error) { return resource.Keep(&s.mu, s.kept) }

// Restore takes over what Keep returned.
func (s *Service) Restore(body []byte) error { return json.Unmarshal(body, &s.kept) }

// statuses are those of databases.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/accessing-monitoring.html#Overview.DBInstance.Status
var statuses = resource.Statuses{On: "available", Starting: "starting", Off: "stopped", Stopping: "stopping"}

// ServeHTTP answers DescribeDBInstances and DescribeDBClusters of names, and the requests to stop and start one.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_Operations.html
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, code, message string) {
		gateway.Refuse(w, r, status, gateway.Fault{Code: code, Message: message})
	}
	if !gateway.Form(w, r) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	action := r.Form.Get("Action")
	for _, k := range []kind{instances, clusters} {
		switch action {
		case "Describe" + k.name + "s":
			if r.Form.Get("Filters.Filter.1.Name") != k.filter {
				refuse(http.StatusBadRequest, "InvalidParameterValue", "the local emulator of RDS describes databases by the filter "+k.filter+" only")
				return
			}
			s.describe(w, r, k)
			return
		case "Stop" + k.name, "Start" + k.name:
			name := r.Form.Get(k.id)
			properties, key, ok := s.find(r, k, name)
			if !ok {
				refuse(http.StatusNotFound, k.missing, k.name+" "+name+" not found.")
				return
			}
			if on := action == "Start"+k.name; !s.change(w, r, k, key, on) {
				return
			}
			answer(w, action, s.described(r, k, name, properties, key))
			return
		}
	}
	if s.serveSnapshots(w, r, action) {
		return
	}
	refuse(http.StatusBadRequest, "InvalidAction", "the local emulator of RDS has no "+action)
}

// change stops a database that is available, or starts one that is stopped. It refuses to change another one, and an instance of a cluster: only
// the cluster can be stopped.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_StopDBInstance.html
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_StartDBCluster.html
func (s *Service) change(w http.ResponseWriter, r *http.Request, k kind, key string, on bool) bool {
	if is := s.Databases.Status(key, statuses); is != map[bool]string{false: statuses.On, true: statuses.Off}[on] {
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: k.state, Message: k.name + " " + r.Form.Get(k.id) + " is " + is})
		return false
	}
	properties, _, _ := s.find(r, k, r.Form.Get(k.id))
	if k.name == instances.name && resource.Property(properties, "DBClusterIdentifier") != "" {
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: "InvalidDBClusterStateFault", Message: "it belongs to a DB cluster"})
		return false
	}
	if k.name == instances.name && !on && (unstoppable(properties) || len(s.Replicas(r, r.Form.Get(k.id))) > 0) {
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: k.state, Message: "a DB instance of this kind cannot be stopped"})
		return false
	}
	s.Databases.Set(key, on, s.Takes)
	return true
}

// unstoppable reports whether a DB instance cannot be stopped: a read replica, and SQL Server in several Availability Zones.
// What has a read replica cannot be stopped either, which its properties do not say.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_StopInstance.html#USER_StopInstance.Limitations
func unstoppable(properties string) bool {
	several := resource.Property(properties, "MultiAZ") == "true" && strings.HasPrefix(resource.Property(properties, "Engine"), "sqlserver")
	return several || resource.Property(properties, "SourceDBInstanceIdentifier") != ""
}

// engines are the engines of the types whose properties do not say it.
var engines = map[string]string{
	"AWS::Neptune::DBCluster": "neptune", "AWS::Neptune::DBInstance": "neptune", "AWS::DocDB::DBCluster": "docdb", "AWS::DocDB::DBInstance": "docdb",
}

// withEngine adds an engine to properties; none if it is empty.
func withEngine(properties, engine string) string {
	all := make(map[string]any)
	if engine == "" || json.Unmarshal([]byte(properties), &all) != nil {
		return properties
	}
	all["Engine"] = engine
	text, err := json.Marshal(all)
	if err != nil {
		return properties
	}
	return string(text)
}

// find returns the properties of a database and the key of its state.
func (s *Service) find(r *http.Request, k kind, name string) (properties, key string, ok bool) {
	account, region := s.Place(r)
	for _, of := range k.resources {
		if properties, stack, ok := s.Find(r, of, name); ok {
			return withEngine(properties, engines[of]), strings.Join([]string{account, region, stack, of, name}, " "), true
		}
	}
	return "", "", false
}

// described is a database of an answer.
type described struct {
	XMLName              xml.Name
	DBInstanceIdentifier string `xml:",omitempty"`
	DBInstanceStatus     string `xml:",omitempty"`
	DBClusterIdentifier  string `xml:",omitempty"`
	Status               string `xml:",omitempty"`
	Engine, EngineMode   string `xml:",omitempty"`
	MultiAZ              bool   `xml:",omitempty"`
	DBInstanceClass      string `xml:",omitempty"`
	LicenseModel         string `xml:",omitempty"`
	StorageType          string `xml:",omitempty"`

	ReadReplicaSourceDBInstanceIdentifier string   `xml:",omitempty"`
	ReadReplicaDBInstanceIdentifiers      []string `xml:"ReadReplicaDBInstanceIdentifiers>ReadReplicaDBInstanceIdentifier,omitempty"`

	DBClusterMembers []string `xml:"DBClusterMembers>DBClusterMember>DBInstanceIdentifier,omitempty"`
}

// described describes a database. An instance of a cluster has the status of the cluster.
func (s *Service) described(r *http.Request, k kind, name, properties, key string) described {
	status := s.Databases.Status(key, statuses)
	one := described{XMLName: xml.Name{Local: k.name}, Engine: resource.Property(properties, "Engine")}
	if k.name == clusters.name {
		one.DBClusterIdentifier, one.Status, one.EngineMode = name, status, "provisioned"
		one.DBClusterMembers, one.StorageType = s.Members(r, name), resource.Property(properties, "StorageType")
	} else {
		one.DBInstanceIdentifier, one.DBInstanceStatus, one.DBClusterIdentifier = name, status, resource.Property(properties, "DBClusterIdentifier")
		one.MultiAZ, one.ReadReplicaSourceDBInstanceIdentifier = resource.Property(properties, "MultiAZ") == "true", resource.Property(properties, "SourceDBInstanceIdentifier")
		one.ReadReplicaDBInstanceIdentifiers = s.Replicas(r, name)
		one.DBInstanceClass, one.LicenseModel = resource.Property(properties, "DBInstanceClass"), resource.Property(properties, "LicenseModel")
	}
	return one
}

// describe lists the databases that a request names and that exist.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DescribeDBInstances.html
func (s *Service) describe(w http.ResponseWriter, r *http.Request, k kind) {
	list := struct {
		XMLName xml.Name
		Members []described
	}{XMLName: xml.Name{Local: k.name + "s"}}
	for _, name := range gateway.List(r, "Filters.Filter.1.Values.Value") {
		if properties, key, ok := s.find(r, k, name); ok {
			list.Members = append(list.Members, s.described(r, k, name, properties, key))
		}
	}
	answer(w, "Describe"+k.name+"s", list)
}

// answer writes the answer to an action.
func answer(w http.ResponseWriter, action string, result any) {
	gateway.Answer(w, "http://rds.amazonaws.com/doc/2014-10-31/", action, result)
}

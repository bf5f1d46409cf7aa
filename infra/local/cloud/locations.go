package cloud

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/ssm"
	"github.com/stackwright/stackwright/infra/local/sts"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// A location is an account and region.
type location struct{ account, region string }

// otherLocations are the CloudFormation emulators of other accounts and regions. Each is created by the first request
// to it. Their events are sent to the bus of the own account, as the forwarding rules of a real installation do.
type otherLocations struct {
	mu       sync.Mutex
	services map[location]*cloudformation.Service
}

// openStacks opens the CloudFormation of an account and region.
func (c *Cloud) openStacks(folder string, at location) (*cloudformation.Service, error) {
	return cloudformation.Open(c.subfolder(folder), cloudformation.Options{Account: at.account, Region: at.region,
		Seconds: c.opts.Seconds, Seed: c.opts.Seed, Emit: c.emit, Fetch: c.Objects.Fetch,
		ResolveDynamic: c.opts.ResolveDynamic, Stored: bootstrapParameter, StackLimit: raisedLimit,
		StackOutput: c.stackOutput})
}

// stackOutput reads an output of a stack in any account and region.
func (c *Cloud) stackOutput(of template.StackOutput) (string, error) {
	s, err := c.StacksIn(of.Account, of.Region)
	if err != nil {
		return "", err
	}
	return s.StackOutput(of)
}

// raisedLimit is the quota of stacks in each account and region, which AWS raises on request: projects on a laptop may have 10,000 stacks
// beside as many others.
const raisedLimit = 50_000

// StacksIn is the CloudFormation of an account and region.
func (c *Cloud) StacksIn(account, region string) (*cloudformation.Service, error) {
	at := location{account, region}
	if at == (location{c.opts.Account, c.opts.Region}) {
		return c.Stacks, nil
	}
	c.otherLocations.mu.Lock()
	defer c.otherLocations.mu.Unlock()
	if s, ok := c.otherLocations.services[at]; ok {
		return s, nil
	}
	s, err := c.openStacks(prefix+account+"-"+region, at)
	if err != nil {
		return nil, err
	}
	if c.otherLocations.services == nil {
		c.otherLocations.services = make(map[location]*cloudformation.Service)
	}
	c.otherLocations.services[at] = s
	return s, nil
}

// prefix begins the names of the folders of other accounts and regions.
const prefix = "cloudformation-"

// reopenOthers opens the emulators of other accounts and regions that the data folder holds.
func (c *Cloud) reopenOthers() error {
	if c.opts.Data == "" {
		return nil
	}
	folders, err := filepath.Glob(c.subfolder(prefix + "*"))
	if err != nil {
		return err
	}
	for _, folder := range folders {
		account, region, _ := strings.Cut(strings.TrimPrefix(filepath.Base(folder), prefix), "-")
		if _, err := c.StacksIn(account, region); err != nil {
			return err
		}
	}
	return nil
}

func (a *otherLocations) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []error
	for _, s := range a.services {
		all = append(all, s.Close())
	}
	a.services = nil
	return errors.Join(all...)
}

var regionForm = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-\d+$`)

// serveStacks answers a request in the account of its credentials and in the region that it is signed for.
func (c *Cloud) serveStacks(w http.ResponseWriter, r *http.Request) {
	c.serveIn(c.locationOf(r), w, r)
}

// locationOf is the account and region that a request is for.
func (c *Cloud) locationOf(r *http.Request) location {
	key, _, _ := gateway.Scope(r)
	at := location{c.opts.Account, c.opts.Region}
	if h, ok := sts.ParseAccessKey(key); ok {
		at.account = h.Account
	}
	if region := gateway.Region(r); regionForm.MatchString(region) {
		at.region = region
	}
	return at
}

// place is the account and region that a request is for.
func (c *Cloud) place(r *http.Request) (account, region string) {
	at := c.locationOf(r)
	return at.account, at.region
}

// hasResource reports whether a stack has a resource of a type and name, in the account and region of a request.
func (c *Cloud) hasResource(r *http.Request, kind, name string) bool {
	at := c.locationOf(r)
	stacks, err := c.StacksIn(at.account, at.region)
	return err == nil && stacks.HasResource(kind, name)
}

// propertiesOf returns the properties of the resource of a type and name that a stack has, and the ID of the stack, in the account and region
// of a request.
func (c *Cloud) propertiesOf(r *http.Request, kind, name string) (properties, stack string, ok bool) {
	at := c.locationOf(r)
	stacks, err := c.StacksIn(at.account, at.region)
	if err != nil {
		return "", "", false
	}
	return stacks.Properties(kind, name)
}

// having lists the resources of a type that stacks have in the account and region of a request, by their physical IDs.
func (c *Cloud) having(r *http.Request, kind string) []string {
	at := c.locationOf(r)
	stacks, err := c.StacksIn(at.account, at.region)
	if err != nil {
		return nil
	}
	return stacks.Having(kind)
}

// replicasOf lists the read replicas of a DB instance that stacks have in the account and region of a request.
func (c *Cloud) replicasOf(r *http.Request, name string) []string {
	return c.databasesWith(r, "SourceDBInstanceIdentifier", name)
}

// membersOf lists the DB instances of a DB cluster that stacks have in the account and region of a request.
func (c *Cloud) membersOf(r *http.Request, name string) []string {
	return c.databasesWith(r, "DBClusterIdentifier", name)
}

// databasesWith lists the DB instances that name another database in a property.
func (c *Cloud) databasesWith(r *http.Request, property, name string) []string {
	at := c.locationOf(r)
	stacks, err := c.StacksIn(at.account, at.region)
	if err != nil {
		return nil
	}
	var all []string
	for _, kind := range []string{"AWS::RDS::DBInstance", "AWS::Neptune::DBInstance", "AWS::DocDB::DBInstance"} {
		all = append(all, stacks.Referring(kind, property, name)...)
	}
	return all
}

// FailBackup lets the next snapshot of a DB instance or cluster, of a cluster of Redshift or of an EBS volume, or the next recovery point of a file system, fail.
func (c *Cloud) FailBackup(database string) {
	c.databases.FailSnapshot(database)
	c.warehouses.FailSnapshot(database)
	c.machines.FailSnapshot(database)
	c.files.FailJob(database)
}

// LagBackups lets lists show each backup of a table so late.
func (c *Cloud) LagBackups(d time.Duration) { c.tableBackups.Lag(d) }

// storedParameter finds a parameter that a stack has created, in the account and region of a request.
func (c *Cloud) storedParameter(r *http.Request, name string) (ssm.Parameter, bool) {
	at := c.locationOf(r)
	stacks, err := c.StacksIn(at.account, at.region)
	if err != nil {
		return ssm.Parameter{}, false
	}
	kind, value, ok := stacks.StoredParameter(name)
	return ssm.Parameter{Type: kind, Value: value}, ok
}

// serveFaults manages the faults of the own account and region, or of those in the query.
func (c *Cloud) serveFaults(w http.ResponseWriter, r *http.Request) {
	at := location{c.opts.Account, c.opts.Region}
	if account := r.URL.Query().Get("account"); account != "" {
		at.account = account
	}
	if region := r.URL.Query().Get("region"); region != "" {
		at.region = region
	}
	if !accountForm.MatchString(at.account) || !regionForm.MatchString(at.region) {
		http.Error(w, fmt.Sprintf("account %s, region %s: there is no such place", at.account, at.region), http.StatusBadRequest)
		return
	}
	c.serveIn(at, w, r)
}

var accountForm = regexp.MustCompile(`^\d{12}$`)

func (c *Cloud) serveIn(at location, w http.ResponseWriter, r *http.Request) {
	s, err := c.StacksIn(at.account, at.region)
	if err != nil {
		gateway.Refuse(w, r, http.StatusInternalServerError, gateway.Fault{Code: "InternalFailure", Message: err.Error()})
		return
	}
	s.ServeHTTP(w, r)
}

// unexpired refuses credentials that have expired.
func (c *Cloud) unexpired(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, _, _ := gateway.Scope(r)
		if h, ok := sts.ParseAccessKey(key); ok && !time.Now().Before(h.Expires) {
			gateway.Refuse(w, r, http.StatusForbidden, gateway.Fault{Code: "ExpiredToken", Message: "The security token included in the request is expired"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ownAccountOnly refuses credentials of another account: other accounts have CloudFormation only.
func (c *Cloud) ownAccountOnly(next http.Handler) http.Handler {
	return c.unexpired(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, _, _ := gateway.Scope(r)
		if h, ok := sts.ParseAccessKey(key); ok && h.Account != c.opts.Account {
			gateway.Refuse(w, r, http.StatusForbidden, gateway.Fault{Code: "AccessDenied", Message: h.ARN() + " is not authorized: it is of another account"})
			return
		}
		next.ServeHTTP(w, r)
	}))
}

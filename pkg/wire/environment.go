// Package wire builds the Lambda functions: it connects the engine to its adapters.
package wire

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/aws/scheduler"
	"github.com/stackwright/stackwright/pkg/backup"
	"github.com/stackwright/stackwright/pkg/entry/notify"
	reports "github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/hook"
	"github.com/stackwright/stackwright/pkg/lib/budget"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/remote"
	"github.com/stackwright/stackwright/pkg/unit"
)

// An Environment names the resources of the installation that a function belongs to.
type Environment struct {
	Table         string // of DynamoDB
	Bucket        string
	StateMachine  string // its ARN
	Account       string // twelve digits
	Region        string
	Bus           string // the name of an event bus
	Stack         string // CloudFormation's name for the installation; may be empty
	Emulators     string // the folder of the emulators of a laptop; empty on AWS
	Execution     string // ARN of the role that CloudFormation assumes in the installation's own account; may be empty
	Limits        budget.Limits
	Schedules     scheduler.Group                            // empty if there is none
	Projects      project.Grants                             // who may use the target default
	Owner         access.Owner                               // admins of all projects
	Accounts      []string                                   // whose roles may be assumed in targets; nil is all
	Hooks         hook.Allowed                               // what hooks may call
	Secrets       hook.Secrets                               // with which hooks sign; nil is Secrets Manager
	Webhooks      hook.Webhooks                              // what hooks post to; nil is the Internet
	Remote        remote.Allowed                             // the files from elsewhere that projects may use
	Web           remote.Web                                 // gets them; nil is the Internet
	RemoteIn      string                                     // the file with the entries of Remote, on a laptop
	Issuer        string                                     // of the tokens with which people sign in on the page
	Client        string                                     // the public client ID of the page at the issuer; the installation serves no page if it is empty
	Suspend       project.Grants                             // the projects that may be suspended
	Backups       project.Grants                             // the projects whose data may be backed up
	Vault         backup.Vault                               // where file systems are backed up; the zero value is none
	Assets        project.Grants                             // the projects that may publish assets of the CDK
	Externals     project.Externals                          // the stacks outside their projects whose outputs these may read
	Organization  string                                     // how the installation asks AWS Organizations: "own" is with its own permissions, else the ARN of a role that it assumes; it does not if it is empty
	Organizations func(aws.Config, string) unit.Organization // see Organization; nil for functions that list no accounts, and for those that their mains give it
	Notify        notify.Destinations                        // of the events of runs
	Servers       notify.Servers                             // that events are delivered to; nil is the Internet
	Page          string                                     // the URL of the page; empty if there is none, or nobody knows it
	Rate          int                                        // requests a second that the HTTP API lets through; 0 is no limit
}

// place says where the installation is, for people.
func (e Environment) place() string {
	return reports.Place(e.Emulators, project.Target{Account: e.Account, Region: e.Region}, cmp.Or(e.Stack, "stackwright"))
}

// The variables that an Environment is read from.
const (
	envTable        = "STACKWRIGHT_TABLE"
	envBucket       = "STACKWRIGHT_BUCKET"
	envStateMachine = "STACKWRIGHT_STATE_MACHINE"
	envAccount      = "STACKWRIGHT_ACCOUNT"
	envRegion       = "AWS_REGION" // Lambda sets it
	envBus          = "STACKWRIGHT_BUS"
	envStack        = "STACKWRIGHT_STACK"
	envEmulators    = "STACKWRIGHT_EMULATORS"
	envExecution    = "STACKWRIGHT_EXECUTION_ROLE"
	envOwner        = "STACKWRIGHT_OWNER"           // patterns of ARNs with blanks; the installation has no owner if it is empty
	envAccounts     = "STACKWRIGHT_TARGET_ACCOUNTS" // with commas, or a star for all
	envProjects     = "STACKWRIGHT_PROJECTS"        // patterns with commas; no project may use the target default if it is empty

	envSuspend      = "STACKWRIGHT_SUSPEND"      // patterns of projects with commas; none may be suspended if it is empty
	envBackups      = "STACKWRIGHT_BACKUPS"      // patterns of projects with commas; the data of none may be backed up if it is empty
	envAssets       = "STACKWRIGHT_CDK_ASSETS"   // patterns of projects with commas; none may publish assets of the CDK if it is empty
	envVault        = "STACKWRIGHT_BACKUP_VAULT" // the names of a vault of AWS Backup and of a role, with a comma; optional
	envExternals    = "STACKWRIGHT_EXTERNAL"     // patterns of projects and stacks with commas; none may be read if it is empty
	envOrganization = "STACKWRIGHT_ORGANIZATION" // own, or the ARN of a role; optional
	envHooks        = "STACKWRIGHT_HOOKS"        // patterns of ARNs with commas; hooks may call nothing if it is empty

	envIssuer = "STACKWRIGHT_PAGE_ISSUER" // https URL
	envClient = "STACKWRIGHT_PAGE_CLIENT" // both or none

	envNotify = "STACKWRIGHT_NOTIFY"   // see notify.Parse; events are delivered nowhere if it is empty
	envPage   = "STACKWRIGHT_PAGE_URL" // optional

	envRate = "STACKWRIGHT_API_RATE" // requests a second; optional

	envRemote   = "STACKWRIGHT_REMOTE_FILES"    // see remote.ParseAllowed; projects may use no files from elsewhere if it is empty
	envRemoteIn = "STACKWRIGHT_REMOTE_FILES_IN" // the file on a laptop in which the entries are written; optional

	// The requests a second to CloudFormation in one account and region. Both are optional.
	envReads  = "STACKWRIGHT_READS"
	envWrites = "STACKWRIGHT_WRITES"
)

// A variable has a pattern.
type variable struct {
	name     string
	form     pattern.Pattern
	what     string
	optional bool
}

// variables are those that have a pattern, without those of schedules.
var variables = []variable{
	{envTable, pattern.New(`^[A-Za-z0-9_.-]{3,255}$`), "the name of the DynamoDB table", false},
	{envBucket, pattern.New(`^[a-z0-9.-]{3,63}$`), "the name of the S3 bucket", false},
	{envStateMachine, pattern.New(`^arn:aws[a-z-]*:states:[a-z0-9-]+:\d{12}:stateMachine:.+$`), "the ARN of the state machine", false},
	{envAccount, pattern.New(`^\d{12}$`), "the twelve digits of the account", false},
	{envRegion, pattern.New(`^[a-z0-9-]+$`), "the region", false},
	{envAccounts, pattern.New(`^(\*|\d{12}(,\d{12})*)$`), "accounts of twelve digits with commas, or *", true},
	{envOrganization, organizationForm, "own, or the ARN of a role", true},
	{envIssuer, pattern.New(`^https://[^\s,;'"]+$`), "the https URL of an issuer of tokens", true},
	{envClient, pattern.New(`^[!-~]{1,255}$`), "a client ID of up to 255 characters of ASCII", true},
	{envPage, pattern.New(`^https?://[^\s,;'"?#]+$`), "the URL of the page", true},
	{envRate, rate, "a number of requests a second from 1 to 9999", true},
	{envReads, rate, "a number of requests a second from 1 to 9999", true},
	{envWrites, rate, "a number of requests a second from 1 to 9999", true},
}

var rate = pattern.New(`^[1-9][0-9]{0,3}$`)

// faults lists which of some variables are missing or malformed. why ends the
// sentence that one is missing.
func faults(all []variable, why string, getenv func(string) string) (wrong []string) {
	for _, x := range all {
		switch v := getenv(x.name); {
		case v == "" && !x.optional:
			wrong = append(wrong, x.name+" is missing"+why+": set it to "+x.what)
		case v != "" && !x.form.MatchString(v):
			wrong = append(wrong, x.name+" is not "+x.what+": "+v)
		}
	}
	return wrong
}

// FromEnv reads an Environment. One error of kind fault.Invalid names every
// variable that is missing or malformed.
func FromEnv(getenv func(string) string) (Environment, error) {
	group, wrong := groupFrom(getenv)
	grants, err := project.ParseGrants(getenv(envProjects))
	if err != nil {
		wrong = append(wrong, envProjects+": "+err.Error())
	}
	owner, err := access.ParseOwner(getenv(envOwner))
	if err != nil {
		wrong = append(wrong, envOwner+": "+err.Error())
	}
	allowed, err := hook.ParseAllowed(getenv(envHooks))
	if err != nil {
		wrong = append(wrong, envHooks+": "+err.Error())
	}
	elsewhere, err := remote.ParseAllowed(getenv(envRemote))
	if err != nil {
		wrong = append(wrong, envRemote+": "+err.Error())
	}
	suspendable, err := project.ParseGrants(getenv(envSuspend))
	if err != nil {
		wrong = append(wrong, envSuspend+": "+err.Error())
	}
	backable, err := project.ParseGrants(getenv(envBackups))
	if err != nil {
		wrong = append(wrong, envBackups+": "+err.Error())
	}
	publishable, err := project.ParseGrants(getenv(envAssets))
	if err != nil {
		wrong = append(wrong, envAssets+": "+err.Error())
	}
	vault, err := backup.ParseVault(getenv(envVault))
	if err != nil {
		wrong = append(wrong, envVault+": "+err.Error())
	}
	externals, err := project.ParseExternals(getenv(envExternals))
	if err != nil {
		wrong = append(wrong, envExternals+": "+err.Error())
	}
	destinations, err := notify.Parse(getenv(envNotify))
	if err != nil {
		wrong = append(wrong, envNotify+": "+err.Error())
	}
	if (getenv(envIssuer) == "") != (getenv(envClient) == "") {
		wrong = append(wrong, envIssuer+", "+envClient+": set both or none")
	}
	if wrong = append(faults(variables, "", getenv), wrong...); len(wrong) > 0 {
		return Environment{}, fault.New(fault.Invalid, "environment: %s", strings.Join(wrong, "; "))
	}
	return Environment{
		Table: getenv(envTable), Bucket: getenv(envBucket), StateMachine: getenv(envStateMachine),
		Account: getenv(envAccount), Region: getenv(envRegion), Bus: cmp.Or(getenv(envBus), "default"),
		Stack: getenv(envStack), Emulators: getenv(envEmulators), Execution: getenv(envExecution), Limits: limitsFrom(getenv), Schedules: group, Projects: grants, Owner: owner, Accounts: accountsFrom(getenv(envAccounts)), Hooks: allowed,
		Remote: elsewhere, RemoteIn: getenv(envRemoteIn), Externals: externals, Organization: getenv(envOrganization), Suspend: suspendable, Backups: backable, Vault: vault, Issuer: getenv(envIssuer), Client: getenv(envClient),
		Assets: publishable,
		Notify: destinations, Page: getenv(envPage), Rate: number(getenv(envRate)),
	}, nil
}

// number is a number that has been found valid, or 0 for an empty text.
func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// allowing says how to allow a file from elsewhere. The entry takes the place of %s.
func (e Environment) allowing() string {
	if e.RemoteIn != "" {
		return "write the line %s into the file " + e.RemoteIn + ", and run the command again"
	}
	return "ask the owner of the installation to add %s to its setting remoteFiles"
}

// limitsFrom returns the limits that the variables set.
func limitsFrom(getenv func(string) string) budget.Limits {
	l := budget.CloudFormation()
	for name, to := range map[string]*float64{envReads: &l.Reads, envWrites: &l.Writes} {
		if n, err := strconv.ParseFloat(getenv(name), 64); err == nil {
			*to = n
		}
	}
	return l
}

// accountsFrom reads a list of accounts; nil is all.
func accountsFrom(text string) []string {
	if text == "*" {
		return nil
	}
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}

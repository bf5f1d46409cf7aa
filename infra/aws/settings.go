package main

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/backup"
	"github.com/stackwright/stackwright/pkg/entry/notify"
	"github.com/stackwright/stackwright/pkg/hook"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/remote"
)

// settings are what differs between installations. They come from the context of the CDK app: from cdk.json, or from -c
// name=value.
type settings struct {
	stack        string            // the name of the installation's stack; all other names begin with it
	accounts     []string          // the accounts of targets, besides the own one
	organization string            // the ID of the organization in whose accounts roles may be assumed; units are no targets if it is empty
	lister       string            // the ARN of the role with which its accounts are listed; empty for the functions' own roles
	policies     []string          // ARNs of policies of the execution role
	drift        []string          // ARNs of policies with which the functions read resources, so that their drift can be detected
	projects     project.Grants    // who may use the target default
	adoptable    string            // pattern of the names of stacks without our tag that projects may take over; empty for none
	owner        access.Owner      // who is admin of all projects, whatever the access file says
	hooks        hook.Allowed      // what hooks may call
	remote       remote.Allowed    // the files from elsewhere that projects may use
	key          bool              // data and notifications are encrypted with a key of the customer
	full         bool              // all alarms and the dashboard, not only the alarms of which each tells what no other does
	logDays      int               // retention of the logs
	suspend      project.Grants    // the projects that may be suspended
	backups      project.Grants    // the projects whose data may be backed up
	assets       project.Grants    // the projects that may publish assets of the CDK
	vault        backup.Vault      // where their file systems are backed up, and with which role; the zero value for nowhere
	external     project.Externals // the stacks outside their projects whose outputs these may read

	notify notify.Destinations // of the events of runs

	issuer   string   // the issuer of the API's tokens; if empty, callers sign with IAM
	audience []string // the audiences of those tokens
	page     string   // the public client ID at the issuer with which people sign in on the page; if empty, there is no page

	code string // the folder in which each function has one with its bootstrap
}

// A setting reads one value of the context.
type setting struct {
	name  string
	usual any
	read  func(*settings, []string) error // gets the parts of the value
}

// known are all settings. A value is text, a number, true or false, or a list; text with commas is a list too.
var known = []setting{
	{"stack", "stackwright", readStack},
	{"targetAccounts", "", readAccounts},
	{"organization", "", readOrganization},
	{"executionPolicies", "", readPolicies},
	{"driftPolicies", "", readDriftPolicies},
	{"projects", "", readProjects},
	{"owner", "", readOwner},
	{"adoptable", "", readAdoptable},
	{"hooks", "", readHooks},
	{"remoteFiles", "", readRemoteFiles},
	{"external", "", readExternal},
	{"suspend", "", readSuspend},
	{"backups", "", readBackups},
	{"backupVault", "", readBackupVault},
	{"cdkAssets", "", readAssets},
	{"notify", "", readNotify},
	{"customerKey", "false", readKey},
	{"monitoring", "basic", readMonitoring},
	{"logDays", "30", readLogDays},
	{"jwtIssuer", "", readIssuer},
	{"jwtAudience", "", func(s *settings, words []string) error { s.audience = words; return nil }},
	{"pageClient", "", readPage},
	{"code", "../../build/lambda", readCode},
}

// read reads the settings from the context of the app, and reports all errors at once. It ignores the names of CDK
// itself: they contain a colon or a slash, or are the one that is named here.
func read(context map[string]any) (settings, error) {
	var s settings
	var wrong []error
	rest := maps.Clone(context)
	for _, k := range known {
		value, ok := rest[k.name]
		if !ok {
			value = k.usual
		}
		delete(rest, k.name)
		words, err := split(value)
		if err == nil {
			err = k.read(&s, words)
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("setting %s: %w", k.name, err))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rest)) {
		if !strings.ContainsAny(name, ":/") && name != "cli-telemetry" {
			wrong = append(wrong, fmt.Errorf("setting %s: there is none of that name: the settings are %s", name, names()))
		}
	}
	if most := mostAccounts(s); len(s.accounts) > most {
		wrong = append(wrong, fmt.Errorf("setting targetAccounts: they are %d, and the roles of an installation have room for %d%s: make two installations of it",
			len(s.accounts), max(most, 0), s.beside("hooks", "remoteFiles")))
	}
	wrong = append(wrong, s.environments()...)
	if (s.issuer == "") != (len(s.audience) == 0) {
		wrong = append(wrong, errors.New("settings jwtIssuer, jwtAudience: one says nothing without the other: set both or none"))
	}
	if s.page != "" && !slices.Contains(s.audience, s.page) {
		wrong = append(wrong, errors.New("setting pageClient: the page sends ID tokens, whose audience is its client ID: add it to jwtAudience, and set jwtIssuer"))
	}
	if most := mostDriftPolicies(s); len(s.drift) > most {
		wrong = append(wrong, fmt.Errorf("setting driftPolicies: it names %d managed policies, and at most %d have room: a role has at most 10, and Stackwright needs %d of them: put the permissions into fewer policies", len(s.drift), most, 10-most))
	}
	if s.vault != (backup.Vault{}) && len(s.backups) == 0 {
		wrong = append(wrong, errors.New("setting backupVault: it says how file systems are backed up, and no project may have backups: set backups too"))
	}
	return s, errors.Join(wrong...)
}

// texts are the settings that functions get in their environments, by their names.
func (s settings) texts() map[string]string {
	return map[string]string{
		"projects": s.projects.String(), "owner": s.owner.String(), "hooks": s.hooks.String(), "remoteFiles": s.remote.String(),
		"suspend": s.suspend.String(), "backups": s.backups.String(), "cdkAssets": s.assets.String(), "external": s.external.String(),
		"targetAccounts": strings.Join(s.accounts, ","), "notify": s.notify.String(),
	}
}

// beside names those of some settings that are not empty, the longest first, with how long they are.
func (s settings) beside(names ...string) string {
	texts := s.texts()
	names = slices.DeleteFunc(names, func(n string) bool { return texts[n] == "" })
	slices.SortStableFunc(names, func(a, b string) int { return len(texts[b]) - len(texts[a]) })
	for i, n := range names {
		names[i] = fmt.Sprintf("%s (%d characters)", n, len(texts[n]))
	}
	if len(names) == 0 {
		return ""
	}
	return " beside " + strings.Join(names, ", ")
}

// The environment of a function has 4 KB, names and values together. What every function gets, and the ARNs, have at most some 1,500.
// https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
const roomForSettings = 4096 - 1500

// environments refuses settings that are too long together for the environment of a function.
func (s settings) environments() (wrong []error) {
	texts := s.texts()
	for _, of := range [][]string{
		{"projects", "owner", "hooks", "remoteFiles", "suspend", "backups", "cdkAssets", "external"}, // plan
		{"projects", "owner", "targetAccounts"},                                                      // api
		{"projects", "owner", "notify"},                                                              // notify
	} {
		sum := 0
		for _, name := range of {
			sum += len(texts[name])
		}
		if sum > roomForSettings {
			wrong = append(wrong, fmt.Errorf("settings%s: they are %d characters together, and the environment of a function has room for %d: "+
				"shorten the longest, with stars", strings.TrimPrefix(s.beside(of...), " beside"), sum, roomForSettings))
		}
	}
	return wrong
}

// names lists the settings.
func names() string {
	var all []string
	for _, k := range known {
		all = append(all, k.name)
	}
	return strings.Join(all, ", ")
}

// split splits a value into its parts.
func split(value any) ([]string, error) {
	switch v := value.(type) {
	case string:
		return strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' }), nil
	case bool, float64, int:
		return []string{fmt.Sprint(v)}, nil
	case []any:
		var words []string
		for _, one := range v {
			w, ok := one.(string)
			if !ok || w == "" {
				return nil, fmt.Errorf("%v is no text: write it in quotes", one)
			}
			words = append(words, w)
		}
		return words, nil
	}
	return nil, fmt.Errorf("%v is neither text nor a list of texts", value)
}

// one is the only part of a value.
func one(words []string, form *regexp.Regexp, what string) (string, error) {
	if len(words) != 1 || !form.MatchString(words[0]) {
		return "", fmt.Errorf("%q is not %s", strings.Join(words, " "), what)
	}
	return words[0], nil
}

// Role names, the longest derived names, have 64 letters: for the stack, a region (up to 14) and a purpose (up to 12).
var stackForm = regexp.MustCompile(`^[a-z][a-z0-9-]{1,30}[a-z0-9]$`)

func readStack(s *settings, words []string) (err error) {
	s.stack, err = one(words, stackForm, "a name of 3 to 32 lower-case letters, digits and hyphens that begins with a letter")
	return err
}

var accountForm = regexp.MustCompile(`^[0-9]{12}$`)

func readAccounts(s *settings, words []string) error {
	for _, w := range words {
		if !accountForm.MatchString(w) {
			return fmt.Errorf("%q is no account: give the twelve digits of each, in quotes", w)
		}
	}
	s.accounts = slices.Compact(slices.Sorted(slices.Values(words)))
	return nil
}

// The forms of the IDs of organizations, and of roles.
// https://docs.aws.amazon.com/organizations/latest/APIReference/API_Organization.html
var (
	organizationForm = regexp.MustCompile(`^o-[a-z0-9]{10,32}$`)
	listerForm       = regexp.MustCompile(`^arn:aws[a-z-]*:iam::[0-9]{12}:role/[\w+=,.@/-]{1,512}$`)
)

func readOrganization(s *settings, words []string) error {
	switch {
	case len(words) == 0:
		return nil
	case !organizationForm.MatchString(words[0]):
		return fmt.Errorf("%q is not the ID of an organization, such as o-a1b2c3d4e5: aws organizations describe-organization shows it", words[0])
	case len(words) > 2 || len(words) == 2 && !listerForm.MatchString(words[1]):
		return fmt.Errorf("%q is not the ARN of the role of the management account with which its accounts are listed: write o-a1b2c3d4e5,arn:aws:iam::111111111111:role/NAME, or the ID alone if the installation's account may list them", strings.Join(words[1:], ","))
	}
	s.organization = words[0]
	if len(words) == 2 {
		s.lister = words[1]
	}
	return nil
}

// asks is how the installation lists the accounts of its organization, as pkg/wire reads it.
func (s settings) asks() string {
	if s.lister != "" {
		return s.lister
	}
	return "own"
}

// mostAccounts is how many accounts fit into the policy of a role: it has 10,240 letters, each account takes an ARN,
// what hooks may call up to three times its length, files from elsewhere up to twice theirs, and the rest some 4,000.
// The output TargetAccounts has room for 78 accounts.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
func mostAccounts(s settings) int {
	room := 3900
	if len(s.hooks) > 0 {
		room -= 600 + 3*len(s.hooks.String())
	}
	if len(s.remote) > 0 {
		room -= 300 + 2*len(s.remote.String())
	}
	if s.organization != "" {
		room -= 300
	}
	return room / len(`"arn:aws:iam::000000000000:role/stackwright/`+s.stack+`-*",`)
}

var (
	policyARN  = regexp.MustCompile(`^arn:aws[a-z-]*:iam::(aws|[0-9]{12}):policy/[\w+=,.@/-]+$`)
	policyName = regexp.MustCompile(`^[\w+=.@/-]+$`)
)

func readPolicies(s *settings, words []string) (err error) {
	if len(words) == 0 {
		return errors.New("it says what the projects' stacks may consist of, and has no default: name managed policies. Examples, from the " +
			"narrowest: infra/aws/policies/sandbox.json, team.json and platform.json; docs/security.md says what each allows")
	}
	s.policies, err = managedPolicies(words)
	return err
}

func readDriftPolicies(s *settings, words []string) (err error) {
	s.drift, err = managedPolicies(words)
	return err
}

// mostDriftPolicies is how many managed policies a function's role can have beside those that addFunctions makes: three, and another one for file systems.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
func mostDriftPolicies(s settings) int {
	if s.vault.Name != "" {
		return 10 - 4
	}
	return 10 - 3
}

// managedPolicies are the ARNs of managed policies, which are given by their ARNs, or by the names of AWS's.
func managedPolicies(words []string) (arns []string, err error) {
	for _, w := range words {
		switch {
		case policyARN.MatchString(w):
			arns = append(arns, w)
		case policyName.MatchString(w):
			arns = append(arns, "arn:${Partition}:iam::aws:policy/"+w)
		default:
			return nil, fmt.Errorf("%q is neither the ARN of a managed policy nor the name of one of AWS's", w)
		}
	}
	return arns, nil
}

func readProjects(s *settings, words []string) (err error) {
	s.projects, err = project.ParseGrants(strings.Join(words, ","))
	return err
}

func readOwner(s *settings, words []string) (err error) {
	s.owner, err = access.ParseOwner(strings.Join(words, " "))
	return err
}

// adoptableForm is that of account.yaml: a stack's name, or the beginning of one.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cfn-console-create-stacks-with-name.html
var adoptableForm = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9-]{0,63}\*?|\*)$`)

func readAdoptable(s *settings, words []string) (err error) {
	if len(words) > 0 {
		s.adoptable, err = one(words, adoptableForm, "a name of stacks, which may end with *, such as legacy-*")
	}
	return err
}

func readHooks(s *settings, words []string) (err error) {
	s.hooks, err = hook.ParseAllowed(strings.Join(words, ","))
	return err
}

func readSuspend(s *settings, words []string) (err error) {
	s.suspend, err = project.ParseGrants(strings.Join(words, ","))
	return err
}

func readBackups(s *settings, words []string) (err error) {
	s.backups, err = project.ParseGrants(strings.Join(words, ","))
	return err
}

func readAssets(s *settings, words []string) (err error) {
	s.assets, err = project.ParseGrants(strings.Join(words, ","))
	return err
}

func readBackupVault(s *settings, words []string) (err error) {
	s.vault, err = backup.ParseVault(strings.Join(words, ","))
	return err
}

func readRemoteFiles(s *settings, words []string) (err error) {
	s.remote, err = remote.ParseAllowed(strings.Join(words, ","))
	return err
}

func readExternal(s *settings, words []string) (err error) {
	s.external, err = project.ParseExternals(strings.Join(words, ","))
	return err
}

func readNotify(s *settings, words []string) (err error) {
	s.notify, err = notify.Parse(strings.Join(words, ","))
	return err
}

func readKey(s *settings, words []string) error {
	w, err := one(words, regexp.MustCompile(`^(true|false)$`), "true or false")
	s.key = w == "true"
	return err
}

func readMonitoring(s *settings, words []string) error {
	w, err := one(words, regexp.MustCompile(`^(basic|full)$`), "basic or full")
	s.full = w == "full"
	return err
}

// logDays are the retention periods of CloudWatch Logs, up to ten years.
// https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html
var logDays = []int{1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653}

func readLogDays(s *settings, words []string) (err error) {
	s.logDays, err = strconv.Atoi(strings.Join(words, " "))
	if err != nil || !slices.Contains(logDays, s.logDays) {
		return fmt.Errorf("%q is no number of days that CloudWatch Logs has: take one of %v", strings.Join(words, " "), logDays)
	}
	return nil
}

func readIssuer(s *settings, words []string) (err error) {
	if len(words) > 0 {
		s.issuer, err = one(words, regexp.MustCompile(`^https://[^\s,]+$`), "the https URL of who issues the tokens")
	}
	return err
}

func readPage(s *settings, words []string) (err error) {
	if len(words) > 0 {
		s.page, err = one(words, regexp.MustCompile(`^[!-~]{1,255}$`), "the client ID of a public client, without a secret")
	}
	return err
}

func readCode(s *settings, words []string) (err error) {
	s.code, err = one(words, regexp.MustCompile(`.`), "a folder without spaces and commas in its name")
	return err
}

package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/infra/aws/iam"
)

// One error lists all invalid settings, and what to do.
func TestSettings(t *testing.T) {
	for _, c := range []struct {
		context map[string]any
		want    []string // of the error; none if the settings are valid
	}{
		{map[string]any{}, nil},
		{map[string]any{"aws:cdk:enable-path-metadata": true, "@aws-cdk/core:x": true, "cli-telemetry": false}, nil},
		{map[string]any{"stack": "team-a", "targetAccounts": []any{"111111111111"}, "customerKey": "true", "logDays": 365.0, "jwtIssuer": "https://i.example", "jwtAudience": "a,b"}, nil},
		{map[string]any{"stack": "Team A"}, []string{`setting stack: "Team A" is not a name of 3 to 32 lower-case letters`}},
		{map[string]any{"stack": strings.Repeat("a", 33)}, []string{"setting stack: "}},
		{map[string]any{"stack": 7}, []string{"setting stack: "}},
		{map[string]any{"targetAccounts": "1234"}, []string{`setting targetAccounts: "1234" is no account`}},
		{map[string]any{"targetAccounts": []any{111111111111.0}}, []string{"setting targetAccounts: ", "write it in quotes"}},
		{map[string]any{"targetAccounts": many(mostAccounts(settings{stack: "stackwright"}) + 1)}, []string{"setting targetAccounts: they are 67, and the roles of an installation have room for 66"}},
		{map[string]any{"executionPolicies": ""}, []string{"setting executionPolicies: it says what the projects' stacks may consist of, and has no default", "sandbox.json, team.json and platform.json"}},
		{map[string]any{"executionPolicies": "a b*"}, []string{`"b*" is neither the ARN of a managed policy nor the name of one of AWS's`}},
		{map[string]any{"driftPolicies": strings.Repeat("ReadOnlyAccess,", mostDriftPolicies(settings{})-1) + "ReadOnlyAccess"}, nil},
		{map[string]any{"driftPolicies": strings.Repeat("ReadOnlyAccess,", mostDriftPolicies(settings{})) + "ReadOnlyAccess"}, []string{"setting driftPolicies: it names 8 managed policies, and at most 7 have room"}},
		{map[string]any{"projects": []any{"shop@prod", "team-*@*"}}, nil},
		{map[string]any{"owner": []any{"arn:aws:iam::000000000000:role/boss", "arn:aws:iam::000000000000:user/ann"}}, nil},
		{map[string]any{"owner": "arn:aws:sts::000000000000:assumed-role/boss/ann"}, []string{"is a session", "write arn:aws:iam::000000000000:role/boss"}},
		{map[string]any{"owner": "ann,arn:aws:iam::000000000000:role/x/boss"}, []string{`setting owner: owner: "ann" is not the ARN`, "write arn:aws:iam::000000000000:role/boss"}},
		{map[string]any{"projects": "shop,sh?p@prod"}, []string{"setting projects: projects: shop has no environment: write shop@default for that environment, or shop@* for all", `"sh?p@prod" is not a pattern`}},
		{map[string]any{"adoptable": "legacy-*"}, nil},
		{map[string]any{"adoptable": "*"}, nil},
		{map[string]any{"adoptable": "legacy-*,*"}, []string{`setting adoptable: "legacy-* *" is not a name of stacks, which may end with *, such as legacy-*`}},
		{map[string]any{"adoptable": "arn:aws:cloudformation:*:*:stack/*"}, []string{"setting adoptable: "}},
		{map[string]any{"adoptable": "a*b"}, []string{"setting adoptable: "}},
		{map[string]any{"notify": everything["notify"]}, nil},
		{map[string]any{"notify": "ops;webhook=http://ops.example.com/"}, []string{"setting notify: notify: destination 1, ops: ", "it has no secret"}},
		{map[string]any{"hooks": "arn:aws:lambda:*:000000000000:function:hook-*"}, nil},
		{map[string]any{"hooks": "shop@prod=arn:aws:cloudwatch:*:000000000000:alarm:shop-*"}, nil},
		{map[string]any{"hooks": "team-*@*=arn:aws:lambda:*:000000000000:function:hook-*"}, nil},
		{map[string]any{"hooks": "shop@*=https://hooks.example.com/*,arn:aws:secretsmanager:*:000000000000:secret:hook/*"}, nil},
		{map[string]any{"hooks": "https://*.example.com/*"}, []string{"and not https://HOST/* with a host without stars"}},
		{map[string]any{"hooks": "shop=arn:aws:lambda:*:000000000000:function:hook-*,shop@prod=*"}, []string{"does not begin with a pattern of projects: write PROJECT@ENVIRONMENT", `"*" is not the ARN`}},
		{map[string]any{"hooks": "shop@prod=arn:aws:s3:::shop-prod-*"}, nil},
		{map[string]any{"hooks": "*,arn:aws:s3:::bucket"}, []string{`setting hooks: hooks: "*" is not the ARN`, `"arn:aws:s3:::bucket" is about a bucket that hooks delete the objects of: write the projects whose hooks may, such as shop@prod=arn:aws:s3:::bucket`}},
		{map[string]any{"hooks": "shop@prod=arn:aws:s3:::*"}, []string{`"arn:aws:s3:::*" is not the ARN of a Lambda function, a state machine, an event bus, a topic, a parameter, a secret, an alarm or an Auto Scaling group`}},
		{map[string]any{"remoteFiles": []any{"https://templates.example.com/", "shop@*=s3://shop-templates/"}}, nil},
		{map[string]any{"remoteFiles": "example.com,s3://shop-templates/"}, []string{`setting remoteFiles: remote files: "example.com" is not https://HOST/PREFIX/`, "does not say which projects may read the bucket"}},
		{map[string]any{"external": []any{"shop@*=legacy-*", "*@prod=network", "shop@*=ssm:/shop/*"}}, nil},
		{map[string]any{"external": "legacy-*"}, []string{`setting external: external: "legacy-*" is not a pattern: write PROJECT@ENVIRONMENT=STACK`}},
		{map[string]any{"backups": "*@prod", "backupVault": "Default,service-role/AWSBackupDefaultServiceRole"}, nil},
		{map[string]any{"backups": "*@prod", "backupVault": []any{"ours", "backs-up"}}, nil},
		{map[string]any{"backups": "*@prod", "backupVault": "Default"}, []string{`setting backupVault: "Default" is not the name of a vault of AWS Backup and the name of a role, with a comma between them: write VAULT,ROLE, such as Default,service-role/`}},
		{map[string]any{"backups": "*@prod", "backupVault": "Default,arn:aws:iam::111111111111:role/backup"}, []string{"setting backupVault: ", "write VAULT,ROLE"}},
		{map[string]any{"backups": "*@prod", "backupVault": "Default,backup", "driftPolicies": strings.Repeat("ReadOnlyAccess,", 7)}, []string{"setting driftPolicies: it names 7 managed policies, and at most 6 have room: a role has at most 10, and Stackwright needs 4 of them"}},
		{map[string]any{"backupVault": "Default,backup"}, []string{"setting backupVault: it says how file systems are backed up, and no project may have backups: set backups too"}},
		{map[string]any{"organization": "o-a1b2c3d4e5"}, nil},
		{map[string]any{"organization": []any{"o-a1b2c3d4e5", "arn:aws:iam::111111111111:role/stackwright/lists"}}, nil},
		{map[string]any{"organization": "own"}, []string{`setting organization: "own" is not the ID of an organization, such as o-a1b2c3d4e5`}},
		{map[string]any{"organization": "o-a1b2c3d4e5,lists"}, []string{`setting organization: "lists" is not the ARN of the role of the management account`}},
		{map[string]any{"organization": "o-a1b2c3d4e5,arn:aws:iam::111111111111:role/a,arn:aws:iam::111111111111:role/b"}, []string{"setting organization: "}},
		{map[string]any{"customerKey": "yes", "logDays": 2}, []string{`setting customerKey: "yes" is not true or false`, `setting logDays: "2" is no number of days`}},
		{map[string]any{"monitoring": "none"}, []string{`setting monitoring: "none" is not basic or full`}},
		{map[string]any{"jwtIssuer": "http://i.example", "jwtAudience": "a"}, []string{"setting jwtIssuer: ", "https URL"}},
		{map[string]any{"jwtIssuer": "https://i.example"}, []string{"set both or none"}},
		{map[string]any{"jwtAudience": "a"}, []string{"set both or none"}},
		{map[string]any{"pageClient": "p"}, []string{"setting pageClient: ", "add it to jwtAudience"}},
		{map[string]any{"jwtIssuer": "https://i.example", "jwtAudience": "a", "pageClient": "p"}, []string{"add it to jwtAudience"}},
		{map[string]any{"jwtIssuer": "https://i.example", "jwtAudience": "a", "pageClient": "p,q"}, []string{"without a secret"}},
		{map[string]any{"stak": "x", "logdays": 1}, []string{"setting logdays: there is none of that name", "setting stak: there is none of that name", "stack, targetAccounts"}},
		{map[string]any{"stack": map[string]any{}}, []string{"setting stack: map[] is neither text nor a list of texts"}},
	} {
		if _, is := c.context["executionPolicies"]; !is {
			c.context["executionPolicies"] = "PowerUserAccess"
		}
		_, err := read(c.context)
		if (err != nil) != (c.want != nil) {
			t.Errorf("%v: %v", c.context, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v: no %q in\n%v", c.context, want, err)
			}
		}
	}
}

// Nobody decides what the projects' stacks may consist of by saying nothing. The error names examples, which exist.
func TestExecutionPoliciesHaveNoDefault(t *testing.T) {
	_, err := read(map[string]any{"projects": "*@*"})
	if err == nil {
		t.Fatal("without executionPolicies, an installation is synthesized")
	}
	for _, example := range regexp.MustCompile(`\w+\.json`).FindAllString(err.Error(), -1) {
		body, err := os.ReadFile("policies/" + example)
		if err == nil {
			_, err = iam.Read(body)
		}
		if err != nil || len(body) > 6144 {
			t.Errorf("%s: %v; %d letters, of which a managed policy may have 6144", example, err, len(body))
		}
	}
}

// many are so many accounts.
func many(n int) []any {
	var all []any
	for i := range n {
		all = append(all, fmt.Sprintf("%012d", i+1))
	}
	return all
}

// As many accounts as the settings allow have room in the policies of each role,
// which may have 10,240 letters together: without hooks, and with one entry for each service that hooks call and projects that may be suspended.
func TestMostAccountsFit(t *testing.T) {
	stack := strings.Repeat("a", 32)
	each := "arn:aws:autoscaling:*:*:a,arn:aws:cloudwatch:*:*:a,arn:aws:events:*:*:a,arn:aws:lambda:*:*:a,*@*=arn:aws:s3:::abc,arn:aws:secretsmanager:*:*:a,arn:aws:sns:*:*:a,arn:aws:ssm:*:*:a,arn:aws:states:*:*:a"
	for suspend, hooks := range map[string]string{"": "", "*@dev": each} {
		context := map[string]any{"stack": stack, "executionPolicies": "AdministratorAccess", "adoptable": strings.Repeat("a", 64) + "*", "hooks": hooks, "suspend": suspend}
		s, err := read(context)
		if err != nil {
			t.Fatal(err)
		}
		context["targetAccounts"] = many(mostAccounts(s))
		all, err := written(context)
		if err != nil {
			t.Fatal(err)
		}
		largest, lengths := 0, map[string]int{"AWS::Partition": len("aws"), "AWS::AccountId": 12, "AWS::Region": len("ap-southeast-1")}
		for _, name := range all.of("AWS::IAM::Role") {
			policies := os.Expand(text(all.Resources[name].inside), func(word string) string { return strings.Repeat("x", cmp.Or(lengths[word], 60)) })
			largest = max(largest, len(policies))
			if len(policies) > 10_240 {
				t.Errorf("hooks %q: the policies of %s have %d letters", hooks, name, len(policies))
			}
		}
		if largest < 7_000 {
			t.Errorf("hooks %q: the largest have %d: is this what grows with the accounts?", hooks, largest)
		}
		t.Logf("hooks %q: %d accounts, the largest policies have %d letters", hooks, mostAccounts(s), largest)
	}
}

// The longest list of projects that may be suspended, or whose data may be backed up, which has 1,000 letters, has room in its managed policy, which may have 6,144.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
func TestSuspendAndBackupsFit(t *testing.T) {
	list := ""
	for i := 0; len(list) < 1000; i++ {
		list += fmt.Sprintf("a%02d@b,", i)
	}
	all, err := written(map[string]any{"stack": strings.Repeat("a", 32), "executionPolicies": "PowerUserAccess", "suspend": list[:strings.LastIndexByte(list[:1000], ',')], "backups": list[:strings.LastIndexByte(list[:1000], ',')], "backupVault": strings.Repeat("v", 50) + "," + strings.Repeat("r", 64)})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"SuspendResources", "BackUp", "BackUpFiles"} {
		policy := os.Expand(text([]any{all.Resources[name].Properties["PolicyDocument"]}), func(string) string { return strings.Repeat("x", 12) })
		if len(policy) > 6144 || len(policy) < 1000 {
			t.Errorf("the policy %s has %d letters", name, len(policy))
		}
		t.Logf("the policy %s has %d letters of 6144", name, len(policy))
	}
}

// The most accounts fit into one output, which has at most 1,024 letters.
func TestTargetAccounts(t *testing.T) {
	const stack = "dev" // so short that most accounts fit into the policies
	all, err := written(map[string]any{"stack": stack, "executionPolicies": "PowerUserAccess", "targetAccounts": many(mostAccounts(settings{stack: stack}))})
	if err != nil {
		t.Fatal(err)
	}
	one := text(all.Outputs["TargetAccounts"].Value)
	if n := len(strings.Split(one, ",")); n != mostAccounts(settings{stack: stack}) || len(one) > 1024 {
		t.Errorf("%d accounts are in %s", n, one)
	}
}

// Functions that were not built, and folders that are none, are refused.
func TestBuilt(t *testing.T) {
	for folder, want := range map[string]string{"/nowhere": "build them with make lambda", ".": "has no size in functions.go"} {
		if _, err := built(folder); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", folder, err)
		}
	}
}

// Settings that are too long together are refused with their names, before CloudFormation refuses the function.
func TestSettingsFitEnvironments(t *testing.T) {
	grants := func(n int) string {
		var all []string
		for i := range n / 10 {
			all = append(all, fmt.Sprintf("a%04d@bb", i))
		}
		return strings.Join(all, ",")
	}
	fits := map[string]any{"executionPolicies": "PowerUserAccess", "projects": grants(990), "suspend": grants(990)}
	if _, err := read(fits); err != nil {
		t.Error(err)
	}
	fits["backups"] = grants(790)
	const want = "settings projects (890 characters), suspend (890 characters), cdkAssets (890 characters)"
	if _, err := read(fits); err != nil {
		t.Error(err)
	}
	fits["cdkAssets"] = grants(990)
	if _, err := read(fits); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "backups (710 characters)") {
		t.Errorf("got %v", err)
	}
	s, err := read(everything)
	if err != nil {
		t.Fatal(err)
	}
	all := the(t, full)
	for _, name := range all.of("AWS::Lambda::Function") {
		variables := all.Resources[name].Properties["Environment"].(map[string]any)["Variables"].(map[string]any)
		of := 0
		for key, value := range variables {
			expanded := os.Expand(strings.Trim(text(value), `"`), func(string) string { return strings.Repeat("x", 40) })
			if of += len(key); !slices.Contains(slices.Collect(maps.Values(s.texts())), strings.Trim(text(value), `"`)) {
				of += len(expanded)
			}
		}
		if of > 4096-roomForSettings {
			t.Errorf("what %s gets besides settings has %d characters", name, of)
		}
		t.Logf("%s: %d", name, of)
	}
}

package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/infra/aws/iam"
)

func TestTable(t *testing.T) {
	all := the(t, plain)
	if got := all.of("AWS::DynamoDB::Table"); !slices.Equal(got, []string{"Table"}) {
		t.Fatal(got)
	}
	all.says(t, "Table", map[string]string{
		"KeySchema":                        `[{"AttributeName":"PK","KeyType":"HASH"},{"AttributeName":"SK","KeyType":"RANGE"}]`,
		"BillingMode":                      "PAY_PER_REQUEST",
		"DeletionProtectionEnabled":        "", // a first creation that fails could not be rolled back
		"PointInTimeRecoverySpecification": `{"PointInTimeRecoveryEnabled":true}`,
		"TimeToLiveSpecification":          `{"AttributeName":"expires","Enabled":true}`,
		"SSESpecification":                 "", // by DynamoDB's own key
	})
	the(t, full).says(t, "Table", map[string]string{"SSESpecification": `{"KMSMasterKeyId":"${Key.Arn}","SSEEnabled":true,"SSEType":"KMS"}`})
	for _, name := range []string{"Table", "Bucket", "Key"} {
		if got := the(t, full).Resources[name].DeletionPolicy; got != "RetainExceptOnCreate" {
			t.Errorf("%s: the deletion policy is %s", name, got)
		}
	}
}

func TestBucket(t *testing.T) {
	all := the(t, plain)
	if got := all.of("AWS::S3::Bucket"); !slices.Equal(got, []string{"Bucket"}) {
		t.Fatal(got)
	}
	all.says(t, "Bucket", map[string]string{
		"VersioningConfiguration":        `{"Status":"Enabled"}`,
		"NotificationConfiguration":      `{"EventBridgeConfiguration":{"EventBridgeEnabled":true}}`,
		"PublicAccessBlockConfiguration": `{"BlockPublicAcls":true,"BlockPublicPolicy":true,"IgnorePublicAcls":true,"RestrictPublicBuckets":true}`,
		"BucketEncryption":               `{"ServerSideEncryptionConfiguration":[{"ServerSideEncryptionByDefault":{"SSEAlgorithm":"AES256"}}]}`,
	})
	the(t, full).says(t, "Bucket", map[string]string{
		"BucketEncryption": `{"ServerSideEncryptionConfiguration":[{"BucketKeyEnabled":true,"ServerSideEncryptionByDefault":{"KMSMasterKeyID":"${Key.Arn}","SSEAlgorithm":"aws:kms"}}]}`,
	})
}

// No rule deletes an object that a run may name by key and version.
func TestNamedVersionsStay(t *testing.T) {
	rules := the(t, plain).Resources["Bucket"].Properties["LifecycleConfiguration"].(map[string]any)["Rules"].([]any)
	for _, one := range rules {
		rule := one.(map[string]any)
		prefix, _ := rule["Prefix"].(string)
		for _, named := range []string{"projects/", "revisions/"} {
			touches := strings.HasPrefix(named, prefix) || strings.HasPrefix(prefix, named)
			for key := range rule {
				if touches && strings.Contains(key, "Expiration") {
					t.Errorf("rule %v: %s takes what is under %s", rule["Id"], key, named)
				}
			}
		}
	}
}

// The bucket refuses requests without TLS, and other accounts can read only
// templates and the files that they name.
func TestBucketPolicy(t *testing.T) {
	none, two := policy(t, the(t, plain), "AWS::S3::BucketPolicy"), policy(t, the(t, full), "AWS::S3::BucketPolicy")
	if len(none) != 2 || len(two) != 5 {
		t.Fatal(none, two)
	}
	if got := text(none[0]); got != `{"Action":"s3:*","Condition":{"Bool":{"aws:SecureTransport":"false"}},"Effect":"Deny","Principal":{"AWS":"*"},"Resource":["${Bucket.Arn}","${Bucket.Arn}/*"]}` {
		t.Error(got)
	}
	if got := text(two[1]); got != `{"Action":"s3:GetObject","Effect":"Allow","Principal":{"AWS":["arn:${AWS::Partition}:iam::111111111111:root","arn:${AWS::Partition}:iam::222222222222:root"]},"Resource":["${Bucket.Arn}/artifacts/*","${Bucket.Arn}/templates/*"]}` {
		t.Error(got)
	}
	if got := text(two[2]); got != `{"Action":"s3:GetObject","Condition":{"StringEquals":{"aws:PrincipalOrgID":"o-a1b2c3d4e5"},"StringNotEquals":{"aws:PrincipalAccount":"${AWS::AccountId}"}},"Effect":"Allow","Principal":{"AWS":"*"},"Resource":["${Bucket.Arn}/artifacts/*","${Bucket.Arn}/templates/*"]}` {
		t.Error(got)
	}
}

// bucketPolicy is the policy of the bucket of an installation.
func bucketPolicy(t *testing.T, all template) iam.Policy {
	t.Helper()
	body := placed(text(map[string]any{"Statement": policy(t, all, "AWS::S3::BucketPolicy")}))
	return parsed(t, strings.ReplaceAll(body, "${Bucket.Arn}", "arn:aws:s3:::stackwright-bucket"))
}

// The accounts of the organization read templates, and its other objects nobody. In the account of the installation, the policy of the bucket and that of
// the key grant nothing for the organization: there, they would be enough.
func TestOrganizationReadsTemplates(t *testing.T) {
	bucket := bucketPolicy(t, the(t, full))
	var statements []any // without the one that lets the policies of the account decide
	for _, name := range the(t, full).of("AWS::KMS::Key") {
		for _, one := range the(t, full).Resources[name].Properties["KeyPolicy"].(map[string]any)["Statement"].([]any) {
			if strings.Contains(text(one), "aws:PrincipalOrgID") {
				statements = append(statements, one)
			}
		}
	}
	if len(statements) != 1 {
		t.Fatalf("the key has %d statements for the organization", len(statements))
	}
	key := parsed(t, placed(text(map[string]any{"Statement": statements})))
	for account, want := range map[string]iam.Answer{"333333333333": iam.Allowed, "000000000000": iam.Implicit} {
		for _, of := range []string{"o-a1b2c3d4e5", "o-zzzzzzzzzz"} {
			want := want
			if of != "o-a1b2c3d4e5" {
				want = iam.Implicit
			}
			context := func() map[string]string {
				return with("aws:SecureTransport", "true", "aws:PrincipalOrgID", of, "aws:PrincipalAccount", account, "kms:ViaService", "s3.us-east-1.amazonaws.com")
			}
			by := "arn:aws:iam::" + account + ":role/any"
			got, err := bucket.Trusts(iam.Request{Principal: by, Action: "s3:GetObject", Resource: "arn:aws:s3:::stackwright-bucket/templates/x", Context: context()})
			if err != nil || got != want {
				t.Errorf("a template for %s of %s: %s (%v), want %s", account, of, got, err, want)
			}
			if got, err = bucket.Trusts(iam.Request{Principal: by, Action: "s3:GetObject", Resource: "arn:aws:s3:::stackwright-bucket/projects/shop/prod.zip", Context: context()}); err != nil || got != iam.Implicit {
				t.Errorf("a project for %s of %s: %s (%v)", account, of, got, err)
			}
			if got, err = key.Trusts(iam.Request{Principal: by, Action: "kms:Decrypt", Resource: "*", Context: context()}); err != nil || got != want {
				t.Errorf("the key for %s of %s: %s (%v), want %s", account, of, got, err, want)
			}
		}
	}
}

// If the installation has an owner, nobody else may change the access file and the policies, whatever the policies of others allow.
// Everybody who may read them still may, and CloudFormation may still change and delete the bucket.
func TestOnlyTheOwnerChangesTheAccessFile(t *testing.T) {
	bucket := bucketPolicy(t, the(t, full))
	const in = "arn:aws:s3:::stackwright-bucket"
	for by, owner := range map[string]bool{
		"arn:aws:iam::000000000000:role/boss":                                   true,
		"arn:aws:iam::000000000000:role/teams/eu/boss":                          true,
		"arn:aws:iam::000000000000:user/people/ann":                             true,
		"arn:aws:iam::000000000000:role/boss/evil":                              false, // the role evil under the path /boss/
		"arn:aws:iam::000000000000:role/teams/boss/evil":                        false,
		"arn:aws:iam::000000000000:user/people/ann/evil":                        false,
		"arn:aws:iam::000000000000:role/ci":                                     false,
		"arn:aws:iam::000000000000:role/bosses":                                 false,
		"arn:aws:iam::000000000000:user/boss":                                   false,
		"arn:aws:iam::111111111111:role/boss":                                   false,
		"arn:aws:iam::000000000000:role/stackwright/stackwright-us-east-1-plan": false,
	} {
		for _, action := range []string{
			"AbortMultipartUpload", "BypassGovernanceRetention", "DeleteObject", "DeleteObjectTagging", "DeleteObjectVersion", "ObjectOwnerOverrideToBucketOwner", "PutObject", "PutObjectAcl",
			"PutObjectLegalHold", "PutObjectRetention", "PutObjectTagging", "PutObjectVersionAcl", "ReplicateDelete", "ReplicateObject", "RestoreObject",
		} {
			for resource, denied := range map[string]bool{in + "/access/access.yaml": !owner, in + "/policies/company.yaml": !owner, in + "/projects/shop/prod.zip": false} {
				r := iam.Request{Principal: by, Action: "s3:" + action, Resource: resource, Context: with("aws:SecureTransport", "true")}
				if got, err := bucket.Trusts(r); err != nil || (got == iam.Denied) != denied {
					t.Errorf("%s of %s by %s is %s (%v)", action, resource, by, got, err)
				}
			}
		}
		for action, resource := range map[string]string{
			"GetObject": in + "/access/access.yaml", "GetObjectVersion": in + "/access/access.yaml", "ListBucket": in,
			"DeleteBucket": in, "PutBucketPolicy": in, "PutLifecycleConfiguration": in,
		} {
			r := iam.Request{Principal: by, Action: "s3:" + action, Resource: resource, Context: with("aws:SecureTransport", "true")}
			if got, err := bucket.Trusts(r); err != nil || got == iam.Denied {
				t.Errorf("%s of %s by %s is %s (%v)", action, resource, by, got, err)
			}
		}
	}
}

// Nobody reaches the bucket through an access point, which policies that name the bucket do not name.
func TestBucketHasNoAccessPoints(t *testing.T) {
	bucket := bucketPolicy(t, the(t, plain))
	for point, want := range map[string]iam.Answer{"": iam.Implicit, "arn:aws:s3:us-east-1:000000000000:accesspoint/evil": iam.Denied} {
		r := iam.Request{Principal: roles + "evil", Action: "s3:PutObject", Resource: "arn:aws:s3:::stackwright-bucket/projects/shop/prod.zip", Context: with("aws:SecureTransport", "true")}
		if point != "" {
			r.Context["s3:DataAccessPointArn"] = point
		}
		if got, err := bucket.Trusts(r); err != nil || got != want {
			t.Errorf("through %q: %s (%v), want %s", point, got, err, want)
		}
	}
}

// The same holds for the bucket from which installations are deployed. Its policy has what cdk bootstrap gives it, too.
func TestBootstrapBucketHasNoAccessPoints(t *testing.T) {
	body, err := os.ReadFile("bootstrap.json")
	if err != nil {
		t.Fatal(err)
	}
	bucket := parsed(t, strings.ReplaceAll(string(body), "BUCKET", "cdk-stkwright-assets"))
	for _, c := range []struct {
		context map[string]string
		want    iam.Answer
	}{
		{with("aws:SecureTransport", "true"), iam.Implicit},
		{with("aws:SecureTransport", "true", "s3:DataAccessPointArn", "arn:aws:s3:us-east-1:000000000000:accesspoint/evil"), iam.Denied},
		{with("aws:SecureTransport", "false"), iam.Denied},
	} {
		r := iam.Request{Principal: roles + "evil", Action: "s3:PutObject", Resource: "arn:aws:s3:::cdk-stkwright-assets/x.zip", Context: c.context}
		if got, err := bucket.Trusts(r); err != nil || got != c.want {
			t.Errorf("%v: %s (%v), want %s", c.context, got, err, c.want)
		}
	}
}

// policy is the statements of the only policy of a type.
func policy(t *testing.T, all template, kind string) []any {
	t.Helper()
	names := all.of(kind)
	if len(names) != 1 {
		t.Fatalf("%s: there are %v", kind, names)
	}
	return all.Resources[names[0]].Properties["PolicyDocument"].(map[string]any)["Statement"].([]any)
}

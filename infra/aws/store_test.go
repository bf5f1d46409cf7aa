package main

import (
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
	if len(none) != 1 || len(two) != 3 {
		t.Fatal(none, two)
	}
	if got := text(none[0]); got != `{"Action":"s3:*","Condition":{"Bool":{"aws:SecureTransport":"false"}},"Effect":"Deny","Principal":{"AWS":"*"},"Resource":["${Bucket.Arn}","${Bucket.Arn}/*"]}` {
		t.Error(got)
	}
	if got := text(two[1]); got != `{"Action":"s3:GetObject","Effect":"Allow","Principal":{"AWS":["arn:${AWS::Partition}:iam::111111111111:root","arn:${AWS::Partition}:iam::222222222222:root"]},"Resource":["${Bucket.Arn}/artifacts/*","${Bucket.Arn}/templates/*"]}` {
		t.Error(got)
	}
}

// If the installation has an owner, nobody else may change the access file, whatever the policies of others allow.
func TestOnlyTheOwnerChangesTheAccessFile(t *testing.T) {
	body := placed(text(map[string]any{"Statement": policy(t, the(t, full), "AWS::S3::BucketPolicy")}))
	bucket := parsed(t, strings.ReplaceAll(body, "${Bucket.Arn}", "arn:aws:s3:::stackwright-bucket"))
	for by, want := range map[string]bool{
		"arn:aws:iam::000000000000:role/boss":                                     true,
		"arn:aws:iam::000000000000:role/teams/boss":                               true,
		"arn:aws:iam::000000000000:role/aws-reserved/sso/AWSReservedSSO_Admin_0a": true,
		"arn:aws:iam::000000000000:role/ci":                                       false,
		"arn:aws:iam::000000000000:role/bosses":                                   false,
		"arn:aws:iam::000000000000:user/boss":                                     false,
		"arn:aws:iam::111111111111:role/boss":                                     false,
		"arn:aws:iam::000000000000:role/stackwright/stackwright-us-east-1-plan":   false,
	} {
		for _, action := range []string{"s3:PutObject", "s3:DeleteObject", "s3:DeleteObjectVersion"} {
			r := iam.Request{Principal: by, Action: action, Resource: "arn:aws:s3:::stackwright-bucket/access/access.yaml", Context: with("aws:SecureTransport", "true")}
			if got, err := bucket.Trusts(r); err != nil || (got != iam.Denied) != want {
				t.Errorf("%s by %s is %s (%v)", action, by, got, err)
			}
			if r.Resource = "arn:aws:s3:::stackwright-bucket/projects/shop/prod.zip"; want {
				continue
			}
			if got, err := bucket.Trusts(r); err != nil || got == iam.Denied {
				t.Errorf("%s of a project by %s is %s (%v)", action, by, got, err)
			}
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

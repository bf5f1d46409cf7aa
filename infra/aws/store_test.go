package main

import (
	"slices"
	"strings"
	"testing"
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
	if len(none) != 1 || len(two) != 2 {
		t.Fatal(none, two)
	}
	if got := text(none[0]); got != `{"Action":"s3:*","Condition":{"Bool":{"aws:SecureTransport":"false"}},"Effect":"Deny","Principal":{"AWS":"*"},"Resource":["${Bucket.Arn}","${Bucket.Arn}/*"]}` {
		t.Error(got)
	}
	if got := text(two[1]); got != `{"Action":"s3:GetObject","Effect":"Allow","Principal":{"AWS":["arn:${AWS::Partition}:iam::111111111111:root","arn:${AWS::Partition}:iam::222222222222:root"]},"Resource":["${Bucket.Arn}/artifacts/*","${Bucket.Arn}/templates/*"]}` {
		t.Error(got)
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

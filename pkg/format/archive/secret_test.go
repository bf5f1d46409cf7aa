package archive_test

import (
	"slices"
	"testing"

	"github.com/stackwright/stackwright/pkg/format/archive"
)

// Keys, states and variables of other tools stay where they are. Certificates, and the files of assets of the CDK, are part of a
// project.
func TestSecretsAreWithheld(t *testing.T) {
	key := []byte("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\n")
	const hash = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	rest, withheld := archive.Files{
		"stackwright.yaml": []byte("project: shop"), "keys/ID_RSA": nil, "id_rsa.pub": nil, "a.pem": key, "bundle.pem": []byte("-----BEGIN CERTIFICATE-----"),
		"web.key": []byte("key"), "terraform.tfstate": nil, "terraform.tfstate.backup": nil, "prod.auto.tfvars": nil, "store.p12": {0xff, 0xfe}, "asset." + hash + ".pem": key,
		"asset." + hash + "/a.pem": key, "code/key.py": []byte("x"), "tfstate": nil,
	}.Withheld()
	want := []string{
		"a.pem (a private key)", "keys/ID_RSA (a private key)", "prod.auto.tfvars (values of Terraform's variables)",
		"terraform.tfstate (the state of Terraform, which has secrets in clear text)",
		"terraform.tfstate.backup (the state of Terraform, which has secrets in clear text)",
	}
	if !slices.Equal(withheld, want) {
		t.Errorf("withheld are %q", withheld)
	}
	if got := rest.Paths(); len(got) != 9 || rest["web.key"] == nil {
		t.Errorf("the rest are %q", got)
	}
}

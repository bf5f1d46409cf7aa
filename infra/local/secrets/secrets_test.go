package secrets_test

import (
	"bytes"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"

	"github.com/stackwright/stackwright/infra/local/secrets"
)

// Secrets are read by ARN from the files of a folder, and from no file outside it.
// https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html
func TestGetSecretValue(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"outside": "password", "secrets/ops": "random bytes\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	for _, service := range []secrets.Service{{Folder: filepath.Join(folder, "secrets"), Log: &log}, {Log: &log}} {
		server := httptest.NewServer(service)
		defer server.Close()
		client := sdk.New(sdk.Options{Region: "us-east-1", BaseEndpoint: &server.URL, Credentials: aws.AnonymousCredentials{}, Retryer: aws.NopRetryer{}})
		for name, want := range map[string]string{"ops": "random bytes", "other": "", "../outside": ""} {
			if service.Folder == "" {
				want = ""
			}
			out, err := client.GetSecretValue(t.Context(), &sdk.GetSecretValueInput{SecretId: aws.String("arn:aws:secretsmanager:us-east-1:000000000000:secret:" + name + "-AbCdEf")})
			if _, missing := errors.AsType[*types.ResourceNotFoundException](err); missing != (want == "") || err == nil && aws.ToString(out.SecretString) != want {
				t.Errorf("%s: %v, %v", name, out, err)
			}
		}
		if _, err := client.GetSecretValue(t.Context(), &sdk.GetSecretValueInput{SecretId: aws.String("ops")}); err == nil {
			t.Error("a secret was found by its name")
		}
		if _, err := client.ListSecrets(t.Context(), &sdk.ListSecretsInput{}); err == nil {
			t.Error("secrets were listed")
		}
	}
	if said := log.String(); strings.Contains(said, "random") || strings.Contains(said, "password") || !strings.Contains(said, "secret ../outside: ") {
		t.Errorf("it logs %q", said)
	}
}

// Package secrets emulates Secrets Manager on this machine as far as functions use it: it reads secrets from files.
package secrets

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"strings"

	"github.com/stackwright/stackwright/infra/local/gateway"
)

// Service is an http.Handler that speaks the JSON protocol of Secrets Manager. The secret NAME is the file NAME in a folder, without
// the line break at its end. It is read for each request, so that nothing else stores it.
type Service struct {
	Folder string // "" is one without files
	Log    io.Writer
}

// arnForm has the name of a secret, to which Secrets Manager adds six characters.
// https://docs.aws.amazon.com/secretsmanager/latest/userguide/whats-in-a-secret.html
var arnForm = regexp.MustCompile(`^arn:aws:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:([A-Za-z0-9/_+=.@-]+)-[A-Za-z0-9]{6}$`)

// ServeHTTP answers GetSecretValue with the ARN of a secret.
// https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html
func (s Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refuse := func(code, message string) {
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: code, Message: message})
	}
	operation := r.Header.Get("X-Amz-Target")[strings.LastIndex(r.Header.Get("X-Amz-Target"), ".")+1:]
	if operation != "GetSecretValue" {
		refuse("UnknownOperationException", "the local emulator of Secrets Manager has no "+operation)
		return
	}
	var in struct{ SecretId string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		refuse("SerializationException", err.Error())
		return
	}
	name := arnForm.FindStringSubmatch(in.SecretId)
	if name == nil {
		refuse("InvalidParameterException", "the local emulator of Secrets Manager finds secrets only by their ARNs")
		return
	}
	value, err := s.read(name[1])
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			_, _ = fmt.Fprintf(s.Log, "secret %s: %v\n", name[1], err)
		}
		refuse("ResourceNotFoundException", "Secrets Manager can't find the specified secret.")
		return
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	_ = json.NewEncoder(w).Encode(map[string]string{"ARN": in.SecretId, "Name": name[1], "SecretString": value}) // the client is gone if it fails
}

// read reads a secret. The name leads to no file outside the folder.
func (s Service) read(name string) (string, error) {
	if s.Folder == "" {
		return "", fs.ErrNotExist
	}
	root, err := os.OpenRoot(s.Folder)
	if err != nil {
		return "", err
	}
	body, err := root.ReadFile(name)
	return strings.TrimRight(string(body), "\r\n"), errors.Join(err, root.Close())
}

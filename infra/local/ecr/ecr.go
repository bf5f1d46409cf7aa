// Package ecr emulates ECR on this machine as far as a deploy uses it: it says that every image of cdk bootstrap's
// repositories is published. There is no registry, because no resource of a stack runs containers here.
package ecr

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"github.com/stackwright/stackwright/infra/local/gateway"
)

// https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html
var repository = regexp.MustCompile(`^cdk-[a-z0-9]{1,10}-container-assets-(\d{12})-[a-z0-9-]+$`)

// Service is an http.Handler that speaks ECR's JSON protocol. Account names the account of a request.
type Service struct {
	Account func(*http.Request) string
}

// ServeHTTP answers DescribeImages of tags.
// https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_DescribeImages.html
func (s Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	operation := r.Header.Get("X-Amz-Target")[strings.LastIndex(r.Header.Get("X-Amz-Target"), ".")+1:]
	if operation != "DescribeImages" {
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: "UnknownOperationException", Message: "the local emulator of ECR has no " + operation})
		return
	}
	var in struct {
		RegistryID     string `json:"registryId"`
		RepositoryName string `json:"repositoryName"`
		ImageIDs       []struct {
			ImageTag string `json:"imageTag"`
		} `json:"imageIds"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: "SerializationException", Message: err.Error()})
		return
	}
	of := repository.FindStringSubmatch(in.RepositoryName)
	if account := s.Account(r); of == nil || of[1] != account || in.RegistryID != "" && in.RegistryID != account {
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{
			Code: "RepositoryNotFoundException", Message: "The repository with name '" + in.RepositoryName + "' does not exist in the registry with id '" + account + "'",
		})
		return
	}
	type detail struct {
		RegistryID     string   `json:"registryId"`
		RepositoryName string   `json:"repositoryName"`
		ImageDigest    string   `json:"imageDigest"`
		ImageTags      []string `json:"imageTags"`
	}
	details := []detail{}
	for _, id := range in.ImageIDs {
		sum := sha256.Sum256([]byte(id.ImageTag))
		details = append(details, detail{of[1], in.RepositoryName, "sha256:" + hex.EncodeToString(sum[:]), []string{id.ImageTag}})
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	_ = json.NewEncoder(w).Encode(map[string]any{"imageDetails": details}) // the client is gone if it fails
}

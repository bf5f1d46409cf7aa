package api

import (
	"context"
	"crypto/sha256"
	_ "embed" // the document for people
	"encoding/base64"
	"strings"
)

// forPeople is the document of the API for people. TestDocsForPeople makes it of the document.
//
//go:embed docs.html
var forPeople string

// docs answers with the document for people. It loads nothing, and a browser uses no styles but its own.
func (a API) docs(context.Context, question) (answer, error) {
	_, rest, _ := strings.Cut(forPeople, "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(style))
	return answer{body: forPeople, media: htmlType, styles: "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"}, nil
}

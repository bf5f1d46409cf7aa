// Package sts stands in for STS: it says who somebody is, and lets anybody assume any role of the accounts it knows.
package sts

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stackwright/stackwright/infra/local/gateway"
)

const namespace = "https://sts.amazonaws.com/doc/2011-06-15/"

// Tokens is an http.Handler that speaks STS's Query protocol. It keeps nothing: an access key that it hands out says
// itself which account and role it is for.
type Tokens struct {
	account string
	others  []string
}

// New makes tokens of the account, and of the others whose roles may be assumed; with no others named, of any account.
func New(account string, others ...string) *Tokens {
	return &Tokens{account: account, others: others}
}

// ServeHTTP answers GetCallerIdentity and AssumeRole.
func (t *Tokens) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: "MalformedQueryString", Message: err.Error()})
		return
	}
	switch action := r.Form.Get("Action"); action {
	case "GetCallerIdentity":
		t.identify(w, r)
	case "AssumeRole":
		t.assume(w, r)
	default:
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: "InvalidAction", Message: "nothing stands in for STS's " + action + " here"})
	}
}

type identity struct {
	Arn     string
	UserID  string `xml:"UserId"`
	Account string
}

func (t *Tokens) identify(w http.ResponseWriter, r *http.Request) {
	key, _, _ := gateway.Scope(r)
	who := identity{Arn: "arn:aws:iam::" + t.account + ":root", UserID: t.account, Account: t.account}
	if account, role, ok := Owner(key); ok {
		arn := "arn:aws:sts::" + account + ":assumed-role/" + role + "/local"
		who = identity{Arn: arn, UserID: roleID(account, role) + ":local", Account: account}
	}
	reply(w, "GetCallerIdentity", who)
}

var roleARN = regexp.MustCompile(`^arn:aws[a-z-]*:iam::(\d{12}):role/(?:[\w+=,.@-]+/)*([\w+=,.@-]{1,64})$`)

func (t *Tokens) assume(w http.ResponseWriter, r *http.Request) {
	arn, session := r.Form.Get("RoleArn"), r.Form.Get("RoleSessionName")
	parts := roleARN.FindStringSubmatch(arn)
	seconds, err := strconv.Atoi(r.Form.Get("DurationSeconds"))
	if r.Form.Get("DurationSeconds") == "" {
		seconds, err = 3600, nil
	}
	switch {
	case parts == nil:
		refuse(w, r, http.StatusBadRequest, "ValidationError", arn+" is invalid")
		return
	case len(session) < 2:
		refuse(w, r, http.StatusBadRequest, "ValidationError", "Value at 'roleSessionName' failed to satisfy constraint: Member must have length greater than or equal to 2")
		return
	case err != nil || seconds < 900 || seconds > 43200:
		refuse(w, r, http.StatusBadRequest, "ValidationError", "Value at 'durationSeconds' failed to satisfy constraint: Member must be between 900 and 43200")
		return
	case !t.knows(parts[1]):
		refuse(w, r, http.StatusForbidden, "AccessDenied", "not authorized to perform: sts:AssumeRole on resource: "+arn)
		return
	}
	account, role := parts[1], parts[2]
	type credentials struct{ AccessKeyId, SecretAccessKey, SessionToken, Expiration string }
	type user struct{ AssumedRoleId, Arn string }
	type assumed struct {
		Credentials     credentials
		AssumedRoleUser user
	}
	reply(w, "AssumeRole", assumed{
		credentials{AccessKey(account, role), "local", "local", time.Now().Add(time.Duration(seconds) * time.Second).UTC().Format(time.RFC3339)},
		user{roleID(account, role) + ":" + session, "arn:aws:sts::" + account + ":assumed-role/" + role + "/" + session},
	})
}

func (t *Tokens) knows(account string) bool {
	return len(t.others) == 0 || account == t.account || slices.Contains(t.others, account)
}

var keyEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// AccessKey is the access key ID that AssumeRole hands out for a role of an account.
func AccessKey(account, role string) string {
	return "ASIA" + keyEncoding.EncodeToString([]byte(account+":"+role))
}

// Owner reads account and role out of an access key ID that AssumeRole handed out; ok is false for any other.
func Owner(accessKey string) (account, role string, ok bool) {
	encoded, ok := strings.CutPrefix(accessKey, "ASIA")
	if !ok {
		return "", "", false
	}
	text, err := keyEncoding.DecodeString(encoded)
	if err != nil {
		return "", "", false
	}
	return strings.Cut(string(text), ":")
}

func roleID(account, role string) string {
	sum := sha256.Sum256([]byte(account + role))
	return "AROA" + strings.ToUpper(hex.EncodeToString(sum[:8]))
}

func refuse(w http.ResponseWriter, r *http.Request, status int, code, message string) {
	gateway.Refuse(w, r, status, gateway.Fault{Code: code, Message: message})
}

func reply(w http.ResponseWriter, action string, result any) {
	w.Header().Set("Content-Type", "text/xml")
	body, err := xml.Marshal(result)
	if err != nil {
		http.Error(w, fmt.Sprintf("answer %s: %v", action, err), http.StatusInternalServerError)
		return
	}
	// The result's own element is named after its type: only what is in it counts.
	inner := body[strings.IndexByte(string(body), '>')+1 : strings.LastIndexByte(string(body), '<')]
	_, _ = fmt.Fprintf(w, `<%[1]sResponse xmlns="%[2]s"><%[1]sResult>%[3]s</%[1]sResult><ResponseMetadata><RequestId>%[4]s</RequestId></ResponseMetadata></%[1]sResponse>`,
		action, namespace, inner, w.Header().Get("X-Amzn-Requestid")) // the caller is gone if this fails
}

// Package sts emulates STS on this machine: GetCallerIdentity, and AssumeRole by the trust policies of roles.
package sts

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/stackwright/stackwright/infra/local/gateway"
)

const namespace = "https://sts.amazonaws.com/doc/2011-06-15/"

// A Trust returns the external ID that the trust policy of a role requires, by the role's ARN; "" requires none. It
// reports false if the role does not exist or does not trust this account.
type Trust func(role string) (externalID string, ok bool)

// Service is an http.Handler that speaks STS's Query protocol. It stores nothing: the access keys that it issues
// contain the role and the expiration.
type Service struct {
	account string
	trust   Trust
}

// New makes the service of an account, and of the roles that trust it; without trust no role can be assumed.
func New(account string, trust Trust) *Service {
	if trust == nil {
		trust = func(string) (string, bool) { return "", false }
	}
	return &Service{account: account, trust: trust}
}

// ServeHTTP answers GetCallerIdentity and AssumeRole.
func (t *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !gateway.Form(w, r) {
		return
	}
	switch action := r.Form.Get("Action"); action {
	case "GetCallerIdentity":
		t.getCallerIdentity(w, r)
	case "AssumeRole":
		t.assumeRole(w, r)
	default:
		gateway.Refuse(w, r, http.StatusBadRequest, gateway.Fault{Code: "InvalidAction", Message: "the local emulator of STS has no " + action})
	}
}

// An Identity is the principal of an access key.
type Identity struct {
	Arn     string
	UserID  string `xml:"UserId"`
	Account string
}

func (t *Service) getCallerIdentity(w http.ResponseWriter, r *http.Request) {
	key, _, _ := gateway.Scope(r)
	reply(w, "GetCallerIdentity", Caller(t.account, key))
}

// Caller is the principal of an access key. A key that AssumeRole has not issued belongs to the root of the account.
func Caller(account, accessKey string) Identity {
	if h, ok := ParseAccessKey(accessKey); ok {
		return Identity{Arn: h.ARN(), UserID: roleID(h.Account, h.Role) + ":" + h.Session, Account: h.Account}
	}
	return Identity{Arn: "arn:aws:iam::" + account + ":root", UserID: account, Account: account}
}

var (
	roleARN     = regexp.MustCompile(`^arn:aws[a-z-]*:iam::(\d{12}):role/(?:[\w+=,.@-]+/)*([\w+=,.@-]{1,64})$`)
	sessionName = regexp.MustCompile(`^[\w+=,.@-]{2,64}$`)
)

func (t *Service) assumeRole(w http.ResponseWriter, r *http.Request) {
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
	case !sessionName.MatchString(session):
		refuse(w, r, http.StatusBadRequest, "ValidationError", "Value at 'roleSessionName' failed to satisfy constraint: Member must satisfy regular expression pattern: [\\w+=,.@-]{2,64}")
		return
	case err != nil || seconds < 900 || seconds > 43200:
		refuse(w, r, http.StatusBadRequest, "ValidationError", "Value at 'durationSeconds' failed to satisfy constraint: Member must be between 900 and 43200")
		return
	case !t.trusts(r, arn):
		refuse(w, r, http.StatusForbidden, "AccessDenied", "User: arn:aws:iam::"+t.account+":root is not authorized to perform: sts:AssumeRole on resource: "+arn)
		return
	}
	h := AssumedRole{Account: parts[1], Role: parts[2], Session: session, Expires: time.Now().Add(time.Duration(seconds) * time.Second)}
	type credentials struct{ AccessKeyId, SecretAccessKey, SessionToken, Expiration string }
	type user struct{ AssumedRoleId, Arn string }
	type assumed struct {
		Credentials     credentials
		AssumedRoleUser user
	}
	reply(w, "AssumeRole", assumed{
		credentials{h.AccessKey(), "local", "local", h.Expires.UTC().Format(time.RFC3339)},
		user{roleID(h.Account, h.Role) + ":" + session, h.ARN()},
	})
}

// trusts reports whether a role trusts the caller. As on AWS, the answer does not say why not. A role that requires no
// external ID accepts any.
func (t *Service) trusts(r *http.Request, arn string) bool {
	wanted, ok := t.trust(arn)
	return ok && (wanted == "" || wanted == r.Form.Get("ExternalId"))
}

// An AssumedRole is an assumed role with its session name and expiration.
type AssumedRole struct {
	Account, Role, Session string
	Expires                time.Time
}

// ARN is the ARN of the assumed-role session.
func (h AssumedRole) ARN() string {
	return "arn:aws:sts::" + h.Account + ":assumed-role/" + h.Role + "/" + h.Session
}

var keyEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// AccessKey is the access key ID that AssumeRole issues.
func (h AssumedRole) AccessKey() string {
	text := strings.Join([]string{h.Account, h.Role, h.Session, strconv.FormatInt(h.Expires.Unix(), 10)}, ":")
	return "ASIA" + keyEncoding.EncodeToString([]byte(text))
}

// ParseAccessKey reads the assumed role from an access key ID that AssumeRole has issued; ok is false for any other.
func ParseAccessKey(accessKey string) (h AssumedRole, ok bool) {
	encoded, ok := strings.CutPrefix(accessKey, "ASIA")
	if !ok {
		return h, false
	}
	text, err := keyEncoding.DecodeString(encoded)
	parts := strings.Split(string(text), ":")
	if err != nil || len(parts) != 4 {
		return h, false
	}
	until, err := strconv.ParseInt(parts[3], 10, 64)
	return AssumedRole{parts[0], parts[1], parts[2], time.Unix(until, 0)}, err == nil
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
	// The element of the result itself is named after its Go type, so only its content is used.
	inner := body[strings.IndexByte(string(body), '>')+1 : strings.LastIndexByte(string(body), '<')]
	_, _ = fmt.Fprintf(w, `<%[1]sResponse xmlns="%[2]s"><%[1]sResult>%[3]s</%[1]sResult><ResponseMetadata><RequestId>%[4]s</RequestId></ResponseMetadata></%[1]sResponse>`,
		action, namespace, inner, w.Header().Get("X-Amzn-Requestid")) // the caller is gone if this fails
}

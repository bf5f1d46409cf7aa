package gateway

import (
	"encoding/json"
	"encoding/xml"
	"net/http"
	"strings"
)

// Fault is an error of AWS: a code for programs, a message for people.
type Fault struct{ Code, Message string }

// Refuse answers with the fault in the form of the request's own protocol.
func Refuse(w http.ResponseWriter, r *http.Request, status int, fault Fault) {
	kind := r.Header.Get("Content-Type")
	_, service, _ := Scope(r)
	switch {
	case CBOR(r):
		WriteCBOR(w, status, map[string]any{"__type": fault.Code, "message": fault.Message})
	case service == "scheduler" || service == "backup" || strings.Contains(kind, "json") || r.Header.Get("X-Amz-Target") != "" || strings.HasPrefix(r.URL.Path, "/2015-03-31/"):
		refuseJSON(w, status, fault)
	case service == "ec2":
		refuseEC2(w, status, fault)
	case strings.HasPrefix(kind, "application/x-www-form-urlencoded") || r.URL.Query().Has("Action"):
		refuseQuery(w, status, fault)
	default:
		refuseObject(w, r, status, fault)
	}
}

func refuseJSON(w http.ResponseWriter, status int, fault Fault) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.Header().Set("X-Amzn-Errortype", fault.Code)
	w.WriteHeader(status)
	body := map[string]string{"__type": fault.Code, "message": fault.Message}
	_ = json.NewEncoder(w).Encode(body) // the caller is gone if this fails
}

func refuseQuery(w http.ResponseWriter, status int, fault Fault) {
	type cause struct{ Type, Code, Message string }
	answer := struct {
		XMLName   xml.Name `xml:"ErrorResponse"`
		Error     cause
		RequestID string `xml:"RequestId"`
	}{Error: cause{Type: "Sender", Code: fault.Code, Message: fault.Message}, RequestID: w.Header().Get("X-Amzn-Requestid")}
	writeXML(w, status, answer)
}

// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
func refuseEC2(w http.ResponseWriter, status int, fault Fault) {
	answer := struct {
		XMLName   xml.Name `xml:"Response"`
		Error     Fault    `xml:"Errors>Error"`
		RequestID string   `xml:"RequestID"`
	}{Error: fault, RequestID: w.Header().Get("X-Amzn-Requestid")}
	writeXML(w, status, answer)
}

func refuseObject(w http.ResponseWriter, r *http.Request, status int, fault Fault) {
	answer := struct {
		XMLName       xml.Name `xml:"Error"`
		Code, Message string
		Resource      string
		RequestID     string `xml:"RequestId"`
	}{Code: fault.Code, Message: fault.Message, Resource: r.URL.Path, RequestID: w.Header().Get("X-Amzn-Requestid")}
	if r.Method == http.MethodHead {
		w.WriteHeader(status)
		return
	}
	writeXML(w, status, answer)
}

func writeXML(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(status)
	// If the write fails, the client has disconnected.
	_, _ = w.Write([]byte(xml.Header))
	_ = xml.NewEncoder(w).Encode(answer)
}

package gateway

import (
	"encoding/xml"
	"net/http"
	"strconv"
)

// Form reads a request of the query protocol. It answers, and reports false, if the request cannot be read.
func Form(w http.ResponseWriter, r *http.Request) bool {
	err := r.ParseForm()
	if err != nil {
		Refuse(w, r, http.StatusBadRequest, Fault{"MalformedQueryString", err.Error()})
	}
	return err == nil
}

// List is a list of a request, whose items have the parameters NAME.1, NAME.2 and so on.
func List(r *http.Request, name string) []string {
	var all []string
	for i := 1; r.Form.Has(name + "." + strconv.Itoa(i)); i++ {
		all = append(all, r.Form.Get(name+"."+strconv.Itoa(i)))
	}
	return all
}

// Answer answers an action of the query protocol with a result, which is written as XML; with none if it is nil. space is the XML namespace of the service.
func Answer(w http.ResponseWriter, space, action string, result any) {
	text, err := xml.Marshal(result)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/xml")
	_, _ = w.Write([]byte("<" + action + `Response xmlns="` + space + `"><` + action + "Result>" + string(text) + "</" + action + "Result></" + action + "Response>")) // the client is gone if it fails
}

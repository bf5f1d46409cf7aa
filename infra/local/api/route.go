package api

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// everything is the key of the default route.
const everything = "$default"

// A route is a parsed route.
type route struct {
	Route
	method string
	parts  []string // of its path
}

var (
	methods = []string{"ANY", http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions}
	part    = regexp.MustCompile(`^([A-Za-z0-9._~%!$&'()*,;=:@-]+|\{[A-Za-z0-9._:-]+\+?\})$`)
)

// parse parses the key of a route.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-routes.html
func parse(r Route) (route, error) {
	if r.Key == everything {
		return route{Route: r}, nil
	}
	method, path, _ := strings.Cut(r.Key, " ")
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if !slices.Contains(methods, method) || !strings.HasPrefix(path, "/") {
		return route{}, fmt.Errorf("route %q: its key is a method, a blank and a path, or $default", r.Key)
	}
	for i, p := range parts {
		if path != "/" && !part.MatchString(p) || greedy(p) && i < len(parts)-1 {
			return route{}, fmt.Errorf("route %q: its path has a part %q, which may be a word or a {variable}, and only at the end a {greedy+} one", r.Key, p)
		}
	}
	return route{r, method, parts}, nil
}

// variable is the name of the variable in a part of a path, if the part is one.
func variable(part string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(part, "{")
	return strings.TrimSuffix(strings.TrimSuffix(rest, "}"), "+"), ok
}

func greedy(part string) bool { return strings.HasSuffix(part, "+}") }

// match finds the route for a request, and the values of its variables. An exact path wins over a greedy variable, a
// longer prefix over a shorter one, a method over ANY, and $default is last.
func (a *API) match(method, path string) (best route, values map[string]string, ok bool) {
	most := -1
	for _, r := range a.routes {
		found, rank := r.match(method, strings.Split(strings.TrimPrefix(path, "/"), "/"))
		if rank > most {
			best, values, most = r, found, rank
		}
	}
	return best, values, most >= 0
}

// match returns the values of the variables in a path, and the rank of the route; less than 0 means no match.
func (r route) match(method string, path []string) (values map[string]string, rank int) {
	if r.Key == everything {
		return nil, 0
	}
	if r.method != method && r.method != "ANY" {
		return nil, -1
	}
	last := len(r.parts) - 1
	values, rank = map[string]string{}, 1
	for i, p := range r.parts {
		name, isVariable := variable(p)
		switch {
		case i >= len(path) || path[i] == "" && p != "":
			return nil, -1
		case greedy(p):
			values[name] = strings.Join(path[i:], "/")
		case isVariable:
			values[name] = path[i]
		case p != path[i]:
			return nil, -1
		default:
			rank += 10
		}
	}
	if !greedy(r.parts[last]) {
		if len(path) != len(r.parts) {
			return nil, -1
		}
		rank += 10_000
	}
	if r.method == method {
		rank++
	}
	return values, rank
}

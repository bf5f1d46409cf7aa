package cloudformation

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/property"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// physical makes the physical ID of a new resource: the name that it asks for, or one that follows from the stack, the
// logical ID and the operation that creates it.
func (s *Service) physical(st *stack, r *resource) string {
	k := resourceTypes[r.Type]
	b := hash(st.ID, r.Logical, fmt.Sprint(len(st.Operations)))
	name, named := r.property(k.name)
	if !named {
		name = shortened(st.Name, 24) + "-" + shortened(r.Logical, 24) + "-" + capitals(b[16:], 12)
		if k.lower {
			name = strings.ToLower(name)
		}
	}
	if k.id == "" {
		return name
	}
	return s.expand(k.id, r, name, b)
}

func shortened(text string, n int) string { return text[:min(len(text), n)] }

// attribute is the result of Fn::GetAtt. An attribute that the table does not know is derived from its name, always in
// the same way.
func (s *Service) attribute(st *stack, r *resource, attribute string) any {
	if value, ok := r.Nested.output(attribute); ok {
		return value
	}
	b := hash(r.Physical, attribute)
	name := r.Physical[strings.LastIndexAny(r.Physical, "/:")+1:]
	if pattern, ok := resourceTypes[r.Type].attributes[attribute]; ok {
		if list, ok := strings.CutPrefix(pattern, "[]"); ok {
			var items []any
			for i, one := range strings.Split(list, ",") {
				items = append(items, s.expand(one, r, name, hash(r.Physical, attribute, fmt.Sprint(i))))
			}
			return items
		}
		return s.expand(pattern, r, name, b)
	}
	if value, ok := r.property(attribute); ok {
		return value
	}
	if t, _ := property.Named(r.Type); t.ListAttribute(attribute) {
		second := hash(r.Physical, attribute, "second")
		return []any{s.guess(r, attribute, name, b), s.guess(r, attribute, name+"2", second)}
	}
	return s.guess(r, attribute, name, b)
}

func (s *Service) guess(r *resource, attribute, name string, b []byte) string {
	last := attribute[strings.LastIndexByte(attribute, '.')+1:]
	service, kind := parts(r.Type)
	host := strings.ToLower(name) + "." + hexa(b, 12) + "." + s.options.Region + "." + service + ".amazonaws.com"
	switch {
	case last == "Arn" || strings.HasSuffix(last, "Arn") || strings.HasSuffix(last, "ARN"):
		if strings.HasPrefix(r.Physical, "arn:") {
			return r.Physical
		}
		return "arn:aws:" + service + ":" + s.options.Region + ":" + s.options.Account + ":" + kind + "/" + name
	case last == "Port":
		return "443"
	case last == "Url" || last == "URL" || last == "Uri":
		return "https://" + host
	case strings.HasSuffix(last, "Address") || strings.HasSuffix(last, "Endpoint") ||
		strings.HasSuffix(last, "DNSName") || strings.HasSuffix(last, "DomainName"):
		return host
	case last == "Name":
		return name
	case strings.HasSuffix(last, "Version") || strings.HasSuffix(last, "VersionNumber"):
		return "1"
	}
	return strings.ToLower(kind) + "-" + hexa(b, 17)
}

// parts are the service and the resource of a type: ec2 and vpc of AWS::EC2::VPC.
func parts(kind string) (service, resource string) {
	all := strings.Split(strings.ToLower(kind), "::")
	if len(all) < 3 {
		return "cloudformation", all[len(all)-1]
	}
	return all[1], all[2]
}

// expand fills in a pattern of the table: {hex} and {HEX} stand for digits that
// follow from b, {.Name} for a property, {name} for the resource's name, {id} for its physical ID.
func (s *Service) expand(pattern string, r *resource, name string, b []byte) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(pattern, "{")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		var token string
		token, pattern, _ = strings.Cut(rest, "}")
		out.WriteString(s.token(token, r, name, b))
	}
}

func (s *Service) token(token string, r *resource, name string, b []byte) string {
	switch token {
	case "region":
		return s.options.Region
	case "account":
		return s.options.Account
	case "name":
		return name
	case "cluster":
		cluster, named := r.property("Cluster")
		if !named {
			return "default"
		}
		return cluster[strings.LastIndexByte(cluster, '/')+1:]
	case "given": // the physical ID may have it in lower case
		if given, named := r.property(resourceTypes[r.Type].name); named {
			return given
		}
		return name
	case "lower":
		return strings.ToLower(name)
	case "id":
		return r.Physical
	case "path":
		return r.Physical[strings.IndexByte(r.Physical, '/')+1:]
	case "hex":
		return "0" + hexa(b, 16)
	case "hex2":
		return hexa(b, 2)
	case "hex4":
		return hexa(b, 4)
	case "hex16":
		return hexa(b, 16)
	case "guid":
		return guid(b)
	case "CAPS":
		return "Z" + capitals(b, 13)
	case "caps6":
		return capitals(b[16:], 6)
	case "byte":
		return fmt.Sprint(int(b[0])%250 + 2)
	}
	property, _ := r.property(strings.TrimPrefix(token, "."))
	return property
}

// property is a top-level property's text.
func (r *resource) property(name string) (string, bool) {
	if name == "" || r.Properties == "" {
		return "", false
	}
	var all map[string]any
	if err := json.Unmarshal([]byte(r.properties()), &all); err != nil {
		return "", false
	}
	return template.Text(all[name])
}

// properties is the JSON of the properties with resolved references.
func (r *resource) properties() string {
	if r.actual != "" {
		return r.actual
	}
	return r.Properties
}

package cloudformation

import (
	"bytes"
	"encoding/xml"
	"reflect"
	"strconv"
	"time"
)

const namespace = "http://cloudformation.amazonaws.com/doc/2010-05-15/"

// answerXML writes one of the SDK's output types as CloudFormation does. Unset strings and pointers and nil lists are
// left out.
func answerXML(action, request string, out any) []byte {
	var b bytes.Buffer
	b.WriteString(`<` + action + `Response xmlns="` + namespace + `">`)
	element(&b, action+"Result", reflect.ValueOf(out).Elem())
	b.WriteString(`<ResponseMetadata><RequestId>` + request + `</RequestId></ResponseMetadata>`)
	b.WriteString(`</` + action + `Response>`)
	return b.Bytes()
}

func errorXML(p *problem, request string) []byte {
	kind := "Sender"
	if p.status >= 500 {
		kind = "Receiver"
	}
	var b bytes.Buffer
	b.WriteString(`<ErrorResponse xmlns="` + namespace + `"><Error>`)
	element(&b, "Type", reflect.ValueOf(kind))
	element(&b, "Code", reflect.ValueOf(p.code))
	element(&b, "Message", reflect.ValueOf(p.message))
	b.WriteString(`</Error><RequestId>` + request + `</RequestId></ErrorResponse>`)
	return b.Bytes()
}

var timeType = reflect.TypeFor[time.Time]()

func element(b *bytes.Buffer, name string, v reflect.Value) {
	b.WriteString("<" + name + ">")
	content(b, v)
	b.WriteString("</" + name + ">")
}

func content(b *bytes.Buffer, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		content(b, v.Elem())
	case reflect.String:
		// EscapeText fails only if its writer does; a buffer does not.
		_ = xml.EscapeText(b, []byte(v.String()))
	case reflect.Bool:
		b.WriteString(strconv.FormatBool(v.Bool()))
	case reflect.Int32, reflect.Int64:
		b.WriteString(strconv.FormatInt(v.Int(), 10))
	case reflect.Slice:
		for i := range v.Len() {
			element(b, "member", v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == timeType {
			b.WriteString(v.Interface().(time.Time).UTC().Format("2006-01-02T15:04:05.000Z"))
			return
		}
		contents(b, v)
	}
}

func contents(b *bytes.Buffer, v reflect.Value) {
	for i := range v.NumField() {
		f, at := v.Type().Field(i), v.Field(i)
		if !f.IsExported() || f.Name == "ResultMetadata" {
			continue
		}
		switch at.Kind() {
		case reflect.Pointer, reflect.Slice:
			if at.IsNil() {
				continue
			}
		case reflect.String:
			if at.Len() == 0 {
				continue
			}
		}
		element(b, f.Name, at)
	}
}

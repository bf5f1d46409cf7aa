package function

import "encoding/base64"

var toBase64 = ofText("base64", func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) })

package archive

import (
	"path"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/pattern"
)

// What files hold that nobody means to upload, by how their names end. Readers of a project see all its files.
var secrets = []struct {
	what  string
	names []string // whole names
	ends  []string
	text  bool // only if the file has a private key as text
}{
	{what: "a private key", names: []string{"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"}, ends: []string{".ppk"}},
	{what: "a store of passwords", ends: []string{".kdbx"}},
	{what: "the state of Terraform, which has secrets in clear text", ends: []string{".tfstate", ".tfstate.backup"}},
	{what: "values of Terraform's variables", ends: []string{".tfvars", ".tfvars.json"}},
	{what: "a private key", ends: []string{".pem", ".key", ".crt", ".cer"}, text: true},
}

// ofAsset is an asset of the CDK, which is a file or a folder, and what is in it.
var ofAsset = pattern.New(`(?:^|/)asset\.[0-9a-f]{64}(?:[/.]|$)`)

var privateKey = pattern.New(`-----BEGIN [A-Z ]*PRIVATE KEY-----`)

// Secret says what a file probably holds that must not be uploaded; "" if nothing is known of it. A certificate is no secret, and
// the files of an asset of the CDK are what its hash says.
func Secret(name string, body []byte) string {
	if ofAsset.MatchString(name) {
		return ""
	}
	base := strings.ToLower(path.Base(name))
	for _, s := range secrets {
		named := slices.Contains(s.names, base) || slices.ContainsFunc(s.ends, func(end string) bool { return strings.HasSuffix(base, end) })
		if named && (!s.text || privateKey.MatchString(string(body))) {
			return s.what
		}
	}
	return ""
}

// Withheld takes the files with secrets out, and says which: "keys/id_rsa (a private key)".
func (f Files) Withheld() (rest Files, withheld []string) {
	rest = Files{}
	for _, name := range f.Paths() {
		if what := Secret(name, f[name]); what != "" {
			withheld = append(withheld, name+" ("+what+")")
		} else {
			rest[name] = f[name]
		}
	}
	return rest, withheld
}

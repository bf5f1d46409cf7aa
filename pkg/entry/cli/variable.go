package cli

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/stackwright/stackwright/pkg/fault"
)

// variable is the name of an output's environment variable: NETWORK_VPC_VPCID. A name that a shell does not take, or that
// shells, loaders and tools act on, gets the prefix OUTPUT_.
func (o output) variable() string {
	name := strings.ToUpper(strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, o.stack+"_"+o.key))
	if unicode.IsDigit(rune(name[0])) || effective.MatchString(name) {
		return "OUTPUT_" + name
	}
	return name
}

// effective are names of variables that change what programs do: which code they load, whom they trust, as whom they act.
var effective = regexp.MustCompile(`^_|^(LD|DYLD|BASH|GIT|AWS|SSH|SSL|NODE|NPM|PIP|GEM|BUNDLE|DOCKER|COMPOSE|GITHUB|GITLAB|RUNNER|ACTIONS|CI|` +
	`STACKWRIGHT|TF|JAVA|JDK|MAVEN|GRADLE|GOOGLE|AZURE|VIRTUAL|LC)_` +
	`|^(PROMPT_COMMAND|GCONV_PATH|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE|[A-Z]+_PROXY)$`)

// exported is an output as a shell reads it.
func exported(o output) (string, error) { return "export " + o.variable() + "=" + quoted(o.value), nil }

// dotenv is an output as a line of a .env file. Readers of such files differ, so that only what all of them read alike is
// written: shells, dotenv in Node, Python and Ruby, and Docker Compose. In single quotes, Python replaces ${NAME} and some
// backslashes. In double quotes, most readers replace more, and Node knows no escaped quote.
func dotenv(o output) (string, error) {
	line := o.variable() + "="
	switch v := o.value; {
	case !strings.ContainsAny(v, "'\r\n") && !strings.Contains(v, "${") && !strings.Contains(v, `\\`) && !strings.HasSuffix(v, `\`):
		return line + "'" + v + "'", nil
	case !strings.ContainsAny(v, "\"$`\\!\r\n"):
		return line + `"` + v + `"`, nil
	}
	return "", fault.New(fault.Invalid, "output %s of %s: programs that read .env files disagree about its quotes, backslashes, line ends or ${: "+
		"use -o env for a shell, or -o json", o.key, o.stack)
}

// tfvars is an output as Terraform reads it, which takes ${ and %{ for more than
// text.
func tfvars(o output) (string, error) {
	value := strings.NewReplacer("${", "$${", "%{", "%%{").Replace(strconv.Quote(o.value))
	return strings.ToLower(o.variable()) + " = " + value, nil
}

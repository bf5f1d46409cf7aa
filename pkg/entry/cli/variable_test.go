package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Names that shells do not take, and names that change what programs do, have a prefix.
func TestVariable(t *testing.T) {
	for want, o := range map[string]output{
		"NETWORK_VPC_VPCID":        {stack: "network/vpc", key: "VpcId"},
		"OUTPUT_LD_PRELOAD":        {stack: "ld", key: "preload"},
		"OUTPUT_AWS_PROFILE":       {stack: "aws", key: "profile"},
		"OUTPUT_BASH_ENV":          {stack: "bash", key: "Env"},
		"OUTPUT_PROMPT_COMMAND":    {stack: "prompt", key: "command"},
		"OUTPUT_HTTPS_PROXY":       {stack: "https", key: "Proxy"},
		"OUTPUT_NODE_OPTIONS":      {stack: "node", key: "options"},
		"OUTPUT_GIT_SSH_COMMAND":   {stack: "git-ssh", key: "Command"},
		"OUTPUT_JAVA_TOOL_OPTIONS": {stack: "java", key: "Tool_Options"},
		"OUTPUT_3TIER_URL":         {stack: "3tier", key: "Url"},
		"LDAP_URL":                 {stack: "ldap", key: "Url"},
	} {
		if got := o.variable(); got != want {
			t.Errorf("%s.%s: %s, want %s", o.stack, o.key, got, want)
		}
	}
}

// dotenvs are values, and how a .env file has each; "" if no way of writing it is read alike by all.
var dotenvs = map[string]string{
	"hello":                       "'hello'",
	"":                            "''",
	"two words # and no comment ": "'two words # and no comment '",
	`{"a": "b"}`:                  `'{"a": "b"}'`,
	"$(touch X) `touch Y` $HOME":  "'$(touch X) `touch Y` $HOME'",
	`back\slash`:                  `'back\slash'`,
	"it's":                        `"it's"`,
	"\x1b[2J ünï 漢":               "'\x1b[2J ünï 漢'",
	"${HOME}":                     "",
	`two\\slashes`:                "",
	`at the end\`:                 "",
	"it's $5":                     "",
	`'"`:                          "",
	"line\nline":                  "",
	"line\r":                      "",
}

func TestDotenv(t *testing.T) {
	for value, want := range dotenvs {
		got, err := dotenv(output{stack: "s", key: "o", value: value})
		if want != "" {
			want = "S_O=" + want
		}
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %s, %v, want %s", value, got, err, want)
		}
	}
}

// Programs that read .env files read each value as it is, and execute nothing. make integration has the readers.
func TestReadersOfDotenvAgree(t *testing.T) {
	readers := map[string][]string{ // each prints the value of S_O as JSON
		"sh":     {"sh", "-c", `set -a; . "$0"; exec python3 -c 'import json, os; print(json.dumps(os.environ["S_O"]))'`},
		"Python": {"python3", "-c", `import json, sys; from dotenv import dotenv_values; print(json.dumps(dotenv_values(sys.argv[1])["S_O"]))`},
		"Node":   {"node", "-p", `JSON.stringify(require("dotenv").parse(require("fs").readFileSync(process.argv[1])).S_O)`},
		"Ruby":   {"ruby", "-rdotenv", "-rjson", "-e", `puts Dotenv::Parser.call(File.read(ARGV[0]))["S_O"].to_json`},
	}
	file := filepath.Join(t.TempDir(), ".env")
	read := func(reader, line string) (value string, err error) {
		if err := os.WriteFile(file, []byte(line+"\nNEXT=1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c := exec.Command(readers[reader][0], append(readers[reader][1:], file)...)
		c.Dir = t.TempDir()
		out, err := c.Output()
		if err == nil {
			err = json.Unmarshal(out, &value)
		}
		if made, globbed := filepath.Glob(filepath.Join(c.Dir, "*")); len(made) > 0 || globbed != nil {
			t.Errorf("%s executed %s: %q", reader, line, made)
		}
		return value, err
	}
	for reader := range readers {
		if got, err := read(reader, "S_O='a'"); err != nil || got != "a" {
			t.Logf("%s is not there", reader)
			continue
		}
		for value := range dotenvs {
			line, err := dotenv(output{stack: "s", key: "o", value: value})
			if err != nil {
				continue
			}
			if got, err := read(reader, line); err != nil || got != value {
				t.Errorf("%s reads %s as %q, %v", reader, strings.TrimSpace(line), got, err)
			}
		}
	}
}

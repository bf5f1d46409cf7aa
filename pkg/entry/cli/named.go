package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/project"
)

// A naming is what the project file of a call says about the installation to use.
type naming struct {
	installation string // "" if the file names none
	confirmed    bool   // the user knows that the call goes elsewhere
}

// findPlace makes the call use the installation that its project file names, unless a flag or a variable says where.
func (c *call) findPlace() error {
	name, err := c.installationNamed()
	if err != nil || name == "" {
		return err
	}
	c.named.installation = name
	if !c.flags.located {
		c.flags.named, c.flags.located, c.flags.installation = true, true, name
	}
	return nil
}

// checkNamed refuses what the project file says if it is not the name of an installation.
func (c *call) checkNamed() error {
	if !c.flags.named || project.InstallationName.MatchString(c.flags.installation) {
		return nil
	}
	return fault.New(fault.Invalid,
		"the project file names no installation under installation: correct it: stackwright validate says where")
}

// mayName finds in a project file what may name an installation, so that no other file is read where nothing does.
var mayName = regexp.MustCompile(`installation|imports`)

// installationNamed is the installation that the project file of the call names for the environment that the call is
// about. It is empty if there is no such file, or if it cannot be read: the command says why, if it needs it.
func (c *call) installationNamed() (string, error) {
	path := c.projectFolder()
	if path == "" {
		return "", nil
	}
	if at, err := os.Stat(path); err != nil {
		return "", nil
	} else if at.IsDir() {
		text, err := os.ReadFile(filepath.Join(path, projectFile))
		if err != nil || !mayName.Match(text) {
			return "", nil
		}
	}
	files, err := c.files(path)
	if err != nil {
		return "", nil
	}
	return c.installationIn(files)
}

// projectFolder is the folder or file of the project that the call is about; "" if there is none.
func (c *call) projectFolder() string {
	about := *c
	isFolder := func(arg string) bool { return strings.Contains(arg, "DIR|FILE") }
	i := slices.IndexFunc(strings.Fields(c.command.args), isFolder)
	switch about.args, about.command.selects = nil, false; {
	case i >= 0 && len(c.args) > i:
		about.args = c.args[i : i+1]
	case c.flags.saved != "" || c.command.name == "init":
		return ""
	}
	path, err := about.folder()
	if err != nil {
		return ""
	}
	return path
}

// installationIn is the installation that files name for the environment that the call is about. A call that is
// about several environments is about the installation of all of them; if they have different ones, about that of
// default, if that is listed.
func (c *call) installationIn(files archive.Files) (string, error) {
	d := format.Declared(files)
	if c.flags.project != "" && d.Name != c.flags.project {
		return "", nil
	}
	if to := c.flags.into; to != "" {
		used := d.InstallationOf(to)
		if from := c.flags.from; d.InstallationOf(from) != used {
			return "", fault.New(fault.Invalid, "%s and %s have different installations in the project file (installation), "+
				"and a promotion is within one: deploy the files of %s to %s instead", from, to, from, to)
		}
		return used, nil
	}
	names := d.EnvironmentNames()
	if c.flags.env != "" || len(names) == 0 {
		return d.InstallationOf(c.flags.env), nil
	}
	var all []string
	for _, name := range names {
		all = append(all, d.InstallationOf(name))
	}
	slices.Sort(all)
	switch all = slices.Compact(all); {
	case len(all) == 1:
		return all[0], nil
	case slices.Contains(names, project.DefaultEnvironment):
		return d.InstallationOf(project.DefaultEnvironment), nil
	case c.flags.located:
		return "", nil
	}
	return "", fault.New(fault.Invalid, "the environments have different installations in the project file (installation): "+
		"name one environment with --env (%s), or say where with --installation or --data", some(names, 10))
}

// confirmPlace warns that the call goes elsewhere than its project file says. A call that changes something is
// confirmed, and refused if nobody can confirm it.
func (c *call) confirmPlace(at site) error {
	if c.named.installation == "" || c.named.confirmed || at.emulated == "" && at.stack == c.named.installation {
		return nil
	}
	c.named.confirmed = true
	what := fmt.Sprintf("the project file says that this is about installation %s, and a flag or a variable says: %s",
		c.named.installation, at.place())
	switch {
	case !c.alters() || c.flags.yes:
		fmt.Fprintln(c.Err, what)
		return nil
	case c.Asks:
		return c.agree(what)
	}
	return fault.New(fault.Refused, "%s: leave that flag or variable out, or confirm it with --yes", what)
}

package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/aws/s3"
	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/policy"
	"github.com/stackwright/stackwright/pkg/project"
)

// A policyCheck is what policy check prints as JSON.
type policyCheck struct {
	OK       bool              `json:"ok"`
	Policies []checkedPolicy   `json:"policies"`
	Problems []problem.Problem `json:"problems"` // what cannot be read or does not compile
}

// A checkedPolicy is a policy that compiles.
type checkedPolicy struct {
	project.Policy
	Each string `json:"each"` // for what it is checked: plan, stack or resource
	At   string `json:"at"`
}

// checkPolicies compiles the policies of files, and lists them. It sends no request.
func checkPolicies(_ context.Context, c *call) (int, error) {
	if len(c.args) == 0 {
		c.args = []string{"stackwright.yaml"}
	}
	all := policyCheck{Policies: []checkedPolicy{}, Problems: []problem.Problem{}}
	for _, file := range c.args {
		if err := all.read(file); err != nil {
			if !fault.Is(err, fault.Invalid, fault.Missing) {
				return ExitFailed, err
			}
			all.Problems = append(all.Problems, problem.All(err)...)
		}
	}
	all.OK = len(all.Problems) == 0
	if err := c.showPolicies(all); err != nil {
		return ExitFailed, err
	}
	if !all.OK {
		return ExitRefused, nil
	}
	return ExitOK, nil
}

// read compiles the policies of one file.
func (p *policyCheck) read(file string) error {
	f, err := compilePolicies(file)
	for i, one := range f.policies {
		p.Policies = append(p.Policies, checkedPolicy{one, f.set.Each(i), one.At()})
	}
	return err
}

// A policyFile is a file of policies that compile.
type policyFile struct {
	body     []byte
	policies []project.Policy
	set      policy.Set
}

// compilePolicies reads a file of policies, and compiles them. After an error there are none.
func compilePolicies(file string) (policyFile, error) {
	body, err := readPolicyFile(file)
	if err != nil {
		return policyFile{}, err
	}
	policies, err := format.Policies(file, body)
	if err != nil {
		return policyFile{}, err
	}
	set, err := policy.Compile(policies)
	if err != nil {
		return policyFile{}, err
	}
	return policyFile{body, policies, set}, nil
}

// showPolicies prints what is wrong, or each policy.
func (c *call) showPolicies(all policyCheck) error {
	if c.flags.output == "json" {
		return c.printJSON(all)
	}
	var lines []string
	for _, p := range all.Problems {
		lines = append(lines, p.String())
	}
	for _, p := range all.Policies {
		lines = append(lines, fmt.Sprintf("%s %s, for each %s (%s): %s", p.Level, p.Name, p.Each, p.At, p.Message))
	}
	lines = append(lines, fmt.Sprintf("%s, %s", policyCount(len(all.Policies)), term.Plural(len(all.Problems), "problem")))
	_, err := fmt.Fprintln(c.Out, strings.Join(lines, "\n"))
	return err
}

// policyCount says how many policies there are.
func policyCount(n int) string {
	if n == 1 {
		return "1 policy"
	}
	return fmt.Sprintf("%d policies", n)
}

// putPolicies tests files of policies and puts them into the bucket.
func putPolicies(ctx context.Context, c *call) (int, error) {
	names := make(map[string]string) // files by their names in the bucket
	for _, file := range c.args {
		name := filepath.Base(file)
		switch extension := filepath.Ext(file); {
		case extension != ".yaml" && extension != ".yml":
			return ExitRefused, fault.New(fault.Invalid, "%s is no file of policies: its name ends with .yaml or .yml", file)
		case name == projectFile:
			return ExitRefused, fault.New(fault.Invalid, "%s is a project file: its policies hold for its project. Those of the installation are in files of their own", file)
		case names[name] != "":
			return ExitRefused, fault.New(fault.Invalid, "%s and %s have the same name, so that one would replace the other: put them under different names", names[name], file)
		}
		names[name] = file
	}
	tests, failed, err := c.tested(ctx)
	if err != nil {
		return ExitFailed, err
	}
	if err := c.showPolicyTest(tests, failed); err != nil || !tests.OK {
		return tests.code(), err
	}
	return c.in(ctx, c.open, func(s *session) (int, error) {
		to, err := s.directly()
		if err != nil {
			return s.refused(err)
		}
		bodies, err := to.policiesWith(ctx, c.args)
		if err != nil {
			return s.refused(err)
		}
		for i, file := range c.args {
			key := s3.PolicyKey(filepath.Base(file))
			version, err := to.put(ctx, key, bodies[i])
			if err == nil {
				_, err = fmt.Fprintf(c.Out, "%s is version %s; it holds from the next plan on\n", key, version)
			}
			if err != nil {
				return s.refused(err)
			}
		}
		return ExitOK, nil
	})
}

// policiesWith reads files. It refuses them if the installation would have too many.
func (d direct) policiesWith(ctx context.Context, files []string) ([][]byte, error) {
	installed, err := d.objects.Policies(ctx)
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, f := range installed {
		keys = append(keys, f.Key)
	}
	var bodies [][]byte
	for _, file := range files {
		body, err := readPolicyFile(file)
		if err != nil {
			return nil, err
		}
		bodies = append(bodies, body)
		if key := s3.PolicyKey(filepath.Base(file)); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	if len(keys) > s3.MaxPolicyFiles {
		return nil, fault.New(fault.Refused, "the installation would have %d files of policies, of at most %d: join some of them", len(keys), s3.MaxPolicyFiles)
	}
	return bodies, nil
}

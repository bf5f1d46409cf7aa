package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/policy"
)

// A policyTest is what policy test reports.
type policyTest struct {
	OK       bool              `json:"ok"`
	Policies int               `json:"policies"`
	Problems []problem.Problem `json:"problems"` // what cannot be read or does not compile
	Tests    []policy.Result   `json:"tests"`
}

// policyHelp shows the help of policy, which does nothing by itself.
func policyHelp(_ context.Context, c *call) (int, error) {
	return ExitRefused, fault.New(fault.Invalid, "write policy check, policy test or policy put, and the files of the policies")
}

// testPolicies tests the policies of files. It sends no request.
func testPolicies(ctx context.Context, c *call) (int, error) {
	all, failed, err := c.tested(ctx)
	if err != nil {
		return ExitFailed, err
	}
	if err := c.showPolicyTest(all, failed); err != nil {
		return ExitFailed, err
	}
	return all.code(), nil
}

// tested tests the policies of the files that the call names.
func (c *call) tested(ctx context.Context) (all policyTest, failed int, err error) {
	all = policyTest{Problems: []problem.Problem{}, Tests: []policy.Result{}}
	for _, file := range c.args {
		if err := all.test(ctx, file); err != nil {
			if !fault.Is(err, fault.Invalid, fault.Missing, fault.Refused) {
				return all, 0, err
			}
			all.Problems = append(all.Problems, problem.All(err)...)
		}
	}
	for _, t := range all.Tests {
		if !t.OK {
			failed++
		}
	}
	all.OK = failed+len(all.Problems) == 0
	return all, failed, nil
}

// code is the exit code.
func (t policyTest) code() int {
	switch {
	case len(t.Problems) > 0:
		return ExitRefused
	case !t.OK:
		return ExitFailed
	}
	return ExitOK
}

// test tests the policies of one file.
func (t *policyTest) test(ctx context.Context, file string) error {
	f, err := compilePolicies(file)
	if err != nil {
		return err
	}
	t.Policies += len(f.policies)
	cases, err := policy.ReadCases(file, f.body, f.policies)
	if err != nil {
		return err
	}
	beside := strings.TrimSuffix(file, filepath.Ext(file)) + ".test" + filepath.Ext(file)
	if body, err := readPolicyFile(beside); err == nil {
		more, wrong := policy.ReadCases(beside, body, f.policies)
		if wrong != nil {
			return wrong
		}
		cases = append(cases, more...)
	} else if !fault.Is(err, fault.Missing) {
		return err
	}
	for _, one := range cases {
		r, err := f.set.Test(ctx, one)
		if err != nil {
			return err
		}
		t.Tests = append(t.Tests, r)
	}
	return nil
}

// readPolicyFile reads a file.
func readPolicyFile(file string) ([]byte, error) {
	body, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.Missing, "there is no file %s", file)
	case err != nil:
		return nil, fault.New(fault.Invalid, "%w", err)
	}
	return body, nil
}

// showPolicyTest prints what is wrong, each failed test with the violations, and the totals.
func (c *call) showPolicyTest(all policyTest, failed int) error {
	if c.flags.output == "json" {
		return c.printJSON(all)
	}
	var lines []string
	for _, p := range all.Problems {
		lines = append(lines, p.String())
	}
	for _, t := range all.Tests {
		for _, e := range t.Missing {
			about := ""
			if e.Stack != "" {
				about += " by stack " + e.Stack
			}
			if e.Resource != "" {
				about += " by resource " + e.Resource
			}
			lines = append(lines, fmt.Sprintf("%s: %s: policy %s is not violated%s", t.At, t.Name, e.Policy, about))
		}
		for _, v := range t.Unexpected {
			lines = append(lines, fmt.Sprintf("%s: %s: not expected: %s", t.At, t.Name, v))
		}
	}
	lines = append(lines, fmt.Sprintf("%s, %s, %d failed", policyCount(all.Policies), term.Plural(len(all.Tests), "test"), failed))
	_, err := fmt.Fprintln(c.Out, strings.Join(lines, "\n"))
	return err
}

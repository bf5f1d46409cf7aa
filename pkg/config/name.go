package config

import (
	"regexp"
	"strings"

	"github.com/stackwright/stackwright/pkg/project"
)

// What things may be called. A stack's name becomes part of its physical name,
// in which slashes are hyphens.
var (
	projectName     = project.Name
	environmentName = project.EnvironmentName
	stackName       = regexp.MustCompile(`^[A-Za-z0-9][-A-Za-z0-9]*(/[A-Za-z0-9][-A-Za-z0-9]*)*$`)
	variableName    = regexp.MustCompile(`^[A-Za-z][-_A-Za-z0-9]{0,63}$`)
	scheduleName    = regexp.MustCompile(`^[A-Za-z0-9][-_A-Za-z0-9]{0,31}$`)
	targetName      = project.TargetName
	outputName      = regexp.MustCompile(`^[A-Za-z0-9]{1,255}$`)
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
	physicalName = regexp.MustCompile(`^[A-Za-z][-A-Za-z0-9]{0,127}$`)
)

// maxName is how long a stack's name may be: CloudFormation takes no more.
const maxName = 128

// physical is the name that CloudFormation knows a stack by, unless the file
// says otherwise.
func physical(projectName, environment, stack string) string {
	parts := []string{projectName}
	if environment != project.DefaultEnvironment {
		parts = append(parts, environment)
	}
	return strings.Join(append(parts, strings.ReplaceAll(stack, "/", "-")), "-")
}

// Prints what cdk-nag finds in the CloudFormation templates it is given: a line of JSON for each finding. Which findings
// are right as they are, and why, says nag_test.go.
import { App, Stack } from "aws-cdk-lib";
import { CfnInclude } from "aws-cdk-lib/cloudformation-include";
import { AwsSolutionsChecks, ServerlessChecks } from "cdk-nag";

for (const templateFile of process.argv.slice(2)) {
  const stack = new Stack(new App(), "Stack");
  new CfnInclude(stack, "Template", { templateFile });
  for (const pack of [new AwsSolutionsChecks(), new ServerlessChecks()]) {
    for (const { ruleName: rule, description: why, violatingResources } of pack.validateScope(stack).violations) {
      for (const { constructPath } of violatingResources) {
        const resource = constructPath.split("/").pop();
        console.log(JSON.stringify({ template: templateFile, resource, rule, why }));
      }
    }
  }
}

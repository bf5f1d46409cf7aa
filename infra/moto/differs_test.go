package moto

// Why moto does not keep a law of a cloud: what it does, and where AWS documents something else.
const (
	instant   = "no operation of moto is in progress after its request is answered. CREATE_IN_PROGRESS and others: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html"
	cleanup   = "no update of moto has a cleanup. UPDATE_COMPLETE_CLEANUP_IN_PROGRESS: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html"
	reliable  = "no operation of moto fails after its request is accepted. CREATE_FAILED and others: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html"
	tokens    = "moto knows no client request tokens. ClientRequestToken, TokenAlreadyExists: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html"
	unnamed   = "operations of moto have no IDs. LastOperations: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_Stack.html"
	detects   = "moto has no DetectStackDrift: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DetectStackDrift.html"
	names     = "moto finds the stack of a change set by its name only. StackName may be an ID: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateChangeSet.html"
	atOnce    = "moto makes a change set before it answers. CREATE_PENDING, CREATE_IN_PROGRESS: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeChangeSet.html"
	refactor  = "moto has no CreateStackRefactor, and does not find the stack of a resource by its physical ID: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStackRefactor.html"
	cancels   = "moto has no CancelUpdateStack: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CancelUpdateStack.html"
	types     = "moto ignores ResourceTypes: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html"
	policies  = "moto keeps a stack policy and does not apply it: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/protect-stack-resources.html"
	retains   = "moto ignores RetainResources, which are for stacks in DELETE_FAILED: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DeleteStack.html"
	protects  = "moto keeps EnableTerminationProtection and does not apply it: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-protect-stacks.html"
	deleted   = "moto updates a stack that is deleted, by its ID. DELETE_COMPLETE: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html"
	same      = "moto accepts an update that changes nothing, unless it has parameters. CloudFormation says \"No updates are to be performed\": https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/troubleshooting.html"
	lossless  = "moto returns texts whole; CloudFormation does not (cloudformation-coverage-roadmap 814). TemplateBody: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_GetTemplate.html"
	exports   = "moto deletes a stack whose exports others import: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html"
	importers = "moto has no ListImports: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ListImports.html"
	imports   = "moto refuses the request to create a stack that imports what is not exported. A creation that fails is rolled back: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/stack-failure-options.html"
)

// cloudDiffers are the laws of a cloud that moto does not keep.
var cloudDiffers = map[string]difference{
	"a busy stack refuses": {`want "Busy"`, instant},
	"a change set says what an update would change, and changes nothing":                        {"does not exist (Missing)", names},
	"a change set that reverts drift brings back what was changed or deleted, and nothing else": {"does not exist (Missing)", names},
	"a change set that was deleted is not executed":                                             {"ready at once", atOnce},
	"a create that fails is rolled back, and says why":                                          {"cannot let an operation fail", reliable},
	"a create that takes longer than it may is rolled back":                                     {"take no time", instant},
	"a creation that fails and is not rolled back can be updated":                               {"cannot let an operation fail", reliable},
	"a creation that fails deletes the stack, if the request says so":                           {"cannot let an operation fail", reliable},
	"a description lists its newest operation first, if CloudFormation has named it":            {"the operations are []", unnamed},
	"a drift detection finds what was changed without CloudFormation, and changes nothing":      {"detect the drift of stack vpc: InvalidAction", detects},
	"a question mark is returned for each character that is not ASCII":                          {"live is {StackID", lossless},
	"a failed import is rolled back":                                                            {"cannot let an operation fail", reliable},
	"a request with a resource that is not of its resource types is refused":                    {`vpc/create: got <nil> (), want "Refused"`, types},
	"a revert that fails leaves the stack as it was, with its drift":                            {"cannot let an operation fail", reliable},
	"a rollback that fails is continued":                                                        {"cannot let an operation fail", reliable},
	"a continued rollback skips only resources of which the rollback has failed":                {"cannot let an operation fail", reliable},
	"a stack comes up": {"want true false", instant},
	"a stack has the rollback triggers of its last update":                                          {"want true false", instant},
	"a stack has the topics of its last update, and other topics alone are an update":               {"Status:UPDATE_COMPLETE", cleanup},
	"a stack policy denies updates, unless the request has another one for it":                      {"Status:UPDATE_COMPLETE", policies},
	"a stack refactor is executed when it is made, and once":                                        {"InvalidAction: moto has no CreateStackRefactor", refactor},
	"a stack refactor is found by its description":                                                  {"InvalidAction: moto has no CreateStackRefactor", refactor},
	"a stack refactor is made in some time, says what it does, and changes nothing":                 {"InvalidAction: moto has no CreateStackRefactor", refactor},
	"a stack refactor is not made while the source is updated":                                      {"InvalidAction: moto has no CreateStackRefactor", refactor},
	"a stack refactor is not made while the target is updated":                                      {"InvalidAction: moto has no CreateStackRefactor", refactor},
	"a stack refactor is outdated when the source is updated":                                       {"InvalidAction: moto has no CreateStackRefactor", refactor},
	"a stack refactor is outdated when the target is updated":                                       {"InvalidAction: moto has no CreateStackRefactor", refactor},
	"a stack refactor is over before its stacks are":                                                {"InvalidAction: moto has no CreateStackRefactor", refactor},
	"a stack refactor moves a resource, and deploys its templates":                                  {"InvalidAction: moto has no CreateStackRefactor", refactor},
	"a stack refactor that does not exist is not executed":                                          {"InvalidAction: moto has no DescribeStackRefactor", refactor},
	"a stack refactor that fails is rolled back, and moves nothing":                                 {"InvalidAction: moto has no CreateStackRefactor", refactor},
	"a stack refactor that would change or delete a resource is refused":                            {"InvalidAction: moto has no CreateStackRefactor", refactor},
	"a stack that is busy or gone has no new change set":                                            {`want "Busy"`, names},
	"a stack that is gone has no new stack refactor":                                                {"InvalidAction: moto has no CreateStackRefactor", refactor},
	"a token starts one operation":                                                                  {"AlreadyExistsException", tokens},
	"an empty stack holds nothing, and what is imported into it":                                    {"ready at once", atOnce},
	"an import brings a resource into a stack, and changes nothing else":                            {"ready at once", atOnce},
	"an update is cancelled under a token of its own, once":                                         {"cancel the update of stack vpc: InvalidAction", cancels},
	"an update is over before its cleanup ends":                                                     {"Status:UPDATE_COMPLETE", cleanup},
	"an update keeps the values that the stack has of parameters whose changes it ignores":          {"Status:UPDATE_COMPLETE", cleanup},
	"an update overwrites what was changed, and fails for what was deleted":                         {"Status:UPDATE_COMPLETE", cleanup},
	"an update that fails is not rolled back, if the request says so, and the next one can succeed": {"cannot let an operation fail", reliable},
	"an update that fails is rolled back":                                                           {"cannot let an operation fail", reliable},
	"events report the end of a creation before its description does":                               {"never late", instant},
	"events report the end of a deletion before its description does":                               {"never late", instant},
	"events report the end of an update before its description does":                                {"never late", instant},
	"express mode ends sooner, and a failure is rolled back":                                        {"cannot let an operation fail", reliable},
	"nothing but an update is cancelled":                                                            {"cancel the update of stack vpc: InvalidAction", cancels},
	"one drift detection of a stack is in progress, and none of a stack that is busy, dead or gone": {"detect the drift of stack vpc: InvalidAction", detects},
	"resources are retained only after a deletion has failed because of them":                       {`vpc/delete: got <nil> (), want "Refused"`, retains},
	"the stacks that import from one are listed":                                                    {"InvalidAction: moto has no ListImports", importers},
	"termination protection forbids deletion":                                                       {`vpc/delete: got <nil> (), want "Refused"`, protects},
	"the deletion of a stack that is being deleted, or is gone, is accepted":                        {`vpc/update: got <nil> (), want "Missing"`, deleted},
	"the rollback of what was cancelled may fail":                                                   {"cannot let an operation fail", reliable},
	"there is nothing to revert without drift":                                                      {"does not exist (Missing)", names},
	"what is as it was is unchanged":                                                                {`want "Unchanged"`, same},
	"what is in use stays":                                                                          {"Status:DELETE_COMPLETE", exports},
	"what is missing is not imported":                                                               {"No export named vpc-Name found. (Refused)", imports},
}

// suspendDiffers are the laws of what is stopped and started that moto does not keep.
var suspendDiffers = map[string]difference{
	"a stack lists the physical IDs of its resources by type, until it is deleted": {"the deleted stack has", "moto lists the resources of a deleted stack as CREATE_COMPLETE, not as DELETE_COMPLETE: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ListStackResources.html"},
}

// processesDiffer are the laws of Auto Scaling groups that moto does not keep.
var processesDiffer = map[string]difference{
	"a process that there is not is refused":                       {"suspend Dance", "moto suspends any process. ScalingProcesses lists them: https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_SuspendProcesses.html"},
	"a group that there is not is refused":                         {"HTTP status 500", "moto fails. ValidationError: https://docs.aws.amazon.com/autoscaling/ec2/APIReference/CommonErrors.html"},
	"a desired capacity outside of the other two sizes is refused": {"it is accepted", "moto does not compare the sizes. DesiredCapacity lies between MinSize and MaxSize: https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_UpdateAutoScalingGroup.html"},
}

// lacks are the calls of the adapters that moto does not have, with their documentation.
var lacks = map[string]string{
	"CancelUpdateStack":                 "https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CancelUpdateStack.html",
	"ContinueUpdateRollback":            "https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ContinueUpdateRollback.html",
	"CreateStackRefactor":               "https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStackRefactor.html",
	"DescribeAccountLimits":             "https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeAccountLimits.html",
	"DescribeStackDriftDetectionStatus": "https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStackDriftDetectionStatus.html",
	"DescribeStackRefactor":             "https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStackRefactor.html",
	"DescribeStackResourceDrifts":       "https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStackResourceDrifts.html",
	"DetectStackDrift":                  "https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DetectStackDrift.html",
	"ExecuteStackRefactor":              "https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ExecuteStackRefactor.html",
	"ListImports":                       "https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ListImports.html",
	"ListStackRefactorActions":          "https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ListStackRefactorActions.html",
	"ListStackRefactors":                "https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ListStackRefactors.html",
	"UpdateTerminationProtection":       "https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_UpdateTerminationProtection.html",
}

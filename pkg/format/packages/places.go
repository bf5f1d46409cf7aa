package packages

import "fmt"

// A form is how a template says where an object is in S3.
type form func(s Store, key string) string

// The forms, as values that are both YAML and JSON.
func https(s Store, key string) string { return fmt.Sprintf("%q", s.URL(key)) }
func uri(s Store, key string) string   { return fmt.Sprintf("%q", "s3://"+s.Bucket+"/"+key) }
func parts(bucket, object string) form {
	return func(s Store, key string) string {
		return fmt.Sprintf("{%q: %q, %q: %q}", bucket, s.Bucket, object, key)
	}
}

// A place is where a template may name a file of its project: a property of a resource,
// or a key of an entry of another section.
type place struct {
	section  string
	of       string // the type of the resource, or the name of the entry
	property string // dots divide the keys
	form     form
	zip      bool // the object is a zip of the folder or the file
	template bool // the file is a template
	regional bool // the object must be in the region of the stack
}

// places are those that the AWS CLI packages, with those of SAM. A property that is absent
// is left absent: the AWS CLI packages the whole folder then.
// https://docs.aws.amazon.com/cli/latest/reference/cloudformation/package.html
// https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/sam-cli-command-reference-sam-package.html
var places = []place{
	{"Resources", "AWS::ApiGateway::RestApi", "BodyS3Location", parts("Bucket", "Key"), false, false, false},
	{"Resources", "AWS::AppSync::FunctionConfiguration", "CodeS3Location", uri, false, false, false},
	{"Resources", "AWS::AppSync::FunctionConfiguration", "RequestMappingTemplateS3Location", uri, false, false, false},
	{"Resources", "AWS::AppSync::FunctionConfiguration", "ResponseMappingTemplateS3Location", uri, false, false, false},
	{"Resources", "AWS::AppSync::GraphQLSchema", "DefinitionS3Location", uri, false, false, false},
	{"Resources", "AWS::AppSync::Resolver", "CodeS3Location", uri, false, false, false},
	{"Resources", "AWS::AppSync::Resolver", "RequestMappingTemplateS3Location", uri, false, false, false},
	{"Resources", "AWS::AppSync::Resolver", "ResponseMappingTemplateS3Location", uri, false, false, false},
	{"Resources", "AWS::CloudFormation::Stack", "TemplateURL", https, false, true, false},
	{"Resources", "AWS::CodeCommit::Repository", "Code.S3", parts("Bucket", "Key"), true, false, true},
	{"Resources", "AWS::ElasticBeanstalk::ApplicationVersion", "SourceBundle", parts("S3Bucket", "S3Key"), true, false, true},
	{"Resources", "AWS::Glue::Job", "Command.ScriptLocation", uri, false, false, false},
	{"Resources", "AWS::Lambda::Function", "Code", parts("S3Bucket", "S3Key"), true, false, true},
	{"Resources", "AWS::Lambda::LayerVersion", "Content", parts("S3Bucket", "S3Key"), true, false, true},
	{"Resources", "AWS::Serverless::Api", "DefinitionUri", uri, false, false, false},
	{"Resources", "AWS::Serverless::Application", "Location", https, false, true, false},
	{"Resources", "AWS::Serverless::Function", "CodeUri", uri, true, false, true},
	{"Resources", "AWS::Serverless::GraphQLApi", "SchemaUri", uri, false, false, false},
	{"Resources", "AWS::Serverless::HttpApi", "DefinitionUri", uri, false, false, false},
	{"Resources", "AWS::Serverless::LayerVersion", "ContentUri", uri, true, false, true},
	{"Resources", "AWS::Serverless::StateMachine", "DefinitionUri", parts("Bucket", "Key"), false, false, false},
	{"Resources", "AWS::StepFunctions::StateMachine", "DefinitionS3Location", parts("Bucket", "Key"), false, false, false},
	{"Globals", "Function", "CodeUri", uri, true, false, true},
	{"Metadata", "AWS::ServerlessRepo::Application", "LicenseUrl", uri, false, false, false},
	{"Metadata", "AWS::ServerlessRepo::Application", "ReadmeUrl", uri, false, false, false},
}

// include is the place of a file that the macro AWS::Include inserts.
var include = place{property: "Location", form: uri}

const includeName = "AWS::Include"

"""Prints what Sceptre itself makes of a tree: oracle.py TREE. Outputs of stacks, which Sceptre asks CloudFormation for, are written as
references. Variables are those of sceptre.yaml. The folder remote of the tree has what is elsewhere: HOST/PATH of web servers, and
s3/BUCKET/KEY of buckets."""
import functools, http.server, io, json, logging, os, sys, threading, warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
import yaml

os.chdir(sys.argv[1])
side = yaml.safe_load(open("sceptre.yaml")) if os.path.exists("sceptre.yaml") else {}
for name in list(os.environ):
    if name not in ("PATH", "HOME"):
        del os.environ[name]
os.environ.update(side.get("environment_variables") or {})

from sceptre.config.reader import ConfigReader
from sceptre.context import SceptreContext
from sceptre.hooks import add_stack_hooks
from sceptre.resolvers import stack_output

names, external = {}, []


def internal_output(self):
    return "${%s.%s}" % (self.dependency_stack_name.replace(".yaml", ""), self.output_key)


def external_output(self, stack_name, output_key, profile=None, region=None, sceptre_role=None):
    # Environments may have stacks of the same name, each in an account of its own.
    top = self.stack.name.split("/")[0]
    name = names.get((top, stack_name)) or names[stack_name]
    external.append(name)
    return "${%s.%s}" % (name, output_key)


stack_output.StackOutput.resolve = internal_output
stack_output.StackOutputExternal._get_output_value = external_output

# Requests go to a web server of this process, which has the hosts as folders.
class Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=os.path.join(os.getcwd(), "remote")))
threading.Thread(target=server.serve_forever, daemon=True).start()

import requests
from sceptre.connection_manager import ConnectionManager

sent = requests.Session.request
requests.Session.request = lambda self, method, url, **more: sent(
    self, method, url.replace("https://", "http://127.0.0.1:%d/" % server.server_port), **more
)


def call(self, service, command, kwargs=None, **_):
    if command == "describe_stack_resources":
        return {"StackResources": [{"ResourceType": "AWS::AutoScaling::AutoScalingGroup", "PhysicalResourceId": kwargs["StackName"]}]}
    if service == "autoscaling":
        called.append(" ".join([command, kwargs["AutoScalingGroupName"]] + kwargs["ScalingProcesses"]))
        return {}
    assert (service, command) == ("s3", "get_object"), command
    return {"Body": io.BytesIO(open(os.path.join("remote/s3", kwargs["Bucket"], kwargs["Key"]), "rb").read())}


ConnectionManager.call = call

called = []


class Actions:
    """What Sceptre does to a stack, with its own decorator, which calls the hooks."""

    def __init__(self, stack):
        self.stack = stack

    @add_stack_hooks
    def create(self):
        called.append("create")

    @add_stack_hooks
    def update(self):
        called.append("update")

    @add_stack_hooks
    def delete(self):
        called.append("delete")

    @add_stack_hooks
    def launch(self, do):
        do()


def hooks(stack):
    actions, all = Actions(stack), {}
    for name, do in [("create", lambda: actions.launch(actions.create)), ("update", lambda: actions.launch(actions.update)), ("delete", actions.delete)]:
        called.clear()
        do()
        if called != [name]:
            all[name] = list(called)
    return all


context = SceptreContext(project_path=os.getcwd(), command_path=".", user_variables=side.get("variables") or {})
stacks, _ = ConfigReader(context).construct_stacks()
for s in stacks:
    names[s.external_name] = names[s.name.split("/")[0], s.external_name] = s.name
result = {}
for s in sorted(stacks, key=lambda s: s.name):
    external.clear()
    parameters = {k: ",".join(v) if isinstance(v, list) else v for k, v in s.parameters.items() if v is not None}
    result[s.name] = {
        "stack_name": s.external_name,
        "parameters": parameters,
        "tags": {str(k): str(v) for k, v in s.tags.items()},
        "needs": sorted(({d.name for d in s.dependencies} | set(external)) - {s.name}),
        "account": [s.profile or "", s.region, s.sceptre_role or ""],
        "service_role": s.cloudformation_service_role or "",
        "protect": bool(s.protected),
        "timeout": s.stack_timeout,
        "notifications": sorted(s.notifications),
        "on_failure": "" if s.disable_rollback else s.on_failure or "",
        "disable_rollback": bool(s.disable_rollback),
        "template": s.template.body,
    }
    if hooks(s):
        result[s.name]["hooks"] = hooks(s)
    if s.ignore:
        result[s.name]["ignored"] = True
    if s.obsolete:
        result[s.name]["obsolete"] = True
print(json.dumps(result, indent=1, sort_keys=True, ensure_ascii=False))

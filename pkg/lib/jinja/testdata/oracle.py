"""Renders the cases with Jinja2 itself: oracle.py cases.txt > want.json"""
import json, sys
import jinja2

TEMPLATES = json.load(open(sys.argv[1].replace("cases.txt", "templates.json")))
D = {"z": "1", "a": "it's", "m": [1, 2.5, True, None, "x\n"]}
want = []
for line in open(sys.argv[1]):
    source = line.rstrip("\n").replace("\\n", "\n") if "\\n" in line and "'" not in line and '"' not in line else line.rstrip("\n")
    for settings in ({}, {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}):
        env = jinja2.Environment(undefined=jinja2.StrictUndefined, loader=jinja2.DictLoader({**TEMPLATES, "case": source}),
                                 extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"], **settings)
        try:
            result = {"text": env.get_template("case").render(d=D, l=[{"k": "v"}])}
        except Exception:
            result = {"error": True}
        want.append({"source": source, "trim": bool(settings), **result})
json.dump(want, sys.stdout, indent=1, ensure_ascii=False)
print()

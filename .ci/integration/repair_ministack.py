"""Repairs the installed MiniStack 1.5.33: if the call of a task that waits for its token fails, the task fails with that error, and may be retried.
MiniStack forgets the error, and such a task waits for more than a day: also one whose function is updated while it is called, because that ends the call there.
https://docs.aws.amazon.com/step-functions/latest/dg/concepts-error-handling.html
"""

import pathlib

import ministack.services

# Read as text: importing the module would start its threads.
module = pathlib.Path(ministack.services.__path__[0], "stepfunctions.py")
forgets = """\
            _call_lambda(func_ref, lambda_payload)
        except _ExecutionError:
            pass
"""
fails = """\
            _call_lambda(func_ref, lambda_payload)
        except _ExecutionError:
            _task_tokens.pop(token, None)
            raise
"""
text = module.read_text()
if text.count(forgets) != 1:
    raise SystemExit(f"{module} is not as expected: does this version still forget the error?")
module.write_text(text.replace(forgets, fails))

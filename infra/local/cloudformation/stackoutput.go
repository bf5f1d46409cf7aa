package cloudformation

import (
	"fmt"
	"sync"

	"github.com/stackwright/stackwright/pkg/lib/template"
)

// published are the outputs of the stacks that exist, by their names. It has a lock of its own, so that services can
// read the outputs of one another while each holds its own lock.
type published struct {
	mu  sync.RWMutex
	all map[string]publication
}

type publication struct {
	id      string // of the stack
	outputs []output
}

// set brings the outputs of a stack up to date.
func (p *published) set(st *stack) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil {
		p.all = map[string]publication{}
	}
	if st.exists() {
		p.all[st.Name] = publication{st.ID, st.Now.Outputs}
	} else if p.all[st.Name].id == st.ID {
		delete(p.all, st.Name)
	}
}

// StackOutput is the value of an output of a stack here. The error says what there is not. AWS documents no words for
// it: these are those of DescribeStacks, and our own.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-getstackoutput.html
func (s *Service) StackOutput(of template.StackOutput) (string, error) {
	s.published.mu.RLock()
	defer s.published.mu.RUnlock()
	st, exists := s.published.all[of.Stack]
	if !exists {
		return "", fmt.Errorf("Fn::GetStackOutput: Stack with id %s does not exist", of.Stack)
	}
	for _, o := range st.outputs {
		if o.Key == of.Output {
			return o.Value, nil
		}
	}
	return "", fmt.Errorf("Fn::GetStackOutput: Stack %s has no output named %s", of.Stack, of.Output)
}

// read resolves Fn::GetStackOutput: "The referenced value is resolved at stack create or update time."
func (d *evaluation) read(of template.StackOutput) (any, bool) {
	read, o := d.service.StackOutput, d.service.options
	if of.Account != o.Account || of.Region != o.Region {
		if read = o.StackOutput; read == nil {
			read = func(template.StackOutput) (string, error) {
				return "", fmt.Errorf("Fn::GetStackOutput: there is no account %s in %s here", of.Account, of.Region)
			}
		}
	}
	value, err := read(of)
	if err != nil {
		if d.unread == nil {
			d.unread = err
		}
		return nil, false
	}
	return value, true
}

package calls

import (
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

const (
	services = "github.com/aws/aws-sdk-go-v2/service/"
	module   = "github.com/stackwright/stackwright/"
)

// An operation of the SDK, called at a position.
type operation struct {
	name string // as in "dynamodb.GetItem"
	at   token.Pos
}

// operationsOf lists the operations that a function itself calls: with a method of a client, or by passing a client to a helper
// of the SDK, such as a paginator, a waiter or a credentials provider.
func operationsOf(f *ssa.Function) []operation {
	var all []operation
	for _, b := range f.Blocks {
		for _, i := range b.Instrs {
			call, ok := i.(ssa.CallInstruction)
			if !ok {
				continue
			}
			for _, name := range operations(call.Common()) {
				all = append(all, operation{name, call.Pos()})
			}
		}
	}
	return all
}

// operations are those of one call.
func operations(call *ssa.CallCommon) []string {
	if call.IsInvoke() {
		return named(call.Method)
	}
	callee := call.StaticCallee()
	if callee == nil || callee.Blocks != nil {
		return nil
	}
	if m, ok := callee.Object().(*types.Func); ok && callee.Signature.Recv() != nil {
		return named(m)
	}
	var all []string
	for p := range callee.Signature.Params().Variables() {
		if client, ok := p.Type().Underlying().(*types.Interface); ok {
			for m := range client.Methods() {
				all = append(all, named(m)...)
			}
		}
	}
	return all
}

// named is the operation of a method that has the signature of one:
//
//	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
//
// or that signs the request of one for somebody else, with the permissions of the process: PresignPutObject.
func named(m *types.Func) []string {
	s := m.Signature()
	if s.Params().Len() != 3 || s.Results().Len() != 2 || !s.Variadic() {
		return nil
	}
	name := strings.TrimPrefix(m.Name(), "Presign")
	service, in := shape(s.Params().At(1).Type())
	if service == "" || strings.Contains(service, "/") || in != name+"Input" {
		return nil
	}
	return []string{service + "." + name}
}

// shape is the service and the name of a type of the SDK, or of a pointer to one; for a type of this module it is the
// package, as in "pkg/aws/dynamodb".
func shape(t types.Type) (of, name string) {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return "", ""
	}
	path := n.Obj().Pkg().Path()
	if service, ok := strings.CutPrefix(path, services); ok {
		return strings.TrimSuffix(service, "/types"), n.Obj().Name()
	}
	if own, ok := strings.CutPrefix(path, module); ok {
		return own, n.Obj().Name()
	}
	return "", ""
}

// fields are the fields of the SDK's and of this module's types that a function sets, and the helpers of the SDK that
// it creates, as in "cloudformation.NewDescribeStacksPaginator".
func fields(f *ssa.Function) []string {
	var all []string
	for _, b := range f.Blocks {
		for _, i := range b.Instrs {
			switch i := i.(type) {
			case *ssa.Store:
				if at, ok := i.Addr.(*ssa.FieldAddr); ok {
					all = append(all, field(at)...)
				}
			case ssa.CallInstruction:
				if callee := i.Common().StaticCallee(); callee != nil && callee.Pkg != nil {
					if service, ok := strings.CutPrefix(callee.Pkg.Pkg.Path(), services); ok && strings.HasPrefix(callee.Name(), "New") {
						all = append(all, service+"."+callee.Name())
					}
				}
			}
		}
	}
	return all
}

// field is a field of one of the SDK's types, or of ours.
func field(at *ssa.FieldAddr) []string {
	of, name := shape(at.X.Type())
	if of == "" {
		return nil
	}
	all := at.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct)
	return []string{of + "." + name + "." + all.Field(at.Field).Name()}
}

package schema

import "fmt"

// NodeCount returns how many Arrow field nodes the columns of s have together.
func (s *Schema) NodeCount() int { return s.FirstNode[len(s.Fields)] }

// Without returns s with the fields of structs at the given nodes, which are
// counted in pre-order over the Arrow field nodes of s and rise, turned into
// void fields: they stay in their place but have no values. Below an array or
// a map the fields of its structs count. What is no field of a struct cannot be
// left out, nor what is below a field that is.
func (s *Schema) Without(nodes []int) (*Schema, error) {
	if len(nodes) == 0 {
		return s, nil
	}
	p := pruning{nodes: nodes}
	fields := make([]Field, len(s.Fields))
	for i, f := range s.Fields {
		f.Type = p.visit(f.Type, Null)
		fields[i] = f
	}
	if len(p.nodes) > 0 {
		return nil, fmt.Errorf("node %d cannot be left out: it is no field of a struct, comes twice or out of order, or is past the %d nodes",
			p.nodes[0], s.NodeCount())
	}
	return New(fields), nil
}

var void = &Type{Kind: Null, Name: "void"}

// pruning goes over types in pre-order.
type pruning struct {
	nodes []int // yet to be left out
	node  int   // the next
}

func (p *pruning) visit(t *Type, parent Kind) *Type {
	n, _ := t.NodesAndBuffers()
	end := p.node + n
	if len(p.nodes) == 0 || p.nodes[0] >= end {
		p.node = end
		return t
	}
	p.node++
	isStruct := t.Kind == Struct && parent != Map // a map's entries are no struct of Spark's
	children := make([]Field, len(t.Children))
	for i, f := range t.Children {
		if isStruct && len(p.nodes) > 0 && p.nodes[0] == p.node {
			n, _ := f.Type.NodesAndBuffers()
			p.node += n
			p.nodes = p.nodes[1:]
			f = Field{Name: f.Name, Type: void, Nullable: true}
		} else {
			f.Type = p.visit(f.Type, t.Kind)
		}
		children[i] = f
	}
	pruned := *t
	pruned.Children = children
	return &pruned
}

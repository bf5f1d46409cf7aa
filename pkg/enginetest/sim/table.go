package sim

import "strings"

// A table is the resource that stacks import: it exists outside of stacks, or in one. Of a table that nobody
// has named before, nothing is known: an import finds it, and a creation creates it.
type table struct {
	created int // how often
	deleted bool
	maker   string // the run that has created it; "" if a user has
}

// A Deletion is a table that was deleted with a stack, or because a stack has it no longer.
type Deletion struct {
	Table string
	By    string // the run that has deleted it; "" if a user has
	Maker string // the run that had created it; "" if a user had
	Again bool   // another deletion of its stack had failed before
}

// TableOf returns the name of the table in a template; "" if it has none.
func TableOf(template string) string {
	_, name, _ := strings.Cut(template, "TableName: ")
	name, _, _ = strings.Cut(name, "\n")
	return name
}

// CreateTable lets a user create a table outside of all stacks, unless it exists.
func (c *Cloud) CreateTable(name string) {
	if t := c.tables[name]; t == nil || t.deleted {
		c.bringIn(name, "")
	}
}

// Created returns how often a table was created; 0 if it does not exist.
func (c *Cloud) Created(table string) int {
	if t := c.tables[table]; t != nil && !t.deleted {
		return t.created
	}
	return 0
}

// HolderOf returns the name of the live stack that has a table; "" if none has.
func (c *Cloud) HolderOf(table string) string {
	if st := c.holder(table); st != nil {
		return st.name
	}
	return ""
}

// holder returns the live stack whose template has a table; nil if there is none.
func (c *Cloud) holder(table string) *stack {
	for _, name := range c.Names() {
		if st := c.live[name]; table != "" && TableOf(st.now.template) == table {
			return st
		}
	}
	return nil
}

// bringIn records that a table comes into a stack: it is created unless it exists.
func (c *Cloud) bringIn(name, by string) {
	t := c.tables[name]
	switch {
	case name == "":
	case t == nil:
		c.tables[name] = &table{created: 1, maker: by}
	case t.deleted:
		t.created, t.deleted, t.maker = t.created+1, false, by
	}
}

// removeTable records that a stack has its content no longer: its table is deleted, unless the template retains it.
func (c *Cloud) removeTable(was content, by string, again bool) {
	name := TableOf(was.template)
	if t := c.tables[name]; t != nil && !retains(was.template) {
		t.deleted = true
		c.Deletions = append(c.Deletions, Deletion{name, by, t.maker, again})
	}
}

// retains reports whether the table of a template is kept when the stack no longer has it.
func retains(template string) bool { return strings.Contains(template, "DeletionPolicy: Retain") }

// conflict returns why CloudFormation cannot create the table of the content that a stack is to
// have: it exists; or "".
func (c *Cloud) conflict(st *stack, want content) string {
	name := TableOf(want.template)
	if t := c.tables[name]; t == nil || t.deleted || name == TableOf(st.now.template) {
		return ""
	}
	return "Table (AWS::DynamoDB::Table): " + name + " already exists"
}

// cannotImport returns why CloudFormation cannot import a table, or "".
func (c *Cloud) cannotImport(name string) string {
	if holder := c.holder(name); holder != nil {
		return name + " already exists in stack " + holder.id
	}
	if t := c.tables[name]; t != nil && t.deleted {
		return name + " does not exist"
	}
	return ""
}

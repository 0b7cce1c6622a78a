package hookconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// style is how a document is laid out: the indent of one level, "" for all on
// one line.
type style struct{ indent string }

// styleOf takes the layout of a document's own first member.
func styleOf(doc hujson.Value) style {
	members := doc.Value.(*hujson.Object).Members
	if len(members) == 0 {
		return style{"  "}
	}
	before := string(members[0].Name.BeforeExtra)
	at := strings.LastIndexByte(before, '\n')
	if at < 0 {
		return style{}
	}
	return style{strings.TrimRight(before[at+1:], "\r")}
}

// line is what stands before an element at a depth.
func (s style) line(depth int) hujson.Extra {
	if s.indent == "" {
		return nil
	}
	return hujson.Extra("\n" + strings.Repeat(s.indent, depth))
}

// value is a Go value at a depth, laid out.
func (s style) value(v any, depth int) hujson.Value {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if s.indent != "" {
		enc.SetIndent(strings.Repeat(s.indent, depth), s.indent)
	}
	if err := enc.Encode(v); err != nil {
		panic(err) // only our own entries come here
	}
	parsed, err := hujson.Parse(bytes.TrimSpace(buf.Bytes()))
	if err != nil {
		panic(err)
	}
	return parsed
}

// layoutOf is what stands before an element, without its comments.
func layoutOf(before hujson.Extra) hujson.Extra {
	if before.IsStandard() {
		return before
	}
	return before[bytes.LastIndexByte(before, '\n'):]
}

// object and list are a document's own parts, at their depth in it.
type object struct {
	*hujson.Object
	style style
	depth int
}

type list struct {
	*hujson.Array
	style style
	depth int
}

// index is where a member is, -1 for nowhere. Of two with one name the last
// counts, as it does for the CLIs.
func (o object) index(name string) int {
	for i := len(o.Members) - 1; i >= 0; i-- {
		if o.Members[i].Name.Value.(hujson.Literal).String() == name {
			return i
		}
	}
	return -1
}

func (o object) member(name string) *hujson.Value {
	if i := o.index(name); i >= 0 {
		return &o.Members[i].Value
	}
	return nil
}

// add puts a member at the end.
func (o object) add(name string, v any) {
	value := o.style.value(v, o.depth+1)
	before := o.style.line(o.depth + 1)
	if o.style.indent != "" {
		value.BeforeExtra = hujson.Extra(" ")
	}
	if n := len(o.Members); n > 0 {
		before = layoutOf(o.Members[n-1].Name.BeforeExtra)
	} else if len(bytes.TrimSpace(o.AfterExtra)) == 0 {
		o.AfterExtra = o.style.line(o.depth)
	}
	o.Members = append(o.Members, hujson.ObjectMember{Name: hujson.Value{BeforeExtra: before, Value: hujson.String(name)}, Value: value})
}

func (o object) remove(name string) {
	i := o.index(name)
	if i == 0 && len(o.Members) > 1 && o.Members[1].Name.BeforeExtra.IsStandard() {
		o.Members[1].Name.BeforeExtra = layoutOf(o.Members[0].Name.BeforeExtra)
	}
	o.Members = append(o.Members[:i], o.Members[i+1:]...)
	if len(o.Members) == 0 && len(bytes.TrimSpace(o.AfterExtra)) == 0 {
		o.AfterExtra = nil
	}
}

// object is a member that is an object, made where it is absent.
func (o object) object(name string) (object, error) {
	if o.member(name) == nil {
		o.add(name, struct{}{})
	}
	inner, ok := o.member(name).Value.(*hujson.Object)
	if !ok {
		return object{}, fmt.Errorf("%s is no object", name)
	}
	return object{inner, o.style, o.depth + 1}, nil
}

// list is a member that is a list, made where it is absent.
func (o object) list(name string) (list, error) {
	if o.member(name) == nil {
		o.add(name, []any{})
	}
	inner, ok := o.existingList(name)
	if !ok {
		return list{}, fmt.Errorf("hooks.%s is no list", name)
	}
	return inner, nil
}

func (o object) existingList(name string) (list, bool) {
	if o.member(name) == nil {
		return list{}, false
	}
	inner, ok := o.member(name).Value.(*hujson.Array)
	return list{inner, o.style, o.depth + 1}, ok
}

// add puts an element at the end.
func (l list) add(v any) {
	value := l.style.value(v, l.depth+1)
	value.BeforeExtra = l.style.line(l.depth + 1)
	if n := len(l.Elements); n > 0 {
		value.BeforeExtra = layoutOf(l.Elements[n-1].BeforeExtra)
	} else if len(bytes.TrimSpace(l.AfterExtra)) == 0 {
		l.AfterExtra = l.style.line(l.depth)
	}
	l.Elements = append(l.Elements, value)
}

func (l list) remove(i int) {
	if i == 0 && len(l.Elements) > 1 && l.Elements[1].BeforeExtra.IsStandard() {
		l.Elements[1].BeforeExtra = layoutOf(l.Elements[0].BeforeExtra)
	}
	l.Elements = append(l.Elements[:i], l.Elements[i+1:]...)
	if len(l.Elements) == 0 && len(bytes.TrimSpace(l.AfterExtra)) == 0 {
		l.AfterExtra = nil
	}
}

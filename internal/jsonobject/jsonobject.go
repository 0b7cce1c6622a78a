// Package jsonobject reads and writes JSON objects that other programs and later
// versions write too: fields that a type does not know are kept.
package jsonobject

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Others are the fields of an object that its type does not know, by name.
type Others map[string]json.RawMessage

// Decode reads an object into v, a pointer to a struct, and returns the fields
// that the struct does not know.
func Decode(raw []byte, v any) (Others, error) {
	if err := json.Unmarshal(raw, v); err != nil {
		return nil, err
	}
	var others Others
	if err := json.Unmarshal(raw, &others); err != nil {
		return nil, err
	}
	known := fields(reflect.TypeOf(v).Elem())
	maps.DeleteFunc(others, func(name string, _ json.RawMessage) bool { return known[strings.ToLower(name)] })
	return others, nil
}

// fields are the names of a struct's fields in JSON, in lower case, as
// encoding/json matches them.
func fields(t reflect.Type) map[string]bool {
	known := map[string]bool{}
	for f := range t.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			known[strings.ToLower(name)] = true
		}
	}
	return known
}

// Encode is a struct's object with the others behind its own fields, sorted by
// name, on one line.
func Encode(v any, others Others) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false) // a path is not HTML
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	raw := bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	if len(raw) == 0 || raw[len(raw)-1] != '}' {
		return nil, fmt.Errorf("encode %T: it is no object", v)
	}
	for _, name := range slices.Sorted(maps.Keys(others)) {
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		raw = raw[:len(raw)-1]
		if len(raw) > 1 {
			raw = append(raw, ',')
		}
		raw = append(append(append(append(raw, key...), ':'), others[name]...), '}')
	}
	return raw, nil
}

package ledger

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/tidwall/gjson"
)

// Encode is an entry as its file holds it: one JSON object, indented, every
// field of this version in its order, then the unknown ones as they came, and
// a newline at the end. It goes without reflection, which costs a launch more
// than all the rest of its record.
func Encode(e *Entry) ([]byte, error) {
	o := object{buf: make([]byte, 0, 2048)}
	for _, f := range e.fields() {
		o.field(f)
	}
	for _, f := range e.unknown {
		o.raw(f.name, f.value)
	}
	if o.err != nil {
		return nil, fmt.Errorf("encode entry %s: %w", e.LedgerID, o.err)
	}
	return append(o.buf, "\n}\n"...), nil
}

// MarshalJSON is Encode, for entries inside of other JSON.
func (e Entry) MarshalJSON() ([]byte, error) { return Encode(&e) }

// object is a JSON object under way.
type object struct {
	buf []byte
	err error
}

func (o *object) field(f field) {
	switch at := f.at.(type) {
	case *int:
		o.integer(f.name, at)
	case *string:
		o.optional(f.name, at)
	case **string:
		o.optional(f.name, *at)
	case **int:
		o.integer(f.name, *at)
	case **uint64:
		o.ticks(f.name, *at)
	case **bool:
		o.boolean(f.name, *at)
	case **Stamp:
		o.stamp(f.name, *at)
	case *Mux:
		o.mux(f.name, *at)
	case **ExitStatus:
		o.exit(f.name, *at)
	case *[]string:
		o.texts(f.name, *at)
	case *[]Conversation:
		o.conversations(f.name, *at)
	case *[]SkippedPath:
		o.list(f.name, len(*at), *at)
	}
}

func (o *object) name(name string) {
	if len(o.buf) == 0 {
		o.buf = append(o.buf, "{\n  "...)
	} else {
		o.buf = append(o.buf, ",\n  "...)
	}
	o.buf = append(gjson.AppendJSONString(o.buf, name), ": "...)
}

func (o *object) raw(name string, value []byte) {
	o.name(name)
	o.buf = append(o.buf, value...)
}

func (o *object) null(name string) { o.raw(name, []byte("null")) }

func (o *object) optional(name string, value *string) {
	o.name(name)
	o.buf = appendOptional(o.buf, value)
}

func appendOptional(buf []byte, value *string) []byte {
	if value == nil {
		return append(buf, "null"...)
	}
	return gjson.AppendJSONString(buf, *value)
}

func (o *object) number(name string, value uint64) {
	o.name(name)
	o.buf = strconv.AppendUint(o.buf, value, 10)
}

func (o *object) ticks(name string, value *uint64) {
	if value == nil {
		o.null(name)
		return
	}
	o.number(name, *value)
}

func (o *object) integer(name string, value *int) {
	if value == nil {
		o.null(name)
		return
	}
	o.name(name)
	o.buf = strconv.AppendInt(o.buf, int64(*value), 10)
}

func (o *object) boolean(name string, value *bool) {
	if value == nil {
		o.null(name)
		return
	}
	o.name(name)
	o.buf = strconv.AppendBool(o.buf, *value)
}

func (o *object) stamp(name string, value *Stamp) { o.optional(name, value.text()) }

// texts writes a list of texts.
func (o *object) texts(name string, list []string) {
	if len(list) == 0 {
		o.raw(name, []byte("[]"))
		return
	}
	o.name(name)
	between := "[\n    "
	for _, text := range list {
		o.buf = gjson.AppendJSONString(append(o.buf, between...), text)
		between = ",\n    "
	}
	o.buf = append(o.buf, "\n  ]"...)
}

// conversations writes a list of conversations.
func (o *object) conversations(name string, list []Conversation) {
	if len(list) == 0 {
		o.raw(name, []byte("[]"))
		return
	}
	o.name(name)
	between := "[\n    {\n      \"id\": "
	for _, c := range list {
		o.buf = gjson.AppendJSONString(append(o.buf, between...), c.ID)
		o.buf = append(o.buf, ",\n      \"transcriptPath\": "...)
		o.buf = appendOptional(o.buf, c.TranscriptPath)
		o.buf = append(o.buf, ",\n      \"since\": "...)
		o.buf = appendOptional(o.buf, c.Since.text())
		between = "\n    },\n    {\n      \"id\": "
	}
	o.buf = append(o.buf, "\n    }\n  ]"...)
}

// list writes a list of length n; what is in one is left to encoding/json, as
// few launches have any.
func (o *object) list(name string, n int, list any) {
	if n == 0 {
		o.raw(name, []byte("[]"))
		return
	}
	o.value(name, list)
}

func (o *object) value(name string, value any) {
	raw, err := json.MarshalIndent(value, "  ", "  ")
	if err != nil && o.err == nil {
		o.err = err
	}
	o.raw(name, raw)
}

func (o *object) mux(name string, m Mux) {
	if m == (Mux{}) {
		o.raw(name, []byte("{\n    \"kind\": null,\n    \"socket\": null,\n    \"target\": null\n  }"))
		return
	}
	o.value(name, m)
}

func (o *object) exit(name string, status *ExitStatus) {
	if status == nil {
		o.null(name)
		return
	}
	o.value(name, status)
}

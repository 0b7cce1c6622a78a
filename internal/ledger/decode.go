package ledger

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/tidwall/gjson"
)

// ErrDamaged is wrapped by the error for a file that holds no entry: torn, not
// JSON, or with a field of the wrong type.
var ErrDamaged = errors.New("damaged entry")

// ErrNewer is wrapped by the error for an update of an entry whose
// schemaVersion is higher than this program's: it is shown, never rewritten.
var ErrNewer = errors.New("entry was written by a newer version")

// Decode reads an entry; fields that this version does not know are kept as
// they stand. The error wraps ErrDamaged and says what is wrong. As Encode, it
// goes without reflection, which costs a hook's first entry more than the rest
// of its call.
func Decode(raw []byte) (*Entry, error) {
	e := new(Entry)
	if err := e.UnmarshalJSON(raw); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if e.SchemaVersion < 1 || !ValidID(e.LedgerID) {
		return nil, fmt.Errorf("%w: no schemaVersion or no valid ledgerId", ErrDamaged)
	}
	return e, nil
}

// UnmarshalJSON reads the known fields and keeps the unknown ones.
func (e *Entry) UnmarshalJSON(raw []byte) error {
	if !gjson.ValidBytes(raw) {
		return errors.New("it is not whole JSON")
	}
	fields, next := e.fields(), 0
	return decodeObject(gjson.ParseBytes(raw), func(d *decoder, name string) {
		// Fields mostly stand in their order: the search goes on from the last.
		for range fields {
			f := fields[next%len(fields)]
			next++
			if f.name == name {
				d.field(f)
				return
			}
		}
		e.unknown = append(e.unknown, unknownField{name, []byte(d.Raw)})
	})
}

func (d *decoder) field(f field) {
	switch at := f.at.(type) {
	case *int:
		d.number(at)
	case *string:
		d.text(at)
	case **string:
		d.optional(at)
	case **int:
		d.integer(at)
	case **uint64:
		d.ticks(at)
	case **bool:
		d.boolean(at)
	case **Stamp:
		d.stamp(at)
	case *Mux:
		d.mux(at)
	case **ExitStatus:
		d.exit(at)
	case *[]string:
		d.texts(at)
	case *[]Conversation:
		d.conversations(at)
	case *[]SkippedPath:
		d.skipped(at)
	}
}

// decoder is one value to be decoded; the first that is of another type than
// its field is the error.
type decoder struct {
	gjson.Result
	err error
}

// decodeObject hands the fields of an object to read, one by one.
func decodeObject(object gjson.Result, read func(d *decoder, name string)) error {
	if !object.IsObject() {
		return fmt.Errorf("%.40s is no object", object.Raw)
	}
	d := decoder{}
	object.ForEach(func(name, value gjson.Result) bool {
		d.Result = value
		read(&d, name.Str)
		if d.err != nil {
			d.err = fmt.Errorf("field %.40q: %w", name.Str, d.err)
		}
		return d.err == nil
	})
	return d.err
}

// decodeList hands the elements of a list to read, one by one.
func decodeList(d *decoder, read func(d *decoder)) {
	if d.null() {
		return
	}
	if !d.IsArray() {
		d.err = d.not("a list")
		return
	}
	of := decoder{}
	d.ForEach(func(_, element gjson.Result) bool {
		of.Result = element
		read(&of)
		return of.err == nil
	})
	d.err = of.err
}

func (d *decoder) null() bool { return d.Type == gjson.Null }

func (d *decoder) not(what string) error { return fmt.Errorf("%.40s is not %s", d.Raw, what) }

func (d *decoder) text(to *string) {
	switch {
	case d.Type == gjson.String:
		*to = d.Str
	case !d.null():
		d.err = d.not("a string")
	}
}

func (d *decoder) optional(to **string) {
	*to = nil
	if !d.null() {
		*to = new(string)
		d.text(*to)
	}
}

func (d *decoder) number(to *int) {
	n, err := strconv.Atoi(d.Raw)
	if err != nil && !d.null() {
		d.err = d.not("a whole number")
		return
	}
	*to = n
}

func (d *decoder) integer(to **int) {
	*to = nil
	if !d.null() {
		*to = new(int)
		d.number(*to)
	}
}

func (d *decoder) ticks(to **uint64) {
	*to = nil
	if d.null() {
		return
	}
	n, err := strconv.ParseUint(d.Raw, 10, 64)
	if err != nil {
		d.err = d.not("a number of ticks")
		return
	}
	*to = &n
}

func (d *decoder) boolean(to **bool) {
	*to = nil
	switch d.Type {
	case gjson.Null:
	case gjson.True, gjson.False:
		*to = Ptr(d.Type == gjson.True)
	default:
		d.err = d.not("true or false")
	}
}

func (d *decoder) stamp(to **Stamp) {
	*to = nil
	if !d.null() {
		*to = new(Stamp)
		d.err = (*to).UnmarshalJSON([]byte(d.Raw))
	}
}

func (d *decoder) texts(to *[]string) {
	*to = nil
	decodeList(d, func(of *decoder) {
		var text string
		of.text(&text)
		*to = append(*to, text)
	})
}

func (d *decoder) mux(to *Mux) {
	*to = Mux{}
	if d.null() {
		return
	}
	d.err = decodeObject(d.Result, func(of *decoder, name string) {
		switch name {
		case "kind":
			of.optional(&to.Kind)
		case "socket":
			of.optional(&to.Socket)
		case "target":
			of.optional(&to.Target)
		}
	})
}

func (d *decoder) exit(to **ExitStatus) {
	*to = nil
	if d.null() {
		return
	}
	*to = new(ExitStatus)
	d.err = decodeObject(d.Result, func(of *decoder, name string) {
		switch name {
		case "code":
			of.integer(&(*to).Code)
		case "signal":
			of.integer(&(*to).Signal)
		}
	})
}

func (d *decoder) conversations(to *[]Conversation) {
	*to = nil
	decodeList(d, func(of *decoder) {
		var c Conversation
		of.err = decodeObject(of.Result, func(of *decoder, name string) {
			switch name {
			case "id":
				of.text(&c.ID)
			case "transcriptPath":
				of.optional(&c.TranscriptPath)
			case "since":
				of.stamp(&c.Since)
			}
		})
		*to = append(*to, c)
	})
}

func (d *decoder) skipped(to *[]SkippedPath) {
	*to = nil
	decodeList(d, func(of *decoder) {
		var s SkippedPath
		of.err = decodeObject(of.Result, func(of *decoder, name string) {
			switch name {
			case "path":
				of.text(&s.Path)
			case "why":
				of.text(&s.Why)
			}
		})
		*to = append(*to, s)
	})
}

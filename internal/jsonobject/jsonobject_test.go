package jsonobject

import "testing"

type object struct {
	Name string `json:"name"`
	Size int    `json:"size,omitempty"`
	Own  string `json:"-"`
}

func TestUnknownFieldsComeBackAsTheyStood(t *testing.T) {
	var o object
	others, err := Decode([]byte(`{"zeta":{"b":[1, 2.50],"a":"é<"},"NAME":"x","alpha":null,"-":1}`), &o)
	if err != nil {
		t.Fatal(err)
	}
	o.Size = 7
	raw, err := Encode(o, others)
	if want := `{"name":"x","size":7,"-":1,"alpha":null,"zeta":{"b":[1, 2.50],"a":"é<"}}`; err != nil || string(raw) != want {
		t.Errorf("got %s, %v, want %s", raw, err, want)
	}
}

func TestAnEmptyObjectIsWhole(t *testing.T) {
	for _, others := range []Others{nil, {"a": []byte("1")}} {
		raw, err := Encode(struct{}{}, others)
		if want := map[bool]string{true: "{}", false: `{"a":1}`}[others == nil]; err != nil || string(raw) != want {
			t.Errorf("got %s, %v, want %s", raw, err, want)
		}
	}
}

func TestWhatIsNoObjectIsAnError(t *testing.T) {
	for _, raw := range []string{"", "[]", "7", `{"name":7}`, `{"name":`} {
		if _, err := Decode([]byte(raw), new(object)); err == nil {
			t.Errorf("%q was decoded", raw)
		}
	}
	if _, err := Encode([]int{1}, nil); err == nil {
		t.Error("a list was encoded")
	}
}

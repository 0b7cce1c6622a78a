package runtimes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/tidwall/gjson"
)

// field takes one field of a user's file into a profile.
type field func(*Profile, gjson.Result) error

// fields are all there are. Each stands in the place of the built-in value.
func fields() map[string]field {
	return map[string]field{
		"services":           texts(func(p *Profile) *[]string { return &p.Services }),
		"daemons":            texts(func(p *Profile) *[]string { return &p.Daemons }),
		"service_flags":      texts(func(p *Profile) *[]string { return &p.ServiceFlags }),
		"service_folders":    texts(func(p *Profile) *[]string { return &p.ServiceFolders }),
		"headless_flags":     texts(func(p *Profile) *[]string { return &p.HeadlessFlags }),
		"headless_words":     texts(func(p *Profile) *[]string { return &p.HeadlessWords }),
		"headless_prompt":    truth(func(p *Profile) *bool { return &p.HeadlessPrompt }),
		"screen_flags":       texts(func(p *Profile) *[]string { return &p.ScreenFlags }),
		"id_flags":           texts(func(p *Profile) *[]string { return &p.IDFlags }),
		"new_id_flags":       texts(func(p *Profile) *[]string { return &p.NewIDFlags }),
		"fork_flags":         texts(func(p *Profile) *[]string { return &p.ForkFlags }),
		"id_words":           texts(func(p *Profile) *[]string { return &p.IDWords }),
		"id_form":            checked(func(p *Profile) *string { return &p.IDForm }, isIDForm, `want "" for UUIDs or what an id begins with and *`),
		"resume":             template("{id}", func(p *Profile) *[]string { return &p.ResumeArgs }),
		"resume_in_place":    truth(func(p *Profile) *bool { return &p.ResumeInPlace }),
		"config_home":        checked(func(p *Profile) *string { return &p.ConfigHome }, isBelow, "want a folder below HOME, such as .tool"),
		"config_home_var":    checked(func(p *Profile) *string { return &p.ConfigHomeVar }, isVariable, "want a variable's name"),
		"config_var_is_home": truth(func(p *Profile) *bool { return &p.ConfigVarIsHome }),
		"transcripts":        checked(func(p *Profile) *string { return &p.Transcripts }, isPattern, "want a pattern below config_home with {id} or {id8} in it"),
		"transcripts_like":   checked(func(p *Profile) *string { return &p.TranscriptsLike }, IsKnown, "want a runtime that is known"),
		"id_descriptor":      checked(func(p *Profile) *string { return &p.IDDescriptor }, isPattern, "want a file below config_home with {id} in it"),
		"id_file":            checked(func(p *Profile) *string { return &p.IDFile }, isPidPattern, "want a file below config_home with {id} and {pid} in it"),
		"prompt":             template("{prompt}", func(p *Profile) *[]string { return &p.PromptArgs }),
		"inject":             takeInject,
		"flags":              takeFlags,
	}
}

// parseProfile is the profile of a runtime by a user's file: what the file says
// in the place of what is built in for that name or for the one that "like"
// names. Each problem tells its line and field; with one the profile is not
// whole.
func parseProfile(name string, raw []byte) (p Profile, problems []error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		return p, []error{syntaxAt(raw, err)}
	}
	p = For(name)
	known := fields()
	if like, ok := object["like"]; ok {
		base := gjson.ParseBytes(like).Str
		if !IsKnown(base) {
			line := lineOf(raw, bytes.Index(raw, []byte(`"like"`)))
			return p, []error{fmt.Errorf("line %d: like: %.40s is no runtime that is known", line, like)}
		}
		p = For(base)
		p.Name = name
	}
	gjson.ParseBytes(raw).ForEach(func(key, value gjson.Result) bool {
		take, ok := known[key.Str]
		err := error(nil)
		switch {
		case ok:
			err = take(&p, value)
		case key.Str != "like":
			err = errors.New("there is no such field")
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("line %d: %.40s: %w", lineOf(raw, value.Index), key.Str, err))
		}
		return true
	})
	return p, problems
}

func syntaxAt(raw []byte, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("line %d: %w", lineOf(raw, int(syntax.Offset)), err)
	}
	return errors.New("line 1: want one object, {…}")
}

func lineOf(raw []byte, at int) int {
	return 1 + bytes.Count(raw[:max(0, min(at, len(raw)))], []byte{'\n'})
}

func texts(of func(*Profile) *[]string) field {
	return func(p *Profile, v gjson.Result) error {
		list, err := readTexts(v)
		if err == nil {
			*of(p) = list
		}
		return err
	}
}

func readTexts(v gjson.Result) ([]string, error) {
	list := []string{}
	for _, t := range v.Array() {
		if t.Type != gjson.String || t.Str == "" {
			return nil, errors.New("want a list of words")
		}
		list = append(list, t.Str)
	}
	if !v.IsArray() {
		return nil, errors.New("want a list of words")
	}
	return list, nil
}

func truth(of func(*Profile) *bool) field {
	return func(p *Profile, v gjson.Result) error {
		if !v.IsBool() {
			return errors.New("want true or false")
		}
		*of(p) = v.Bool()
		return nil
	}
}

func checked(of func(*Profile) *string, fits func(string) bool, want string) field {
	return func(p *Profile, v gjson.Result) error {
		if v.Type != gjson.String || v.Str != "" && !fits(v.Str) {
			return errors.New(want)
		}
		*of(p) = v.Str
		return nil
	}
}

func isIDForm(s string) bool {
	return strings.HasSuffix(s, "*") && strings.Trim(s[:len(s)-1], idChars) == ""
}

func isVariable(s string) bool { return strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == "" }

// isBelow tells a path that leads nowhere but below.
func isBelow(s string) bool {
	return path.Clean(s) == s && !path.IsAbs(s) && s != ".." && !strings.HasPrefix(s, "../")
}

func isPidPattern(s string) bool { return isPattern(s) && strings.Contains(s, "{pid}") }

func isPattern(s string) bool {
	_, err := path.Match(s, "")
	return err == nil && isBelow(s) && strings.Contains(s, "{id")
}

// template is a list of words in which one holds what is to be put in.
func template(hole string, of func(*Profile) *[]string) field {
	return func(p *Profile, v gjson.Result) error {
		list, err := readTexts(v)
		if err == nil && len(list) > 0 && !strings.Contains(strings.Join(list, " "), hole) {
			err = fmt.Errorf("want %s in one of the words", hole)
		}
		if err == nil {
			*of(p) = list
		}
		return err
	}
}

// takeInject can only turn off what a launch adds.
func takeInject(p *Profile, v gjson.Result) error {
	if v.Type != gjson.False {
		return errors.New("want false, or leave it out")
	}
	p.GiveID, p.PluginVar, p.PluginReady = GiveID{}, "", nil
	return nil
}

func takeFlags(p *Profile, v gjson.Result) error {
	if !v.IsArray() {
		return errors.New("want a list of flags")
	}
	flags := []Flag{}
	for n, f := range v.Array() {
		flag, err := readFlag(f)
		if err != nil {
			return fmt.Errorf("flag %d: %w", n+1, err)
		}
		flags = append(flags, flag)
	}
	p.Flags = flags
	return nil
}

var (
	takesWords = []string{Nothing: "nothing", Value: "value", Maybe: "maybe", Many: "many"}
	keepWords  = []string{Never: "never", Word: "word", Path: "path"}
)

// readFlag reads {"names": ["-m", "--model"], "takes": "value", "keep": "word"}.
func readFlag(v gjson.Result) (f Flag, err error) {
	v.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "names":
			err = f.takeNames(value)
		case "takes":
			f.Takes, err = oneOf[Takes](takesWords, value)
		case "keep":
			f.Keep, err = oneOf[Keep](keepWords, value)
		default:
			err = errors.New("there is no such field")
		}
		if err != nil {
			err = fmt.Errorf("%.40s: %w", key.Str, err)
		}
		return err == nil
	})
	if err == nil && f.Names == "" {
		err = errors.New("names: want at least one")
	}
	return f, err
}

func (f *Flag) takeNames(v gjson.Result) error {
	names, err := readTexts(v)
	for _, name := range names {
		if !strings.HasPrefix(name, "-") || strings.ContainsAny(name, " =") {
			return errors.New("want names that begin with -")
		}
	}
	f.Names = strings.Join(names, " ")
	return err
}

func oneOf[T ~int](words []string, v gjson.Result) (T, error) {
	for n, word := range words {
		if v.Type == gjson.String && v.Str == word {
			return T(n), nil
		}
	}
	return 0, fmt.Errorf("want one of %s", strings.Join(words, ", "))
}

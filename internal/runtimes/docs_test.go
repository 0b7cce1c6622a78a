package runtimes

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func readDoc(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("../../docs/runtimes.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// goose is the example of a user's profile in docs/runtimes.md.
func goose(t *testing.T) string {
	t.Helper()
	_, after, ok := strings.Cut(readDoc(t), "goose, by its documentation:\n\n```json\n")
	example, _, closed := strings.Cut(after, "```\n")
	if !ok || !closed {
		t.Fatal("docs/runtimes.md has no example of goose's profile")
	}
	return example
}

func TestTheDocsNameEveryFieldOfAProfile(t *testing.T) {
	doc := readDoc(t)
	for name := range fields() {
		if !strings.Contains(doc, "`"+name+"`") {
			t.Errorf("docs/runtimes.md does not name %s", name)
		}
	}
}

// What the docs call proved is proved by a test that there is.
func TestTheDocsNameTestsThatThereAre(t *testing.T) {
	tests := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		raw, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(raw), -1) {
			tests[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`\b(Test|Fuzz)[A-Z]\w+`).FindAllString(readDoc(t), -1)
	for _, name := range named {
		if !tests[name] {
			t.Errorf("docs/runtimes.md names %s, which is no test", name)
		}
	}
	if len(named) < 20 {
		t.Errorf("docs/runtimes.md names %d tests: it was not understood", len(named))
	}
}

// Package importrules holds no code: its test checks the sources against the
// table in docs/architecture.md.
package importrules

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const module = "agentwrap/"

// rules are what docs/architecture.md allows.
type rules struct {
	layer    map[string]int             // by package; 0 is the topmost layer
	sideways map[string]bool            // "from → to"
	unlinked []string                   // what the shim may not link
	reserved map[string]map[string]bool // packages, by the import or call that is theirs alone
}

var (
	tableRow  = regexp.MustCompile("^\\| *([a-z]*) *\\| `([a-z/-]+)` \\|")
	arrow     = regexp.MustCompile("^- `([a-z/-]+)` → `([a-z/-]+)`: .")
	codeWords = regexp.MustCompile("`([^`]+)`")
)

func readRules(doc string) (rules, error) {
	raw, err := os.ReadFile(doc)
	if err != nil {
		return rules{}, err
	}
	r := rules{layer: map[string]int{}, sideways: map[string]bool{}, reserved: map[string]map[string]bool{}}
	layer, section := -1, ""
	for line := range strings.Lines(string(raw)) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			section = strings.TrimSpace(heading)
		}
		if row := tableRow.FindStringSubmatch(line); row != nil && section == "The map" {
			if row[1] != "" {
				layer++
			}
			r.layer[row[2]] = layer
		}
		if a := arrow.FindStringSubmatch(line); a != nil && section == "The map" {
			r.sideways[a[1]+" → "+a[2]] = true
		}
		if section == "Who alone may" && strings.HasPrefix(line, "| ") {
			r.reserve(strings.Split(line, "|"))
		}
		if section == "The shim" && strings.HasPrefix(line, "- ") {
			for _, word := range codeWords.FindAllStringSubmatch(line, -1) {
				r.unlinked = append(r.unlinked, word[1])
			}
		}
	}
	return r, nil
}

// reserve reads a row: what, by which imports or calls, in which packages.
func (r rules) reserve(cells []string) {
	packages := map[string]bool{}
	for _, word := range codeWords.FindAllStringSubmatch(cells[3], -1) {
		packages[word[1]] = true
	}
	for _, word := range codeWords.FindAllStringSubmatch(cells[2], -1) {
		r.reserved[word[1]] = packages
	}
}

// broken are the faults of all packages below root, in words.
func (r rules) broken(root string) ([]string, error) {
	var faults []string
	for _, top := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(file string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return fs.SkipDir
			case d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
				return nil
			}
			pkg, err := filepath.Rel(root, filepath.Dir(file))
			if err != nil {
				return err
			}
			src, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, fault := range r.faults(pkg, src) {
				faults = append(faults, filepath.Base(file)+": "+fault)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return faults, nil
}

// faults are what is wrong with one source file of a package.
func (r rules) faults(pkg string, src *ast.File) (faults []string) {
	add := func(fault string) {
		if fault != "" && !slices.Contains(faults, fault) {
			faults = append(faults, fault)
		}
	}
	add(r.judge(pkg, "")) // the package itself, even where it imports nothing
	for _, spec := range src.Imports {
		name := strings.Trim(spec.Path.Value, `"`)
		add(r.judgeReserved(pkg, name))
		if own, ok := strings.CutPrefix(name, module); ok {
			add(r.judge(pkg, own))
		}
	}
	ast.Inspect(src, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok {
				add(r.judgeReserved(pkg, x.Name+"."+sel.Sel.Name))
			}
		}
		return true
	})
	return faults
}

// judgeReserved is what is wrong with the use of an import or a call.
func (r rules) judgeReserved(pkg, used string) string {
	if packages, ok := r.reserved[used]; ok && !packages[pkg] {
		return fmt.Sprintf("%s uses %s, which is for others alone: see \"Who alone may\" in docs/architecture.md", pkg, used)
	}
	return ""
}

// judge is what is wrong with one import; "" is nothing.
func (r rules) judge(pkg, imported string) string {
	from, known := r.layer[pkg]
	if !known {
		return fmt.Sprintf("%s is not in the table of docs/architecture.md: give it a layer and a purpose", pkg)
	}
	if imported == "" {
		return ""
	}
	to, known := r.layer[imported]
	switch {
	case strings.HasPrefix(imported, "test/"):
		return fmt.Sprintf("%s imports %s, which is for tests", pkg, imported)
	case !known:
		return fmt.Sprintf("%s imports %s, which is not in the table of docs/architecture.md", pkg, imported)
	case to < from:
		return fmt.Sprintf("%s imports %s, which is above it", pkg, imported)
	case to == from && !r.sideways[pkg+" → "+imported]:
		return fmt.Sprintf("%s imports %s, which is beside it: list that arrow with its reason", pkg, imported)
	}
	return ""
}

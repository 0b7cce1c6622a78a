package importrules

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	root = "../.."
	doc  = root + "/docs/architecture.md"
)

func TestTheSourcesFollowTheMap(t *testing.T) {
	r, err := readRules(doc)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.layer) < 30 || len(r.sideways) == 0 || len(r.unlinked) < 8 || len(r.reserved) < 10 {
		t.Fatalf("docs/architecture.md was not understood: %d packages, %d arrows, %d unlinked, %d reserved", len(r.layer), len(r.sideways), len(r.unlinked), len(r.reserved))
	}
	faults, err := r.broken(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range faults {
		t.Error(fault)
	}
}

// The list comes from a child that the test cache knows nothing of; it is
// asked again whenever a source changes, because the test above reads them all.
func TestTheShimLinksLittle(t *testing.T) {
	r, err := readRules(doc)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "list", "-deps", "./cmd/agentwrap")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	linked := strings.Fields(string(out))
	if !slices.Contains(linked, module+"internal/launch") {
		t.Fatalf("the shim does not link internal/launch: %d packages listed", len(linked))
	}
	for _, pkg := range linked {
		for _, banned := range r.unlinked {
			if pkg == banned || strings.HasPrefix(pkg, banned+"/") {
				t.Errorf("cmd/agentwrap links %s", pkg)
			}
		}
	}
}

func TestEachFaultIsFound(t *testing.T) {
	r, err := readRules("testdata/broken/docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	faults, err := r.broken("testdata/broken")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(faults)
	want := []string{
		"beside.go: internal/middle imports internal/peer, which is beside it: list that arrow with its reason",
		"calls.go: internal/middle uses os.Exit, which is for others alone: see \"Who alone may\" in docs/architecture.md",
		"calls.go: internal/middle uses os/exec, which is for others alone: see \"Who alone may\" in docs/architecture.md",
		"fortests.go: internal/middle imports test/model, which is for tests",
		"stranger.go: internal/middle imports internal/nowhere, which is not in the table of docs/architecture.md",
		"unlisted.go: internal/unlisted is not in the table of docs/architecture.md: give it a layer and a purpose",
		"up.go: internal/middle imports cmd/program, which is above it",
	}
	if diff := cmp.Diff(want, faults); diff != "" {
		t.Error(diff)
	}
}

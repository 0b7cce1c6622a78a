package rescue

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"agentwrap/internal/git"
	"agentwrap/test/gittest"
	"agentwrap/test/isolate"
)

// childVar makes the test binary a program that takes one snapshot: it holds
// the request as JSON. The result goes to standard output.
const childVar = "RESCUE_TEST_REQUEST"

func TestMain(m *testing.M) {
	if raw := os.Getenv(childVar); raw != "" {
		os.Exit(snapshotOnce(raw))
	}
	os.Exit(isolate.Main(m))
}

func snapshotOnce(raw string) int {
	var req Request
	if err := json.Unmarshal([]byte(raw), &req); err != nil {
		panic(err)
	}
	runner, err := git.New(os.Environ())
	if err != nil {
		panic(err)
	}
	result, err := Snapshot(context.Background(), runner, req)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		panic(err)
	}
	return 0
}

// child is a process of its own that takes a snapshot.
func child(r *gittest.Repo, req Request) *exec.Cmd {
	r.Helper()
	raw, err := json.Marshal(req)
	if err != nil {
		r.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(append([]string{}, r.Env...), childVar+"="+string(raw))
	return cmd
}

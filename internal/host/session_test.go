package host

import (
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"agentwrap/internal/ledger"
)

func TestExitStatusIsTrueAndTheLastLineIsThere(t *testing.T) { eachHost(t, exitStatusIsTrue) }

func exitStatusIsTrue(t *testing.T, s *stage) {
	for _, c := range []struct {
		args []string
		code int
		sig  syscall.Signal
	}{
		{[]string{"exit", "0"}, 0, 0}, {[]string{"exit", "7"}, 7, 0}, {[]string{"exit", "130"}, 130, 0},
		{[]string{"die", "15"}, 0, unix.SIGTERM}, {[]string{"die", "9"}, 0, unix.SIGKILL}, {[]string{"die", "11"}, 0, unix.SIGSEGV},
	} {
		native, hosted := s.native(c.args...), s.hosted(c.args...)
		want, got := native.exit(), hosted.exit()
		if want != got || c.sig != 0 && got.Signal() != c.sig || c.sig == 0 && got.ExitStatus() != c.code {
			t.Errorf("%v: status %v, natively %v", c.args, got, want)
		}
		if string(native.output()) != string(hosted.output()) || !strings.Contains(string(hosted.output()), "the last line\r\n") {
			t.Errorf("%v: %q, natively %q", c.args, hosted.output(), native.output())
		}
		e := s.ended(hosted.id)
		if st := e.ExitStatus; c.sig == 0 && ledger.Value(st.Code) != c.code || c.sig != 0 && ledger.Value(st.Signal) != int(c.sig) {
			t.Errorf("%v: exitStatus %+v", c.args, st)
		}
		if finished := e.FinishedAt != nil; finished != (c.code == 0 && c.sig == 0) {
			t.Errorf("%v: finished %v", c.args, finished)
		}
	}
}

func TestDetachAndAttach(t *testing.T) { eachHost(t, detachAndAttach) }

func detachAndAttach(t *testing.T, s *stage) {
	shim := s.hosted("echo")
	shim.expect("ready\r\n")
	shim.typed("a")
	shim.expect(`<"a">`)
	status, err := Ask(s.socket(shim.id))
	if err != nil || status.Terminals != 1 || status.PID == 0 || status.Size.Rows != 30 {
		t.Fatalf("%+v, %v", status, err)
	}
	if err := Detach(s.socket(shim.id)); err != nil {
		t.Fatal(err)
	}
	if st := shim.exit(); st != 0 {
		t.Errorf("detached shim: %v", st)
	}
	if out := string(shim.output()); !strings.HasSuffix(out, "agent-sessions attach "+shim.id+"\r\n") {
		t.Errorf("detached shim wrote %q", out)
	}
	if status, err = Ask(s.socket(shim.id)); err != nil || status.Terminals != 0 {
		t.Fatalf("%+v, %v", status, err)
	}
	if err := Type(s.socket(shim.id), []byte("unseen")); err != nil {
		t.Fatal(err)
	}
	back := s.attach(shim.id)
	back.expect("ready")
	back.expect(`<"unseen">`)
	back.typed("b")
	back.expect(`<"b">`)
	back.typed("q")
	back.expect("bye")
	if st := back.exit(); st != 0 {
		t.Errorf("attached terminal: %v", st)
	}
	eventually(t, "the holder's end", func() bool { return s.gone(shim.id) })
}

package runtimes

import (
	"strings"
	"testing"
)

const uuid = "0f0e0d0c-0b0a-4908-8706-050403020100"

func TestWhichConversationALaunchNames(t *testing.T) {
	for line, want := range map[string]string{
		"claude":                                      "",
		"claude --resume " + uuid:                     uuid,
		"claude -r " + uuid + " -p x":                 uuid,
		"claude --resume=" + uuid:                     uuid,
		"claude -r" + uuid:                            uuid,
		"claude --resume " + uuid + " --fork-session": "",
		"claude --resume " + uuid + " --fork-session --session-id " + otherUUID: otherUUID,
		"claude --session-id " + uuid:                                           uuid,
		"claude --resume some-title":                                            "",
		"claude --resume":                                                       "",
		"claude -c":                                                             "",
		"claude -- --resume " + uuid:                                            "",
		"claude --append-system-prompt --resume " + uuid:                        "",
		"codex resume " + uuid:                                                  uuid,
		"codex -m x resume --search " + uuid:                                    uuid,
		"codex exec resume " + uuid + " go on":                                  uuid,
		"codex resume --last":                                                   "",
		"codex resume a-name":                                                   "",
		"codex fork " + uuid:                                                    "",
		"codex fix resume " + uuid:                                              "",
		"gemini --resume " + uuid:                                               uuid,
		"gemini --resume latest":                                                "",
		"gemini --session-id " + uuid:                                           uuid,
		"qwen -r " + uuid:                                                       uuid,
		"opencode -s ses_dd6ece165ffeDG81":                                      "ses_dd6ece165ffeDG81",
		"opencode --session=ses_1":                                              "ses_1",
		"opencode -s ses_1 --fork":                                              "",
		"opencode -s dd6ece165ffeDG81":                                          "",
		"kilo -s ses_1":                                                         "ses_1",
		"copilot --resume=" + uuid:                                              uuid,
		"copilot --resume=0cb916d":                                              "",
		"copilot --session-id " + uuid:                                          uuid,
		"cursor-agent --resume " + uuid:                                         uuid,
		"amp threads continue T-" + uuid:                                        "T-" + uuid,
		"amp threads list":                                                      "",
		"auggie -r " + uuid:                                                     uuid,
		"cn --resume":                                                           "",
		"nobodys-cli --resume " + uuid:                                          "",
	} {
		words := strings.Fields(line)
		if got := For(words[0]).ResumeID(words[1:]); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// Each flag that is kept comes back; mulmoterminal's and devthrottle#3321's
// kinds (--continue, --session-id, a prompt beside a resume) do not.
func TestHowAConversationIsGoneOnWith(t *testing.T) {
	for _, tc := range []struct{ launch, id, want string }{
		{"claude", uuid, "--resume " + uuid},
		{"claude --model opus --session-id " + uuid + " -c -p --add-dir /a ../b", uuid, "--model opus --add-dir /a ../b --resume " + uuid},
		{"codex -m gpt-5 --search exec --json hi", uuid, "resume -m gpt-5 --search " + uuid},
		{"codex resume --last -C /w", uuid, "resume -C /w " + uuid},
		{"gemini -y -p hi --session-id " + uuid, uuid, "-y --resume " + uuid},
		{"qwen --approval-mode=plan -i hi", uuid, "--approval-mode=plan --resume " + uuid},
		{"opencode -m a/b --prompt hi -c", "ses_1", "-m a/b --session ses_1"},
		{"kilo", "ses_1", "--session ses_1"},
		{"copilot --yolo --continue", uuid, "--yolo --resume=" + uuid},
		{"cursor-agent --model x", uuid, "--model x --resume " + uuid},
		{"agent", uuid, "--resume " + uuid},
		{"amp --mode smart", "T-1", "--mode smart threads continue T-1"},
		{"auggie", uuid, "--resume " + uuid},
	} {
		words := strings.Fields(tc.launch)
		p := For(words[0])
		got, err := p.Resume(tc.id, p.KeptFlags(words[1:]))
		if err != nil || strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %q, %v, want %q", tc.launch, got, err, tc.want)
		}
		if back := p.ResumeID(got); back != tc.id || p.Kind(got) != Interactive {
			t.Errorf("%s: the resume itself names %q, kind %d", tc.launch, back, p.Kind(got))
		}
		// What an old or damaged record holds is looked at again.
		if again, err := p.Resume(tc.id, append(words[1:], "--fork-session", "-p", "secret words")); err != nil || strings.Join(again, " ") != tc.want {
			t.Errorf("%s: from its whole command line %q, %v", tc.launch, again, err)
		}
	}
}

func TestWhatIsNotGoneOnWith(t *testing.T) {
	for _, tc := range []struct{ runtime, id, says string }{
		{"cn", uuid, "cannot go on"},
		{"nobodys-cli", uuid, "cannot go on"},
		{"claude", "", `"" is no conversation id of claude`},
		{"claude", "latest", "no conversation id"},
		{"claude", "--help", "no conversation id"},
		{"opencode", uuid, "no conversation id"},
		{"opencode", "ses_", "no conversation id"},
		{"opencode", "ses_a/../b", "no conversation id"},
	} {
		args, err := For(tc.runtime).Resume(tc.id, nil)
		if err == nil || !strings.Contains(err.Error(), tc.says) || args != nil {
			t.Errorf("%s %q: %q, %v", tc.runtime, tc.id, args, err)
		}
	}
}

func TestANewConversationsArguments(t *testing.T) {
	for _, tc := range []struct{ runtime, model, prompt, want string }{
		{"claude", "opus", "-fix it", "--model opus -- -fix it"},
		{"codex", "", "", ""},
		{"gemini", "pro", "hi", "--model pro --prompt-interactive hi"},
		{"opencode", "", "hi", "--prompt hi"},
		{"nobodys-cli", "m", "", "!"},
		{"nobodys-cli", "", "hi", "!"},
		{"nobodys-cli", "", "", ""},
	} {
		args, err := For(tc.runtime).NewArgs(tc.model, tc.prompt)
		if got := strings.Join(args, " "); (err != nil) != (tc.want == "!") || err == nil && got != tc.want {
			t.Errorf("%+v: %q, %v", tc, got, err)
		}
		if err == nil && For(tc.runtime).Kind(args) != Interactive {
			t.Errorf("%+v: %q is no session on a terminal", tc, args)
		}
	}
}

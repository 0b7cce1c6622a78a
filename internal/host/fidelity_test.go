package host

import (
	"strings"
	"testing"
)

const esc, st = "\x1b", "\x1b\\"

// Each test of this file is a row of the fidelity table in docs/hosting.md: bytes are equal, natively and
// hosted, in both directions.
func fidelity(t *testing.T, turns ...turn) {
	t.Helper()
	eachHost(t, func(t *testing.T, s *stage) { s.play(t, turns) })
}

func TestFidelity01Colours(t *testing.T) { // cc#36785
	fidelity(t, says(esc+"[38;2;1;2;3;48;2;250;251;252mtrue\x1b[38:2::9:8:7mcolons"+esc+"[38;5;200m256"+esc+"[0m"),
		says(esc+"[4:3m"+esc+"[58;2;255;0;0mcurly"+esc+"[4:4mdotted"+esc+"[59m"+esc+"[m"), says(esc+"[5 q"+esc+"[2 q"+esc+"[0 q"))
}

func TestFidelity02BracketedPaste(t *testing.T) {
	fidelity(t, says(esc+"[?2004h"), reads(esc+"[200~line one\rline two\n\ttab \x03\x1a"+esc+"[201~"), says(esc+"[?2004l"))
}

func TestFidelity03Focus(t *testing.T) {
	fidelity(t, says(esc+"[?1004h"), reads(esc+"[I"+esc+"[O"+esc+"[I"), says(esc+"[?1004l"))
}

func TestFidelity04Mouse(t *testing.T) { // cc#63545
	fidelity(t, says(esc+"[?1000h"+esc+"[?1002h"+esc+"[?1003h"+esc+"[?1006h"), reads(esc+"[<0;10;20M"+esc+"[<0;10;20m"+esc+"[<35;11;21M"+esc+"[<64;1;1M"),
		says(esc+"[?1006l"), reads(esc+"[M !!"+esc+"[M\xff\xfe\xfd"), says(esc+"[?1003l"+esc+"[?1002l"+esc+"[?1000l"))
}

func TestFidelity05KittyKeyboard(t *testing.T) {
	fidelity(t, asks(esc+"[?u"+esc+"[c", esc+"[?0u"+esc+"[?62;22c"), says(esc+"[>5u"), asks(esc+"[?u"+esc+"[c", esc+"[?5u"+esc+"[?62;22c"),
		reads(esc+"[97;5u"+esc+"[13;2u"+esc+"[57441;2:1u"+esc+"[57441;2:3u"), says(esc+"[=1;2u"+esc+"[<u"+esc+"[<9u"))
}

func TestFidelity06Keys(t *testing.T) { // cc#26629
	for name, key := range map[string]string{
		"shift+enter": esc + "[27;2;13~", "ctrl+enter": esc + "[27;5;13~", "alt+enter": esc + "\r", "super": esc + "[97;9u", "shift+tab": esc + "[Z",
		"escape alone": esc, "NUL": "\x00", "C-b": "\x02", "C-b C-b d": "\x02\x02d", "shift+F3 is no report": esc + "[1;2R", "C-]": "\x1d", "C-\\": "\x1c",
	} {
		t.Run(name, func(t *testing.T) { fidelity(t, says(esc+"[>4;2m"), reads(key), says(esc+"[>4m")) })
	}
}

func TestFidelity07AllBytesAndALongPaste(t *testing.T) {
	var all strings.Builder
	for b := range 256 {
		all.WriteByte(byte(b))
	}
	fidelity(t, reads(all.String()), says("|"), reads(strings.Repeat(all.String(), 1024)))
}

func TestFidelity08NotUTF8(t *testing.T) {
	odd := "\xff\xfe\xc3(\xe2\x82\x80\x9b\x9d\x90 \xf0\x9f\x92"
	fidelity(t, says(odd), reads(odd), says("\xe2\x9c\xb3 \xf0\x9f\x92\xa9"))
}

func TestFidelity09Clipboard(t *testing.T) { // cc#38944
	long := strings.Repeat("Y29weQ==", 4096)
	fidelity(t, says(esc+"]52;c;aGVsbG8=\x07"+esc+"]52;c;"+long+st), says(esc+"Ptmux;"+esc+esc+"]52;c;aGVsbG8=\x07"+st),
		asks(esc+"]52;c;?\x07", esc+"]52;c;aGVsbG8="+st))
}

func TestFidelity10Notifications(t *testing.T) { // cc#19976
	fidelity(t, says(esc+"]9;done\x07"+esc+"]777;notify;title;body\x07"+esc+"]99;i=1:d=0;hi"+st+esc+"]9;4;1;50\x07"+esc+"]9;4;0\x07\x07"))
}

func TestFidelity11Hyperlinks(t *testing.T) {
	fidelity(t, says(esc+"]8;id=x;https://example.org/?a=b\x07link"+esc+"]8;;\x07"+esc+"]8;;file:///p"+st+"x"+esc+"]8;;"+st))
}

func TestFidelity12ShellIntegration(t *testing.T) {
	fidelity(t, says(esc+"]7;file://host/dir\x07"+esc+"]133;A"+st+"$ "+esc+"]133;B"+st+esc+"]133;C"+st+"out"+esc+"]133;D;0"+st))
}

func TestFidelity13Title(t *testing.T) {
	fidelity(t, says("no title yet"), says(esc+"]0;\xe2\x9c\xb3 Claude\x07"+esc+"]2;window"+st+esc+"]1;icon"+st+esc+"[22;0t"+esc+"[23;0t"))
}

func TestFidelity14SynchronizedOutput(t *testing.T) {
	fidelity(t, asks(esc+"[?2026$p", esc+"[?2026;2$y"), says(esc+"[?2026hframe"+esc+"[?2026l"), asks(esc+"[?2027$p"+esc+"[4$p", esc+"[?2027;0$y"+esc+"[4;2$y"))
}

func TestFidelity15Queries(t *testing.T) {
	fidelity(t,
		asks(esc+"[c", esc+"[?65;1;9c"), asks(esc+"[>c", esc+"[>41;354;0c"), asks(esc+"[=c", esc+"P!|00000000"+st),
		asks(esc+"[>0q", esc+"P>|XTerm(354)"+st), asks(esc+"[6n", esc+"[3;7R"), asks(esc+"[?6n", esc+"[?3;7;1R"), asks(esc+"[5n", esc+"[0n"),
		asks(esc+"]4;1;?\x07", esc+"]4;1;rgb:cdcd/0000/0000\x07"), asks(esc+"]10;?"+st+esc+"]11;?"+st, esc+"]10;rgb:ffff/ffff/ffff"+st+esc+"]11;rgb:0000/0000/0000"+st),
		asks(esc+"[14t"+esc+"[18t", esc+"[4;600;800t"+esc+"[8;30;90t"), asks(esc+"[?996n", esc+"[?997;1n"),
		asks(esc+"P+q544e"+st, esc+"P1+r544e=787465726d"+st), asks(esc+"P$q q"+st, esc+"P1$r2 q"+st),
		asks("a"+esc+"[6n"+"b"+esc+"[c"+"c", esc+"[3;8R"+esc+"[?65;1;9c"))
}

func TestFidelity16Images(t *testing.T) {
	image := strings.Repeat("QUJD", 5000)
	fidelity(t, asks(esc+"_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA"+st+esc+"[c", esc+"_Gi=31;OK"+st+esc+"[?62c"),
		says(esc+"_Ga=T,f=100,m=1;"+image+st+esc+"_Gm=0;"+image+st), says(esc+"P0;1;0q\"1;1;10;10#0;2;0;0;0#0~~@@vv@@~~$-"+st),
		says(esc+"]1337;File=inline=1:"+image+"\x07"))
}

func TestFidelity17AlternateScreen(t *testing.T) {
	fidelity(t, says("main\r\n"+esc+"[?1049h"+esc+"[H"+esc+"[2Jalt"+esc+"[2;5r"+esc+"[?1049l"+esc+"[3J"+esc+"[H"), reads("k"))
}

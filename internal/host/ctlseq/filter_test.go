package ctlseq

import (
	"strings"
	"testing"
)

const st = "\x1b\\"

// Queries, each alone: the mirror must not see them while a terminal does.
var queries = map[string]string{
	"DA1": "\x1b[c", "DA1 with 0": "\x1b[0c", "DA2": "\x1b[>c", "DA3": "\x1b[=c", "DECID": "\x1bZ",
	"status": "\x1b[5n", "CPR": "\x1b[6n", "DECXCPR": "\x1b[?6n", "colour scheme": "\x1b[?996n",
	"XTVERSION": "\x1b[>q", "XTVERSION with 0": "\x1b[>0q", "DECRQM": "\x1b[?2026$p", "ANSI DECRQM": "\x1b[4$p",
	"kitty keyboard": "\x1b[?u", "XTQMODKEYS": "\x1b[?4m", "XTSMGRAPHICS": "\x1b[?1;1;0S",
	"window size": "\x1b[14t", "cells": "\x1b[18t", "title": "\x1b[21t", "DECREQTPARM": "\x1b[x", "DECRQPSR": "\x1b[1$w",
	"DECRQSS": "\x1bP$q q" + st, "XTGETTCAP": "\x1bP+q544e" + st,
	"palette": "\x1b]4;1;?\x07", "foreground": "\x1b]10;?" + st, "background": "\x1b]11;?\x07", "kitty colours": "\x1b]21;foreground=?\x07",
	"clipboard": "\x1b]52;c;?\x07", "iTerm cell size": "\x1b]1337;ReportCellSize\x07", "control inside": "\x1b[\x006n",
}

// Sequences that look like queries and are not.
var statements = map[string]string{
	"scroll up": "\x1b[2S", "SGR": "\x1b[1;31m", "modifyOtherKeys": "\x1b[>4;2m", "push": "\x1b[>5u", "pop": "\x1b[<u", "restore": "\x1b[u",
	"DECSCUSR": "\x1b[2 q", "DECSCA": "\x1b[1\"q", "resize": "\x1b[8;24;80t", "push title": "\x1b[22;0t", "soft reset": "\x1b[!p",
	"set palette": "\x1b]4;1;#ff0000\x07", "set foreground": "\x1b]10;red\x07", "copy": "\x1b]52;c;aGk=\x07", "hyperlink": "\x1b]8;;http://x/?\x07",
	"title with ?": "\x1b]2;?\x07", "sixel": "\x1bPq#0" + st, "erase characters": "\x1b[5X", "DA reply": "\x1b[?1;2c",
	"DECRQM reply": "\x1b[?2026;2$y", "UTF-8 with 0x9C": "\x1b]0;\xe2\x9c\xb3 Claude\x07",
}

func TestQueriesAreKeptFromAWatchingMirror(t *testing.T) {
	for name, query := range queries {
		asked := 0
		f := Filter{Asked: func(Query) { asked++ }}
		if got := string(f.Feed(nil, []byte("a"+query+"b"), Watch)); strings.Trim(got, "\x00") != "ab" && got != "a\x00b" {
			t.Errorf("%s: a watching mirror gets %q", name, got)
		}
		if asked != 1 {
			t.Errorf("%s: told of %d queries", name, asked)
		}
		if got := string(f.Feed(nil, []byte("a"+query+"b"), Answer)); got != "a"+query+"b" {
			t.Errorf("%s: an answering mirror gets %q", name, got)
		}
	}
	for name, statement := range statements {
		f := Filter{Asked: func(q Query) { t.Errorf("%s: told of the query %q", name, q) }}
		if got := string(f.Feed(nil, []byte(statement), Watch)); got != statement {
			t.Errorf("%s: a watching mirror gets %q", name, got)
		}
	}
}

func TestSequencesEndWhereTmuxEndsThem(t *testing.T) {
	cases := map[string][]string{
		"controls inside CSI end nothing":      {"\x1b[1\n;2\rH", "x"},
		"CAN aborts":                           {"\x1b[12\x18", "x"},
		"ESC begins anew":                      {"\x1b[12", "\x1b[H", "x"},
		"ESC ends a title":                     {"\x1b]2;t", "\x1b[H", "x"},
		"ESC ESC in a title":                   {"\x1b]2;t\x1b", "\x1b\\", "x"},
		"BEL is payload of a DCS":              {"\x1bPq\x07\x1b\x1b[6n" + st, "x"},
		"a malformed DCS ends at any ESC":      {"\x1bP1;<q6n", "\x1b[6n", "x"},
		"BEL is payload of an APC":             {"\x1b_G\x07a" + st, "x"},
		"0x9C is part of a character":          {"\x1b]2;\xe2\x9c\xb3\x07", "x"},
		"0x9C alone ends nothing":              {"\x1b]2;\x9cn\x07", "x"},
		"an intermediate makes an ESC longer":  {"\x1b(B", "\x1b#8", "x"},
		"tmux's own title string":              {"\x1bkname" + st, "x"},
		"bytes over 0x7F in CSI are ignored":   {"\x1b[\xff6n", "x"},
		"a privacy message ends at ST":         {"\x1b^a\x07b" + st, "x"},
		"DEL in ESC is ignored, not its final": {"\x1b\x7f[1m", "x"},
	}
	for name, want := range cases {
		if got := cut(strings.Join(want, "")); strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// cut is what a scanner makes of a stream fed at once.
func cut(stream string) (pieces []string) {
	var s scanner
	s.feed([]byte(stream), func(_ piece, raw []byte) { pieces = append(pieces, string(raw)) })
	return pieces
}

func TestNothingIsPassedOnBeforeItIsWhole(t *testing.T) {
	var f Filter
	if got := f.Feed(nil, []byte("\xe2\x9c"), Watch); len(got) > 0 {
		t.Errorf("two thirds of a character came through: %q", got)
	}
	if got := string(f.Feed(nil, []byte("\xb3\x1b[3"), Watch)); got != "\xe2\x9c\xb3" {
		t.Errorf("got %q", got)
	}
	if got := string(f.Feed(nil, []byte("1mred"), Watch)); got != "\x1b[31mred" {
		t.Errorf("got %q", got)
	}
}

func TestALongStringGoesByInPieces(t *testing.T) {
	var f Filter
	title := "\x1b]777;" + strings.Repeat("y", 3*maxSequence) + "\x07"
	var got []byte
	for i := 0; i < len(title); i += 100 {
		got = f.Feed(got, []byte(title[i:min(i+100, len(title))]), Watch)
		if i > 2*maxSequence && i+100 < len(title) && f.Whole() {
			t.Fatal("told to be whole inside a string")
		}
	}
	if string(got) != title || !f.Whole() {
		t.Errorf("%d bytes of %d, whole %v", len(got), len(title), f.Whole())
	}
	for _, dropped := range []string{"\x1b_G" + strings.Repeat("A", 2*maxSequence) + st, "\x1b]52;c;" + strings.Repeat("A", 2*maxSequence) + "\x07"} {
		if got := string(f.Feed(nil, []byte(dropped+"x"), Watch)); got != "x" {
			t.Errorf("of %.8q the mirror gets %d bytes", dropped, len(got))
		}
	}
}

func TestReplayIsSilent(t *testing.T) {
	var f Filter
	in := "a\x07b\x1b]9;done\x07\x1b]52;c;aGk=\x07\x1b]777;notify;a;b\x07\x1b]99;;x" + st + "\x1b]2;title\x07\x1b[6n"
	if got := string(f.Feed(nil, []byte(in), Replay)); got != "ab\x1b]2;title\x07" {
		t.Errorf("got %q", got)
	}
}

func FuzzFilter(f *testing.F) {
	for _, seed := range queries {
		f.Add([]byte("x"+seed+"y"), uint8(2))
	}
	for _, seed := range statements {
		f.Add([]byte(seed), uint8(1))
	}
	f.Add([]byte("\x1b]2;t\x1b\x1b\\\xe2\x1b[\x18"), uint8(1))
	f.Add([]byte("\x1bP"+strings.Repeat("a", 5000)+"\x1b\x1b\\x"), uint8(7))
	f.Fuzz(func(t *testing.T, stream []byte, size uint8) {
		var at, chunked Filter
		step := int(size) + 1
		var whole, parts []byte
		whole = at.Feed(whole, stream, Watch)
		for i := 0; i < len(stream); i += step {
			parts = chunked.Feed(parts, stream[i:min(i+step, len(stream))], Watch)
		}
		if len(stream) <= maxSequence && string(whole)+string(at.Pending()) != string(parts)+string(chunked.Pending()) {
			t.Errorf("chunks of %d: %q, at once: %q", step, parts, whole)
		}
		if string(at.Modes.Reset()) != string(chunked.Modes.Reset()) || string(at.Modes.Set()) != string(chunked.Modes.Set()) {
			t.Errorf("modes depend on the chunks")
		}
		if !strings.Contains(string(stream), "_") && !strings.Contains(string(stream), "]52;") {
			var lossless Filter
			if got := lossless.Feed(nil, stream, Answer); string(got)+string(lossless.Pending()) != string(stream) {
				t.Errorf("%q came through as %q, %q pending", stream, got, lossless.Pending())
			}
		}
	})
}

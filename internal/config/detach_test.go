package config

import (
	"strings"
	"testing"
	"time"
)

func TestDetach(t *testing.T) {
	auto, never := DetachRule{IsAuto: true}, DetachRule{}
	for settingText, want := range map[string]map[string]DetachRule{
		"never": {"x": never, "": never},
		"auto":  {"x": auto, "": auto},
		" 20s ": {"x": {After: 20 * time.Second}},
		"never, claude-code=auto,Visual Studio Code = 1m30s": {
			"claude-code": auto, "Claude-Code": auto, "visual studio code": {After: 90 * time.Second}, "other": never,
		},
		"auto,Cursor=never": {"cursor": never, "y": auto},
		"Cursor=5s":         {"Cursor": {After: 5 * time.Second}, "y": never},
	} {
		for client, rule := range want {
			if got := Detach(settingText).RuleFor(client); got != rule {
				t.Errorf("%q for %q: %+v, want %+v", settingText, client, got, rule)
			}
		}
	}
	for settingText, want := range map[string]bool{"never": true, "never,a=never": true, "auto": false, "never,a=1s": false} {
		if got := Detach(settingText).IsNever(); got != want {
			t.Errorf("%q: Never is %t; want %v", settingText, got, want)
		}
	}
}

func TestDetachIsChecked(t *testing.T) {
	for _, settingText := range []string{"", "soon", "20", "-1s", "0s", "25h", "auto,never", "never,=auto", "never,a=auto,A=never", "auto,", "never,a"} {
		_, err := Load(makeHome(t, ""), emptyEnv, map[string]string{"detach": settingText})
		if err == nil || !strings.Contains(err.Error(), `give it "auto", "never" or a time such as "20s"`) {
			t.Errorf("%q: %v; want an error that contains %q", settingText, err, `give it "auto", "never" or a time such as "20s"`)
		}
	}
	s, err := Load(makeHome(t, `{"detach": "never, Cursor=20s"}`), emptyEnv, nil)
	if err != nil || s.Detach.RuleFor("cursor").After != 20*time.Second {
		t.Errorf("%+v, %v", s, err)
	}
}

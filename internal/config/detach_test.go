package config

import (
	"strings"
	"testing"
	"time"
)

func TestParseDetachSetting(t *testing.T) {
	autoRule, neverRule := DetachRule{DetachesBeforeTimeout: true}, DetachRule{}
	for settingText, want := range map[string]map[string]DetachRule{
		"never": {"x": neverRule, "": neverRule},
		"auto":  {"x": autoRule, "": autoRule},
		" 20s ": {"x": {After: 20 * time.Second}},
		"never, claude-code=auto,Visual Studio Code = 1m30s": {
			"claude-code": autoRule, "Claude-Code": autoRule, "visual studio code": {After: 90 * time.Second}, "other": neverRule,
		},
		"auto,Cursor=never": {"cursor": neverRule, "y": autoRule},
		"Cursor=5s":         {"Cursor": {After: 5 * time.Second}, "y": neverRule},
	} {
		for client, rule := range want {
			if got := DetachSetting(settingText).RuleFor(client); got != rule {
				t.Errorf("rule of the setting %q for the client %q = %+v, want %+v", settingText, client, got, rule)
			}
		}
	}
	for settingText, want := range map[string]bool{"never": true, "never,a=never": true, "auto": false, "never,a=1s": false} {
		if got := DetachSetting(settingText).NeverDetaches(); got != want {
			t.Errorf("NeverDetaches of the setting %q = %t; want %v", settingText, got, want)
		}
	}
}

func TestInvalidDetachSetting(t *testing.T) {
	for _, settingText := range []string{"", "soon", "20", "-1s", "0s", "25h", "auto,never", "never,=auto", "never,a=auto,A=never", "auto,", "never,a"} {
		_, err := Load(makeHome(t, ""), emptyEnv, map[string]string{"detach": settingText})
		if err == nil || !strings.Contains(err.Error(), `give it "auto", "never" or a time such as "20s"`) {
			t.Errorf("Load with the setting detach = %q returned the error %v; want an error that contains %q", settingText, err, `give it "auto", "never" or a time such as "20s"`)
		}
	}
	s, err := Load(makeHome(t, `{"detach": "never, Cursor=20s"}`), emptyEnv, nil)
	if err != nil || s.Detach.RuleFor("cursor").After != 20*time.Second {
		t.Errorf("Load returned %+v, error %v; want that calls of cursor become jobs after 20 s", s, err)
	}
}

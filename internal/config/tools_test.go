package config

import (
	"strings"
	"testing"
)

func TestParseToolsSetting(t *testing.T) {
	for settingText, want := range map[string]map[string]string{
		"auto":                             {"Cursor": "auto", "": "auto"},
		" all ":                            {"x": "all"},
		"auto, Cursor=gateway":             {"cursor": "gateway", "Cursor": "gateway", "claude-code": "auto"},
		"gateway,Visual Studio Code = all": {"visual studio code": "all", "y": "gateway"},
		"Cursor=all":                       {"Cursor": "all", "y": "auto"},
	} {
		s, err := Load(makeHome(t, ""), emptyEnv, map[string]string{"tools": settingText})
		if err != nil {
			t.Errorf("Load with the setting tools = %q returned the error %v; want none", settingText, err)
		}
		for client, rule := range want {
			if got := s.Tools.RuleFor(client); got != rule {
				t.Errorf("rule of the setting %q for the client %q = %q, want %q", settingText, client, got, rule)
			}
		}
	}
	s, err := Load(makeHome(t, `{"tools": "auto, Cursor=gateway", "outputSchemas": "off, Cursor=on"}`), emptyEnv, nil)
	if err != nil || s.Tools.RuleFor("cursor") != "gateway" || s.OutputSchemas.RuleFor("cursor") != "on" || s.OutputSchemas.RuleFor("x") != "off" {
		t.Errorf("Load returned %+v, error %v; want gateway and on for cursor, and off for other clients", s, err)
	}
	if d := Defaults(); d.Tools.RuleFor("x") != "auto" || d.OutputSchemas.RuleFor("x") != "auto" {
		t.Errorf("default of tools = %q, default of outputSchemas = %q; want auto for both", d.Tools, d.OutputSchemas)
	}
}

func TestInvalidToolsSetting(t *testing.T) {
	for flag, wantedTexts := range map[string][]string{
		"tools":          {"", "some", "on", "auto,all", "auto,=all", "auto,a=all,A=all", "auto,", "auto,a", "a=on"},
		"output-schemas": {"", "all", "auto,on", "auto,a=gateway"},
	} {
		for _, settingText := range wantedTexts {
			_, err := Load(makeHome(t, ""), emptyEnv, map[string]string{flag: settingText})
			if err == nil || !strings.Contains(err.Error(), "--"+flag+" is") || !strings.Contains(err.Error(), "for all clients, then the values of single clients") {
				t.Errorf("Load with --%s %q returned the error %v; want an error that names the flag and the allowed values", flag, settingText, err)
			}
		}
	}
}

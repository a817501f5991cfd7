package config

import (
	"strings"
	"testing"
)

func TestTools(t *testing.T) {
	for toolsValue, want := range map[string]map[string]string{
		"auto":                             {"Cursor": "auto", "": "auto"},
		" all ":                            {"x": "all"},
		"auto, Cursor=gateway":             {"cursor": "gateway", "Cursor": "gateway", "claude-code": "auto"},
		"gateway,Visual Studio Code = all": {"visual studio code": "all", "y": "gateway"},
		"Cursor=all":                       {"Cursor": "all", "y": "auto"},
	} {
		s, err := Load(makeHome(t, ""), emptyEnv, map[string]string{"tools": toolsValue})
		if err != nil {
			t.Errorf("%q: %v", toolsValue, err)
		}
		for client, rule := range want {
			if got := s.Tools.RuleFor(client); got != rule {
				t.Errorf("%q for %q: %q, want %q", toolsValue, client, got, rule)
			}
		}
	}
	s, err := Load(makeHome(t, `{"tools": "auto, Cursor=gateway", "outputSchemas": "off, Cursor=on"}`), emptyEnv, nil)
	if err != nil || s.Tools.RuleFor("cursor") != "gateway" || s.OutputSchemas.RuleFor("cursor") != "on" || s.OutputSchemas.RuleFor("x") != "off" {
		t.Errorf("%+v, %v", s, err)
	}
	if d := Defaults(); d.Tools.RuleFor("x") != "auto" || d.OutputSchemas.RuleFor("x") != "auto" {
		t.Errorf("the defaults are %q and %q", d.Tools, d.OutputSchemas)
	}
}

func TestToolsIsChecked(t *testing.T) {
	for flag, wantedTexts := range map[string][]string{
		"tools":          {"", "some", "on", "auto,all", "auto,=all", "auto,a=all,A=all", "auto,", "auto,a", "a=on"},
		"output-schemas": {"", "all", "auto,on", "auto,a=gateway"},
	} {
		for _, toolsValue := range wantedTexts {
			_, err := Load(makeHome(t, ""), emptyEnv, map[string]string{flag: toolsValue})
			if err == nil || !strings.Contains(err.Error(), "--"+flag+" is") || !strings.Contains(err.Error(), "for all clients, then the values of single clients") {
				t.Errorf("%s %q: %v", flag, toolsValue, err)
			}
		}
	}
}

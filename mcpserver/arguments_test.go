package mcpserver

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSplitArguments(t *testing.T) {
	plain, own := definedArguments{}, definedArguments{definesTab: true, definesBrowser: true, definesInstance: true}
	for _, test := range []struct {
		input      string
		own        definedArguments
		wantOutput string
		tab        int
		browser    string
		instance   string
	}{
		{``, plain, `{}`, 0, "", ""},
		{`null`, plain, `{}`, 0, "", ""},
		{`{ "a" : 1 }`, plain, `{ "a" : 1 }`, 0, "", ""},
		{`{"tabId":7}`, plain, `{}`, 7, "", ""},
		{`{"browser":"b","a":[ 9007199254740993, 1.0 ]}`, plain, `{"a":[ 9007199254740993, 1.0 ]}`, 0, "b", ""},
		{`{"a":{"tabId":7,"browser":"b"}}`, plain, `{"a":{"tabId":7,"browser":"b"}}`, 0, "", ""},
		{`{"a":"tabId","b":"browser"}`, plain, `{"a":"tabId","b":"browser"}`, 0, "", ""},
		{`{"tabId":null,"browser":null,"a":1}`, plain, `{"a":1}`, 0, "", ""},
		{`{"tabId":7,"browser":"b"}`, own, `{"tabId":7,"browser":"b"}`, 0, "", ""},
		{`{"tabId":7,"browser":"b"}`, definedArguments{definesTab: true}, `{"tabId":7}`, 0, "b", ""},
		{`["tabId"]`, plain, `["tabId"]`, 0, "", ""},
		{`"browser"`, plain, `"browser"`, 0, "", ""},
		{`{"instance":"work","a":1}`, plain, `{"a":1}`, 0, "", "work"},
		{`{"instance":null}`, plain, `{}`, 0, "", ""},
		{`{"instance":"work"}`, own, `{"instance":"work"}`, 0, "", ""},
	} {
		a, err := splitArguments(json.RawMessage(test.input), test.own, false)
		if err != nil || string(a.toolArgs) != test.wantOutput || a.tabID != test.tab || a.browser != test.browser || a.instance != test.instance {
			t.Errorf("%s: %s, %d, %q, %q, %v", test.input, a.toolArgs, a.tabID, a.browser, a.instance, err)
		}
	}
}

func TestPromptsArgumentsAreTexts(t *testing.T) {
	a, err := splitArguments(json.RawMessage(`{"tabId":"7","browser":"b","n":"1"}`), definedArguments{}, true)
	if err != nil || string(a.toolArgs) != `{"n":"1"}` || a.tabID != 7 || a.browser != "b" {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := splitArguments(json.RawMessage(`{"tabId":"x"}`), definedArguments{}, true); err == nil {
		t.Error("the tab ID x was accepted")
	}
}

func TestBadHostArguments(t *testing.T) {
	for input, want := range map[string]string{
		`{"tabId":"7"}`:        `The argument "tabId" is "7", but it must be the id of a tab, a positive integer. Correct it or leave it out, then call again.`,
		`{"tabId":-1}`:         `"tabId" is -1`,
		`{"tabId":1e3}`:        `"tabId" is 1e3`,
		`{"tabId":2147483648}`: `"tabId" is 2147483648`,
		`{"browser":""}`:       `"browser" is ""`,
		`{"instance":""}`:      `"instance" is ""`,
		`{"browser":["` + strings.Repeat("é", 100) + `"]}`: `"browser" is ["` + strings.Repeat("é", 19) + `..., but`,
	} {
		if _, err := splitArguments(json.RawMessage(input), definedArguments{}, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", input, err, want)
		}
	}
}

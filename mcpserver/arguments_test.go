package mcpserver

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSplitArguments(t *testing.T) {
	toolDefinesNone, toolDefinesAll := definedArguments{}, definedArguments{definesTab: true, definesBrowser: true, definesInstance: true}
	for _, testCase := range []struct {
		input      string
		own        definedArguments
		wantOutput string
		tab        int
		browser    string
		instance   string
	}{
		{``, toolDefinesNone, `{}`, 0, "", ""},
		{`null`, toolDefinesNone, `{}`, 0, "", ""},
		{`{ "a" : 1 }`, toolDefinesNone, `{ "a" : 1 }`, 0, "", ""},
		{`{"tabId":7}`, toolDefinesNone, `{}`, 7, "", ""},
		{`{"browser":"b","a":[ 9007199254740993, 1.0 ]}`, toolDefinesNone, `{"a":[ 9007199254740993, 1.0 ]}`, 0, "b", ""},
		{`{"a":{"tabId":7,"browser":"b"}}`, toolDefinesNone, `{"a":{"tabId":7,"browser":"b"}}`, 0, "", ""},
		{`{"a":"tabId","b":"browser"}`, toolDefinesNone, `{"a":"tabId","b":"browser"}`, 0, "", ""},
		{`{"tabId":null,"browser":null,"a":1}`, toolDefinesNone, `{"a":1}`, 0, "", ""},
		{`{"tabId":7,"browser":"b"}`, toolDefinesAll, `{"tabId":7,"browser":"b"}`, 0, "", ""},
		{`{"tabId":7,"browser":"b"}`, definedArguments{definesTab: true}, `{"tabId":7}`, 0, "b", ""},
		{`["tabId"]`, toolDefinesNone, `["tabId"]`, 0, "", ""},
		{`"browser"`, toolDefinesNone, `"browser"`, 0, "", ""},
		{`{"instance":"work","a":1}`, toolDefinesNone, `{"a":1}`, 0, "", "work"},
		{`{"instance":null}`, toolDefinesNone, `{}`, 0, "", ""},
		{`{"instance":"work"}`, toolDefinesAll, `{"instance":"work"}`, 0, "", ""},
	} {
		a, err := splitArguments(json.RawMessage(testCase.input), testCase.own, false)
		if err != nil || string(a.toolArgs) != testCase.wantOutput || a.tabID != testCase.tab || a.browser != testCase.browser || a.instance != testCase.instance {
			t.Errorf("splitArguments(%s): tool arguments %s, tab %d, browser %q, instance %q, error %v; want %+v", testCase.input, a.toolArgs, a.tabID, a.browser, a.instance, err, testCase)
		}
	}
}

func TestPromptTargetArgumentsAreStrings(t *testing.T) {
	a, err := splitArguments(json.RawMessage(`{"tabId":"7","browser":"b","n":"1"}`), definedArguments{}, true)
	if err != nil || string(a.toolArgs) != `{"n":"1"}` || a.tabID != 7 || a.browser != "b" {
		t.Errorf("splitArguments = %+v, error %v; want the tool arguments {\"n\":\"1\"}, tab 7 and browser \"b\"", a, err)
	}
	if _, err := splitArguments(json.RawMessage(`{"tabId":"x"}`), definedArguments{}, true); err == nil {
		t.Error("splitArguments accepted the tab ID \"x\"; want an error")
	}
}

func TestInvalidTargetArguments(t *testing.T) {
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
			t.Errorf("splitArguments(%s): error %v\nwant %s", input, err, want)
		}
	}
}

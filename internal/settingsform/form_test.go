package settingsform

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"opentabs/wire"
)

var views = []wire.SettingView{
	{Key: "size", Type: wire.SettingNumber, Label: "Page size", Description: "of a list", Required: true},
	{Key: "site", Type: wire.SettingURL, Label: "Site", IsSet: true, Value: json.RawMessage(`{"work":"https://w.example.com","home":"https://h.example.com"}`)},
	{Key: "token", Type: wire.SettingString, Label: "Token", Secret: true, IsSet: true, IsWithheld: true},
	{Key: "sort", Type: wire.SettingSelect, Label: "Order", Options: []string{"old", "new"}, IsSet: true, Value: json.RawMessage(`"old"`)},
}

func scriptAnswers(questions *[]string, responseLines ...string) func(string, bool) (string, error) {
	return func(question string, secret bool) (string, error) {
		if secret {
			question = "secret " + question
		}
		*questions = append(*questions, question)
		if len(responseLines) == 0 {
			return "", io.EOF
		}
		scriptedAnswer := responseLines[0]
		responseLines = responseLines[1:]
		return scriptedAnswer + "\n", nil
	}
}

func TestPromptValues(t *testing.T) {
	var questions, notices []string
	notef := func(format string, args ...any) { notices = append(notices, fmt.Sprintf(format, args...)) }
	f := New("wiki", views)
	if err := f.PromptValues(scriptAnswers(&questions, "large", " 20 ", "play=https://p.example.com", "", "-"), notef); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"Page size (of a list), required\n  size [(not set)]: ", "Page size (of a list), required\n  size [(not set)]: ",
		"Site\n  site [home=https://h.example.com work=https://w.example.com]: ",
		"secret Token\n  token [(set, not shown; not given to the plugin, which starts late)]: ",
		"Order, one of old, new\n  sort [old]: ",
	}
	if got := strings.Join(questions, "|"); got != strings.Join(want, "|") {
		t.Errorf("questions to the user:\n%s\nwant one for each setting", got)
	}
	if len(notices) != 2 || !strings.Contains(notices[0], "settings of wiki") {
		t.Errorf("notices = %q, want two notices, the first about the settings of wiki", notices)
	}
	if string(f.Changes["size"]) != "20" || string(f.Changes["sort"]) != "null" || !strings.Contains(string(f.Changes["site"]), "p.example.com") || f.Changes["token"] != nil {
		t.Errorf("changes = %s; want a new size and site, sort removed, and token unchanged", f.Changes)
	}
}

func TestPromptWithoutAnswers(t *testing.T) {
	var questions []string
	ignoreNotice := func(string, ...any) {}
	if err := New("wiki", views).PromptValues(scriptAnswers(&questions), ignoreNotice); err == nil || err.Error() != "nothing has changed" {
		t.Errorf("PromptValues at the end of the input returned %v, want the error that nothing has changed", err)
	}
	errTerminal := errors.New("the terminal is gone")
	if err := New("wiki", views).PromptValues(func(string, bool) (string, error) { return "", errTerminal }, ignoreNotice); !errors.Is(err, errTerminal) {
		t.Errorf("PromptValues without a terminal returned %v, want errTerminal", err)
	}
}

func TestSummaryOfChangedSettings(t *testing.T) {
	f := New("wiki", views)
	if got := strings.Join(f.Summary(views[1:2]), "|"); got != "nothing has changed" {
		t.Errorf("Summary without changes = %q, want that nothing has changed", got)
	}
	f.Changes = map[string]json.RawMessage{"token": json.RawMessage(`"x"`), "sort": json.RawMessage("null")}
	want := "sort of wiki is removed|token of wiki is set|wiki needs size (Page size) before its tools run|" +
		"wiki does not get token, which is secret, because it starts after the page's scripts: allow it with `opentabs plugin permission wiki --late-access on`"
	if got := strings.Join(f.Summary(views), "|"); got != want {
		t.Errorf("Summary = %q; want %v", got, want)
	}
}

func TestSettingRows(t *testing.T) {
	var lines []string
	for _, tableRow := range Rows(views) {
		lines = append(lines, strings.Join(tableRow, "|"))
	}
	want := "KEY|TYPE|VALUE|MEANING\nsize|number, required|(not set)|Page size\nsite|url|home=https://h.example.com work=https://w.example.com|Site\n" +
		"token|string|(set, not shown; not given to the plugin, which starts late)|Token\nsort|select|old|Order"
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("Rows returned\n%s\nwant\n%v", got, want)
	}
}

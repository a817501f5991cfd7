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

func TestFill(t *testing.T) {
	var questions, notices []string
	notef := func(format string, args ...any) { notices = append(notices, fmt.Sprintf(format, args...)) }
	f := New("wiki", views)
	if err := f.Fill(scriptAnswers(&questions, "large", " 20 ", "play=https://p.example.com", "", "-"), notef); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"Page size (of a list), required\n  size [(not set)]: ", "Page size (of a list), required\n  size [(not set)]: ",
		"Site\n  site [home=https://h.example.com work=https://w.example.com]: ",
		"secret Token\n  token [(set, not shown; not given to the plugin, which starts late)]: ",
		"Order, one of old, new\n  sort [old]: ",
	}
	if got := strings.Join(questions, "|"); got != strings.Join(want, "|") {
		t.Errorf("questions:\n%s", got)
	}
	if len(notices) != 2 || !strings.Contains(notices[0], "settings of wiki") {
		t.Errorf("notices: %q", notices)
	}
	if string(f.Changes["size"]) != "20" || string(f.Changes["sort"]) != "null" || !strings.Contains(string(f.Changes["site"]), "p.example.com") || f.Changes["token"] != nil {
		t.Errorf("changes: %s", f.Changes)
	}
}

func TestFillWithoutAnswers(t *testing.T) {
	var questions []string
	ignore := func(string, ...any) {}
	if err := New("wiki", views).Fill(scriptAnswers(&questions), ignore); err == nil || err.Error() != "nothing has changed" {
		t.Errorf("at the end of the input: %v", err)
	}
	errTerminal := errors.New("the terminal is gone")
	if err := New("wiki", views).Fill(func(string, bool) (string, error) { return "", errTerminal }, ignore); !errors.Is(err, errTerminal) {
		t.Errorf("without a terminal: %v", err)
	}
}

func TestSummary(t *testing.T) {
	f := New("wiki", views)
	if got := strings.Join(f.Summary(views[1:2]), "|"); got != "nothing has changed" {
		t.Errorf("without changes: %q", got)
	}
	f.Changes = map[string]json.RawMessage{"token": json.RawMessage(`"x"`), "sort": json.RawMessage("null")}
	want := "sort of wiki is removed|token of wiki is set|wiki needs size (Page size) before its tools run|" +
		"wiki does not get token, which is secret, because it starts after the page's scripts: allow it with `opentabs plugin permission wiki --late-access on`"
	if got := strings.Join(f.Summary(views), "|"); got != want {
		t.Errorf("got %q; want %v", got, want)
	}
}

func TestRows(t *testing.T) {
	var lines []string
	for _, tableRow := range Rows(views) {
		lines = append(lines, strings.Join(tableRow, "|"))
	}
	want := "KEY|TYPE|VALUE|MEANING\nsize|number, required|(not set)|Page size\nsite|url|home=https://h.example.com work=https://w.example.com|Site\n" +
		"token|string|(set, not shown; not given to the plugin, which starts late)|Token\nsort|select|old|Order"
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s; want %v", got, want)
	}
}

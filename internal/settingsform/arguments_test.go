package settingsform

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"opentabs/internal/usererr"
	"opentabs/wire"
)

func wikiViews() []wire.SettingView {
	return []wire.SettingView{
		{Key: "site", Type: wire.SettingURL, IsSet: true, Value: json.RawMessage(`{"default":"https://a.test","work":"https://b.test"}`)},
		{Key: "token", Type: wire.SettingString, Secret: true, IsSet: true},
		{Key: "pages", Type: wire.SettingNumber},
		{Key: "quiet", Type: wire.SettingBoolean},
		{Key: "view", Type: wire.SettingSelect, Options: []string{"list", "grid"}},
	}
}

func applyForm(t *testing.T, views []wire.SettingView, a Arguments, in string) (string, error) {
	t.Helper()
	f := New("wiki", views)
	err := f.Apply(a, strings.NewReader(in))
	changesJSON, jsonErr := json.Marshal(f.Changes)
	if jsonErr != nil {
		t.Fatal(jsonErr)
	}
	return string(changesJSON), err
}

func TestApplyArguments(t *testing.T) {
	for _, testCase := range []struct {
		name string
		args Arguments
		in   string
		want string
	}{
		{"nothing", Arguments{}, "", `{}`},
		{"a value of each type", Arguments{Assignments: []string{"token=a=b", "pages=0.5", "quiet=yes", "view=grid"}}, "",
			`{"pages":0.5,"quiet":true,"token":"a=b","view":"grid"}`},
		{"stdin without its line end", Arguments{Assignments: []string{"token=-"}}, " s3cret \r\n", `{"token":" s3cret "}`},
		{"the last of two values", Arguments{Assignments: []string{"pages=1", "pages=2"}}, "", `{"pages":2}`},
		{"the default instance", Arguments{Assignments: []string{"site=https://c.test"}}, "", `{"site":{"default":"https://c.test","work":"https://b.test"}}`},
		{"two more instances", Arguments{Assignments: []string{"site.x=https://x.test", "site.y=https://y.test"}}, "",
			`{"site":{"default":"https://a.test","work":"https://b.test","x":"https://x.test","y":"https://y.test"}}`},
		{"--instance", Arguments{Instances: []string{"x=https://x.test?a=b"}}, "",
			`{"site":{"default":"https://a.test","work":"https://b.test","x":"https://x.test?a=b"}}`},
		{"remove values", Arguments{Unset: []string{"token", "site"}}, "", `{"site":null,"token":null}`},
		{"remove one instance", Arguments{Unset: []string{"site.work"}}, "", `{"site":{"default":"https://a.test"}}`},
		{"remove every instance", Arguments{Unset: []string{"site.work", "site.default"}}, "", `{"site":null}`},
		{"replace one instance with another", Arguments{Assignments: []string{"site.new=https://n.test"}, Unset: []string{"site.default", "site.work"}}, "",
			`{"site":{"new":"https://n.test"}}`},
	} {
		got, err := applyForm(t, wikiViews(), testCase.args, testCase.in)
		if err != nil || got != testCase.want {
			t.Errorf("%s: changes %s, error %v; want %s", testCase.name, got, err, testCase.want)
		}
	}
}

func TestApplyErrors(t *testing.T) {
	viewsWithTwoURLs := append(wikiViews(), wire.SettingView{Key: "mirror", Type: wire.SettingURL})
	for _, testCase := range []struct {
		views []wire.SettingView
		args  Arguments
		want  string
	}{
		{wikiViews(), Arguments{Assignments: []string{"pages"}}, `"pages" sets nothing: write KEY=VALUE`},
		{wikiViews(), Arguments{Assignments: []string{"pages=ten"}}, "number"},
		{wikiViews(), Arguments{Assignments: []string{"view=tree"}}, "list"},
		{wikiViews(), Arguments{Assignments: []string{"page=1"}}, `the plugin wiki has no setting "page": name one of site, token, pages, quiet, view`},
		{wikiViews(), Arguments{Assignments: []string{"token.x=1"}}, `has no setting "token.x"`},
		{wikiViews(), Arguments{Assignments: []string{"token=-", "pages=-"}}, "only one value can be read from stdin"},
		{wikiViews(), Arguments{Instances: []string{"work"}}, "--instance work: write NAME=URL"},
		{wikiViews(), Arguments{Unset: []string{"site.home"}}, `site has no instance "home"`},
		{wikiViews(), Arguments{Unset: []string{"nothing"}}, `has no setting "nothing"`},
		{wikiViews()[1:], Arguments{Instances: []string{"x=https://x.test"}}, "has no setting of type url"},
		{viewsWithTwoURLs, Arguments{Instances: []string{"x=https://x.test"}}, "write KEY.INSTANCE=URL with one of site, mirror"},
		{nil, Arguments{Assignments: []string{"a=b"}}, "the plugin wiki has no settings"},
	} {
		_, err := applyForm(t, testCase.views, testCase.args, "1")
		var user *usererr.Error
		if !errors.As(err, &user) || !strings.Contains(err.Error(), testCase.want) {
			t.Errorf("Apply(%+v) returned %v, want the error %q", testCase.args, err, testCase.want)
		}
	}
}

func TestValueReadError(t *testing.T) {
	f := New("wiki", wikiViews())
	err := f.Apply(Arguments{Assignments: []string{"token=-"}}, io.MultiReader(strings.NewReader("s3c"), iotest.ErrReader(io.ErrUnexpectedEOF)))
	if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "the value of token") || len(f.Changes) != 0 {
		t.Errorf("error of a value that cannot be read = %v, changes %s; want an error with the key token, and no changes", err, f.Changes)
	}
}

func TestInvalidStoredURLs(t *testing.T) {
	views := []wire.SettingView{{Key: "site", Type: wire.SettingURL, Value: json.RawMessage(`{"default":7,"work":"https://b.test"}`)}}
	got, err := applyForm(t, views, Arguments{Assignments: []string{"site=https://c.test"}}, "")
	if err != nil || got != `{"site":{"default":"https://c.test"}}` {
		t.Errorf("change of a damaged URL setting = %s, error %v; want only the new URL", got, err)
	}
}

func TestIsEmpty(t *testing.T) {
	if !(Arguments{}).IsEmpty() {
		t.Error("IsEmpty of the zero value of Arguments = false, want true")
	}
	for _, a := range []Arguments{{Assignments: []string{"a=b"}}, {Unset: []string{"a"}}, {Instances: []string{"a=b"}}} {
		if a.IsEmpty() {
			t.Errorf("IsEmpty of the arguments %+v = true, want false", a)
		}
	}
}

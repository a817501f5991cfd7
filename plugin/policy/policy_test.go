package policy_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"opentabs/dispatch"
	"opentabs/plugin"
	"opentabs/plugin/plugintest"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

type policyFixture struct {
	t        *testing.T
	dir      string
	policy   *policy.Policy
	enforcer *policy.Enforcer
	warnings []string
	changes  []policy.Change

	mu        sync.Mutex // guards set, and changes while calls run
	pluginSet *plugin.Set
}

func newPolicyFixture(t *testing.T, packages ...plugintest.Package) *policyFixture {
	t.Helper()
	w := &policyFixture{t: t, dir: t.TempDir()}
	w.load(packages...)
	w.policy = policy.New(w.dir, w.Set, policy.Options{
		WarnUser: func(warning string) { w.warnings = append(w.warnings, warning) },
		RecordChange: func(c policy.Change) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.changes = append(w.changes, c)
		},
	})
	w.enforcer = policy.NewEnforcer(w.policy)
	return w
}

func twoToolPackage(name, code string) plugintest.Package {
	return plugintest.Package{Name: name, Code: code, Tools: []plugintest.Tool{
		{Name: "read", Description: "Reads."}, {Name: "send", Description: "Sends."},
	}}
}

func (w *policyFixture) Set() *plugin.Set {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pluginSet
}

func (w *policyFixture) load(packages ...plugintest.Package) {
	w.t.Helper()
	var plugins []*plugin.Plugin
	for _, p := range packages {
		plugins = append(plugins, plugintest.Load(w.t, p))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pluginSet = plugin.NewSet(plugins, nil)
}

func (w *policyFixture) hash(name string) string {
	w.t.Helper()
	loadedPlugin, ok := w.Set().Plugin(name)
	if !ok {
		w.t.Fatalf("no plugin %s", name)
	}
	return loadedPlugin.ContentHash()
}

func (w *policyFixture) review(name string, permission wire.Permission) {
	w.t.Helper()
	w.failOnError(w.policy.Review(name, w.hash(name), permission, "the test"))
}

func (w *policyFixture) failOnError(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *policyFixture) checkEffective(name string, want ...wire.Permission) {
	w.t.Helper()
	s := w.policy.State(name)
	if got := []wire.Permission{s.EffectivePermission, s.Tool("read"), s.Tool("send")}; !slices.Equal(got, want) {
		w.t.Errorf("%s: %v, want %v", name, got, want)
	}
}

func (w *policyFixture) file() string {
	w.t.Helper()
	fileContent, err := os.ReadFile(w.policy.Path())
	w.failOnError(err)
	return string(fileContent)
}

func (w *policyFixture) write(fileContent string) {
	w.t.Helper()
	w.failOnError(os.WriteFile(w.policy.Path(), []byte(fileContent), 0o600))
}

const (
	permissionOff  = wire.PermissionOff
	permissionAsk  = wire.PermissionAsk
	permissionAuto = wire.PermissionAuto
)

func TestReview(t *testing.T) {
	w := newPolicyFixture(t, twoToolPackage("a", "1;"))
	w.checkEffective("a", permissionOff, permissionOff, permissionOff)
	if err := w.policy.SetPermission("a", "", permissionAuto, "the test"); err == nil || !strings.Contains(err.Error(), "`opentabs plugin review a`") {
		t.Errorf("setting a permission without a review: %v", err)
	}
	w.failOnError(w.policy.SetPermission("a", "send", permissionOff, "the test"))
	w.review("a", permissionAuto)
	w.checkEffective("a", permissionAuto, permissionAuto, permissionOff)
	if fileInfo, err := os.Stat(w.policy.Path()); err != nil || fileInfo.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", fileInfo, err)
	}
	s := w.policy.State("a")
	if s.Review.Version != "1.0.0" || s.Review.By != "the test" || s.Review.At.IsZero() || s.PermissionOrigin.By != "the test" {
		t.Errorf("the review is recorded as %+v", s)
	}

	reviewedHash := w.hash("a")
	w.failOnError(w.policy.SetPermission("a", "read", permissionAuto, "me"))
	w.load(twoToolPackage("a", "2;"))
	w.checkEffective("a", permissionOff, permissionOff, permissionOff)
	if s := w.policy.State("a"); s.Reviewed || s.Permission != permissionAuto || s.Review.Hash != reviewedHash {
		t.Errorf("the earlier permission is missing: %+v", s)
	}
	if err := w.policy.Review("a", reviewedHash, permissionAuto, "the test"); err == nil || !strings.Contains(err.Error(), "has changed since you reviewed it") {
		t.Errorf("reviewing earlier content: %v; want an error that contains %q", err, "has changed since you reviewed it")
	}
	w.checkEffective("a", permissionOff, permissionOff, permissionOff)
	w.review("a", permissionAsk)
	w.checkEffective("a", permissionAsk, permissionAsk, permissionOff)
	w.review("a", permissionAuto)
	w.checkEffective("a", permissionAuto, permissionAuto, permissionOff)

	if err := w.policy.Review("a", w.hash("a"), "maybe", "x"); err == nil {
		t.Error("a review with an unknown permission succeeded")
	}
	if err := w.policy.Review("b", "", permissionAsk, "x"); !errors.Is(err, plugin.ErrUnknown) {
		t.Errorf("reviewing an unknown plugin: %v; want the error %v", err, plugin.ErrUnknown)
	}
}

func TestToolPermission(t *testing.T) {
	w := newPolicyFixture(t, twoToolPackage("a", ""))
	w.review("a", permissionAuto)
	w.failOnError(w.policy.SetPermission("a", "send", permissionOff, "x"))
	if !strings.Contains(w.file(), `"permission": "off"`) {
		t.Errorf("off is written as %s", w.file())
	}
	w.checkEffective("a", permissionAuto, permissionAuto, permissionOff)
	w.failOnError(w.policy.SetPermission("a", "send", "", "x"))
	w.checkEffective("a", permissionAuto, permissionAuto, permissionAuto)
	if strings.Contains(w.file(), "tools") {
		t.Errorf("an empty entry is written: %s", w.file())
	}
	w.failOnError(w.policy.SetPermission("a", "", permissionOff, "x"))
	w.failOnError(w.policy.SetPermission("a", "send", permissionAsk, "x"))
	w.checkEffective("a", permissionOff, permissionOff, permissionAsk)
	for _, testCase := range []struct {
		plugin, tool string
		permission   wire.Permission
		want         string
	}{
		{"a", "", "", "only a tool can have the default"},
		{"a", "sent", permissionOff, "(did you mean a__send?)"},
		{"a", "read", "always", `"always" is not a permission`},
		{"aa", "", permissionOff, `there is no plugin "aa"`},
	} {
		if err := w.policy.SetPermission(testCase.plugin, testCase.tool, testCase.permission, "x"); err == nil || !strings.Contains(err.Error(), testCase.want) {
			t.Errorf("%v: %v; want an error that contains %q", testCase, err, testCase.want)
		}
	}
	want := []string{"review: ->auto", "permission:send ->off", "permission:send off->", "permission: auto->off", "permission:send ->ask"}
	var got []string
	for _, c := range w.changes {
		got = append(got, fmt.Sprintf("%s:%s %s->%s", c.Kind, c.Tool, c.Old, c.New))
	}
	if !slices.Equal(got, want) {
		t.Errorf("changes %q, want %q", got, want)
	}
}

func TestPolicyKeepsUnknownMembers(t *testing.T) {
	w := newPolicyFixture(t, twoToolPackage("a", ""), twoToolPackage("b", ""))
	w.review("a", permissionAuto)
	fileContent := strings.Replace(w.file(), `"plugins": {`, `"later": [1], "plugins": {"gone": {"reviewed": {"hash": "h", "more": 1}},`, 1)
	fileContent = strings.Replace(fileContent, `"hash": "`+w.hash("a"), `"later": {"x": null}, "hash": "`+w.hash("a"), 1)
	w.write(fileContent)
	w.load(twoToolPackage("b", ""))
	w.checkEffective("a", permissionOff, permissionOff, permissionOff)
	w.review("b", permissionAsk)
	for _, want := range []string{`"later": [`, `"gone"`, `"more": 1`, `"x": null`, `"hash": "h"`} {
		if !strings.Contains(w.file(), want) {
			t.Errorf("%s is lost: %s; want a text that contains %q", want, w.file(), want)
		}
	}
	w.load(twoToolPackage("a", ""), twoToolPackage("b", ""))
	w.checkEffective("a", permissionAuto, permissionAuto, permissionAuto)
	w.failOnError(w.policy.Forget("a", "x"))
	w.checkEffective("a", permissionOff, permissionOff, permissionOff)
	if strings.Contains(w.file(), `"a"`) || !strings.Contains(w.file(), `"gone"`) {
		t.Errorf("forgotten: %s", w.file())
	}
}

func TestPolicyFileIsDamaged(t *testing.T) {
	for _, fileContent := range []string{"", "{", "[]", "null", `{"plugins":{}}`, `{"version":0}`, `{"version":1,"plugins":[]}`} {
		w := newPolicyFixture(t, twoToolPackage("a", ""))
		w.review("a", permissionAuto)
		w.write(fileContent)
		w.checkEffective("a", permissionOff, permissionOff, permissionOff)
		if problems := w.policy.Problems(); len(problems) != 1 || !strings.Contains(problems[0], "permissions.json") {
			t.Errorf("%q: problems %q", fileContent, problems)
		}
		w.failOnError(w.policy.Repair())
		w.checkEffective("a", permissionOff, permissionOff, permissionOff)
		if len(w.warnings) != 1 || !strings.Contains(w.warnings[0], "review your plugins again") {
			t.Errorf("%q: warned %q", fileContent, w.warnings)
		}
		keptFiles, err := filepath.Glob(w.policy.Path() + ".corrupt-*")
		if err != nil || len(keptFiles) != 1 {
			t.Fatalf("%q: kept %v, %v; want length 1", fileContent, keptFiles, err)
		}
		if got, err := os.ReadFile(keptFiles[0]); err != nil || string(got) != fileContent {
			t.Errorf("%q: kept %q, %v", fileContent, got, err)
		}
		w.review("a", permissionAsk)
		w.checkEffective("a", permissionAsk, permissionAsk, permissionAsk)
	}
}

func TestPolicyPartsAreDamaged(t *testing.T) {
	w := newPolicyFixture(t, twoToolPackage("a", ""), twoToolPackage("b", ""))
	w.review("a", permissionAuto)
	w.review("b", permissionAuto)
	validText := w.file()
	for _, c := range []struct {
		tools       string
		want        []wire.Permission
		problemText string
	}{
		{`"tools":{"send":{"permission":"on"}}`, []wire.Permission{permissionAuto, permissionAuto, permissionOff}, `plugins.a: tools.send.permission is wrong, so it counts as off`},
		{`"tools":{"send":{"permission":1}}`, []wire.Permission{permissionAuto, permissionAuto, permissionOff}, `plugins.a: tools.send.permission is a number`},
		{`"tools":{"send":true}`, []wire.Permission{permissionAuto, permissionAuto, permissionOff}, `plugins.a: tools.send is no object`},
		{`"tools":{"send":{"limit":"often"}}`, []wire.Permission{permissionAuto, permissionAuto, permissionOff}, `plugins.a: tools.send.limit is wrong`},
		{`"tools":[]`, []wire.Permission{permissionOff, permissionOff, permissionOff}, `plugins.a: tools is an array`},
	} {
		w.write(strings.Replace(validText, `"a": {`, `"a": {`+c.tools+`,`, 1))
		w.checkEffective("a", c.want...)
		w.checkEffective("b", permissionAuto, permissionAuto, permissionAuto)
		if problems := strings.Join(w.policy.Problems(), "\n"); !strings.Contains(problems, c.problemText) {
			t.Errorf("%s: problems %q", c.tools, problems)
		}
	}
	for _, entry := range []string{`1`, `{"reviewed":true,"permission":"auto"}`, `{"reviewed":{"hash":""},"permission":"auto"}`} {
		w.write(`{"version":1,"plugins":{"a":` + entry + `}}`)
		w.checkEffective("a", permissionOff, permissionOff, permissionOff)
		if len(w.policy.Problems()) == 0 {
			t.Errorf("%s is no problem", entry)
		}
	}
}

func TestPolicyOfNewerVersion(t *testing.T) {
	w := newPolicyFixture(t, twoToolPackage("a", ""))
	const fileContent = `{"version":2,"plugins":"else"}`
	w.write(fileContent)
	w.checkEffective("a", permissionOff, permissionOff, permissionOff)
	if err := w.policy.Review("a", w.hash("a"), permissionAuto, "x"); err == nil || !strings.Contains(err.Error(), "update opentabs") {
		t.Errorf("a change: %v; want an error that contains %q", err, "update opentabs")
	}
	if w.failOnError(w.policy.Repair()); w.file() != fileContent {
		t.Errorf("the file is now %s", w.file())
	}
}

func TestChangedFileAppliesToNextCall(t *testing.T) {
	w := newPolicyFixture(t, twoToolPackage("a", ""))
	changeSignals := make(chan struct{}, 10)
	w.policy.OnChange(func() { changeSignals <- struct{}{} })
	otherPolicy := policy.New(w.dir, w.Set, policy.Options{})
	w.failOnError(otherPolicy.Review("a", w.hash("a"), permissionAuto, "x"))
	w.checkEffective("a", permissionAuto, permissionAuto, permissionAuto)
	<-changeSignals
	fileContent := w.file()
	w.write(strings.Replace(fileContent, `"auto"`, `"ask"`, 1)) // some editors write a file in place
	w.checkEffective("a", permissionAsk, permissionAsk, permissionAsk)
	<-changeSignals
	w.failOnError(os.Remove(w.policy.Path()))
	w.checkEffective("a", permissionOff, permissionOff, permissionOff)
	<-changeSignals
}

func TestPolicyCannotBeRead(t *testing.T) {
	w := newPolicyFixture(t, twoToolPackage("a", ""))
	w.review("a", permissionAuto)
	movedFile := w.policy.Path() + ".aside"
	w.failOnError(errors.Join(os.Rename(w.policy.Path(), movedFile), os.Mkdir(w.policy.Path(), 0o700)))
	changeSignals := make(chan struct{}, 10)
	w.policy.OnChange(func() { changeSignals <- struct{}{} })
	for range 3 {
		w.checkEffective("a", permissionOff, permissionOff, permissionOff)
		if problems := w.policy.Problems(); len(problems) != 1 || !strings.Contains(problems[0], "read the file of permissions") {
			t.Errorf("problems %q", problems)
		}
	}
	<-changeSignals
	w.failOnError(errors.Join(os.Remove(w.policy.Path()), os.Rename(movedFile, w.policy.Path())))
	w.checkEffective("a", permissionAuto, permissionAuto, permissionAuto)
	<-changeSignals
	if len(changeSignals) > 0 {
		t.Error("the same problem was reported again")
	}
}

func TestPolicyCannotBeWritten(t *testing.T) {
	w := newPolicyFixture(t, twoToolPackage("a", ""))
	w.review("a", permissionAsk)
	textBefore := w.file()
	lock := w.policy.Path() + ".lock"
	w.failOnError(errors.Join(os.Remove(lock), os.Mkdir(lock, 0o700)))
	for _, err := range []error{
		w.policy.Review("a", w.hash("a"), permissionAuto, "x"), w.policy.SetPermission("a", "", permissionAuto, "x"),
		w.policy.SetLimit("a", "send", policy.Limit{}, "x"), w.policy.Forget("a", "x"),
	} {
		if err == nil || !strings.Contains(err.Error(), lock) {
			t.Errorf("got %v; want an error that contains %q", err, lock)
		}
	}
	if w.checkEffective("a", permissionAsk, permissionAsk, permissionAsk); w.file() != textBefore || len(w.changes) != 1 {
		t.Errorf("the file is now %s; %v", w.file(), w.changes)
	}
}

func TestPolicyConcurrentChanges(t *testing.T) {
	var packages []plugintest.Package
	for i := range 4 { // only 4 changes, because each change waits for the disk, and the lock has a time limit
		packages = append(packages, twoToolPackage(fmt.Sprintf("p%c", 'a'+i), ""))
	}
	w := newPolicyFixture(t, packages...)
	w.policy = policy.New(w.dir, w.Set, policy.Options{})
	otherPolicy := policy.New(w.dir, w.Set, policy.Options{})
	var wg sync.WaitGroup
	for i, loadedPlugin := range w.Set().Plugins() {
		policy := w.policy
		if i%2 == 1 {
			policy = otherPolicy
		}
		wg.Go(func() {
			err := errors.Join(
				policy.Review(loadedPlugin.Name, loadedPlugin.ContentHash(), permissionAsk, "x"),
				policy.SetPermission(loadedPlugin.Name, "send", permissionOff, "x"),
				policy.SetPermission(loadedPlugin.Name, "", permissionAuto, "x"),
			)
			if err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			for range 100 {
				w.policy.State(loadedPlugin.Name)
				otherPolicy.MayRunAnyTool(loadedPlugin)
			}
		})
	}
	wg.Wait()
	for _, loadedPlugin := range w.Set().Plugins() {
		w.checkEffective(loadedPlugin.Name, permissionAuto, permissionAuto, permissionOff)
	}
}

func TestBuiltinOptInTools(t *testing.T) {
	w := newPolicyFixture(t)
	schema := json.RawMessage(`{"type":"object"}`)
	builtin := plugin.NewBuiltin(&plugin.Plugin{Name: "browser", Tools: []*plugin.Tool{
		{Name: "read", TargetKind: dispatch.TargetPage, InputSchema: schema},
		{Name: "send", TargetKind: dispatch.TargetPage, InputSchema: schema, IsOptIn: true},
	}})
	w.pluginSet = plugin.NewSet(nil, nil, builtin)
	const off, auto = wire.PermissionOff, wire.PermissionAuto
	w.checkEffective("browser", off, off, off)
	w.failOnError(w.policy.SetPermission("browser", "", auto, "the test"))
	w.checkEffective("browser", auto, auto, off)
	const offText = "send is off until the user switches it on with `opentabs browser tools on send`"
	sendTool := builtin.Tools[1].Dispatch()
	if got := policy.NewEnforcer(w.policy).Refusals("browser")(sendTool); got == nil || !strings.Contains(got.Message, offText) {
		t.Errorf("refusal of the opt-in tool = %v, want %q", got, offText)
	}
	w.failOnError(w.policy.SetPermission("browser", "send", auto, "the test"))
	w.checkEffective("browser", auto, auto, auto)
	w.failOnError(w.policy.SetPermission("browser", "", off, "the test"))
	w.checkEffective("browser", off, off, off)
}

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

	mu        sync.Mutex // guards pluginSet, and changes while calls run
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

func newTwoToolPackage(name, code string) plugintest.Package {
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
		w.t.Fatalf("plugin %s is not loaded; want it loaded", name)
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

func (w *policyFixture) checkEffectivePermissions(name string, want ...wire.Permission) {
	w.t.Helper()
	s := w.policy.State(name)
	if got := []wire.Permission{s.EffectivePermission, s.Tool("read"), s.Tool("send")}; !slices.Equal(got, want) {
		w.t.Errorf("effective permissions of the plugin %s and its tools = %v, want %v", name, got, want)
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

func TestReviewEnablesPlugin(t *testing.T) {
	w := newPolicyFixture(t, newTwoToolPackage("a", "1;"))
	w.checkEffectivePermissions("a", permissionOff, permissionOff, permissionOff)
	if err := w.policy.SetPermission("a", "", permissionAuto, "the test"); err == nil || !strings.Contains(err.Error(), "`opentabs plugin review a`") {
		t.Errorf("setting a permission without a review: error %v; want the command `opentabs plugin review a`", err)
	}
	w.failOnError(w.policy.SetPermission("a", "send", permissionOff, "the test"))
	w.review("a", permissionAuto)
	w.checkEffectivePermissions("a", permissionAuto, permissionAuto, permissionOff)
	if fileInfo, err := os.Stat(w.policy.Path()); err != nil || fileInfo.Mode().Perm() != 0o600 {
		t.Errorf("permissions.json = %v, error %v; want the mode 0600", fileInfo, err)
	}
	s := w.policy.State("a")
	if s.Review.Version != "1.0.0" || s.Review.By != "the test" || s.Review.At.IsZero() || s.PermissionOrigin.By != "the test" {
		t.Errorf("recorded review = %+v; want version 1.0.0 by the test, with the time", s)
	}

	reviewedHash := w.hash("a")
	w.failOnError(w.policy.SetPermission("a", "read", permissionAuto, "me"))
	w.load(newTwoToolPackage("a", "2;"))
	w.checkEffectivePermissions("a", permissionOff, permissionOff, permissionOff)
	if s := w.policy.State("a"); s.Reviewed || s.Permission != permissionAuto || s.Review.Hash != reviewedHash {
		t.Errorf("state after new content = %+v; want not reviewed, with the earlier permission and hash", s)
	}
	if err := w.policy.Review("a", reviewedHash, permissionAuto, "the test"); err == nil || !strings.Contains(err.Error(), "has changed since you reviewed it") {
		t.Errorf("error of a review of earlier content = %v; want an error that contains %q", err, "has changed since you reviewed it")
	}
	w.checkEffectivePermissions("a", permissionOff, permissionOff, permissionOff)
	w.review("a", permissionAsk)
	w.checkEffectivePermissions("a", permissionAsk, permissionAsk, permissionOff)
	w.review("a", permissionAuto)
	w.checkEffectivePermissions("a", permissionAuto, permissionAuto, permissionOff)

	if err := w.policy.Review("a", w.hash("a"), "maybe", "x"); err == nil {
		t.Error("a review with an unknown permission succeeded; want an error")
	}
	if err := w.policy.Review("b", "", permissionAsk, "x"); !errors.Is(err, plugin.ErrUnknown) {
		t.Errorf("error of a review of an unknown plugin = %v; want the error %v", err, plugin.ErrUnknown)
	}
}

func TestToolPermission(t *testing.T) {
	w := newPolicyFixture(t, newTwoToolPackage("a", ""))
	w.review("a", permissionAuto)
	w.failOnError(w.policy.SetPermission("a", "send", permissionOff, "x"))
	if !strings.Contains(w.file(), `"permission": "off"`) {
		t.Errorf("permissions.json = %s; want the permission off", w.file())
	}
	w.checkEffectivePermissions("a", permissionAuto, permissionAuto, permissionOff)
	w.failOnError(w.policy.SetPermission("a", "send", "", "x"))
	w.checkEffectivePermissions("a", permissionAuto, permissionAuto, permissionAuto)
	if strings.Contains(w.file(), "tools") {
		t.Errorf("permissions.json = %s; want no empty entry for tools", w.file())
	}
	w.failOnError(w.policy.SetPermission("a", "", permissionOff, "x"))
	w.failOnError(w.policy.SetPermission("a", "send", permissionAsk, "x"))
	w.checkEffectivePermissions("a", permissionOff, permissionOff, permissionAsk)
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
			t.Errorf("SetPermission %v: error %v; want an error that contains %q", testCase, err, testCase.want)
		}
	}
	want := []string{"review: ->auto", "permission:send ->off", "permission:send off->", "permission: auto->off", "permission:send ->ask"}
	var got []string
	for _, c := range w.changes {
		got = append(got, fmt.Sprintf("%s:%s %s->%s", c.Kind, c.Tool, c.Old, c.New))
	}
	if !slices.Equal(got, want) {
		t.Errorf("recorded changes = %q, want %q", got, want)
	}
}

func TestPolicyKeepsUnknownMembers(t *testing.T) {
	w := newPolicyFixture(t, newTwoToolPackage("a", ""), newTwoToolPackage("b", ""))
	w.review("a", permissionAuto)
	fileContent := strings.Replace(w.file(), `"plugins": {`, `"later": [1], "plugins": {"gone": {"reviewed": {"hash": "h", "more": 1}},`, 1)
	fileContent = strings.Replace(fileContent, `"hash": "`+w.hash("a"), `"later": {"x": null}, "hash": "`+w.hash("a"), 1)
	w.write(fileContent)
	w.load(newTwoToolPackage("b", ""))
	w.checkEffectivePermissions("a", permissionOff, permissionOff, permissionOff)
	w.review("b", permissionAsk)
	for _, want := range []string{`"later": [`, `"gone"`, `"more": 1`, `"x": null`, `"hash": "h"`} {
		if !strings.Contains(w.file(), want) {
			t.Errorf("the text %s is lost in permissions.json: %s; want a text that contains %q", want, w.file(), want)
		}
	}
	w.load(newTwoToolPackage("a", ""), newTwoToolPackage("b", ""))
	w.checkEffectivePermissions("a", permissionAuto, permissionAuto, permissionAuto)
	w.failOnError(w.policy.Forget("a", "x"))
	w.checkEffectivePermissions("a", permissionOff, permissionOff, permissionOff)
	if strings.Contains(w.file(), `"a"`) || !strings.Contains(w.file(), `"gone"`) {
		t.Errorf("permissions.json after Forget = %s; want no entry for the plugin a, and an entry for the plugin named gone", w.file())
	}
}

func TestPolicyFileIsDamaged(t *testing.T) {
	for _, fileContent := range []string{"", "{", "[]", "null", `{"plugins":{}}`, `{"version":0}`, `{"version":1,"plugins":[]}`} {
		w := newPolicyFixture(t, newTwoToolPackage("a", ""))
		w.review("a", permissionAuto)
		w.write(fileContent)
		w.checkEffectivePermissions("a", permissionOff, permissionOff, permissionOff)
		if problems := w.policy.Problems(); len(problems) != 1 || !strings.Contains(problems[0], "permissions.json") {
			t.Errorf("permissions.json %q: problems %q; want one that names the file", fileContent, problems)
		}
		w.failOnError(w.policy.Repair())
		w.checkEffectivePermissions("a", permissionOff, permissionOff, permissionOff)
		if len(w.warnings) != 1 || !strings.Contains(w.warnings[0], "review your plugins again") {
			t.Errorf("permissions.json %q: warnings %q; want one that asks for a new review", fileContent, w.warnings)
		}
		corruptFiles, err := filepath.Glob(w.policy.Path() + ".corrupt-*")
		if err != nil || len(corruptFiles) != 1 {
			t.Fatalf("permissions.json %q: kept files %v, error %v; want 1 file", fileContent, corruptFiles, err)
		}
		if got, err := os.ReadFile(corruptFiles[0]); err != nil || string(got) != fileContent {
			t.Errorf("permissions.json %q: kept content %q, error %v; want the same content", fileContent, got, err)
		}
		w.review("a", permissionAsk)
		w.checkEffectivePermissions("a", permissionAsk, permissionAsk, permissionAsk)
	}
}

func TestDamagedPolicyEntries(t *testing.T) {
	w := newPolicyFixture(t, newTwoToolPackage("a", ""), newTwoToolPackage("b", ""))
	w.review("a", permissionAuto)
	w.review("b", permissionAuto)
	validFileText := w.file()
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
		w.write(strings.Replace(validFileText, `"a": {`, `"a": {`+c.tools+`,`, 1))
		w.checkEffectivePermissions("a", c.want...)
		w.checkEffectivePermissions("b", permissionAuto, permissionAuto, permissionAuto)
		if problems := strings.Join(w.policy.Problems(), "\n"); !strings.Contains(problems, c.problemText) {
			t.Errorf("tools %s: problems %q; want %q", c.tools, problems, c.problemText)
		}
	}
	for _, entry := range []string{`1`, `{"reviewed":true,"permission":"auto"}`, `{"reviewed":{"hash":""},"permission":"auto"}`} {
		w.write(`{"version":1,"plugins":{"a":` + entry + `}}`)
		w.checkEffectivePermissions("a", permissionOff, permissionOff, permissionOff)
		if len(w.policy.Problems()) == 0 {
			t.Errorf("entry %s is accepted; want a problem", entry)
		}
	}
}

func TestPolicyOfNewerVersion(t *testing.T) {
	w := newPolicyFixture(t, newTwoToolPackage("a", ""))
	const fileContent = `{"version":2,"plugins":"else"}`
	w.write(fileContent)
	w.checkEffectivePermissions("a", permissionOff, permissionOff, permissionOff)
	if err := w.policy.Review("a", w.hash("a"), permissionAuto, "x"); err == nil || !strings.Contains(err.Error(), "update opentabs") {
		t.Errorf("error of a change of a newer permissions.json = %v; want an error that contains %q", err, "update opentabs")
	}
	if w.failOnError(w.policy.Repair()); w.file() != fileContent {
		t.Errorf("permissions.json = %s; want it unchanged", w.file())
	}
}

func TestChangedFileAppliesToNextCall(t *testing.T) {
	w := newPolicyFixture(t, newTwoToolPackage("a", ""))
	changeSignals := make(chan struct{}, 10)
	w.policy.OnChange(func() { changeSignals <- struct{}{} })
	otherPolicy := policy.New(w.dir, w.Set, policy.Options{})
	w.failOnError(otherPolicy.Review("a", w.hash("a"), permissionAuto, "x"))
	w.checkEffectivePermissions("a", permissionAuto, permissionAuto, permissionAuto)
	<-changeSignals
	fileContent := w.file()
	w.write(strings.Replace(fileContent, `"auto"`, `"ask"`, 1)) // some editors write a file in place
	w.checkEffectivePermissions("a", permissionAsk, permissionAsk, permissionAsk)
	<-changeSignals
	w.failOnError(os.Remove(w.policy.Path()))
	w.checkEffectivePermissions("a", permissionOff, permissionOff, permissionOff)
	<-changeSignals
}

func TestPolicyCannotBeRead(t *testing.T) {
	w := newPolicyFixture(t, newTwoToolPackage("a", ""))
	w.review("a", permissionAuto)
	movedFile := w.policy.Path() + ".aside"
	w.failOnError(errors.Join(os.Rename(w.policy.Path(), movedFile), os.Mkdir(w.policy.Path(), 0o700)))
	changeSignals := make(chan struct{}, 10)
	w.policy.OnChange(func() { changeSignals <- struct{}{} })
	for range 3 {
		w.checkEffectivePermissions("a", permissionOff, permissionOff, permissionOff)
		if problems := w.policy.Problems(); len(problems) != 1 || !strings.Contains(problems[0], "read the file of permissions") {
			t.Errorf("problems = %q; want one about reading the file of permissions", problems)
		}
	}
	<-changeSignals
	w.failOnError(errors.Join(os.Remove(w.policy.Path()), os.Rename(movedFile, w.policy.Path())))
	w.checkEffectivePermissions("a", permissionAuto, permissionAuto, permissionAuto)
	<-changeSignals
	if len(changeSignals) > 0 {
		t.Error("the policy reported the same problem again; want one report")
	}
}

func TestPolicyCannotBeWritten(t *testing.T) {
	w := newPolicyFixture(t, newTwoToolPackage("a", ""))
	w.review("a", permissionAsk)
	textBefore := w.file()
	lock := w.policy.Path() + ".lock"
	w.failOnError(errors.Join(os.Remove(lock), os.Mkdir(lock, 0o700)))
	for _, err := range []error{
		w.policy.Review("a", w.hash("a"), permissionAuto, "x"), w.policy.SetPermission("a", "", permissionAuto, "x"),
		w.policy.SetLimit("a", "send", policy.Limit{}, "x"), w.policy.Forget("a", "x"),
	} {
		if err == nil || !strings.Contains(err.Error(), lock) {
			t.Errorf("error of a change whose lock file cannot be opened = %v; want an error that contains %q", err, lock)
		}
	}
	if w.checkEffectivePermissions("a", permissionAsk, permissionAsk, permissionAsk); w.file() != textBefore || len(w.changes) != 1 {
		t.Errorf("permissions.json = %s, changes %v; want the same file and 1 change", w.file(), w.changes)
	}
}

func TestPolicyConcurrentChanges(t *testing.T) {
	var packages []plugintest.Package
	for i := range 4 { // only 4 changes, because each change waits for the disk, and the lock has a time limit
		packages = append(packages, newTwoToolPackage(fmt.Sprintf("p%c", 'a'+i), ""))
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
		w.checkEffectivePermissions(loadedPlugin.Name, permissionAuto, permissionAuto, permissionOff)
	}
}

func TestBuiltinOptInTools(t *testing.T) {
	w := newPolicyFixture(t)
	schema := json.RawMessage(`{"type":"object"}`)
	builtinPlugin := plugin.NewBuiltin(&plugin.Plugin{Name: "browser", Tools: []*plugin.Tool{
		{Name: "read", TargetKind: dispatch.TargetPage, InputSchema: schema},
		{Name: "send", TargetKind: dispatch.TargetPage, InputSchema: schema, IsOffByDefault: true},
	}})
	w.pluginSet = plugin.NewSet(nil, nil, builtinPlugin)
	const off, auto = wire.PermissionOff, wire.PermissionAuto
	w.checkEffectivePermissions("browser", off, off, off)
	w.failOnError(w.policy.SetPermission("browser", "", auto, "the test"))
	w.checkEffectivePermissions("browser", auto, auto, off)
	const sendOffText = "send is off until the user switches it on with `opentabs browser tools on send`"
	sendTool := builtinPlugin.Tools[1].Dispatch()
	if got := policy.NewEnforcer(w.policy).RefusalFunc("browser")(sendTool); got == nil || !strings.Contains(got.Message, sendOffText) {
		t.Errorf("refusal of the opt-in tool = %v, want %q", got, sendOffText)
	}
	w.failOnError(w.policy.SetPermission("browser", "send", auto, "the test"))
	w.checkEffectivePermissions("browser", auto, auto, auto)
	w.failOnError(w.policy.SetPermission("browser", "", off, "the test"))
	w.checkEffectivePermissions("browser", off, off, off)
}

package policy_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"opentabs/plugin"
	"opentabs/plugin/plugintest"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

// policyWorld has a policy, and plugins that a test can change.
type policyWorld struct {
	t      *testing.T
	dir    string
	policy *policy.Policy
	// enforcer applies policy.
	enforcer *policy.Enforcer
	// warned and changes are the warnings and changes that the policy has reported.
	warned  []string
	changes []policy.Change

	mu  sync.Mutex // guards set
	set *plugin.Set
}

func newPolicyWorld(t *testing.T, packages ...plugintest.Package) *policyWorld {
	t.Helper()
	w := &policyWorld{t: t, dir: t.TempDir()}
	w.load(packages...)
	w.policy = policy.New(w.dir, w.Set, policy.Options{
		Warn:   func(sentence string) { w.warned = append(w.warned, sentence) },
		Record: func(c policy.Change) { w.changes = append(w.changes, c) },
	})
	w.enforcer = policy.NewEnforcer(w.policy)
	return w
}

// twoToolPackage returns a package with two tools.
func twoToolPackage(name, code string) plugintest.Package {
	return plugintest.Package{Name: name, Code: code, Tools: []plugintest.Tool{
		{Name: "read", Description: "Reads."}, {Name: "send", Description: "Sends."},
	}}
}

func (w *policyWorld) Set() *plugin.Set {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.set
}

// load replaces the plugins with these packages.
func (w *policyWorld) load(packages ...plugintest.Package) {
	w.t.Helper()
	var plugins []*plugin.Plugin
	for _, p := range packages {
		plugins = append(plugins, plugintest.Load(w.t, p))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.set = plugin.NewSet(plugins, nil)
}

func (w *policyWorld) hash(name string) string {
	w.t.Helper()
	one, ok := w.Set().Plugin(name)
	if !ok {
		w.t.Fatalf("no plugin %s", name)
	}
	return one.ContentHash()
}

func (w *policyWorld) review(name string, permission wire.Permission) {
	w.t.Helper()
	w.must(w.policy.Review(name, w.hash(name), permission, "the test"))
}

func (w *policyWorld) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// checkHeld checks the permissions in effect: of the plugin, of its tool read, and of its
// tool send.
func (w *policyWorld) checkHeld(name string, want ...wire.Permission) {
	w.t.Helper()
	s := w.policy.State(name)
	if got := []wire.Permission{s.Effective, s.Tool("read"), s.Tool("send")}; !slices.Equal(got, want) {
		w.t.Errorf("%s: %v, want %v", name, got, want)
	}
}

func (w *policyWorld) file() string {
	w.t.Helper()
	text, err := os.ReadFile(w.policy.Path())
	w.must(err)
	return string(text)
}

func (w *policyWorld) write(text string) {
	w.t.Helper()
	w.must(os.WriteFile(w.policy.Path(), []byte(text), 0o600))
}

const (
	off  = wire.PermissionOff
	ask  = wire.PermissionAsk
	auto = wire.PermissionAuto
)

// A review applies to content, not to a version.
func TestReview(t *testing.T) {
	w := newPolicyWorld(t, twoToolPackage("a", "1;"))
	w.checkHeld("a", off, off, off)
	if err := w.policy.SetPermission("a", "", auto, "the test"); err == nil || !strings.Contains(err.Error(), "`opentabs plugin review a`") {
		t.Errorf("a permission without a review: %v", err)
	}
	w.must(w.policy.SetPermission("a", "send", off, "the test")) // turning a tool off needs no review
	w.review("a", auto)
	w.checkHeld("a", auto, auto, off)
	if info, err := os.Stat(w.policy.Path()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	s := w.policy.State("a")
	if s.Review.Version != "1.0.0" || s.Review.By != "the test" || s.Review.At.IsZero() || s.Set.By != "the test" {
		t.Errorf("the review is recorded as %+v", s)
	}

	// The same version with other code needs a new review.
	seen := w.hash("a")
	w.must(w.policy.SetPermission("a", "read", auto, "me"))
	w.load(twoToolPackage("a", "2;"))
	w.checkHeld("a", off, off, off)
	if s := w.policy.State("a"); s.Reviewed || s.Permission != auto || s.Review.Hash != seen {
		t.Errorf("the earlier permission is missing: %+v", s)
	}
	if err := w.policy.Review("a", seen, auto, "the test"); err == nil || !strings.Contains(err.Error(), "has changed since you reviewed it") {
		t.Errorf("a review of earlier content: %v", err)
	}
	w.checkHeld("a", off, off, off)
	// A tool that was auto gets the permission of the review; a tool that was off
	// stays off.
	w.review("a", ask)
	w.checkHeld("a", ask, ask, off)
	w.review("a", auto) // the content is the same, so only the permission changes
	w.checkHeld("a", auto, auto, off)

	if err := w.policy.Review("a", w.hash("a"), "maybe", "x"); err == nil {
		t.Error("a permission that there is not")
	}
	if err := w.policy.Review("b", "", ask, "x"); !errors.Is(err, plugin.ErrUnknown) {
		t.Errorf("a plugin that there is not: %v", err)
	}
}

// "off" for a tool is stored, and applies even if the plugin is auto.
func TestToolPermission(t *testing.T) {
	w := newPolicyWorld(t, twoToolPackage("a", ""))
	w.review("a", auto)
	w.must(w.policy.SetPermission("a", "send", off, "x"))
	if !strings.Contains(w.file(), `"permission": "off"`) { // not by removing the entry
		t.Errorf("off is written as %s", w.file())
	}
	w.checkHeld("a", auto, auto, off)
	w.must(w.policy.SetPermission("a", "send", "", "x"))
	w.checkHeld("a", auto, auto, auto)
	if strings.Contains(w.file(), "tools") {
		t.Errorf("an empty entry is written: %s", w.file())
	}
	w.must(w.policy.SetPermission("a", "", off, "x"))
	w.must(w.policy.SetPermission("a", "send", ask, "x"))
	w.checkHeld("a", off, off, ask)
	for _, bad := range []struct {
		plugin, tool string
		permission   wire.Permission
		want         string
	}{
		{"a", "", "", "only a tool can have the default"},
		{"a", "sent", off, "(did you mean a__send?)"},
		{"a", "read", "always", `"always" is no permission`},
		{"aa", "", off, `there is no plugin "aa"`},
	} {
		if err := w.policy.SetPermission(bad.plugin, bad.tool, bad.permission, "x"); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%v: %v", bad, err)
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

// A change of one plugin keeps the entries of missing plugins, entries of newer
// versions, and permissions without a review.
func TestPolicyKeepsWhatItDoesNotKnow(t *testing.T) {
	w := newPolicyWorld(t, twoToolPackage("a", ""), twoToolPackage("b", ""))
	w.review("a", auto)
	text := strings.Replace(w.file(), `"plugins": {`, `"later": [1], "plugins": {"gone": {"reviewed": {"hash": "h", "more": 1}},`, 1)
	text = strings.Replace(text, `"hash": "`+w.hash("a"), `"later": {"x": null}, "hash": "`+w.hash("a"), 1)
	w.write(text)
	w.load(twoToolPackage("b", "")) // a cannot be loaded this time
	w.checkHeld("a", off, off, off)
	w.review("b", ask)
	for _, want := range []string{`"later": [`, `"gone"`, `"more": 1`, `"x": null`, `"hash": "h"`} {
		if !strings.Contains(w.file(), want) {
			t.Errorf("%s is lost: %s", want, w.file())
		}
	}
	w.load(twoToolPackage("a", ""), twoToolPackage("b", ""))
	w.checkHeld("a", auto, auto, auto)
	w.must(w.policy.Forget("a", "x"))
	w.checkHeld("a", off, off, off)
	if strings.Contains(w.file(), `"a"`) || !strings.Contains(w.file(), `"gone"`) {
		t.Errorf("forgotten: %s", w.file())
	}
}

func TestPolicyFileIsDamaged(t *testing.T) {
	for _, text := range []string{"", "{", "[]", "null", `{"plugins":{}}`, `{"version":0}`, `{"version":1,"plugins":[]}`} {
		w := newPolicyWorld(t, twoToolPackage("a", ""))
		w.review("a", auto)
		w.write(text)
		w.checkHeld("a", off, off, off)
		if problems := w.policy.Problems(); len(problems) != 1 || !strings.Contains(problems[0], "permissions.json") {
			t.Errorf("%q: problems %q", text, problems)
		}
		w.must(w.policy.Repair())
		w.checkHeld("a", off, off, off)
		if len(w.warned) != 1 || !strings.Contains(w.warned[0], "review your plugins again") {
			t.Errorf("%q: warned %q", text, w.warned)
		}
		kept, err := filepath.Glob(w.policy.Path() + ".corrupt-*")
		if err != nil || len(kept) != 1 {
			t.Fatalf("%q: kept %v, %v", text, kept, err)
		}
		if got, err := os.ReadFile(kept[0]); err != nil || string(got) != text {
			t.Errorf("%q: kept %q, %v", text, got, err)
		}
		w.review("a", ask)
		w.checkHeld("a", ask, ask, ask)
	}
}

// A malformed part of the file turns off what the part is about, and nothing else.
func TestPolicyPartsAreDamaged(t *testing.T) {
	w := newPolicyWorld(t, twoToolPackage("a", ""), twoToolPackage("b", ""))
	w.review("a", auto)
	w.review("b", auto)
	good := w.file()
	for _, c := range []struct {
		tools   string
		want    []wire.Permission
		problem string
	}{
		{`"tools":{"send":{"permission":"on"}}`, []wire.Permission{auto, auto, off}, `plugins.a: tools.send.permission is wrong, so it counts as off`},
		{`"tools":{"send":{"permission":1}}`, []wire.Permission{auto, auto, off}, `plugins.a: tools.send.permission is a number`},
		{`"tools":{"send":true}`, []wire.Permission{auto, auto, off}, `plugins.a: tools.send is no object`},
		{`"tools":{"send":{"limit":"often"}}`, []wire.Permission{auto, auto, off}, `plugins.a: tools.send.limit is wrong`},
		{`"tools":[]`, []wire.Permission{off, off, off}, `plugins.a: tools is an array`},
	} {
		w.write(strings.Replace(good, `"a": {`, `"a": {`+c.tools+`,`, 1))
		w.checkHeld("a", c.want...)
		w.checkHeld("b", auto, auto, auto)
		if problems := strings.Join(w.policy.Problems(), "\n"); !strings.Contains(problems, c.problem) {
			t.Errorf("%s: problems %q", c.tools, problems)
		}
	}
	for _, entry := range []string{`1`, `{"reviewed":true,"permission":"auto"}`, `{"reviewed":{"hash":""},"permission":"auto"}`} {
		w.write(`{"version":1,"plugins":{"a":` + entry + `}}`)
		w.checkHeld("a", off, off, off)
		if len(w.policy.Problems()) == 0 {
			t.Errorf("%s is no problem", entry)
		}
	}
}

func TestPolicyOfNewerVersion(t *testing.T) {
	w := newPolicyWorld(t, twoToolPackage("a", ""))
	const text = `{"version":2,"plugins":"else"}`
	w.write(text)
	w.checkHeld("a", off, off, off)
	if err := w.policy.Review("a", w.hash("a"), auto, "x"); err == nil || !strings.Contains(err.Error(), "update opentabs") {
		t.Errorf("a change: %v", err)
	}
	if w.must(w.policy.Repair()); w.file() != text {
		t.Errorf("the file is now %s", w.file())
	}
}

// A change by another process applies to the next call, and listeners are notified.
func TestPolicyFollowsTheFile(t *testing.T) {
	w := newPolicyWorld(t, twoToolPackage("a", ""))
	heard := make(chan struct{}, 10)
	w.policy.OnChange(func() { heard <- struct{}{} })
	other := policy.New(w.dir, w.Set, policy.Options{})
	w.must(other.Review("a", w.hash("a"), auto, "x"))
	w.checkHeld("a", auto, auto, auto)
	<-heard
	text := w.file()
	w.write(strings.Replace(text, `"auto"`, `"ask"`, 1)) // written in place, as some editors do
	w.checkHeld("a", ask, ask, ask)
	<-heard
	w.must(os.Remove(w.policy.Path()))
	w.checkHeld("a", off, off, off)
	<-heard
}

// An unreadable file is read again each time, and reported once.
func TestPolicyCannotBeRead(t *testing.T) {
	w := newPolicyWorld(t, twoToolPackage("a", ""))
	w.review("a", auto)
	aside := w.policy.Path() + ".aside"
	w.must(errors.Join(os.Rename(w.policy.Path(), aside), os.Mkdir(w.policy.Path(), 0o700)))
	heard := make(chan struct{}, 10)
	w.policy.OnChange(func() { heard <- struct{}{} })
	for range 3 {
		w.checkHeld("a", off, off, off)
		if problems := w.policy.Problems(); len(problems) != 1 || !strings.Contains(problems[0], "read the file of permissions") {
			t.Errorf("problems %q", problems)
		}
	}
	<-heard
	w.must(errors.Join(os.Remove(w.policy.Path()), os.Rename(aside, w.policy.Path())))
	w.checkHeld("a", auto, auto, auto)
	<-heard
	if len(heard) > 0 {
		t.Error("the same problem was reported again")
	}
}

// A failed write returns an error and changes nothing.
func TestPolicyCannotBeWritten(t *testing.T) {
	w := newPolicyWorld(t, twoToolPackage("a", ""))
	w.review("a", ask)
	before := w.file()
	lock := w.policy.Path() + ".lock"
	w.must(errors.Join(os.Remove(lock), os.Mkdir(lock, 0o700)))
	for _, err := range []error{
		w.policy.Review("a", w.hash("a"), auto, "x"), w.policy.SetPermission("a", "", auto, "x"),
		w.policy.SetLimit("a", "send", policy.Limit{}, "x"), w.policy.Forget("a", "x"),
	} {
		if err == nil || !strings.Contains(err.Error(), lock) {
			t.Errorf("got %v", err)
		}
	}
	if w.checkHeld("a", ask, ask, ask); w.file() != before || len(w.changes) != 1 {
		t.Errorf("the file is now %s; %v", w.file(), w.changes)
	}
}

// Concurrent changes and reads, also through two policies of one folder, lose
// nothing.
func TestPolicyConcurrentChanges(t *testing.T) {
	var packages []plugintest.Package
	for i := range 8 {
		packages = append(packages, twoToolPackage(fmt.Sprintf("p%c", 'a'+i), ""))
	}
	w := newPolicyWorld(t, packages...)
	w.policy = policy.New(w.dir, w.Set, policy.Options{})
	other := policy.New(w.dir, w.Set, policy.Options{})
	var wg sync.WaitGroup
	for i, one := range w.Set().Plugins() {
		policy := w.policy
		if i%2 == 1 {
			policy = other
		}
		wg.Go(func() {
			err := errors.Join(
				policy.Review(one.Name, one.ContentHash(), ask, "x"),
				policy.SetPermission(one.Name, "send", off, "x"),
				policy.SetPermission(one.Name, "", auto, "x"),
			)
			if err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			for range 100 {
				w.policy.State(one.Name)
				other.Runs(one)
			}
		})
	}
	wg.Wait()
	for _, one := range w.Set().Plugins() {
		w.checkHeld(one.Name, auto, auto, off)
	}
}

package jsbuild

import (
	"fmt"
	"strings"
	"testing"

	"modernc.org/quickjs"
)

func runScripts(t *testing.T, scripts ...string) any {
	t.Helper()
	vm, err := quickjs.NewVM()
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	var value any
	for _, script := range append([]string{pageShimScript}, scripts...) {
		if value, err = vm.Eval(script, quickjs.EvalGlobal); err != nil {
			t.Fatalf("JavaScript error %v, want none, in %.200s", err, script)
		}
		if _, err := vm.ExecutePendingJobs(); err != nil {
			t.Fatal(err)
		}
	}
	return value
}

const checkAdapterScript = `
const entry = Object.getOwnPropertyDescriptor(o.adapters, 'messages');
const adapters = Object.getOwnPropertyDescriptor(o, 'adapters');
const a = entry.value;
JSON.stringify([
  Object.isFrozen(a), Object.isFrozen(a.tools), a.tools.every(Object.isFrozen), a.tools.length,
  entry.writable, entry.configurable, entry.enumerable, adapters.writable, adapters.configurable,
  a.__adapterHash, a.name, a.displayName, a.urlPatterns.length, typeof a.teardown, typeof a.isReady,
]);`

func TestRegisteredAdapterIsLocked(t *testing.T) {
	b := buildExampleOnce(t)
	code := string(readFileIn(t, b.Dir, "dist/adapter.iife.js"))
	want := fmt.Sprintf(`[true,true,true,%d,false,false,true,false,false,%q,"messages","Messages",2,"function","function"]`, len(exampleTools), b.Hash)
	if got := runScripts(t, code, `const o = globalThis.__openTabs;`+checkAdapterScript); got != want {
		t.Errorf("state of the adapter in the page:\ngot  %v\nwant %s", got, want)
	}
	// If a page evaluates the adapter's script again, the second adapter replaces the
	// first one, which is locked.
	if got := runScripts(t, code, code, `const o = globalThis.__openTabs;`+checkAdapterScript); got != want {
		t.Errorf("adapter that was evaluated twice:\ngot  %v\nwant %s", got, want)
	}
}

func TestAdapterKeepsPageGlobalsUnchanged(t *testing.T) {
	b := buildExampleOnce(t)
	code := string(readFileIn(t, b.Dir, "dist/adapter.iife.js"))
	got := runScripts(t,
		`const before = Object.getOwnPropertyNames(globalThis).length; const own = {};`,
		"(function (globalThis, window, self) {\n"+code+"\n})(own, own, own);",
		`const after = Object.getOwnPropertyNames(globalThis).length; const o = own.__openTabs;
if (after !== before || '__openTabs' in globalThis) throw new Error('the adapter changed the window');`,
		checkAdapterScript)
	if resultText, ok := got.(string); !ok || !strings.Contains(resultText, b.Hash) {
		t.Errorf("adapter in a private container: got %v, want the hash %s", got, b.Hash)
	}
}

func TestToolCallsOfBuiltAdapter(t *testing.T) {
	code := string(readFileIn(t, buildExampleOnce(t).Dir, "dist/adapter.iife.js"))
	got := runScripts(t, code, `
globalThis.results = [];
const tools = globalThis.__openTabs.adapters.messages.tools;
const call = (name, params, context) => {
  const tool = tools.find((tool) => tool.name === name);
  const parsed = tool.input.safeParse(params);
  if (!parsed.success) { results.push(name + ' refused'); return; }
  tool.handle(parsed.data, context).then((r) => results.push(r), (e) => results.push([e.code, e.message, e.retryable]));
};
call('echo', {value: {a: [1, null]}});
call('echo', {value: 2}, {reportProgress() {}});
call('fail', {message: 'no', code: 'MINE', retryable: true});
call('big', {bytes: -1});
globalThis.__openTabs._pluginName`, `JSON.stringify(results)`)
	want := `["big refused",{"value":{"a":[1,null]}},{"value":2},["MINE","no",true]]`
	if got != want {
		t.Errorf("state of the adapter in the page:\ngot  %v\nwant %s", got, want)
	}
}

import assert from 'node:assert/strict';
import test from 'node:test';
import vm from 'node:vm';
import { buildSync } from 'esbuild';

const code = buildSync({
  entryPoints: [new URL('./intact.ts', import.meta.url).pathname],
  bundle: true,
  write: false,
  format: 'iife',
  globalName: 'check',
  target: 'es2022',
}).outputFiles[0]?.text;

// The constant `browser` contains code that adds the browser classes that Node's realms lack, and marks their functions
// as native.
const browser = `
  globalThis.window = globalThis;
  JSON.rawJSON ??= { rawJSON() {} }.rawJSON;
  globalThis.setTimeout = { setTimeout() {} }.setTimeout;
  const table = {
    AbortController: ['abort', 'get signal'], AbortSignal: ['get aborted', 'get reason'], DOMException: ['get message'], Node: ['get firstChild', 'get lastChild'],
    Document: ['get documentElement', 'get readyState'], EventTarget: ['addEventListener', 'removeEventListener', 'dispatchEvent'],
    MessageChannel: ['get port1', 'get port2'], MessageEvent: ['get data'], MessagePort: ['postMessage', 'start'],
    MutationObserver: ['observe', 'disconnect'], Performance: ['now'], TextEncoder: ['encodeInto'], URL: ['get host'], URLSearchParams: [] };
  fresh.JSON.rawJSON ??= { rawJSON() {} }.rawJSON;
  for (const realm of [globalThis, fresh]) {
    for (const name in table) {
      const members = table[name].map((m) => m + '() {}').join(' ');
      realm[name] = realm.eval('(class ' + name + ' { ' + members + ' })');
    }
  }
  const clock = new Performance();
  Object.defineProperty(globalThis, 'performance', { configurable: true, get: Object.getOwnPropertyDescriptor({ get performance() { return clock; } }, 'performance').get });
  const known = new Map();
  fresh.Function.prototype.toString = { toString() { return known.has(this) ? 'function ' + known.get(this) + '() { [native code] }' : 'function () { [native code] }'; } }.toString;
  for (const on of [globalThis, Reflect, JSON, fresh, fresh.JSON, fresh.Reflect]) note(on);
  function note(on) {
    for (const key of Reflect.ownKeys(on)) {
      const { value, get } = Reflect.getOwnPropertyDescriptor(on, key);
      for (const fn of [value, get]) if (typeof fn === 'function' && !known.has(fn)) {
        known.set(fn, fn.name);
        note(fn);
        if (fn.prototype) note(fn.prototype);
      }
    }
  }
  (fresh)`;

/**
 * checkIntactAfterAttack returns the result of the function `intact` in a realm that the code in `attackCode` has
 * changed, and how often page code ran.
 */
function checkIntactAfterAttack(attackCode: string, isFramed = true): unknown {
  const context = vm.createContext({ touched: 0, fresh: vm.runInContext('globalThis', vm.createContext({})) });
  const frame: unknown = vm.runInContext(`(() => { ${browser.replace('(fresh)', 'return (fresh)')} })()`, context);
  if (isFramed) Reflect.set(context, '0', frame);
  // vm.runInContext loads the bundler's helper functions before the attack runs. The build of the extension copies the
  // function intact without a bundler.
  vm.runInContext(code ?? '', context);
  const isIntact: unknown = vm.runInContext('check.intact', context);
  vm.runInContext(attackCode, context);
  assert.ok(typeof isIntact === 'function');
  const areIntact: unknown = isIntact();
  return [areIntact, vm.runInContext('touched', context)];
}

test("intact accepts the browser's own built-in functions, and every window without a probe frame", () => {
  assert.deepEqual(checkIntactAfterAttack(''), [true, 0]);
  assert.deepEqual(checkIntactAfterAttack('Reflect.apply = () => 0', false), [true, 0]);
});

for (const [name, attackCode] of [
  ['a function', 'Reflect.apply = function apply() { touched++; }'],
  ['a proxy', 'JSON.parse = new Proxy(JSON.parse, { apply() { touched++; } })'],
  ['a bound function', 'Reflect.apply = Reflect.apply.bind(Reflect)'],
  ['a getter', 'Object.defineProperty(globalThis, "Reflect", { get() { touched++; } })'],
  ['a declared name', 'const Reflect = new Proxy({}, { get() { touched++; } })'],
  ['a method', 'Promise.prototype.then = function then() { touched++; }'],
  ["another window's class", 'Object = fresh.Object'],
  ["another window's error", 'TypeError = fresh.TypeError; Reflect = fresh.Reflect'],
  ["another window's function", 'JSON.parse = fresh.JSON.parse'],
  ['a forged toString', 'Function.prototype.toString = () => { touched++; }; Reflect.apply = () => { touched++; }'],
] as const) {
  test(`intact detects ${name} in place of a built-in function without running it`, () => {
    assert.deepEqual(checkIntactAfterAttack(attackCode), [false, 0]);
  });
}

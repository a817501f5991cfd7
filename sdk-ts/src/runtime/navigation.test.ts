import assert from 'node:assert/strict';
import test, { beforeEach } from 'node:test';
import { watchNavigation } from './navigation.ts';
import { hasProperties } from './value.ts';

/** The parts of a page that navigation uses. */
class Page extends EventTarget {
  location = { href: 'https://a.example/' };
  history = {
    pushState: (_data: unknown, _unused: string, url?: string | URL | null) => this.go(url),
    replaceState: (_data: unknown, _unused: string, url?: string | URL | null) => this.go(url),
  };
  go(url: string | URL | null | undefined): void {
    if (url) this.location.href = new URL(url, this.location.href).href;
  }
}

let page: Page;

beforeEach(() => {
  page = new Page();
  for (const [key, value] of Object.entries({ window: page, location: page.location, history: page.history })) {
    Object.defineProperty(globalThis, key, { value, configurable: true });
  }
  globalThis.__openTabs = {};
});

const failTest = (error: unknown) => assert.fail(String(error));

test('each change of the URL is reported once', () => {
  const seen: string[] = [];
  const stop = watchNavigation('a', (url) => seen.push(new URL(url).pathname + new URL(url).hash), failTest);
  page.history.pushState(null, '', '/1');
  page.history.replaceState(null, '', '/2');
  page.history.replaceState({ only: 'state' }, '');
  page.go('#3');
  page.dispatchEvent(new Event('hashchange'));
  page.dispatchEvent(new Event('popstate'));
  page.go('/4');
  page.dispatchEvent(new Event('popstate'));
  assert.deepEqual(seen, ['/1', '/2', '/2#3', '/4']);
  stop();
  page.history.pushState(null, '', '/5');
  page.go('/6');
  page.dispatchEvent(new Event('popstate'));
  assert.equal(seen.length, 4);
});

test('several adapters share one patch, and the last one removes it', () => {
  const { pushState, replaceState } = page.history;
  const seen: string[] = [];
  const stopA = watchNavigation('a', () => seen.push('a'), failTest);
  const patched = page.history.pushState;
  const stopB = watchNavigation('b', () => seen.push('b'), failTest);
  assert.equal(page.history.pushState, patched);
  page.history.pushState(null, '', '/1');
  stopA();
  page.history.pushState(null, '', '/2');
  assert.deepEqual(seen, ['a', 'b', 'b']);
  stopB();
  assert.deepEqual([page.history.pushState, page.history.replaceState], [pushState, replaceState]);
  assert.ok(hasProperties(globalThis.__openTabs));
  assert.equal('_navigationInterceptor' in globalThis.__openTabs, false);
});

test('an interceptor of another adapter is reused', () => {
  const callbacks = new Map<string, () => void>();
  const { pushState, replaceState } = page.history;
  globalThis.__openTabs = {
    _navigationInterceptor: { callbacks, origPushState: pushState, origReplaceState: replaceState },
  };
  const seen: string[] = [];
  const stop = watchNavigation('a', (url) => seen.push(url), failTest);
  page.go('/1');
  callbacks.get('a')?.();
  assert.deepEqual(seen, ['https://a.example/1']);
  callbacks.set('old', () => undefined);
  stop();
  assert.deepEqual([...callbacks.keys()], ['old']);
});

test('an error of an adapter reaches neither the page nor other adapters', (t) => {
  const warn = t.mock.method(console, 'warn', () => undefined);
  const failures: unknown[] = [];
  const seen: string[] = [];
  watchNavigation(
    'a',
    () => {
      throw new Error('mine');
    },
    (error) => failures.push(error),
  );
  watchNavigation('b', () => seen.push('b'), failTest);
  const shared = hasProperties(globalThis.__openTabs) ? globalThis.__openTabs._navigationInterceptor : undefined;
  assert.ok(hasProperties(shared) && shared.callbacks instanceof Map);
  shared.callbacks.set('old', () => {
    throw new Error('other');
  });
  page.history.pushState(null, '', '/1');
  assert.equal(failures.length, 1);
  assert.deepEqual(seen, ['b']);
  assert.equal(warn.mock.calls[0]?.arguments[0], '[opentabs] old: onNavigate failed: other');
});

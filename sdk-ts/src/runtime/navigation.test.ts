import assert from 'node:assert/strict';
import test, { beforeEach } from 'node:test';
import { watchNavigation } from './navigation.ts';
import { hasProperties } from './value.ts';

class FakePage extends EventTarget {
  location = { href: 'https://a.example/' };
  history = {
    pushState: (_data: unknown, _unused: string, url?: string | URL | null) => this.navigate(url),
    replaceState: (_data: unknown, _unused: string, url?: string | URL | null) => this.navigate(url),
  };
  navigate(url: string | URL | null | undefined): void {
    if (url) this.location.href = new URL(url, this.location.href).href;
  }
}

let page: FakePage;

beforeEach(() => {
  page = new FakePage();
  for (const [key, value] of Object.entries({ window: page, location: page.location, history: page.history })) {
    Object.defineProperty(globalThis, key, { value, configurable: true });
  }
  globalThis.__openTabs = {};
});

const failTest = (error: unknown) => assert.fail(String(error));

test('each change of the URL is reported once', () => {
  const urls: string[] = [];
  const stopWatching = watchNavigation('a', (url) => urls.push(new URL(url).pathname + new URL(url).hash), failTest);
  page.history.pushState(null, '', '/1');
  page.history.replaceState(null, '', '/2');
  page.history.replaceState({ only: 'state' }, '');
  page.navigate('#3');
  page.dispatchEvent(new Event('hashchange'));
  page.dispatchEvent(new Event('popstate'));
  page.navigate('/4');
  page.dispatchEvent(new Event('popstate'));
  assert.deepEqual(urls, ['/1', '/2', '/2#3', '/4']);
  stopWatching();
  page.history.pushState(null, '', '/5');
  page.navigate('/6');
  page.dispatchEvent(new Event('popstate'));
  assert.equal(urls.length, 4);
});

test('several adapters share one patch of history, and the last adapter removes the patch', () => {
  const { pushState, replaceState } = page.history;
  const notifiedUrls: string[] = [];
  const stopFirstWatcher = watchNavigation('a', () => notifiedUrls.push('a'), failTest);
  const patchedPushState = page.history.pushState;
  const stopSecondWatcher = watchNavigation('b', () => notifiedUrls.push('b'), failTest);
  assert.equal(page.history.pushState, patchedPushState);
  page.history.pushState(null, '', '/1');
  stopFirstWatcher();
  page.history.pushState(null, '', '/2');
  assert.deepEqual(notifiedUrls, ['a', 'b', 'b']);
  stopSecondWatcher();
  assert.deepEqual([page.history.pushState, page.history.replaceState], [pushState, replaceState]);
  assert.ok(hasProperties(globalThis.__openTabs));
  assert.equal('_navigationInterceptor' in globalThis.__openTabs, false);
});

test('watchNavigation reuses the interceptor of another adapter', () => {
  const navigationCallbacks = new Map<string, () => void>();
  const { pushState, replaceState } = page.history;
  globalThis.__openTabs = {
    _navigationInterceptor: {
      callbacks: navigationCallbacks,
      origPushState: pushState,
      origReplaceState: replaceState,
    },
  };
  const urls: string[] = [];
  const stopWatching = watchNavigation('a', (url) => urls.push(url), failTest);
  page.navigate('/1');
  navigationCallbacks.get('a')?.();
  assert.deepEqual(urls, ['https://a.example/1']);
  navigationCallbacks.set('old', () => undefined);
  stopWatching();
  assert.deepEqual([...navigationCallbacks.keys()], ['old']);
});

test('an error of an adapter reaches neither the page nor other adapters', (t) => {
  const warnMock = t.mock.method(console, 'warn', () => undefined);
  const failures: unknown[] = [];
  const notifiedUrls: string[] = [];
  watchNavigation(
    'a',
    () => {
      throw new Error('mine');
    },
    (error) => failures.push(error),
  );
  watchNavigation('b', () => notifiedUrls.push('b'), failTest);
  const sharedInterceptor = hasProperties(globalThis.__openTabs)
    ? globalThis.__openTabs._navigationInterceptor
    : undefined;
  assert.ok(hasProperties(sharedInterceptor) && sharedInterceptor.callbacks instanceof Map);
  sharedInterceptor.callbacks.set('old', () => {
    throw new Error('other');
  });
  page.history.pushState(null, '', '/1');
  assert.equal(failures.length, 1);
  assert.deepEqual(notifiedUrls, ['b']);
  assert.equal(warnMock.mock.calls[0]?.arguments[0], '[opentabs] old: onNavigate failed: other');
});

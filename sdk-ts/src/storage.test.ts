import assert from 'node:assert/strict';
import test, { beforeEach } from 'node:test';
import { setLogTransport } from './log.ts';
import {
  findLocalStorageEntry,
  getCookie,
  getLocalStorage,
  getSessionStorage,
  removeLocalStorage,
  removeSessionStorage,
  setLocalStorage,
  setSessionStorage,
} from './storage.ts';

class FakeStorage {
  readonly items = new Map<string, string>();
  get length() {
    return this.items.size;
  }
  key(index: number) {
    return [...this.items.keys()][index] ?? null;
  }
  getItem(key: string) {
    return this.items.get(key) ?? null;
  }
  setItem(key: string, value: string) {
    if (value === 'too much') throw new DOMException('full', 'QuotaExceededError');
    this.items.set(key, value);
  }
  removeItem(key: string) {
    this.items.delete(key);
  }
}

let localStorageFake = new FakeStorage();
let sessionStorageFake = new FakeStorage();
let frameCount = 0;
let consoleWarnings: string[] = [];

function mockPage(windowProperties: object, cookie = '') {
  const makeFrame = () => ({
    style: {},
    contentWindow: { localStorage: localStorageFake, sessionStorage: sessionStorageFake },
    remove: () => {
      frameCount--;
    },
  });
  const documentElement = {
    append: () => {
      frameCount++;
    },
  };
  Object.assign(globalThis, {
    window: windowProperties,
    document: { cookie, documentElement, createElement: makeFrame },
  });
}

beforeEach(() => {
  localStorageFake = new FakeStorage();
  sessionStorageFake = new FakeStorage();
  frameCount = 0;
  consoleWarnings = [];
  mockPage({ localStorage: localStorageFake, sessionStorage: sessionStorageFake });
  setLogTransport(({ level, message }) => consoleWarnings.push(`${level}: ${message}`));
});

test('localStorage and sessionStorage items are set, read and removed', () => {
  setLocalStorage('a', '1');
  setSessionStorage('a', '2');
  assert.deepEqual([getLocalStorage('a'), getSessionStorage('a'), getLocalStorage('b')], ['1', '2', null]);
  removeLocalStorage('a');
  removeSessionStorage('a');
  assert.deepEqual([getLocalStorage('a'), getSessionStorage('a')], [null, null]);
  assert.deepEqual(consoleWarnings, []);
});

test('the storage functions use a temporary frame if window has no storage', () => {
  mockPage({});
  setLocalStorage('a', '1');
  setSessionStorage('b', '2');
  assert.deepEqual([getLocalStorage('a'), getSessionStorage('b')], ['1', '2']);
  assert.deepEqual(
    findLocalStorageEntry(() => true),
    { key: 'a', value: '1' },
  );
  assert.deepEqual([frameCount, consoleWarnings], [0, []]);
});

test('without any storage, reading returns null and writing logs a warning', () => {
  const deniedWindow = {
    get localStorage(): never {
      throw new DOMException('access denied', 'SecurityError');
    },
  };
  mockPage(deniedWindow);
  assert.equal(getLocalStorage('a'), null);
  assert.equal(
    findLocalStorageEntry(() => true),
    null,
  );
  setLocalStorage('a', '1');
  removeLocalStorage('a');
  assert.deepEqual(consoleWarnings, [
    'warning: setLocalStorage(a) failed: access denied',
    'warning: removeLocalStorage(a) failed: access denied',
  ]);
});

test('a full storage logs a warning', () => {
  setSessionStorage('a', 'too much');
  assert.deepEqual(consoleWarnings, ['warning: setSessionStorage(a) failed: full']);
});

test('findLocalStorageEntry finds an entry by its key', () => {
  setLocalStorage('x', '1');
  setLocalStorage('token-7', 't');
  assert.deepEqual(
    findLocalStorageEntry((key) => key.startsWith('token-')),
    { key: 'token-7', value: 't' },
  );
  assert.equal(
    findLocalStorageEntry(() => false),
    null,
  );
});

test('getCookie finds a cookie by its whole name and decodes the value', () => {
  mockPage({}, 'xsession=no; session=a%20b=c; bad=%zz; empty=; my%20name=yes');
  assert.deepEqual(['session', 'bad', 'empty', 'my name', 'sess', 'absent'].map(getCookie), [
    'a b=c',
    '%zz',
    '',
    'yes',
    null,
    null,
  ]);
});

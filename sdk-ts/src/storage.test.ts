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

let local = new FakeStorage();
let session = new FakeStorage();
let frames = 0;
let warnings: string[] = [];

/** Mocks a page whose window has the properties `own`, and whose frames have both storages. */
function mockPage(own: object, cookie = '') {
  const frame = () => ({
    style: {},
    contentWindow: { localStorage: local, sessionStorage: session },
    remove: () => {
      frames--;
    },
  });
  const documentElement = {
    append: () => {
      frames++;
    },
  };
  Object.assign(globalThis, { window: own, document: { cookie, documentElement, createElement: frame } });
}

beforeEach(() => {
  local = new FakeStorage();
  session = new FakeStorage();
  frames = 0;
  warnings = [];
  mockPage({ localStorage: local, sessionStorage: session });
  setLogTransport(({ level, message }) => warnings.push(`${level}: ${message}`));
});

test('both storages are read, written and cleared', () => {
  setLocalStorage('a', '1');
  setSessionStorage('a', '2');
  assert.deepEqual([getLocalStorage('a'), getSessionStorage('a'), getLocalStorage('b')], ['1', '2', null]);
  removeLocalStorage('a');
  removeSessionStorage('a');
  assert.deepEqual([getLocalStorage('a'), getSessionStorage('a')], [null, null]);
  assert.deepEqual(warnings, []);
});

test('without localStorage on window the storage of a temporary frame is used', () => {
  mockPage({});
  setLocalStorage('a', '1');
  setSessionStorage('b', '2');
  assert.deepEqual([getLocalStorage('a'), getSessionStorage('b')], ['1', '2']);
  assert.deepEqual(
    findLocalStorageEntry(() => true),
    { key: 'a', value: '1' },
  );
  assert.deepEqual([frames, warnings], [0, []]);
});

test('without any storage, reading returns null and writing logs a warning', () => {
  const refused = {
    get localStorage(): never {
      throw new DOMException('access denied', 'SecurityError');
    },
  };
  mockPage(refused);
  assert.equal(getLocalStorage('a'), null);
  assert.equal(
    findLocalStorageEntry(() => true),
    null,
  );
  setLocalStorage('a', '1');
  removeLocalStorage('a');
  assert.deepEqual(warnings, [
    'warning: setLocalStorage(a) failed: access denied',
    'warning: removeLocalStorage(a) failed: access denied',
  ]);
});

test('a full storage logs a warning', () => {
  setSessionStorage('a', 'too much');
  assert.deepEqual(warnings, ['warning: setSessionStorage(a) failed: full']);
});

test('an entry is found by its key', () => {
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

test('a cookie is found by its whole name and decoded', () => {
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

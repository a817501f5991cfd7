import assert from 'node:assert/strict';
import test from 'node:test';
import { getCurrentUrl, getPageGlobal, getPageTitle } from './page.ts';

test('getPageGlobal reads a global variable by its path', () => {
  Object.assign(globalThis, {
    App: {
      session: { user: { id: 7 }, none: null },
      list: ['a'],
      get broken() {
        throw new Error('no');
      },
    },
  });
  assert.equal(getPageGlobal('App.session.user.id'), 7);
  assert.equal(getPageGlobal('App.list.0'), 'a');
  assert.equal(getPageGlobal('App.list.0.length'), 1);
  assert.equal(getPageGlobal('App.session.none'), null);
  for (const path of ['Absent', 'App.session.none.x', 'App.no.no', 'App.broken', 'App.broken.x']) {
    assert.equal(getPageGlobal(path), undefined, path);
  }
});

test('getPageGlobal returns no classes or prototypes', () => {
  Object.assign(globalThis, { App: { session: {} } });
  for (const path of ['App.constructor', 'App.__proto__', 'App.session.constructor.constructor', 'Array.prototype']) {
    assert.equal(getPageGlobal(path), undefined, path);
  }
});

test('getCurrentUrl and getPageTitle return the URL and the title of the page', () => {
  Object.assign(globalThis, { window: { location: { href: 'https://a.test/b' } }, document: { title: 'B' } });
  assert.deepEqual([getCurrentUrl(), getPageTitle()], ['https://a.test/b', 'B']);
});

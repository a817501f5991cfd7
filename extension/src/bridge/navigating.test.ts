import assert from 'node:assert/strict';
import test from 'node:test';
import { watchNavigation } from './navigating.ts';

/** heard returns what is told of an event as the browser would dispatch it. */
function heard(name: string, fields: object, trusted = true): (boolean | 'moved')[] {
  const told: (boolean | 'moved')[] = [];
  const listeners = new Map<string, (event: Event) => void>();
  const navigation = new EventTarget();
  navigation.addEventListener = (type: string, listener: unknown) => {
    if (typeof listener === 'function') listeners.set(type, (event) => listener(event));
  };
  watchNavigation(navigation, { navigating: (on) => told.push(on), moved: () => told.push('moved') });
  const event = new Event(name);
  // isTrusted can't be set on a real event.
  listeners.get(name)?.(Object.create(event, Object.getOwnPropertyDescriptors({ ...fields, isTrusted: trusted })));
  return told;
}

const away = { destination: { sameDocument: false }, downloadRequest: null };

test('a navigation to another document is told, and when it came to nothing', () => {
  assert.deepEqual(heard('navigate', away), [true]);
  for (const name of ['navigatesuccess', 'navigateerror']) assert.deepEqual(heard(name, {}), [false]);
  assert.deepEqual(heard('currententrychange', {}), [false, 'moved']);
});

test('what stays in the document, a download, and what the page makes up are not', () => {
  assert.deepEqual(heard('navigate', { ...away, destination: { sameDocument: true } }), []);
  assert.deepEqual(heard('navigate', { ...away, downloadRequest: '' }), []);
  assert.deepEqual(heard('navigate', away, false), []);
  assert.deepEqual(heard('navigateerror', {}, false), []);
  assert.deepEqual(heard('currententrychange', {}, false), []);
});

import assert from 'node:assert/strict';
import test from 'node:test';
import { watchNavigation } from './navigating.ts';

/** eventsOf returns the events that watchNavigation reports for a navigation event of the browser. */
function eventsOf(name: string, fields: object, trusted = true): (boolean | 'moved')[] {
  const reported: (boolean | 'moved')[] = [];
  const listeners = new Map<string, (event: Event) => void>();
  const navigation = new EventTarget();
  navigation.addEventListener = (type: string, listener: unknown) => {
    if (typeof listener === 'function') listeners.set(type, (event) => listener(event));
  };
  watchNavigation(navigation, {
    navigationChanged: (on) => reported.push(on),
    urlChanged: () => reported.push('moved'),
  });
  const event = new Event(name);
  // A test cannot set isTrusted on a real event, so the dispatched event is a fake.
  listeners.get(name)?.(Object.create(event, Object.getOwnPropertyDescriptors({ ...fields, isTrusted: trusted })));
  return reported;
}

const away = { destination: { sameDocument: false }, downloadRequest: null };

test('a navigation to another document is reported, and its failure', () => {
  assert.deepEqual(eventsOf('navigate', away), [true]);
  for (const name of ['navigatesuccess', 'navigateerror']) assert.deepEqual(eventsOf(name, {}), [false]);
  assert.deepEqual(eventsOf('currententrychange', {}), [false, 'moved']);
});

test('navigations within the document, downloads and synthetic events are not reported', () => {
  assert.deepEqual(eventsOf('navigate', { ...away, destination: { sameDocument: true } }), []);
  assert.deepEqual(eventsOf('navigate', { ...away, downloadRequest: '' }), []);
  assert.deepEqual(eventsOf('navigate', away, false), []);
  assert.deepEqual(eventsOf('navigateerror', {}, false), []);
  assert.deepEqual(eventsOf('currententrychange', {}, false), []);
});

import assert from 'node:assert/strict';
import test from 'node:test';
import { watchNavigation } from './navigating.ts';

function collectNavigationEvents(name: string, eventFields: object, isTrusted = true): (boolean | 'moved')[] {
  const navigationStates: (boolean | 'moved')[] = [];
  const listeners = new Map<string, (event: Event) => void>();
  const navigationEvents = new EventTarget();
  navigationEvents.addEventListener = (type: string, listener: unknown) => {
    if (typeof listener === 'function') listeners.set(type, (event) => listener(event));
  };
  watchNavigation(navigationEvents, {
    onNavigationChanged: (on) => navigationStates.push(on),
    onUrlChanged: () => navigationStates.push('moved'),
  });
  const event = new Event(name);
  // A test cannot set isTrusted on a real event, so the dispatched event is a fake.
  listeners.get(name)?.(Object.create(event, Object.getOwnPropertyDescriptors({ ...eventFields, isTrusted })));
  return navigationStates;
}

const crossDocumentNavigation = { destination: { sameDocument: false }, downloadRequest: null };

test('the bridge reports a navigation to another document, and the failure of the navigation', () => {
  assert.deepEqual(collectNavigationEvents('navigate', crossDocumentNavigation), [true]);
  for (const name of ['navigatesuccess', 'navigateerror']) assert.deepEqual(collectNavigationEvents(name, {}), [false]);
  assert.deepEqual(collectNavigationEvents('currententrychange', {}), [false, 'moved']);
});

test('navigations within the document, downloads and synthetic events are not reported', () => {
  assert.deepEqual(
    collectNavigationEvents('navigate', { ...crossDocumentNavigation, destination: { sameDocument: true } }),
    [],
  );
  assert.deepEqual(collectNavigationEvents('navigate', { ...crossDocumentNavigation, downloadRequest: '' }), []);
  assert.deepEqual(collectNavigationEvents('navigate', crossDocumentNavigation, false), []);
  assert.deepEqual(collectNavigationEvents('navigateerror', {}, false), []);
  assert.deepEqual(collectNavigationEvents('currententrychange', {}, false), []);
});

import assert from 'node:assert/strict';
import test, { beforeEach } from 'node:test';
import {
  getMetaContent,
  getTextContent,
  observeDOM,
  querySelectorAll,
  waitForSelector,
  waitForSelectorRemoval,
} from './dom.ts';
import { runCall } from './running.ts';

/** A fake element, found by a selector that is equal to `selector`. */
interface FakeElement {
  selector: string;
  textContent?: string | null;
  attributes?: Record<string, string>;
  getAttribute?: (name: string) => string | null;
}

interface Observed {
  target: unknown;
  options: MutationObserverInit | undefined;
  changed: () => void;
}

let elements: FakeElement[] = [];
let observed: Observed[] = [];

const document = {
  querySelector: (selector: string) => document.querySelectorAll(selector)[0] ?? null,
  querySelectorAll: (selector: string) => {
    if (selector === '!!') throw new DOMException('not a selector', 'SyntaxError');
    return elements.filter((element) => element.selector === selector);
  },
};

class FakeObserver {
  readonly #callback: () => void;
  constructor(callback: () => void) {
    this.#callback = callback;
  }
  observe(target: unknown, options?: MutationObserverInit) {
    observed.push({ target, options, changed: this.#callback });
  }
  disconnect() {
    observed = observed.filter(({ changed }) => changed !== this.#callback);
  }
}

/** Replaces the elements of the page and notifies the observers. */
function changePage(next: FakeElement[]) {
  elements = next;
  for (const { changed } of [...observed]) changed();
}

beforeEach(() => {
  elements = [];
  observed = [];
  Object.assign(globalThis, { document, MutationObserver: FakeObserver });
});

test('waitForSelector returns a present element at once', async () => {
  elements = [{ selector: '.a' }];
  assert.equal(await waitForSelector('.a'), elements[0]);
  assert.equal(observed.length, 0);
});

test('waitForSelector returns an element that appears later, and disconnects its observer', async () => {
  const wait = waitForSelector('.a');
  changePage([{ selector: '.b' }]);
  changePage([{ selector: '.a' }]);
  assert.equal(await wait, elements[0]);
  assert.equal(observed.length, 0);
});

test('attributes are observed only for selectors that depend on them', () => {
  const ignore = () => undefined;
  for (const selector of ['.a', '#a', 'a[href]', 'p:empty', 'main > p']) {
    waitForSelector(selector, { timeout: 1 }).catch(ignore);
  }
  assert.deepEqual(
    observed.map(({ options }) => options),
    [true, true, true, true, false].map((attributes) => ({ childList: true, subtree: true, attributes })),
  );
});

test('waitForSelectorRemoval waits until nothing matches', async () => {
  await waitForSelectorRemoval('.a');
  elements = [{ selector: '.a' }, { selector: '.a' }];
  const waited = waitForSelectorRemoval('.a');
  let over = false;
  waited.then(() => {
    over = true;
  });
  changePage([{ selector: '.a' }]);
  await new Promise(setImmediate);
  assert.equal(over, false);
  changePage([]);
  await waited;
});

test('both waits time out', async () => {
  elements = [{ selector: '.there' }];
  await assert.rejects(waitForSelector('.a', { timeout: 1 }), {
    code: 'TIMEOUT',
    message: 'timed out after 1 ms: no element of the page matches .a',
  });
  await assert.rejects(waitForSelectorRemoval('.there', { timeout: 1 }), {
    code: 'TIMEOUT',
    message: 'timed out after 1 ms: the page still has an element that matches .there',
  });
  assert.equal(observed.length, 0);
});

test('both waits stop with the given signal, or with that of the call', async () => {
  const controller = new AbortController();
  elements = [{ selector: '.there' }];
  const waits = [
    waitForSelector('.a', { signal: controller.signal }),
    runCall(controller.signal, () => waitForSelector('.a')),
    runCall(controller.signal, () => waitForSelectorRemoval('.there')),
  ];
  controller.abort();
  for (const wait of waits) await assert.rejects(wait, { code: 'aborted' });
  await assert.rejects(waitForSelector('.a', { signal: controller.signal }), { code: 'aborted' });
  assert.equal(observed.length, 0);
});

test('an invalid selector is an error of the waits only', async () => {
  await assert.rejects(waitForSelector('!!'), { name: 'SyntaxError' });
  assert.deepEqual(querySelectorAll('!!'), []);
  assert.equal(getTextContent('!!'), null);
});

test('elements, texts and meta contents are read from the page', () => {
  const content = (attributes: Record<string, string>): FakeElement => ({
    selector: 'meta',
    getAttribute: (name) => attributes[name] ?? null,
  });
  elements = [
    { selector: 'h1', textContent: '  A title\n' },
    { selector: 'h1', textContent: 'another' },
    { selector: 'hr', textContent: null },
    content({ property: 'csrf', content: 'no' }),
    content({ name: 'csrf"]', content: 'token' }),
    content({ name: 'bare' }),
  ];
  assert.equal(querySelectorAll('h1').length, 2);
  assert.ok(Array.isArray(querySelectorAll('h1')));
  assert.deepEqual(['h1', 'hr', 'h2'].map(getTextContent), ['A title', null, null]);
  assert.deepEqual(['csrf"]', 'bare', 'absent'].map(getMetaContent), ['token', null, null]);
});

test('observeDOM reports changes until it is stopped', () => {
  elements = [{ selector: '.a' }];
  let changes = 0;
  const stop = observeDOM('.a', () => changes++);
  const stopOther = observeDOM('.a', () => undefined, { attributes: true, subtree: false });
  assert.deepEqual(
    observed.map(({ target, options }) => [target, options]),
    [
      [elements[0], { childList: true, attributes: false, subtree: true }],
      [elements[0], { childList: true, attributes: true, subtree: false }],
    ],
  );
  changePage(elements);
  stop();
  stopOther();
  changePage(elements);
  assert.deepEqual([changes, observed.length], [1, 0]);
  assert.throws(() => observeDOM('.b', () => undefined), /no element of the page matches \.b; wait for it/);
});

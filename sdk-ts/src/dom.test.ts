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

interface FakeElement {
  selector: string;
  textContent?: string | null;
  attributes?: Record<string, string>;
  getAttribute?: (name: string) => string | null;
}

interface Observation {
  target: unknown;
  options: MutationObserverInit | undefined;
  notify: () => void;
}

let elements: FakeElement[] = [];
let mockObservers: Observation[] = [];

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
    mockObservers.push({ target, options, notify: this.#callback });
  }
  disconnect() {
    mockObservers = mockObservers.filter(({ notify: changed }) => changed !== this.#callback);
  }
}

function replaceElements(newElements: FakeElement[]) {
  elements = newElements;
  for (const { notify: changed } of [...mockObservers]) changed();
}

beforeEach(() => {
  elements = [];
  mockObservers = [];
  Object.assign(globalThis, { document, MutationObserver: FakeObserver });
});

test('waitForSelector returns a present element at once', async () => {
  elements = [{ selector: '.a' }];
  assert.equal(await waitForSelector('.a'), elements[0]);
  assert.equal(mockObservers.length, 0);
});

test('waitForSelector returns an element that appears later, and disconnects its observer', async () => {
  const selectorPromise = waitForSelector('.a');
  replaceElements([{ selector: '.b' }]);
  replaceElements([{ selector: '.a' }]);
  assert.equal(await selectorPromise, elements[0]);
  assert.equal(mockObservers.length, 0);
});

test('attributes are observed only for selectors that depend on attributes', () => {
  const ignoreChange = () => undefined;
  for (const selector of ['.a', '#a', 'a[href]', 'p:empty', 'main > p']) {
    waitForSelector(selector, { timeout: 1 }).catch(ignoreChange);
  }
  assert.deepEqual(
    mockObservers.map(({ options }) => options),
    [true, true, true, true, false].map((attributes) => ({ childList: true, subtree: true, attributes })),
  );
});

test('waitForSelectorRemoval waits until no element matches', async () => {
  await waitForSelectorRemoval('.a');
  elements = [{ selector: '.a' }, { selector: '.a' }];
  const removalPromise = waitForSelectorRemoval('.a');
  let isRemoved = false;
  removalPromise.then(() => {
    isRemoved = true;
  });
  replaceElements([{ selector: '.a' }]);
  await new Promise(setImmediate);
  assert.equal(isRemoved, false);
  replaceElements([]);
  await removalPromise;
});

test('waitForSelector and waitForSelectorRemoval time out', async () => {
  elements = [{ selector: '.there' }];
  await assert.rejects(waitForSelector('.a', { timeout: 1 }), {
    code: 'TIMEOUT',
    message: 'timed out after 1 ms: no element of the page matches .a',
  });
  await assert.rejects(waitForSelectorRemoval('.there', { timeout: 1 }), {
    code: 'TIMEOUT',
    message: 'timed out after 1 ms: the page still has an element that matches .there',
  });
  assert.equal(mockObservers.length, 0);
});

test('waitForSelector and waitForSelectorRemoval stop if the given signal or the call signal aborts', async () => {
  const controller = new AbortController();
  elements = [{ selector: '.there' }];
  const waitPromises = [
    waitForSelector('.a', { signal: controller.signal }),
    runCall(controller, () => waitForSelector('.a')),
    runCall(controller, () => waitForSelectorRemoval('.there')),
  ];
  controller.abort();
  for (const selectorPromise of waitPromises) await assert.rejects(selectorPromise, { code: 'aborted' });
  await assert.rejects(waitForSelector('.a', { signal: controller.signal }), { code: 'aborted' });
  assert.equal(mockObservers.length, 0);
});

test('an invalid selector makes waitForSelector reject, but not the functions that read elements', async () => {
  await assert.rejects(waitForSelector('!!'), { name: 'SyntaxError' });
  assert.deepEqual(querySelectorAll('!!'), []);
  assert.equal(getTextContent('!!'), null);
});

test('elements, texts and meta contents are read from the page', () => {
  const makeMetaElement = (attributes: Record<string, string>): FakeElement => ({
    selector: 'meta',
    getAttribute: (name) => attributes[name] ?? null,
  });
  elements = [
    { selector: 'h1', textContent: '  A title\n' },
    { selector: 'h1', textContent: 'another' },
    { selector: 'hr', textContent: null },
    makeMetaElement({ property: 'csrf', content: 'no' }),
    makeMetaElement({ name: 'csrf"]', content: 'token' }),
    makeMetaElement({ name: 'bare' }),
  ];
  assert.equal(querySelectorAll('h1').length, 2);
  assert.ok(Array.isArray(querySelectorAll('h1')));
  assert.deepEqual(['h1', 'hr', 'h2'].map(getTextContent), ['A title', null, null]);
  assert.deepEqual(['csrf"]', 'bare', 'absent'].map(getMetaContent), ['token', null, null]);
});

test('observeDOM reports changes until it is stopped', () => {
  elements = [{ selector: '.a' }];
  let changeCount = 0;
  const stopObserving = observeDOM('.a', () => changeCount++);
  const stopOtherObserver = observeDOM('.a', () => undefined, { attributes: true, subtree: false });
  assert.deepEqual(
    mockObservers.map(({ target, options }) => [target, options]),
    [
      [elements[0], { childList: true, attributes: false, subtree: true }],
      [elements[0], { childList: true, attributes: true, subtree: false }],
    ],
  );
  replaceElements(elements);
  stopObserving();
  stopOtherObserver();
  replaceElements(elements);
  assert.deepEqual([changeCount, mockObservers.length], [1, 0]);
  assert.throws(() => observeDOM('.b', () => undefined), /no element of the page matches \.b; wait for it/);
});

/**
 * browser_evaluate runs code in any page, through user scripts or the debugger, and no page can break the
 * tool.
 */
import assert from 'node:assert/strict';
import test, { after, before, describe } from 'node:test';
import { waitFor } from '../harness/wait.ts';
import { type BrowserFixture, type BrowserFixtureOptions, startFixture } from './browser-fixture.ts';

const strictPolicy = `<meta http-equiv="Content-Security-Policy" content="script-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'">`;

const evaluationModes: readonly [name: string, options: BrowserFixtureOptions][] = [
  ['user scripts', {}],
  ['the debugger', { userScripts: false, installFlags: ['--debugger'] }],
];

for (const [modeName, options] of evaluationModes)
  describe(`by ${modeName}`, () => {
    let fixture: BrowserFixture;
    before(async () => {
      fixture = await startFixture(options);
    });
    after(() => fixture.close());

    async function openPage(path: string, body: string): Promise<number> {
      fixture.setPage(path, `<!doctype html><title>${path}</title>${body}`);
      return await fixture.open(path);
    }

    async function getRef(tabId: number, elementName: string): Promise<string> {
      const { content = '' } = await fixture.callTool('browser_snapshot', {}, tabId);
      const line = content.split('\n').find((snapshotLine) => snapshotLine.includes(elementName));
      const elementRef = /\[ref=(\w+)\]/.exec(line ?? '')?.[1];
      if (elementRef === undefined) throw new Error(`no ref for ${elementName} in:\n${content}`);
      return elementRef;
    }

    const evaluateCode = (tabId: number, code: string, args: object = {}) =>
      fixture.callTool('browser_evaluate', { function: code, ...args }, tabId);
    const evaluateAsJson = async (tabId: number, code: string, args: object = {}): Promise<unknown> =>
      JSON.parse((await evaluateCode(tabId, code, args)).content ?? '');
    const evaluateExpectingFailure = (tabId: number, code: string, args: object = {}) =>
      fixture.callExpectingFailure('browser_evaluate', { function: code, ...args }, tabId);

    test('functions, async functions and expressions return JSON, also on a page that runs no scripts', async () => {
      const tabId = await openPage('/strict', `${strictPolicy}<p>Text`);
      for (const code of [
        '() => document.title',
        'async () => document.title;',
        'function () { return document.title }',
        'document.title',
        'await Promise.resolve(document.title)',
        '() => document.title // a comment',
        '\n\n() => {\n  return document.title;\n};\n',
      ])
        assert.equal(await evaluateAsJson(tabId, code), '/strict', code);
      assert.deepEqual(await evaluateAsJson(tabId, '() => ({ a: [1, "ü\\n\\"", null, true], b: { c: -0.5 } })'), {
        a: [1, 'ü\n"', null, true],
        b: { c: -0.5 },
      });
    });

    test("the main world shares the page's variables, and the isolated world only its document", async () => {
      const tabId = await openPage('/worlds', `<script>window.secret = 1</script><p id="text">Text`);
      assert.equal(await evaluateAsJson(tabId, '() => window.secret'), 1);
      assert.match((await evaluateCode(tabId, '() => window.secret', { world: 'isolated' })).text ?? '', /undefined/);
      const code = '() => { window.mine = 7; return document.querySelector("#text").textContent }';
      assert.equal(await evaluateAsJson(tabId, code, { world: 'isolated' }), 'Text');
      assert.equal(await evaluateAsJson(tabId, '() => window.mine', { world: 'isolated' }), 7);
      assert.equal(await evaluateAsJson(tabId, '() => typeof window.mine'), 'undefined');
    });

    test('the function receives the element of a ref, also in frames and closed shadow roots', async () => {
      fixture.setPage('/inner', '<!doctype html><title>Inner</title><button>Inside</button>');
      const tabId = await openPage(
        '/elements',
        `<button data-kind="outer">Outside</button><div><template shadowrootmode="closed"><button>Shadow</button></template></div>
         <iframe src="/inner"></iframe><iframe src="${fixture.otherOrigin}/inner?other"></iframe>`,
      );
      const { content = '' } = await waitFor('both frames', async () => {
        const snapshot = await fixture.callTool('browser_snapshot', {}, tabId);
        return (snapshot.content ?? '').split('"Inside"').length === 3 ? snapshot : undefined;
      });
      const target = await getRef(tabId, '"Outside"');
      assert.equal(await evaluateAsJson(tabId, '(element) => element.dataset.kind', { target }), 'outer');
      assert.equal(
        await evaluateAsJson(tabId, '(e) => e.textContent', { target: await getRef(tabId, '"Shadow"') }),
        'Shadow',
      );
      const frameElementRefs = [...content.matchAll(/"Inside".*\[ref=(\w+)\]/g)].map(([, elementRef]) => elementRef);
      for (const world of ['main', 'isolated']) {
        const urls = await Promise.all(
          frameElementRefs.map((elementRef) =>
            evaluateAsJson(tabId, '(e) => e.ownerDocument.location.href', { target: elementRef, world }),
          ),
        );
        assert.deepEqual(urls.sort(), [`${fixture.origin}/inner`, `${fixture.otherOrigin}/inner?other`].sort());
      }
      assert.equal((await evaluateExpectingFailure(tabId, '(e) => 1', { target: 'e999' })).code, 'stale_ref');
    });

    test('values that JSON cannot represent become text', async () => {
      const tabId = await openPage('/values', '<button id="go" class="big">Go</button>');
      const code = `() => {
        const ring = { name: 'ring' };
        ring.self = ring;
        return [10n, NaN, Infinity, undefined, Symbol('s'), () => 1, ring, document.querySelector('#go'), document, window,
          new Date(0), new Map([['k', 1]]), new Set([2]), /x/g, new Error('bad').message, Promise.resolve(),
          new Uint8Array([1, 2]), new URL('https://a.example/'), document.querySelectorAll('button').length,
          { get broken() { throw new Error('no') }, skipped: undefined }, Object.create(null), new String('boxed')];
      }`;
      const evaluateResult = await evaluateCode(tabId, code);
      assert.match(evaluateResult.text ?? '', /Values without a form in JSON are written as text/);
      assert.deepEqual(JSON.parse(evaluateResult.content ?? ''), [
        '10n',
        'NaN',
        'Infinity',
        null,
        '[Symbol(s)]',
        '[function ]',
        { name: 'ring', self: '[circular]' },
        '<button id="go" class="big"></button>',
        '[document]',
        '[window]',
        '1970-01-01T00:00:00.000Z',
        [['k', 1]],
        [2],
        '/x/g',
        'bad',
        '[promise]',
        [1, 2],
        'https://a.example/',
        1,
        { broken: '[threw Error: no]' },
        {},
        'boxed',
      ]);
      assert.equal((await evaluateCode(tabId, '() => {}')).text, 'The function returned undefined.');
    });

    test('a long result comes in parts of 50,000 characters', async () => {
      const tabId = await openPage('/long', '');
      const firstPart = await evaluateCode(tabId, '() => "😀".repeat(60000) + "end"');
      let { text: snapshotLine = '', content = '' } = firstPart;
      assert.ok(content.length <= 50_000 && content.length > 49_990, `the first part has ${content.length} characters`);
      for (let partCount = 1; /Next part: cursor "(.+)"/.test(snapshotLine); partCount++) {
        assert.ok(partCount < 10, 'the result has too many parts');
        const [, cursor] = /Next part: cursor "(.+)"/.exec(snapshotLine) ?? [];
        const nextPart = await fixture.callTool('browser_evaluate', { cursor }, tabId);
        [snapshotLine, content] = [nextPart.text ?? '', content + nextPart.content];
      }
      assert.equal(JSON.parse(content), `${'😀'.repeat(60_000)}end`);
      const [, cursor] = /Next part: cursor "(.+)"/.exec(firstPart.text ?? '') ?? [];
      const otherPageTab = await openPage('/elsewhere', '');
      assert.equal(
        (await fixture.callExpectingFailure('browser_evaluate', { cursor }, otherPageTab)).code,
        'not_found',
      );
      assert.equal(
        (await fixture.callExpectingFailure('browser_evaluate', { cursor, function: '1' }, tabId)).code,
        'invalid_arguments',
      );
      const cut = await evaluateCode(tabId, '() => "x".repeat(3000000)');
      assert.match(cut.text ?? '', /The result ends after 2000000 characters/);
    });

    test('errors contain the message and the position; invalid code does not run', async () => {
      const tabId = await openPage('/errors', '');
      const thrownFailure = await evaluateExpectingFailure(tabId, '() => {\n  const a = null;\n  return a.b;\n}');
      assert.equal(thrownFailure.code, 'script_error');
      assert.equal(thrownFailure.message, 'the function threw an error at line 3, column 12');
      assert.match(thrownFailure.pageText ?? '', /^the error was: "TypeError: Cannot read properties of null/);
      assert.match((await evaluateExpectingFailure(tabId, '() => null.x')).message, /at line 1, column 12$/);
      const asyncFailure = await evaluateExpectingFailure(
        tabId,
        'async () => {\n  await 1;\n  throw new RangeError("late");\n}',
      );
      assert.match(asyncFailure.message, /at line 3, column 9$/);
      assert.equal(asyncFailure.pageText, 'the error was: "RangeError: late"');
      const objectFailure = await evaluateExpectingFailure(tabId, '() => { throw { code: 7 } }');
      assert.equal(objectFailure.message, 'the function threw an error');
      assert.equal(objectFailure.pageText, 'the error was: "{\\"code\\":7}"');
      assert.equal(
        (await evaluateExpectingFailure(tabId, '() => Promise.reject("no")')).pageText,
        'the error was: "no"',
      );
      const invalidFunctionFailure = await evaluateExpectingFailure(tabId, 'window.ran = 1,\n() => { return }}');
      assert.equal(invalidFunctionFailure.code, 'invalid_arguments');
      assert.match(invalidFunctionFailure.message, /cannot be parsed.* \(line 2\)/);
      assert.equal(await evaluateAsJson(tabId, '() => typeof window.ran'), 'undefined');
    });

    test('a page that replaces built-ins can change the result, but the tool always returns', async () => {
      const tabId = await openPage(
        '/hostile',
        `<p>Text</p><script>
          const broken = () => { throw new Error('replaced') };
          JSON.stringify = JSON.parse = broken;
          Array.prototype.toJSON = () => 'not an array';
          Object.prototype.toJSON = () => 'not an object';
          Array.isArray = Object.keys = broken;
          Promise.prototype.then = () => new Promise(() => {});
          Object.defineProperty(Promise.prototype, 'constructor', { get: broken });
          Symbol.iterator = undefined;
        </script>`,
      );
      const callOutcome = await (await fixture.start('browser_evaluate', { function: '() => [1, { a: 2 }]' }, tabId))
        .dispatchAnswer;
      assert.ok(callOutcome.result !== undefined || callOutcome.error !== undefined);
      assert.deepEqual(await evaluateAsJson(tabId, '() => [1, { a: 2 }]', { world: 'isolated' }), [1, { a: 2 }]);
    });

    test('libraries that add toJSON do not change the result', async () => {
      const tabId = await openPage(
        '/prototype',
        '<script>Array.prototype.toJSON = function () { return "[]" }</script>',
      );
      assert.deepEqual(await evaluateAsJson(tabId, '() => ({ list: [1, 2] })'), { list: [1, 2] });
    });

    test('cancel ends the wait for a promise that never settles, and the code may continue', async () => {
      const tabId = await openPage('/endless', '');
      const evaluateToolRun = await fixture.start(
        'browser_evaluate',
        { function: '() => new Promise(() => {})' },
        tabId,
      );
      await waitFor('the call to run', async () => (await evaluateAsJson(tabId, '() => 1')) === 1);
      const cancelAnswer = await evaluateToolRun.cancel('the test');
      assert.deepEqual(cancelAnswer.result, { outcome: 'ignored' });
    });

    test('a navigation ends a call with waiting code, and the code is not run again', async () => {
      const tabId = await openPage('/leaving', '');
      fixture.setPage('/next', '<!doctype html><title>Next</title>');
      const failedEvaluation = await evaluateExpectingFailure(
        tabId,
        'async () => { location.href = "/next"; await new Promise(() => {}); }',
      );
      assert.equal(failedEvaluation.code, 'navigated');
      assert.equal(failedEvaluation.notStarted, undefined);
    });

    // Only the debugger reports dialogs.
    if (options.installFlags)
      test('code that opens a dialog fails without the advice to run the code again', async () => {
        fixture.chrome.context.on('dialog', () => undefined); // without a listener, Playwright dismisses the dialog
        const tabId = await openPage('/dialog', '');
        const failedEvaluation = await evaluateExpectingFailure(tabId, '() => confirm("Delete it?")');
        assert.equal(failedEvaluation.code, 'still_running');
        assert.match(failedEvaluation.message, /Delete it\?.*browser_handle_dialog.*before it runs again/);
        const dialogOutcome = await fixture.callTool('browser_handle_dialog', { accept: true }, tabId);
        assert.match(dialogOutcome.text ?? '', /Accepted the dialog \(confirm\)/);
      });
  });

test('without user scripts and debugger, the error describes how to turn on either of them', async () => {
  const fixture = await startFixture({ userScripts: false });
  try {
    const tabId = await fixture.open('/');
    const { code, message: errorMessage } = await fixture.callExpectingFailure(
      'browser_evaluate',
      { function: '() => 1' },
      tabId,
    );
    assert.equal(code, 'needs_user_scripts');
    assert.match(errorMessage, /"Allow User Scripts".*opentabs extension install --debugger/);
  } finally {
    await fixture.close();
  }
});

/** Threat: a page that reaches into its own frames before their documents come. It can neither read nor forge what tools there get and say. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { placesPlugin, type Stack, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';

let stack: Stack;

before(async () => {
  stack = await startStack({ plugins: [placesPlugin] });
});
after(() => stack?.close());

/** poison tells of every port that a host listens to, as a page could to take it. */
const poison = `
  const on = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (type, heard, how) {
    if (type === 'down' || type === 'taken') top.postMessage('a port', '*');
    return Reflect.apply(on, this, [type, heard, how]);
  };`;

test('page: it has replaced the built-ins of a frame before the document of the frame came', async () => {
  const html = `<!doctype html><title>t</title><script>window.got = []; onmessage = (e) => got.push(e.data);</script><body>`;
  stack.site.setPageHtml(html);
  const page = await stack.openTab('/page');
  const add = (path: string, script: string) =>
    page.evaluate(
      ([src, code]) =>
        new Promise<boolean>((done) => {
          const frame = document.createElement('iframe');
          if (code === '') frame.src = src;
          document.body.append(frame);
          const run: unknown = frame.contentWindow && Reflect.get(frame.contentWindow, 'eval');
          if (code !== '' && typeof run === 'function') run(code);
          frame.onload = () => {
            if (frame.contentWindow?.location.pathname === src)
              done(Reflect.get(frame.contentWindow, 'poisoned') === true);
          };
          if (code !== '') frame.src = src;
        }),
      [path, script] as const,
    );
  // Chromium may give the document the Window of the empty one before it, or a new one.
  const kept = await add('/poisoned', `${poison} window.poisoned = true;`);
  await add('/clean', '');
  const safe = kept ? ['/clean'] : ['/clean', '/poisoned'];
  const frames = await waitFor('the plugin in the safe frames', async () => {
    const tab = (await stack.listTabs()).find(({ url }) => url === `${stack.site.origin}/page`);
    const paths = (tab?.frames ?? []).map(({ url }) => new URL(url).pathname);
    return safe.every((path) => paths.includes(path)) ? paths.toSorted() : undefined;
  });
  assert.deepEqual(frames, safe);
  assert.deepEqual(await page.evaluate(() => Reflect.get(window, 'got')), []);
  // What hosts compared with is gone.
  assert.deepEqual(
    page.frames().map((frame) => new URL(frame.url()).pathname),
    ['/page', '/poisoned', '/clean'],
  );
});

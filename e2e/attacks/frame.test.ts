/** Threat: a page manipulates its own frames before their documents load. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { placesPlugin, type Stack, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';

let stack: Stack;

before(async () => {
  stack = await startStack({ plugins: [placesPlugin] });
});
after(() => stack?.close());

/** leakPortScript notifies the frame's top page when a plugin host adds an event listener to a message port. */
const leakPortScript = `
  const on = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (type, listener, options) {
    if (type === 'down' || type === 'taken') top.postMessage('a port', '*');
    return Reflect.apply(on, this, [type, listener, options]);
  };`;

test('page: a page that replaces the built-ins of a frame before the frame loads sees no message port', async () => {
  const pageHtml = `<!doctype html><title>t</title><script>window.got = []; onmessage = (e) => got.push(e.data);</script><body>`;
  stack.site.setPageHtml(pageHtml);
  const page = await stack.openTab('/page');
  const addFrame = (path: string, script: string) =>
    page.evaluate(
      ([frameSource, script]) =>
        new Promise<boolean>((resolve) => {
          const frame = document.createElement('iframe');
          if (script === '') frame.src = frameSource;
          document.body.append(frame);
          const evaluateInFrame: unknown = frame.contentWindow && Reflect.get(frame.contentWindow, 'eval');
          if (script !== '' && typeof evaluateInFrame === 'function') evaluateInFrame(script);
          frame.onload = () => {
            if (frame.contentWindow?.location.pathname === frameSource)
              resolve(Reflect.get(frame.contentWindow, 'poisoned') === true);
          };
          if (script !== '') frame.src = frameSource;
        }),
      [path, script] as const,
    );
  // When a frame loads, Chromium either reuses the Window of the frame's initial empty document, or creates a new
  // Window.
  const isWindowReused = await addFrame('/poisoned', `${leakPortScript} window.poisoned = true;`);
  await addFrame('/clean', '');
  const safePaths = isWindowReused ? ['/clean'] : ['/clean', '/poisoned'];
  const framePaths = await waitFor('the plugin to be live in the safe frames', async () => {
    const tab = (await stack.listTabs()).find(({ url }) => url === `${stack.site.origin}/page`);
    const paths = (tab?.frames ?? []).map(({ url }) => new URL(url).pathname);
    return safePaths.every((path) => paths.includes(path)) ? paths.toSorted() : undefined;
  });
  assert.deepEqual(framePaths, safePaths);
  assert.deepEqual(await page.evaluate(() => Reflect.get(window, 'got')), []);
  // A plugin host adds a temporary frame to read unmodified built-ins, and must remove the frame afterward.
  assert.deepEqual(
    page.frames().map((frame) => new URL(frame.url()).pathname),
    ['/page', '/poisoned', '/clean'],
  );
});

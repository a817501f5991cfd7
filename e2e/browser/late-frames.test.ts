/** Waits, changes and reads take into account that frames appear, load other documents, and load slowly. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { waitFor } from '../harness/wait.ts';
import { type BrowserFixture, startBrowserFixture } from './browser-fixture.ts';

let fixture: BrowserFixture;

before(async () => {
  fixture = await startBrowserFixture();
  fixture.setPage('/one', '<!doctype html><p>frame one</p><button>One</button>');
  fixture.setPage('/two', '<!doctype html><p>frame two</p><button>Two</button>');
});
after(() => fixture?.close());

test('a wait finds texts and elements in frames that are added or loaded during the wait', async () => {
  const { callTool: call, open, setPage } = fixture;
  setPage(
    '/late',
    `<!doctype html><title>Late</title><iframe id="f" src="/one"></iframe><script>setTimeout(() => {
       const frame = document.createElement('iframe'); frame.src = '/two'; document.body.append(frame) }, 1000)</script>`,
  );
  const text = await call('browser_wait_for', { text: 'frame two', timeout: 20 }, await open('/late'));
  assert.match(text.content ?? '', /^text "frame two" after \d+\.\d s\np "frame two" \[ref=f\d+e\d+\]$/);
  setPage(
    '/later',
    `<!doctype html><iframe id="f" src="/one"></iframe><script>setTimeout(() => f.src = '/two', 1000)</script>`,
  );
  const selector = await call(
    'browser_wait_for',
    { selector: 'button', text: 'Two', timeout: 20 },
    await open('/later'),
  );
  assert.match(selector.content ?? '', /Two/);
});

test('a wait until a text is gone ends only when no frame shows the text', async () => {
  const { callTool: call, callExpectingFailure: callForFailure, open, setPage } = fixture;
  setPage(
    '/loading',
    `<!doctype html><p id="p">Loading</p><script>onmessage = () => { p.textContent = 'Ready' }</script>`,
  );
  setPage('/outer', '<!doctype html><title>Outer</title><h1>Outer</h1><iframe src="/loading"></iframe>');
  const tabId = await open('/outer');
  for (const args of [{ textGone: 'Loading' }, { selector: 'p', state: 'hidden' }]) {
    const failure = await callForFailure('browser_wait_for', { ...args, timeout: 0.5 }, tabId);
    assert.equal(failure.code, 'timeout');
    assert.match(failure.message, /not met\. Take a snapshot, or wait longer\.$/);
  }
  const page = await fixture.findPage(`${fixture.origin}/outer`);
  await page.evaluate('frames[0].postMessage(0)');
  assert.equal((await call('browser_wait_for', { textGone: 'Loading' }, tabId)).text, 'Found: textGone.');
});

test('a snapshot with the argument since contains frames that are new or show another document', async () => {
  const { callTool: call, open, setPage } = fixture;
  setPage('/changing', '<!doctype html><title>Changing</title><iframe id="f" src="/one"></iframe>');
  const tabId = await open('/changing');
  const firstOutput = await fixture.takeSnapshot(tabId);
  const page = await fixture.findPage(`${fixture.origin}/changing`);
  const unchangedOutput = await call('browser_snapshot', { since: firstOutput.snapshot }, tabId);
  assert.match(unchangedOutput.text ?? '', /Nothing changed since s\d+\.$/);
  assert.equal(unchangedOutput.content, undefined);
  await page.evaluate(`f.src = '/two'`);
  await call('browser_wait_for', { text: 'frame two' }, tabId);
  const changedFrameOutput = await call('browser_snapshot', { since: unchangedOutput.snapshot }, tabId);
  assert.match(
    changedFrameOutput.content ?? '',
    /^in frame f\d+ \(a new document\):\nframe two\nbutton "Two" \[ref=f\d+e\d+\]$/,
  );
  await page.evaluate(`document.body.append(Object.assign(document.createElement('iframe'), { src: '/one' }))`);
  await call('browser_wait_for', { text: 'frame one' }, tabId);
  const addedFrameOutput = await call('browser_snapshot', { since: changedFrameOutput.snapshot }, tabId);
  assert.match(
    addedFrameOutput.content ?? '',
    /^\+ iframe \[ref=e\d+\]\nin frame f\d+ \(a new document\):\nframe one\n/,
  );
  await page.evaluate(`frames[1].document.body.append('more')`);
  const addedTextOutput = await call('browser_snapshot', { since: addedFrameOutput.snapshot }, tabId);
  assert.match(addedTextOutput.content ?? '', /^in frame f\d+:\n\+ more$/);
});

test('a wait for a selector accepts any visible match, and results report that a document is still loading', async () => {
  const { callTool: call, open, setPage, origin } = fixture;
  setPage('/template', '<!doctype html><p class="r" hidden>template</p><p class="r">shown</p>');
  const tabId = await open('/template');
  assert.match((await call('browser_wait_for', { selector: '.r', timeout: 5 }, tabId)).content ?? '', /shown/);
  setPage(
    '/slow-script',
    '<!doctype html><title>Slow</title><h1>Start</h1><script src="/slow.js?delay=8000"></script><p>End</p>',
  );
  await call('browser_navigate', { url: `${origin}/slow-script`, waitUntil: 'commit', snapshot: 'none' }, tabId);
  const readOutput = await waitFor('the start of the page', async () => {
    const output = await call('browser_read_page', {}, tabId);
    return output.content?.includes('Start') && output;
  });
  assert.match(readOutput.text ?? '', /^The page is still loading, so more may follow\./);
  assert.match((await call('browser_snapshot', {}, tabId)).text ?? '', /still loading/);
  await call('browser_wait_for', { text: 'End', timeout: 30 }, tabId);
  assert.equal((await call('browser_read_page', {}, tabId)).text, 'This is the end of the page.');
});

test('frames beyond maxTokens are left out and counted, and can be read by their refs', async () => {
  const { callTool: call, open, setPage } = fixture;
  const paragraphs = Array.from({ length: 60 }, (_, i) => `<p>Paragraph ${i} of a long frame.</p>`).join('');
  setPage('/long-frame', `<!doctype html>${paragraphs}`);
  const frame = '<iframe src="/long-frame" style="display:block;margin-top:900px"></iframe>';
  setPage('/many-frames', `<!doctype html><title>Many</title><h1>Many</h1>${frame.repeat(8)}`);
  const tabId = await open('/many-frames');
  const { content = '', text = '' } = await call('browser_snapshot', { maxTokens: 1000 }, tabId);
  assert.ok(Buffer.byteLength(content) / 4 <= 1_100, `${content.length} characters`);
  assert.match(text, /The content of 4 frames is left out\. Use the ref of an iframe as target to read it\./);
  const target = [...content.matchAll(/iframe \[ref=(\w+)\]/g)].at(-1)?.[1];
  assert.match(
    (await call('browser_snapshot', { target }, tabId)).content ?? '',
    /Paragraph 15 of a long frame\.\n … 4\d more elements/,
  );
});

test('a navigation returns the page to which a script redirects, and names what is left out', async () => {
  const { callTool: call, open, setPage, origin } = fixture;
  setPage('/target', `<!doctype html><title>Target</title><h1>Target</h1>${'<div>row</div>'.repeat(500)}`);
  const tabId = await open('/one');
  for (const redirectHtml of [
    '<meta http-equiv="refresh" content="0;url=/target">',
    `<script>onload = () => setTimeout(() => { location.href = '/target' }, 0)</script>`,
  ]) {
    setPage('/leaving', `<!doctype html><title>Leaving</title>${redirectHtml}<h1>Leaving</h1>`);
    const { content = '', text = '', page } = await call('browser_navigate', { url: `${origin}/leaving` }, tabId);
    if (page?.url !== `${origin}/target`) continue; // the snapshot was taken before the script redirected
    assert.match(content, /^heading "Target"/);
    assert.match(text, /At least \d+ elements are left out\. Use browser_snapshot to see more\.$/);
  }
});

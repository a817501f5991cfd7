/**
 * The tools of the group "devtools" return the console messages, files, styles and performance data of a page.
 */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { waitFor } from '../harness/wait.ts';
import { type BrowserFixture, startBrowserFixture } from './browser-fixture.ts';

let fixture: BrowserFixture;
before(async () => {
  fixture = await startBrowserFixture('--debugger');
});
after(() => fixture.close());

async function openPage(path: string, body: string): Promise<number> {
  fixture.setPage(path, `<!doctype html><title>${path}</title>\n${body}`);
  return await fixture.open(path);
}

const forbiddenFrames = { _frames: { localhost: false } };

test('console messages from before the call have level, position, count and object previews', async () => {
  const tabId = await openPage(
    '/console',
    `<script>
console.debug('detail');
for (let i = 0; i < 3; i++) console.log('again', 1, { a: [1, 2], b: 'x', get c() { throw 1 } });
console.warn('careful %s', 'now');
console.error(new Error('broken'), [1, 'two', null], new Map([[1, 2]]));
function fail() { missing.name; }
setTimeout(fail);
Promise.reject(new TypeError('rejected'));
fetch('/none?status=404');
    </script>`,
  );
  const readDevtools = async (args: object = {}) =>
    (await fixture.callTool('browser_console_messages', args, tabId)).content ?? '';
  const content = await waitFor('all messages', async () => {
    const outputText = await readDevtools();
    return outputText.includes('status of 404') && outputText.includes('rejected') ? outputText : undefined;
  });
  const locationPattern = `${fixture.origin}/console`.replaceAll('.', '\\.');
  for (const pattern of [
    `info \\(3 times\\): again 1 \\{a: Array\\(2\\), b: x, c: \\(getter\\)\\} \\(${locationPattern}:4:37\\)`,
    `warning: careful now \\(${locationPattern}:5:9\\)`,
    `error: Error: broken[^]*\\[1, two, null\\] Map\\(1\\)`,
    `error: Uncaught ReferenceError: missing is not defined\\n +at fail \\(${locationPattern}:7:19\\)[^]*\\(${locationPattern}:7:19\\)`,
    `error: Uncaught TypeError: rejected`,
    `error: Failed to load resource: .*404.*none`,
  ])
    assert.match(content, new RegExp(pattern));
  assert.doesNotMatch(content, /detail/);
  assert.match(await readDevtools({ level: 'debug' }), /debug: detail/);
  const errors = await readDevtools({ level: 'error' });
  assert.match(errors, /broken/);
  assert.doesNotMatch(errors, /careful|again/);
  const { text: outputText = '' } = await fixture.callTool('browser_console_messages', { clear: true }, tabId);
  assert.equal(await readDevtools(), '');
  await (await fixture.findPage(`${fixture.origin}/console`)).evaluate(() => console.log('later'));
  assert.match(await readDevtools(), /^\S+ info: later[^\n]*$/);
  const [, sinceNumberText] = /"since":([\d.]+)/.exec(outputText) ?? [];
  assert.match(await readDevtools({ since: Number(sinceNumberText) }), /^\S+ info: later/);
  assert.equal(
    (await fixture.callTool('browser_console_messages', { since: Date.now() + 1e6 }, tabId)).content,
    undefined,
  );
});

test('messages of frames are read, except frames on sites that the user does not allow', async () => {
  fixture.setPage('/inner', `<!doctype html><script>console.log('from ' + location.host + ' ' + name)</script>`);
  const tabId = await openPage(
    '/frames',
    `<script>console.log('from the page')</script><iframe src="/inner" name="near"></iframe>
     <iframe src="${fixture.otherOrigin}/inner" name="far"></iframe>`,
  );
  const allMessages = await waitFor('the messages of both frames', async () => {
    const { content = '' } = await fixture.callTool('browser_console_messages', {}, tabId);
    return content.includes('near') && content.includes('far') ? content : undefined;
  });
  assert.match(allMessages, /from the page/);
  const { text: outputText = '', content = '' } = await fixture.callTool(
    'browser_console_messages',
    forbiddenFrames,
    tabId,
  );
  for (const contentPattern of [/from the page/, /near/]) assert.match(content, contentPattern);
  assert.doesNotMatch(content, /far/);
  assert.match(outputText, /left out/);
});

test('resources are listed by type and address, and a resource body comes in parts', async () => {
  fixture.setPage('/code.js', `// ${'ü'.repeat(60_000)}\nwindow.loaded = 1;`);
  fixture.setPage('/inner', '<!doctype html><title>Inner</title><p>Inner text');
  const tabId = await openPage(
    '/files',
    `<script src="/code.js"></script><img src="/picture?status=200"><iframe src="/inner"></iframe>
     <iframe src="${fixture.otherOrigin}/inner?far"></iframe>`,
  );
  const readDevtools = (args: object) => fixture.callTool('browser_resources', args, tabId);
  const allMessages = await waitFor('all files', async () => {
    const { content = '' } = await readDevtools({});
    return content.includes('/inner?far') && content.includes('/code.js') ? content : undefined;
  });
  assert.match(allMessages, /^document text\/html .*\/files$/m);
  assert.match(allMessages, /^document text\/html .*127.*\/inner$/m);
  assert.match((await readDevtools({ type: 'script' })).content ?? '', /^script text\/html \d+ bytes \S+\/code\.js$/);
  assert.equal((await readDevtools({ url: 'nothing' })).text, 'Nothing matches.');
  const url = `${fixture.origin}/code.js`;
  const firstOutcome = await readDevtools({ url });
  assert.match(firstOutcome.text ?? '', /^script text\/html, \d+ bytes\. Characters 1 to 50000 of 60022\./);
  const [, cursor] = /cursor "(.+)"/.exec(firstOutcome.text ?? '') ?? [];
  assert.match(
    `${firstOutcome.content}${(await readDevtools({ cursor })).content}`,
    /^\/\/ ü{60000}\nwindow\.loaded = 1;$/,
  );
  assert.match((await readDevtools({ url: `${fixture.otherOrigin}/inner?far` })).content ?? '', /Inner text/);
  const allowedScripts = await readDevtools(forbiddenFrames);
  assert.doesNotMatch(allowedScripts.content ?? '', /far/);
  assert.match(allowedScripts.text ?? '', /left out/);
  const forbiddenScript = await readDevtools({ url: `${fixture.otherOrigin}/inner?far`, ...forbiddenFrames });
  assert.match(forbiddenScript.text ?? '', /Nothing matches/);
});

test('if Chrome lost the source of a document, browser_resources returns its HTML without the values of fields', async () => {
  const tabId = await openPage('/lost', '');
  const page = await fixture.findPage(`${fixture.origin}/lost`);
  await page.evaluate(() => {
    document.body.innerHTML = `<input type="password" value="S3CRET1"><input autocomplete="cc-number" value="S3CRET2">
      <textarea name="code">S3CRET3</textarea><template><input value="S3CRET4"></template>
      <button value="kept">Send</button><p>Text</p>`;
    history.pushState({}, '', '/lost/later');
  });
  const url = `${fixture.origin}/lost/later`;
  const { text: outputText = '', content = '' } = await fixture.callTool('browser_resources', { url }, tabId);
  assert.match(outputText, /as it is now, without the values of fields; Chrome no longer has the original/);
  assert.match(content, /<input type="password"><input autocomplete="cc-number">/);
  assert.match(content, /<textarea name="code"><\/textarea><template><input><\/template>/);
  assert.match(content, /<button value="kept">Send<\/button><p>Text<\/p>/);
  assert.equal(await page.evaluate(() => document.querySelector('input')?.value), 'S3CRET1');
});

test('browser_get_styles returns computed values and matched rules with lines, also in a forced state', async () => {
  const tabId = await openPage(
    '/styles',
    `<style>
button { color: rgb(1, 2, 3); --size: 4px }
@media (min-width: 1px) { #go { padding: 5px !important } }
#go:hover { color: rgb(9, 9, 9) }
</style><div style="font-size: 30px"><button id="go" style="opacity: 0.5">Go</button></div>`,
  );
  const { content: snapshotTree = '' } = await fixture.callTool('browser_snapshot', {}, tabId);
  const target = /"Go".*\[ref=(\w+)\]/.exec(snapshotTree)?.[1];
  const readDevtools = async (args: object) =>
    (await fixture.callTool('browser_get_styles', { target, ...args }, tabId)).content ?? '';
  const styles = await readDevtools({ properties: ['color', '--size', 'padding'] });
  assert.match(styles, /^color: rgb\(1, 2, 3\)\n--size: 4px\npadding: 5px$/m);
  const locationPattern = `${fixture.origin}/styles`;
  assert.ok(styles.includes(`@media (min-width: 1px) #go { padding: 5px !important } (${locationPattern}:4)`), styles);
  assert.ok(styles.includes(`button { color: rgb(1, 2, 3); --size: 4px } (${locationPattern}:3)`), styles);
  assert.match(styles, /^element\.style \{ opacity: 0\.5 \}$/m);
  assert.doesNotMatch(styles, /9, 9, 9/);
  const hoverStyles = await readDevtools({ properties: ['color'], forceState: ['hover'] });
  assert.match(hoverStyles, /^color: rgb\(9, 9, 9\)$/m);
  assert.ok(hoverStyles.includes(`#go:hover { color: rgb(9, 9, 9) } (${locationPattern}:5)`), hoverStyles);
  assert.match(await readDevtools({ properties: ['color'] }), /^color: rgb\(1, 2, 3\)$/m);
  assert.match(await readDevtools({}), /^display: inline-block$/m);
  const unknownPropertyFailure = await fixture.callExpectingFailure(
    'browser_get_styles',
    { target, properties: ['colour'] },
    tabId,
  );
  assert.equal(unknownPropertyFailure.code, 'invalid_arguments');
  assert.equal((await fixture.callExpectingFailure('browser_get_styles', { target: 'e999' }, tabId)).code, 'stale_ref');
});

test('parallel calls of browser_get_styles have separate forced states', async () => {
  const tabId = await openPage(
    '/parallel',
    `<style>a { color: rgb(1, 1, 1) } a:hover { color: rgb(2, 2, 2) } a:focus { color: rgb(3, 3, 3) }</style>
     <a href="#x">Link</a>`,
  );
  const { content: snapshotTree = '' } = await fixture.callTool('browser_snapshot', {}, tabId);
  const target = /"Link".*\[ref=(\w+)\]/.exec(snapshotTree)?.[1];
  const readColor = async (forceState: string[]) => {
    const args = { target, properties: ['color'], forceState };
    const { content = '' } = await fixture.callTool('browser_get_styles', args, tabId);
    return /^color: (.+)$/m.exec(content)?.[1];
  };
  assert.deepEqual(await Promise.all([['hover'], ['focus'], [], ['hover'], ['focus']].map(readColor)), [
    'rgb(2, 2, 2)',
    'rgb(3, 3, 3)',
    'rgb(1, 1, 1)',
    'rgb(2, 2, 2)',
    'rgb(3, 3, 3)',
  ]);
});

test('CSS coverage counts the rules that were used since the start, across navigations', async () => {
  const cssRules = {
    first: '.first { color: red }',
    second: '.second { color: blue }',
    never: '.never { color: lime }',
  };
  fixture.setPage('/sheet.css', Object.values(cssRules).join('\n'));
  // Chrome applies a style sheet with a wrong MIME type only in a page without a doctype.
  fixture.setPage('/after', '<link rel="stylesheet" href="/sheet.css"><p class="second">After');
  const link = `<link rel="stylesheet" href="/sheet.css"><style>h1 { margin: 0 }</style>`;
  fixture.setPage('/before', `${link}<p class="first">Before`);
  const tabId = await fixture.open('/before');
  assert.equal(
    (await fixture.callExpectingFailure('browser_css_coverage', { action: 'stop' }, tabId)).code,
    'not_found',
  );
  await fixture.callTool('browser_css_coverage', { action: 'start' }, tabId);
  await fixture.callTool('browser_navigate', { url: `${fixture.origin}/after` }, tabId);
  const { content: snapshotTree = '' } = await fixture.callTool('browser_snapshot', {}, tabId);
  assert.match(snapshotTree, /After/);
  const { text: outputText = '', content = '' } = await fixture.callTool(
    'browser_css_coverage',
    { action: 'stop' },
    tabId,
  );
  const allMessages = Object.values(cssRules).join('\n').length;
  assert.match(outputText, /^Used \d+ of \d+ characters/);
  const usedCssChars = cssRules.first.length + cssRules.second.length;
  assert.match(content, new RegExp(`^\\d+ % ${usedCssChars} of ${allMessages} characters \\S+/sheet\\.css$`, 'm'));
  assert.match(content, /^0 % 0 of 16 characters .*\/before:1:\d+ \(inline\)$/m);
  assert.equal(
    (await fixture.callExpectingFailure('browser_css_coverage', { action: 'stop' }, tabId)).code,
    'not_found',
  );
});

const slowPage = `<style>* { margin: 0 } #content { height: 400px; background: silver }</style>
<p>Small</p><button id="go">Go</button><div id="content">Content</div>
<script>
const busy = (ms) => { const end = performance.now() + ms; while (performance.now() < end); };
document.getElementById('go').onclick = function slowClick() { busy(250); };
const boot = () => {
  busy(300);
  const banner = document.createElement('div');
  banner.style.height = '200px';
  document.body.prepend(banner);
  const canvas = Object.assign(document.createElement('canvas'), { width: 300, height: 200 });
  const context = canvas.getContext('2d');
  for (let i = 0; i < 60000; i++) {
    context.fillStyle = 'hsl(' + Math.random() * 360 + ' 90% 50%)';
    context.fillRect(i % 300, i / 300, 1, 1);
  }
  canvas.toBlob((blob) => {
    const image = Object.assign(new Image(), { id: 'hero', alt: 'Hero', src: URL.createObjectURL(blob) });
    document.getElementById('content').append(image);
  });
};
// Chrome counts a movement of an element as a layout shift only after the first paint.
new PerformanceObserver((_, observer) => {
  observer.disconnect();
  setTimeout(boot, 50);
}).observe({ type: 'paint', buffered: true });
performance.mark('step', { detail: { token: 'S3CRET' } });
fetch('/api?token=S3CRET');
</script>`;

test('a performance recording names slow parts of a page, and its trace contains no secrets', async () => {
  fixture.setPage('/api', '{}');
  const tabId = await openPage('/slow', slowPage);
  assert.equal(
    (await fixture.callExpectingFailure('browser_performance', { action: 'stop' }, tabId)).code,
    'not_found',
  );
  await fixture.callTool('browser_performance', { action: 'start', reload: true }, tabId);
  const page = await fixture.findPage(`${fixture.origin}/slow`);
  await page.waitForFunction(() => document.querySelector<HTMLImageElement>('#hero')?.naturalWidth === 300);
  const { content: snapshotTree = '' } = await fixture.callTool('browser_snapshot', {}, tabId);
  const target = /button "Go".*?\[?(e\d+)/.exec(snapshotTree)?.[1] ?? '';
  await fixture.callTool('browser_click', { target }, tabId);
  const {
    text: outputText = '',
    content = '',
    file,
  } = await fixture.callTool('browser_performance', { action: 'stop' }, tabId);
  assert.match(outputText, /^Recorded \d+\.\d s\. The file is the trace/);
  assert.match(content, /^TTFB \d+ ms \(\w+/m);
  assert.match(content, /^DOM ready \d+ ms, loaded \d+ ms \(reload\)$/m);
  assert.match(content, /^FCP \d+ ms \(/m);
  assert.match(content, /^LCP \S+ m?s \([^)]+\): img#hero "Hero" blob:\S+, 60000 px²$/m);
  assert.match(content, /^INP \d+ ms \([^)]+\), 1 interaction$/m);
  const [, type, handlerTimeMs] =
    /^ {2}(\w+) at .* on button#go "Go" \(delay \d+ ms, handlers (\d+) ms/m.exec(content) ?? [];
  assert.equal(type, 'click', `the interaction has the type ${type}, want click:\n${content}`);
  assert.ok(Number(handlerTimeMs) >= 250, `the handlers ran for ${handlerTimeMs} ms, want at least 250`);
  const [, shiftScore] = /^CLS ([\d.]+) \(/m.exec(content) ?? [];
  assert.ok(Number(shiftScore) > 0.05, `CLS = ${shiftScore}, want more than 0.05:\n${content}`);
  assert.match(content, /^ {2}[\d.]+ at \d+ ms: .*div#content "Content" moved 200 px down/m);
  const [, longTaskMs] = /^ {2}at \d+ ms: (\d+) ms .*\/slow \(boot/m.exec(content) ?? [];
  assert.ok(Number(longTaskMs) >= 300, `the long task of boot took ${longTaskMs} ms, want at least 300:\n${content}`);
  assert.equal(file?.extension, 'json');
  const { traceEvents } = JSON.parse(file?.text ?? '');
  const names = new Set(traceEvents.map(({ name }: { name: string }) => name));
  for (const name of [
    'TracingStartedInBrowser',
    'FunctionCall',
    'Layout',
    'LayoutShift',
    'ResourceSendRequest',
    'step',
  ])
    assert.ok(names.has(name), `the trace has no ${name}, only ${[...names].join(' ')}`);
  assert.doesNotMatch(`${content}${file?.text}`, /S3CRET/);
  assert.equal(
    (await fixture.callExpectingFailure('browser_performance', { action: 'stop' }, tabId)).code,
    'not_found',
  );
});

test('a performance recording without a reload counts events since its start, and ignores forbidden frames', async () => {
  fixture.setPage('/inner-speed', '<!doctype html><div id="content" style="height: 400px">Content</div>');
  const body = `<iframe width="600" height="600" src="${fixture.otherOrigin}/inner-speed"></iframe>`;
  const tabId = await openPage('/framed', body);
  const page = await fixture.findPage(`${fixture.origin}/framed`);
  const frame = await waitFor('the frame', () =>
    page.frames().find((pageFrame) => pageFrame.url().includes('/inner-speed')),
  );
  const addBanner = async () => {
    // In a background tab, Chrome paints only while browser_performance records, and reports layout shifts after the
    // first paint.
    await waitFor('the first paint of the frame', () =>
      frame.evaluate(() => performance.getEntriesByName('first-contentful-paint').length > 0),
    );
    await frame.evaluate(async () => {
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      document.body.prepend(Object.assign(document.createElement('div'), { style: 'height: 50px' }));
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    });
  };
  const recordPerformance = async (args: object) => {
    await fixture.callTool('browser_performance', { action: 'start', ...args }, tabId);
    await addBanner();
    return await fixture.callTool('browser_performance', { action: 'stop', ...args }, tabId);
  };
  await fixture.callTool('browser_performance', { action: 'start' }, tabId);
  const secondStartOutcome = await fixture.callTool('browser_performance', { action: 'start' }, tabId);
  assert.match(secondStartOutcome.text ?? '', /The earlier recording of this tab was discarded\. Use the page/);
  const { text: outputText = '', content = '', file } = await recordPerformance({});
  assert.match(outputText, /count from the start/);
  assert.match(content, /^CLS 0 \(good\), 0 layout shifts$/m);
  const [, frameReport = ''] = content.split(`frame ${fixture.otherOrigin}/inner-speed\n`);
  assert.match(frameReport, /^CLS \S+ \(.*, 1 layout shift\n.*div#content .* moved 50 px down/m);
  assert.match(file?.text ?? '', /localhost/);
  const forbiddenRecording = await recordPerformance(forbiddenFrames);
  assert.match(forbiddenRecording.text ?? '', /Frames that the user does not allow are left out/);
  assert.doesNotMatch(`${forbiddenRecording.content}${forbiddenRecording.file?.text}`, /localhost/);
});

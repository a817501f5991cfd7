/** With the debugger, an agent's input in a background tab works like a user's input. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type AgentFixture, parseRef, startAgentFixture } from './agent-fixture.ts';

let fixture: AgentFixture;

before(async () => {
  fixture = await startAgentFixture({ installFlags: ['--debugger'] });
  fixture.stack.chrome.context.on('dialog', () => undefined); // without a listener, Playwright dismisses the dialogs
  await fixture.stack.runCli('browser', 'site', fixture.other, 'auto');
});
after(() => fixture?.close());

async function openPage(path: string, body: string): Promise<string> {
  fixture.setPage(path, `<title>${path}</title><script>window.log = []</script>${body}`);
  await fixture.open(path);
  return await fixture.takeSnapshot();
}

async function evaluateInShop(path: string, expression: string): Promise<unknown> {
  return await (await fixture.findPage(`${fixture.shop}${path}`)).evaluate(expression);
}

async function readFrameLog(path: string, frameName: string): Promise<unknown> {
  const page = await fixture.findPage(`${fixture.shop}${path}`);
  const frame = page
    .frames()
    .find((pageFrame) => pageFrame !== page.mainFrame() && pageFrame.url().includes(frameName));
  return await frame?.evaluate('log.splice(0)');
}

const recorder = `<script>window.log = [];
  for (const type of ['click', 'dblclick', 'auxclick', 'contextmenu'])
    addEventListener(type, (e) => log.push([e.type, e.isTrusted, e.button, e.detail, (e.shiftKey ? 'S' : '') + (e.ctrlKey ? 'C' : '')].join(' ')));
</script>`;

test('clicks are trusted, with the requested button, count and modifiers', async () => {
  const { callTool } = fixture;
  const snapshot = await openPage('/clicks', `${recorder}<div style="height:2000px"></div><button>Here</button>`);
  const target = parseRef(snapshot, '"Here"');
  const log = () => evaluateInShop('/clicks', 'log.splice(0)');
  assert.match(await callTool('browser_click', { target }), /input: trusted\./);
  assert.deepEqual(await log(), ['click true 0 1 ']);
  await callTool('browser_click', { target, doubleClick: true });
  assert.deepEqual(await log(), ['click true 0 1 ', 'click true 0 2 ', 'dblclick true 0 2 ']);
  await callTool('browser_click', { target, button: 'right' });
  assert.deepEqual(await log(), ['contextmenu true 2 0 ', 'auxclick true 2 1 ']);
  await callTool('browser_click', { target, button: 'middle', modifiers: ['Shift', 'Control'] });
  assert.deepEqual(await log(), ['auxclick true 1 1 SC']);
});

test('the result of a click reports that an element scrolled, but not the scroll to the clicked element', async () => {
  const { callTool } = fixture;
  const snapshot = await openPage(
    '/carousel',
    `<div id="list" style="width:200px;overflow:auto"><div style="width:2000px">Pictures</div></div>
     <div style="height:3000px"></div><button>Idle</button>
     <button onclick="list.scrollBy({ left: 200, behavior: 'smooth' })">Next</button>`,
  );
  assert.match(await callTool('browser_click', { target: parseRef(snapshot, '"Idle"') }), /changed: nothing\./);
  assert.match(await callTool('browser_click', { target: parseRef(snapshot, '"Next"') }), /Only the scroll position/);
});

test('clicks reach nested cross-site frames, scaled frames and closed shadow roots', async () => {
  const { callTool, setPage, other: otherOrigin, shop: shopOrigin } = fixture;
  setPage('/leaf', `${recorder}<div style="height:1500px"></div><button>Leaf</button>`);
  setPage(
    '/middle',
    `${recorder}<div style="height:900px"></div><iframe src="${shopOrigin}/leaf" style="width:260px;height:120px;border:5px solid;padding:7px"></iframe>`,
  );
  setPage('/scaled', `${recorder}<button style="margin:40px">Scaled</button>`);
  const snapshot = await openPage(
    '/nested',
    `${recorder}<div style="height:1200px"></div><iframe src="${otherOrigin}/middle" style="width:320px;height:200px"></iframe>
     <iframe src="${otherOrigin}/scaled" style="width:300px;height:200px;transform:scale(0.5);transform-origin:0 0"></iframe>
     <x-closed></x-closed><script>customElements.define('x-closed', class extends HTMLElement { connectedCallback() {
       const root = this.attachShadow({ mode: 'closed' }); root.innerHTML = '<button>Closed</button><iframe src="${otherOrigin}/scaled?shadow" style="width:310px;height:210px"></iframe>';
       root.querySelector('button').onclick = (e) => log.push('closed ' + e.isTrusted) } })</script>`,
  );
  assert.match(await callTool('browser_click', { target: parseRef(snapshot, '"Leaf"') }), /input: trusted\./);
  assert.deepEqual(await readFrameLog('/nested', '/leaf'), ['click true 0 1 ']);
  const [scaledButtonLine = '', shadowButtonLine = ''] = snapshot
    .split('\n')
    .filter((line) => line.includes('"Scaled"'));
  assert.match(await callTool('browser_click', { target: parseRef(scaledButtonLine, 'Scaled') }), /input: trusted\./);
  assert.match(await callTool('browser_click', { target: parseRef(shadowButtonLine, 'Scaled') }), /input: trusted\./);
  const page = await fixture.findPage(`${shopOrigin}/nested`);
  const logs = await Promise.all(
    page
      .frames()
      .filter((frame) => frame.url().includes('/scaled'))
      .map((frame) => frame.evaluate('log')),
  );
  assert.deepEqual(logs, [['click true 0 1 '], ['click true 0 1 ']]);
  await callTool('browser_click', { target: parseRef(snapshot, '"Closed"') });
  assert.deepEqual(await evaluateInShop('/nested', 'log.filter((entry) => entry.startsWith("closed"))'), [
    'closed true',
  ]);
});

test('a click opens no file chooser, list popup or date picker of the browser', async () => {
  const { callTool, setPage, other: otherOrigin } = fixture;
  setPage(
    '/files',
    `<button onclick="const f = document.createElement('input'); f.type = 'file'; f.click()">Inner</button>`,
  );
  const snapshot = await openPage(
    '/choosers',
    `<input type="file" aria-label="File"><button onclick="const f = document.createElement('input'); f.type = 'file'; f.click()">Pick</button>
     <select aria-label="List"><option>A</option><option>B</option></select><input type="date" aria-label="Day"><iframe src="${otherOrigin}/files"></iframe>`,
  );
  for (const name of ['"File"', '"Pick"', '"Inner"']) {
    const outputText = await callTool('browser_click', { target: parseRef(snapshot, name) });
    assert.match(outputText, /input: trusted\..*browser_file_upload/s, name);
  }
  for (const name of ['"List"', '"Day"'])
    assert.match(await callTool('browser_click', { target: parseRef(snapshot, name) }), /input: synthetic\./, name);
});

test("a click that opens a popup or navigates succeeds, and the user's tab stays active", async () => {
  const { callTool, shop: shopOrigin } = fixture;
  const readFrontTab = async () => {
    fixture.onApprovalForm = () => true;
    const outputText = await callTool('browser_tabs', { action: 'list' });
    fixture.onApprovalForm = () => false;
    return outputText.split('\n').filter((line) => line.includes('in front of its window'));
  };
  const frontTabBefore = await readFrontTab();
  const snapshot = await openPage(
    '/popups',
    `<button onclick="window.open('/clicks', 'w', 'width=300,height=200')">Popup</button><a href="/clicks" target="_blank">Tab</a><a href="/clicks">Go</a>`,
  );
  assert.match(await callTool('browser_click', { target: parseRef(snapshot, '"Tab"') }), /The page opened tab \d+/);
  assert.match(await callTool('browser_click', { target: parseRef(snapshot, '"Popup"') }), /The page opened tab \d+/);
  assert.ok((await readFrontTab()).includes(frontTabBefore[0] ?? ''), `${frontTabBefore[0]} must stay in front`);
  const linkClickText = await callTool('browser_click', { target: parseRef(snapshot, '"Go"') });
  assert.match(linkClickText, /another document.*page: .*\/clicks/s);
  assert.ok(linkClickText.includes(`${shopOrigin}/clicks`));
});

test("trusted keys act like a user's keys: Tab, Enter, Escape, arrows, combinations, characters without a key", async () => {
  const { callTool } = fixture;
  const snapshot = await openPage(
    '/keys',
    `<form onsubmit="event.preventDefault(); log.push('submit ' + q.value)"><input id="q" aria-label="Query" value="old"><input id="next" aria-label="Next"><input type="range" id="range" aria-label="Range" value="50"><button>Go</button></form>
     <dialog id="dialog"><button>Inside</button></dialog><textarea id="area" aria-label="Area"></textarea>
     <script>for (const type of ['keydown', 'keyup']) addEventListener(type, (e) => { if (window.keys) log.push([e.type, e.key, e.code, e.keyCode, e.isTrusted, e.ctrlKey].join(' ')) });</script>`,
  );
  const findRefOf = (name: string) => parseRef(snapshot, `"${name}"`);
  const pressKey = (key: string, target?: string) =>
    callTool('browser_press_key', { key, ...(target ? { target } : {}) });
  await evaluateInShop('/keys', 'window.keys = true');
  assert.match(await pressKey('Control+a', findRefOf('Query')), /input: trusted\./);
  assert.deepEqual(await evaluateInShop('/keys', '[q.selectionStart, q.selectionEnd, ...log.splice(0)]'), [
    0,
    3,
    'keydown Control ControlLeft 17 true true',
    'keydown a KeyA 65 true true',
    'keyup a KeyA 65 true true',
    'keyup Control ControlLeft 17 true false',
  ]);
  await evaluateInShop('/keys', 'window.keys = false');
  await pressKey('x');
  await pressKey('Enter');
  assert.deepEqual(await evaluateInShop('/keys', 'log.splice(0)'), ['submit x']);
  await pressKey('Tab');
  assert.equal(await evaluateInShop('/keys', 'document.activeElement.id'), 'next');
  await pressKey('Shift+Tab');
  assert.equal(await evaluateInShop('/keys', 'document.activeElement.id'), 'q');
  await pressKey('ArrowRight', findRefOf('Range'));
  assert.equal(await evaluateInShop('/keys', 'range.value'), '51');
  await evaluateInShop('/keys', 'dialog.showModal()');
  await pressKey('Escape');
  assert.equal(await evaluateInShop('/keys', 'dialog.open'), false);
  const outputText = 'Aa1!.,:"\'-_+ \u00e9 \u6f22 \u{1f600}\nb';
  const typeOutcome = await callTool('browser_type', { target: findRefOf('Area'), text: outputText, slowly: true });
  assert.match(typeOutcome, /input: trusted\./);
  assert.equal(await evaluateInShop('/keys', 'area.value'), outputText);
  assert.match(
    await callTool('browser_type', { target: findRefOf('Query'), text: 'find', submit: true }),
    /input: trusted\./,
  );
  assert.deepEqual(await evaluateInShop('/keys', 'log.splice(0)'), ['submit find']);
});

test('keys reach fields in cross-site frames, and Enter submits a form by its button', async () => {
  const { callTool, setPage, other: otherOrigin } = fixture;
  setPage(
    '/form',
    `<script>window.log = []</script><form onsubmit="event.preventDefault(); log.push('submit ' + event.isTrusted + ' ' + who.value + ' ' + yes.checked)">
     <input id="who" aria-label="Who"><input type="checkbox" id="yes" aria-label="Yes" onclick="if (!event.isTrusted) event.preventDefault()"><button onclick="if (event.isTrusted) log.push('click')">Send</button></form>`,
  );
  const snapshot = await openPage('/framed-form', `<iframe src="${otherOrigin}/form"></iframe>`);
  const whoFieldRef = parseRef(snapshot, '"Who"');
  assert.match(await callTool('browser_type', { target: whoFieldRef, text: 'Ada', slowly: true }), /input: trusted\./);
  assert.match(await callTool('browser_press_key', { key: 'Enter' }), /input: trusted\./);
  assert.deepEqual(await readFrameLog('/framed-form', '/form'), ['click', 'submit true Ada false']);
  const outputText = await callTool('browser_fill_form', {
    fields: [
      { target: whoFieldRef, value: 'Grace' },
      { target: parseRef(snapshot, '"Yes"'), value: true },
    ],
    submit: true,
  });
  assert.match(outputText, /Filled 2 of 2 fields.*input: trusted\./s);
  assert.deepEqual(await readFrameLog('/framed-form', '/form'), ['click', 'submit true Grace true']);
});

test('a menu that closes on blur stays open between two actions', async () => {
  const { callTool } = fixture;
  const snapshot = await openPage(
    '/menu',
    `<button id="open" onclick="menu.hidden = false" onblur="menu.hidden = true">Open</button><ul id="menu" hidden><li><a href="#x" onmousedown="event.preventDefault()" onclick="log.push('chosen')">Choose</a></ul>
     <script>addEventListener('blur', () => { menu.hidden = true })</script>`,
  );
  const openedOutcome = await callTool('browser_click', { target: parseRef(snapshot, '"Open"') });
  await callTool('browser_click', { target: parseRef(openedOutcome, '"Choose"') });
  assert.deepEqual(await evaluateInShop('/menu', 'log'), ['chosen']);
});

test('a click on a frame element does not reach the document in the frame', async () => {
  const { callExpectingFailure, setPage, other: otherOrigin } = fixture;
  setPage('/victim', `${recorder}<button style="position:absolute;inset:0;width:100%;height:100%">Pay</button>`);
  const snapshot = await openPage('/embedding', `<iframe src="${otherOrigin}/victim" title="Pay"></iframe>`);
  for (const tool of ['browser_click', 'browser_hover']) {
    const { text: outputText } = await callExpectingFailure(tool, { target: parseRef(snapshot, 'iframe') });
    assert.match(outputText, /There is a frame at this point.*code=not_hittable/, tool);
  }
  assert.deepEqual(await readFrameLog('/embedding', '/victim'), []);
});

test('animation frames run during an action, so its result contains a change ten frames later', async () => {
  const { callTool } = fixture;
  const snapshot = await openPage(
    '/frames',
    `<button>Go</button><p id="out">start</p><script>
     let rounds = 0;
     let left;
     document.querySelector('button').onclick = () => {
       rounds++;
       left = 10;
       const step = () => { if (left-- > 0) requestAnimationFrame(step); else out.textContent = 'drawn ' + rounds; };
       requestAnimationFrame(step);
     };</script>`,
  );
  const target = parseRef(snapshot, '"Go"');
  for (let roundIndex = 1, completedRoundCount = 0; completedRoundCount < 4; roundIndex++) {
    const clickAnswer = await callTool('browser_click', { target });
    if (clickAnswer.includes(`drawn ${roundIndex}`)) completedRoundCount++;
    // An action waits 1 s for a change, in which a busy machine may draw fewer than ten frames.
    else
      assert.ok(
        roundIndex < 20 && (await evaluateInShop('/frames', 'left < 10')),
        `click ${roundIndex} must return the text "drawn ${roundIndex}": ${clickAnswer}`,
      );
  }
});

/**
 * In a background tab, the result of a browser tool reports exactly the effect on the page, and no effect that the page
 * rejected.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AgentFixture, parseRef, startAgentFixture } from './agent-fixture.ts';

let fixture: AgentFixture;

before(async () => {
  fixture = await startAgentFixture();
});
after(() => fixture?.close());

async function openPage(path: string, body: string): Promise<string> {
  fixture.setPage(path, `<title>${path}</title><script>window.log = []</script>${body}`);
  await fixture.open(path);
  return await fixture.takeSnapshot();
}

async function evaluateInPage(path: string, expression: string): Promise<unknown> {
  return await (await fixture.findPage(`${fixture.shop}${path}`)).evaluate(expression);
}

test('buttons that are late, moving or below the fold are clicked, and a covered button is not', async () => {
  const { callTool, callExpectingFailure } = fixture;
  const snapshot = await openPage(
    '/buttons',
    `<button id="late" disabled onclick="log.push('late')">Late</button>
     <button id="moving" style="position:relative" onclick="log.push('moving')">Moving</button>
     <div style="position:relative;width:120px"><button style="width:120px" onclick="log.push('covered')">Covered</button>
       <div id="cover" style="position:absolute;inset:0;background:red"></div></div>
     <button aria-disabled="true" disabled onclick="log.push('never')">Never</button>
     <div style="height:4000px"></div><button onclick="log.push('below')">Below</button>
     <script>setTimeout(() => { late.disabled = false }, 1500);
       let x = 0; const timer = setInterval(() => { moving.style.left = ++x * 7 + 'px'; if (x > 30) clearInterval(timer) }, 50);</script>`,
  );
  await callTool('browser_click', { target: parseRef(snapshot, '"Moving"') });
  await callTool('browser_click', { target: parseRef(snapshot, '"Late"') });
  await callTool('browser_click', { target: parseRef(snapshot, '"Below"') });
  assert.equal(
    (await callExpectingFailure('browser_click', { target: parseRef(snapshot, '"Covered"') })).isError,
    true,
  );
  assert.equal((await callExpectingFailure('browser_click', { target: parseRef(snapshot, '"Never"') })).isError, true);
  assert.deepEqual(await evaluateInPage('/buttons', 'log'), ['moving', 'late', 'below']);
  await evaluateInPage('/buttons', 'cover.remove()');
  await callTool('browser_click', { target: parseRef(snapshot, '"Covered"') });
  assert.deepEqual(await evaluateInPage('/buttons', 'log'), ['moving', 'late', 'below', 'covered']);
});

test('controlled fields keep the text, and a field that rejects the text is no success', async () => {
  const { client } = fixture;
  // The fields of the test page reset any value that was set without an input event, as React's controlled fields do.
  const snapshot = await openPage(
    '/controlled',
    `<input id="react" aria-label="Controlled"><input id="digits" aria-label="Digits"><input id="locked" aria-label="Locked">
     <input id="upper" aria-label="Upper"><textarea id="area" aria-label="Area"></textarea><input readonly aria-label="Fixed" value="f">
     <script>
       const native = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
       function control(field, next) {
         let state = ''; let tracked = '';
         Object.defineProperty(field, 'value', { configurable: true, get() { return native.get.call(this) },
           set(value) { tracked = String(value); native.set.call(this, value) } });
         field.addEventListener('input', () => {
           const value = native.get.call(field);
           if (value !== tracked) { state = next(value, state); log.push(field.id) }
           field.value = state;
         });
         setInterval(() => { if (native.get.call(field) !== state) field.value = state }, 100);
       }
       control(react, (value) => value);
       control(digits, (value) => value.replace(/\\D/g, ''));
       control(locked, (value, state) => state);
       control(upper, (value) => value.toUpperCase());
     </script>`,
  );
  const type = (name: string, typedText: string) =>
    client.call('browser_type', { target: parseRef(snapshot, `"${name}"`), text: typedText });
  assert.match((await type('Controlled', 'Ada Lovelace')).text, /value: "Ada Lovelace"/);
  assert.match((await type('Controlled', 'Grace')).text, /value: "Grace"/);
  assert.equal(await evaluateInPage('/controlled', 'react.value'), 'Grace');
  const digitsFieldOutcome = await type('Digits', 'a1b2');
  assert.match(digitsFieldOutcome.text, /"12"/);
  assert.match(digitsFieldOutcome.text, /not contain exactly|rejected|did not accept|changed/);
  const lockedFieldOutcome = await type('Locked', 'abc');
  assert.ok(lockedFieldOutcome.isError || /not contain exactly/.test(lockedFieldOutcome.text), lockedFieldOutcome.text);
  assert.equal(await evaluateInPage('/controlled', 'locked.value'), '');
  assert.match((await type('Upper', 'abc')).text, /"ABC"/);
  assert.match((await type('Area', 'one\ntwo')).text, /one\\ntwo/);
  assert.equal(await evaluateInPage('/controlled', 'area.value'), 'one\ntwo');
  const fixedFieldOutcome = await type('Fixed', 'x');
  assert.equal(fixedFieldOutcome.isError, true, fixedFieldOutcome.text);
  const { text } = await client.call('browser_fill_form', {
    fields: [
      { target: parseRef(snapshot, '"Controlled"'), value: 'Form' },
      { target: parseRef(snapshot, '"Locked"'), value: 'Form' },
    ],
  });
  assert.match(text, /Filled 1 of 2 fields/);
  assert.deepEqual(await evaluateInPage('/controlled', '[react.value, locked.value]'), ['Form', '']);
});

test('editable content, selects, checkboxes and radios have the state that the tools report', async () => {
  const { callTool, client, callExpectingFailure } = fixture;
  const snapshot = await openPage(
    '/fields',
    `<div id="editor" contenteditable role="textbox" aria-label="Editor" oninput="log.push('edit')"><p>old</p></div>
     <select id="one" aria-label="One" onchange="log.push('one')"><option>A</option><option value="b">B</option><option disabled>C</option></select>
     <select id="many" aria-label="Many" multiple><option>X</option><option>Y</option><option>Z</option></select>
     <button id="combo" role="combobox" aria-haspopup="listbox" aria-expanded="false" aria-controls="list" aria-label="Colour">Pick</button>
     <ul id="list" role="listbox" hidden><li role="option">Red</li><li role="option">Blue</li></ul>
     <label><input type="checkbox" id="check"> Check</label><label><input type="radio" name="r" id="r1"> First</label>
     <label><input type="radio" name="r" id="r2"> Second</label>
     <div role="switch" tabindex="0" aria-checked="false" id="switch" aria-label="Switch">s</div>
     <input type="checkbox" aria-label="Refused" onclick="event.preventDefault()" id="refused">
     <form onsubmit="event.preventDefault(); log.push('submit ' + q.value)"><input id="q" aria-label="Query"><button>Go</button></form>
     <script>
       combo.onclick = () => { list.hidden = !list.hidden; combo.ariaExpanded = String(!list.hidden) };
       for (const item of list.children) item.onclick = () => { combo.textContent = item.textContent; list.hidden = true };
       document.getElementById('switch').onclick = (event) => { event.target.ariaChecked = String(event.target.ariaChecked !== 'true') };
     </script>`,
  );
  const findRefOf = (name: string) => parseRef(snapshot, `"${name}"`);
  await callTool('browser_type', { target: findRefOf('Editor'), text: 'new text' });
  assert.equal(await evaluateInPage('/fields', 'editor.innerText.trim()'), 'new text');
  assert.match(await callTool('browser_select_option', { target: findRefOf('One'), values: ['B'] }), /chosen: "B"/);
  assert.equal(await evaluateInPage('/fields', 'one.value'), 'b');
  for (const values of [['C'], ['missing'], ['A', 'B']])
    await callExpectingFailure('browser_select_option', { target: findRefOf('One'), values });
  assert.equal(await evaluateInPage('/fields', 'one.value'), 'b');
  await callTool('browser_select_option', { target: findRefOf('Many'), values: ['X', 'Z'] });
  assert.deepEqual(await evaluateInPage('/fields', '[...many.selectedOptions].map((o) => o.text)'), ['X', 'Z']);
  await callTool('browser_select_option', { target: findRefOf('Colour'), values: ['Blue'] });
  assert.equal(await evaluateInPage('/fields', 'combo.textContent'), 'Blue');
  const fillOutcome = await client.call('browser_fill_form', {
    fields: [
      { target: findRefOf('Check'), value: true },
      { target: findRefOf('Second'), value: true },
      { target: findRefOf('Switch'), value: true },
      { target: findRefOf('Refused'), value: true },
    ],
  });
  assert.match(fillOutcome.text, /Filled 3 of 4 fields/);
  const readStatesCode = `[check.checked, r1.checked, r2.checked, document.getElementById('switch').ariaChecked, refused.checked]`;
  assert.deepEqual(await evaluateInPage('/fields', readStatesCode), [true, false, true, 'true', false]);
  await callTool('browser_type', { target: findRefOf('Query'), text: 'find', submit: true });
  await callTool('browser_press_key', { target: findRefOf('Query'), key: 'Enter' });
  const log = await evaluateInPage('/fields', `log.filter((entry) => entry.startsWith('submit'))`);
  assert.deepEqual(log, ['submit find', 'submit find']);
});

test('elements in shadow roots and frames can be used with only their refs', async () => {
  const { callTool, setPage, other: otherOrigin, stack } = fixture;
  await stack.runCli('browser', 'site', otherOrigin, 'auto');
  setPage(
    '/inner',
    `<title>i</title><input aria-label="Inner" id="inner"><button onclick="document.title = 'hit'">In</button>`,
  );
  const snapshot = await openPage(
    '/roots',
    `<x-open></x-open><x-closed></x-closed><iframe src="/inner"></iframe><iframe src="${otherOrigin}/inner"></iframe>
     <iframe srcdoc="<button onclick=&quot;parent.log.push('srcdoc')&quot;>Doc</button>"></iframe>
     <script>for (const mode of ['open', 'closed']) customElements.define('x-' + mode, class extends HTMLElement {
       connectedCallback() { const root = this.attachShadow({ mode }); root.innerHTML = '<button>' + mode + ' root</button><input aria-label="' + mode + ' field">';
         root.querySelector('button').onclick = () => log.push(mode); root.querySelector('input').oninput = (e) => log.push(e.target.value) } })</script>`,
  );
  for (const shadowMode of ['open', 'closed']) {
    await callTool('browser_click', { target: parseRef(snapshot, `"${shadowMode} root"`) });
    assert.match(
      await callTool('browser_type', { target: parseRef(snapshot, `"${shadowMode} field"`), text: `in ${shadowMode}` }),
      /value: "in/,
    );
  }
  await callTool('browser_click', { target: parseRef(snapshot, '"Doc"') });
  assert.deepEqual(await evaluateInPage('/roots', 'log'), ['open', 'in open', 'closed', 'in closed', 'srcdoc']);
  const innerFields = snapshot.split('\n').filter((line) => line.includes('"Inner"'));
  assert.equal(innerFields.length, 2, snapshot);
  for (const [i, line] of innerFields.entries())
    await callTool('browser_type', { target: parseRef(line, 'Inner'), text: `frame ${i}` });
  const page = await fixture.findPage(`${fixture.shop}/roots`);
  const innerFrames = page.frames().filter((frame) => frame.url().endsWith('/inner'));
  const values = await Promise.all(innerFrames.map((frame) => frame.evaluate('inner.value')));
  assert.deepEqual(values.sort(), ['frame 0', 'frame 1']);
});

test('browser tools work with client-side routes, virtual lists and pages that are never idle', async () => {
  const { callTool, callExpectingFailure } = fixture;
  const snapshot = await openPage(
    '/app',
    `<button onclick="history.pushState({}, '', '/app/orders'); main.innerHTML = '<h1>Orders</h1>'">Orders</button><main id="main"><h1>Home</h1></main>
     <p id="tick"></p><div id="rows" tabindex="0" role="list" aria-label="Rows" style="height:200px;overflow:auto"><div id="inner" style="position:relative;height:2000000px"></div></div>
     <script>setInterval(() => { tick.textContent = performance.now() }, 15); setInterval(() => fetch('/ping'), 50);
       const draw = () => { const first = Math.floor(rows.scrollTop / 20); inner.replaceChildren(...Array.from({ length: 15 }, (_, i) => {
         const row = document.createElement('div'); row.role = 'listitem'; row.textContent = 'Row ' + (first + i);
         row.style.cssText = 'position:absolute;height:20px;top:' + (first + i) * 20 + 'px'; return row })) }; rows.onscroll = draw; draw()</script>`,
  );
  const clickOutcome = await fixture.client.call('browser_click', { target: parseRef(snapshot, '"Orders"') });
  assert.equal(clickOutcome.isError, false, clickOutcome.text);
  assert.match(clickOutcome.text, /Orders/);
  assert.ok(clickOutcome.durationMs < 15_000, `${clickOutcome.durationMs} ms`);
  assert.equal(await evaluateInPage('/app', 'location.pathname'), '/app/orders');
  await callTool('browser_scroll', { target: parseRef(snapshot, '"Rows"'), direction: 'down', amount: 20_000 });
  assert.match(await callTool('browser_wait_for', { text: 'Row 1001' }), /Found/);
  await callExpectingFailure('browser_wait_for', { text: 'Row 77777', timeout: 1 });
  assert.match(await callTool('browser_navigate_back'), /app/);
});

/**
 * Without the debugger, the clicks, keys, texts and drags of browser tools have the effect of a user's input, and no
 * tool result claims more.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AgentFixture, parseRef, startAgentFixture } from './agent-fixture.ts';

let fixture: AgentFixture;

before(async () => {
  fixture = await startAgentFixture();
});
after(() => fixture?.close());

/**
 * openPage opens a page with the given HTML body in a background tab, and returns a snapshot. Event handlers in the
 * HTML can record events in the array window.log.
 */
async function openPage(path: string, body: string): Promise<string> {
  fixture.setPage(path, `<title>${path}</title><script>window.log = []</script>${body}`);
  await fixture.open(path);
  return await fixture.callTool('browser_snapshot', { maxTokens: 20_000 });
}

/**
 * evaluateInShop evaluates JavaScript in a page of the test site "shop", to check a tool's effect without other tools.
 */
async function evaluateInShop(path: string, expression: string): Promise<unknown> {
  return await (await fixture.findPage(`${fixture.shop}${path}`)).evaluate(expression);
}

test('a click on a card, a tree item or a labeled checkbox does not reach a control inside of it', async () => {
  const { callTool } = fixture;
  const centeringStyle = 'width:400px; height:60px; display:flex; align-items:center; justify-content:center';
  const snapshot = await openPage(
    '/nested',
    `<input type="checkbox" id="terms" style="position:absolute; opacity:0; width:0; height:0">
     <label for="terms" style="display:block; width:400px; text-align:center">I accept the <a href="#terms">long terms and conditions of this shop</a> now</label>
     <div role="button" tabindex="0" aria-label="Open card" onclick="log.push('card')" style="${centeringStyle}">
       <button onclick="event.stopPropagation(); log.push('delete')">Delete</button></div>
     <ul role="tree"><li role="treeitem" aria-label="Parent" tabindex="0" onclick="log.push('parent')">Parent
       <ul role="group"><li role="treeitem" tabindex="-1" style="height:300px" onclick="event.stopPropagation(); log.push('child')">Child</li></ul></li></ul>
     <ul role="menu"><li role="menuitem" tabindex="0" style="padding:20px; text-align:center"><a href="#settings">Settings</a></li></ul>`,
  );
  await callTool('browser_click', { target: parseRef(snapshot, 'checkbox') });
  assert.deepEqual(await evaluateInShop('/nested', '[terms.checked, location.hash]'), [true, '']);
  for (const name of ['"Open card"', '"Parent"']) await callTool('browser_click', { target: parseRef(snapshot, name) });
  assert.deepEqual(await evaluateInShop('/nested', 'log'), ['card', 'parent']);
  await callTool('browser_click', { target: parseRef(snapshot, 'menuitem') });
  assert.equal(await evaluateInShop('/nested', 'location.hash'), '#settings');
});

test('an editor that stores its text in a separate model receives paragraphs and single keys', async () => {
  const { callTool } = fixture;
  const snapshot = await openPage(
    '/model',
    `<div id="editor" contenteditable role="textbox" aria-label="Editor" style="min-height:60px"></div><script>
       window.model = '';
       const edits = { insertParagraph: () => model + '\\n', deleteContentBackward: () => model.slice(0, -1) };
       editor.addEventListener('beforeinput', (event) => {
         event.preventDefault();
         model = event.inputType === 'insertText' ? model + event.data : (edits[event.inputType] ?? (() => model))();
         editor.replaceChildren(...model.split('\\n').map((line) => {
           const paragraph = document.createElement('p');
           paragraph.append(line || document.createElement('br'));
           return paragraph;
         }));
         getSelection().selectAllChildren(editor.lastChild);
         getSelection().collapseToEnd();
       });</script>`,
  );
  const target = parseRef(snapshot, '"Editor"');
  await callTool('browser_type', { target, text: 'one\ntwo' });
  assert.equal(await evaluateInShop('/model', 'model'), 'one\ntwo');
  await callTool('browser_type', { target, text: '\nx', slowly: true, append: true });
  for (const key of ['y', 'Enter', 'Backspace', 'z']) await callTool('browser_press_key', { target, key });
  assert.equal(await evaluateInShop('/model', 'model'), 'one\ntwo\nxyz');
  assert.doesNotMatch(await callTool('browser_press_key', { target, key: 'Enter' }), /changed: nothing/);
});

test('a key without an effect is reported as no change, and keys scroll the focused element', async () => {
  const { callTool } = fixture;
  const snapshot = await openPage(
    '/limits',
    `<input type="range" id="volume" aria-label="Volume" max="10" value="10"><input type="number" id="count" aria-label="Count" max="5" value="5">
     <input type="range" id="any" aria-label="Any" step="any" value="50"><input id="text" aria-label="Text" value="abc">
     <div role="region" id="area" aria-label="Area" tabindex="0" style="height:100px; overflow:auto"><div style="height:900px">Tall</div></div>
     <script>for (const input of document.querySelectorAll('input')) input.oninput = () => log.push(input.id)</script>`,
  );
  const pressKey = (name: string, key: string) =>
    callTool('browser_press_key', { target: parseRef(snapshot, name), key });
  assert.match(await pressKey('"Volume"', 'ArrowRight'), /changed: nothing/);
  assert.match(await pressKey('"Count"', 'ArrowUp'), /changed: nothing/);
  assert.deepEqual(await evaluateInShop('/limits', 'log'), []);
  await pressKey('"Volume"', 'Home');
  await pressKey('"Any"', 'ArrowUp');
  assert.deepEqual(await evaluateInShop('/limits', '[volume.value, any.value, log]'), ['0', '51', ['volume', 'any']]);
  assert.match(await pressKey('"Text"', 'End'), /moved the caret/);
  assert.match(await pressKey('"Text"', 'End'), /changed: nothing/);
  assert.match(await pressKey('"Area"', 'End'), /scrolled/);
  assert.equal(await evaluateInShop('/limits', 'area.scrollTop'), 800);
  assert.match(await pressKey('"Area"', 'PageDown'), /changed: nothing/);
});

test('Escape closes neither a dialog that the page keeps open nor a manual popover', async () => {
  const { callTool } = fixture;
  await openPage(
    '/escape',
    `<dialog id="box">Box<button>In</button><div popover id="auto">Auto</div></dialog><div popover="manual" id="manual">Manual</div>
     <script>box.showModal(); box.oncancel = (event) => event.preventDefault()</script>`,
  );
  assert.match(await callTool('browser_press_key', { key: 'Escape' }), /changed: nothing/);
  assert.equal(await evaluateInShop('/escape', 'auto.showPopover(), box.open'), true);
  await callTool('browser_press_key', { key: 'Escape' });
  assert.deepEqual(await evaluateInShop('/escape', '[auto.matches(":popover-open"), box.open]'), [false, true]);
  await evaluateInShop('/escape', 'box.close(), manual.showPopover()');
  assert.doesNotMatch(await callTool('browser_press_key', { key: 'Escape' }), /closed/);
  assert.equal(await evaluateInShop('/escape', 'manual.matches(":popover-open")'), true);
});

test('a field that rejects a new value keeps its old value, and accepts each notation that Chrome accepts', async () => {
  const { callTool, callExpectingFailure } = fixture;
  const snapshot = await openPage(
    '/pickers',
    `<input type="date" id="day" aria-label="Day" value="2026-01-02"><input type="datetime-local" id="at" aria-label="At">
     <input type="color" id="color" aria-label="Color" value="#112233"><input type="range" id="level" aria-label="Level" step="5" value="10">
     <script>for (const input of document.querySelectorAll('input')) input.onchange = () => log.push(input.id + ' ' + input.value)</script>`,
  );
  const findRefOf = (name: string) => parseRef(snapshot, name);
  await callExpectingFailure('browser_type', { target: findRefOf('"Day"'), text: '31.01.2026' });
  await callExpectingFailure('browser_type', { target: findRefOf('"Color"'), text: 'no color' });
  const { text: failureText } = await callExpectingFailure('browser_type', {
    target: findRefOf('"Level"'),
    text: '33',
  });
  assert.match(failureText, /The nearest value is 35/);
  assert.deepEqual(await evaluateInShop('/pickers', '[day.value, color.value, level.value, log]'), [
    '2026-01-02',
    '#112233',
    '10',
    [],
  ]);
  for (const [name, value] of [
    ['"At"', '2026-02-03 11:30:00'],
    ['"Color"', '#F80'],
  ] as const)
    assert.doesNotMatch(
      await callTool('browser_type', { target: findRefOf(name), text: value }),
      /not contain exactly/,
    );
  assert.deepEqual(await evaluateInShop('/pickers', 'log'), ['at 2026-02-03T11:30', 'color #ff8800']);
});

test('a list that rejects an option, and a checkbox that stays mixed, make the tool fail', async () => {
  const { callTool, callExpectingFailure } = fixture;
  const snapshot = await openPage(
    '/undone',
    `<select aria-label="Undone" onchange="this.value = 'one'"><option>one</option><option>two</option></select>
     <div><div id="size" role="combobox" tabindex="0" aria-label="Size" aria-expanded="false" aria-controls="sizes">Pick</div>
       <ul role="listbox" id="sizes" hidden><li role="option">Small</li><li role="option">Large</li></ul></div>
     <input type="checkbox" id="all" aria-label="All">
     <script>all.indeterminate = true;
       size.onclick = () => { sizes.hidden = !sizes.hidden; size.ariaExpanded = String(!sizes.hidden) }</script>`,
  );
  const [undoneFieldRef, sizeFieldRef, allCheckboxRef] = ['"Undone"', '"Size"', '"All"'].map((name) =>
    parseRef(snapshot, name),
  );
  const { text: failureText } = await callExpectingFailure('browser_fill_form', {
    fields: [{ target: undoneFieldRef, value: 'two' }],
  });
  assert.match(failureText, /did not accept the option.*the list still shows: one/s);
  await callExpectingFailure('browser_fill_form', { fields: [{ target: sizeFieldRef, value: 'Large' }] });
  for (const target of [undoneFieldRef, sizeFieldRef]) {
    const selectAnswer = await callTool('browser_select_option', {
      target,
      values: [target === sizeFieldRef ? 'Large' : 'two'],
    });
    assert.match(selectAnswer, /does not show all options as chosen/);
  }
  await callTool('browser_fill_form', { fields: [{ target: allCheckboxRef, value: false }] });
  assert.deepEqual(await evaluateInShop('/undone', '[all.checked, all.indeterminate]'), [false, false]);
});

test('a drag to an element outside of the viewport drops on that element', async () => {
  const snapshot = await openPage(
    '/far',
    `<style>body { margin: 0; height: 3000px } body > div { position: absolute }</style>
     <div id="box" role="button" tabindex="0" aria-label="Box" style="left:100px; top:300px; width:50px; height:50px"></div>
     <div id="zone" role="region" aria-label="Zone" tabindex="0" style="left:400px; top:1100px; width:100px; height:100px"></div><script>
       let start;
       box.onpointerdown = (event) => { start = [event.pageX - box.offsetLeft, event.pageY - box.offsetTop]; event.preventDefault() };
       onpointermove = (event) => { if (start) { box.style.left = event.pageX - start[0] + 'px'; box.style.top = event.pageY - start[1] + 'px' } };
       onpointerup = () => { start = undefined }</script>`,
  );
  const [startTarget, endTarget] = ['"Box"', '"Zone"'].map((name) => parseRef(snapshot, name));
  await fixture.callTool('browser_drag', { startTarget, endTarget });
  assert.deepEqual(await evaluateInShop('/far', '[box.style.left, box.style.top]'), ['425px', '1125px']);
});

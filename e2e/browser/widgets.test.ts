/** Tests browser tools on small pages that behave like widgets of popular UI libraries, in a hidden tab. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { parseRef } from './agent-fixture.ts';
import { type FaultBrowserFixture, startFaultBrowserFixture } from './raw-fixture.ts';

let fixture: FaultBrowserFixture;

before(async () => {
  fixture = await startFaultBrowserFixture();
});
after(() => fixture.close());

async function open(path: string, html: string): Promise<string> {
  fixture.setPage(path, html);
  await fixture.callTool('browser_tabs', { action: 'new', url: `${fixture.shopOrigin}${path}` });
  return fixture.callTool('browser_snapshot');
}

const chooserScript = `
  const draw = (list, names, choose) => {
    list.replaceChildren(...names.map((name) => {
      const option = Object.assign(document.createElement('div'), { role: 'option', textContent: name });
      option.onclick = (event) => { event.stopPropagation(); choose(name) };
      return option;
    }));
  };`;

test('typing replaces the text of an editor that restores its own selection in a tab without focus', async () => {
  const snapshot = await open(
    '/editor',
    `<div id="text" role="textbox" aria-label="Code" contenteditable><div>let a = 1;</div></div><script>
       document.addEventListener('selectionchange', (event) => { if (!event.isTrusted) getSelection().collapse(text, 0) })</script>`,
  );
  const target = parseRef(snapshot, 'textbox "Code"');
  const typeOutcome = await fixture.callTool('browser_type', { target, text: 'first();\nsecond();' });
  assert.doesNotMatch(typeOutcome, /not contain exactly/);
  assert.equal(
    await fixture.evaluateInPage('/editor', 'text.innerText.replace(/\\n+/g, " ").trim()'),
    'first(); second();',
  );
});

test('the changes after a click report a dialog as removed if the page removes it after a fade-out', async () => {
  const snapshot = await open(
    '/fading',
    `<button id="show">Remove account</button><div id="box" role="dialog" aria-label="Really?" hidden
       style="transition: opacity 200ms"><button id="yes">Confirm</button></div><p id="status"></p><script>
       show.onclick = () => { box.hidden = false };
       yes.onclick = () => { box.style.opacity = 0;
         setTimeout(() => { box.remove(); document.getElementById('status').textContent = 'Account removed' }, 200) }</script>`,
  );
  const dialogSnapshot = await fixture.callTool('browser_click', { target: parseRef(snapshot, 'Remove account') });
  const changesText = await fixture.callTool('browser_click', { target: parseRef(dialogSnapshot, 'Confirm') });
  assert.match(changesText, /- dialog "Really\?"/);
  assert.match(changesText, /\+ Account removed/);
});

test('a snapshot contains a message that disappears after an animation of several seconds', async () => {
  const snapshot = await open(
    '/toast',
    `<style>@keyframes shrink { to { width: 0 } } #bar { height: 4px; animation: shrink 5s linear }</style>
     <button id="share">Share</button><div id="area"></div><script>
       share.onclick = () => { area.innerHTML = '<div role="alert">Link copied<div id="bar"></div></div>';
         bar.onanimationend = () => { area.textContent = '' } }</script>`,
  );
  assert.match(await fixture.callTool('browser_click', { target: parseRef(snapshot, 'Share') }), /alert.*Link copied/);
  assert.match(await fixture.callTool('browser_snapshot'), /Link copied/);
});

test('switches and fields that a page draws itself have the names of their labels', async () => {
  const snapshot = await open(
    '/labels',
    `<label>Airplane mode <button role="switch" aria-checked="false"></button></label>
     <label for="wide">Wide</label> <button id="wide" role="radio" aria-checked="false"></button>
     <label>Sort by <button>Newest first</button></label>
     <label for="fruit">Fruit</label> <select id="fruit" aria-hidden="true"
       style="position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%)"><option>Apple</select>
     <span role="combobox" tabindex="0" aria-expanded="false">Apple</span>`,
  );
  assert.match(snapshot, /switch "Airplane mode"/);
  assert.match(snapshot, /radio "Wide"/);
  assert.match(snapshot, /Sort by.*button "Newest first"|Sort by\n.*button "Newest first"/);
  assert.match(snapshot, /^ *Fruit/m);
});

test('an agent can select several options in a combobox that shows its chosen options as labels', async () => {
  const snapshot = await open(
    '/tags',
    `<div><div id="tags"></div><div id="field" role="combobox" tabindex="0" aria-label="Toppings" aria-expanded="false"
       aria-controls="list">Add</div></div><div id="list" role="listbox" hidden></div><script>${chooserScript}
       const chosen = [], all = ['Mint', 'Lemon', 'Vanilla'];
       const show = () => {
         tags.innerHTML = chosen.map((name) => '<span>' + name + '</span>').join('');
         draw(list, all.filter((name) => !chosen.includes(name)), (name) => { chosen.push(name); open(false); show() });
       };
       const open = (isOpen) => { list.hidden = !isOpen; field.ariaExpanded = String(isOpen) };
       field.onclick = () => open(list.hidden); show()</script>`,
  );
  const target = parseRef(snapshot, 'combobox "Toppings"');
  await fixture.callTool('browser_select_option', { target, values: ['Mint'] });
  const answer = await fixture.callTool('browser_select_option', { target, values: ['Mint', 'Lemon'] });
  assert.match(answer, /^Selected options/);
  assert.match(answer, /chosen: "Mint", "Lemon"/);
  assert.deepEqual(await fixture.evaluateInPage('/tags', 'chosen'), ['Mint', 'Lemon']);
});

test('the list of chosen options in a combobox is not mistaken for its list of options', async () => {
  const snapshot = await open(
    '/inner',
    `<div id="box" role="combobox" tabindex="0" aria-label="Choice" aria-expanded="false">
       <select id="native" style="position: absolute; opacity: 0; pointer-events: none" aria-label="Native"><option>Apple<option>Date</select>
       <div role="listbox"><div id="item" role="option" aria-selected="true">Apple</div></div>
       <div id="list" role="listbox" hidden></div></div><script>${chooserScript}
       box.onclick = () => { list.hidden = false; box.ariaExpanded = 'true' };
       draw(list, ['Apple', 'Banana', 'Date'], (name) => { item.textContent = name; list.hidden = true; box.ariaExpanded = 'false' })</script>`,
  );
  const values = ['Date'];
  await fixture.callTool('browser_select_option', { target: parseRef(snapshot, 'combobox "Choice"'), values });
  assert.equal(await fixture.evaluateInPage('/inner', 'item.textContent'), 'Date');
  const nativeComboboxRef = parseRef(snapshot, 'combobox "Native"');
  await fixture.callTool('browser_select_option', { target: nativeComboboxRef, values: ['Banana'] });
  assert.equal(await fixture.evaluateInPage('/inner', 'item.textContent'), 'Banana');
});

test('a slider that reacts only to keys can be set to a value, and a failure names the reason', async () => {
  const snapshot = await open(
    '/slider',
    `<div id="knob" role="slider" tabindex="0" aria-label="Volume" aria-valuemin="0" aria-valuemax="100"
       aria-valuenow="50">|</div><script>
       knob.onkeydown = ({ key }) => { const step = { ArrowUp: 5, ArrowDown: -5 }[key];
         if (step) knob.setAttribute('aria-valuenow', Number(knob.getAttribute('aria-valuenow')) + step) }</script>`,
  );
  const target = parseRef(snapshot, 'slider "Volume"');
  assert.match(await fixture.callTool('browser_type', { target, text: '75' }), /value: "75"/);
  await fixture.callTool('browser_fill_form', { fields: [{ target, value: '20' }] });
  assert.equal(await fixture.evaluateInPage('/slider', 'knob.getAttribute("aria-valuenow")'), '20');
  for (const [text, reason] of [
    ['120', /from 0 to 100/],
    ['much', /takes a number/],
    ['23', /do not move the slider to 23/],
  ] as const) {
    const outcome = await fixture.client.call('browser_type', { target, text });
    assert.ok(outcome.isError);
    assert.match(outcome.text, reason);
  }
});

test('typing shows the suggestions of a field that waits for a pause or for a released key', async () => {
  const snapshot = await open(
    '/suggest',
    `<input id="city" role="combobox" aria-label="City" aria-expanded="false"><div id="list" role="listbox"></div>
     <textarea id="note" aria-label="Note"></textarea><ul id="names" role="menu"></ul><script>
       city.oninput = () => setTimeout(() => { list.innerHTML = '<div role="option">Berlin</div>' }, 250);
       note.onkeyup = ({ key }) => { names.innerHTML = '<li role="menuitem">found by ' + key }</script>`,
  );
  const cityOutcome = await fixture.callTool('browser_type', {
    target: parseRef(snapshot, 'combobox "City"'),
    text: 'ber',
  });
  assert.match(cityOutcome, /option "Berlin"/);
  const noteOutcome = await fixture.callTool('browser_type', {
    target: parseRef(snapshot, 'textbox "Note"'),
    text: 'hi @a',
  });
  assert.match(noteOutcome, /menuitem "found by a"/);
});

test('formatting that a button adds to an editor is reported', async () => {
  const snapshot = await open(
    '/format',
    `<button onclick="document.execCommand('bold')" onmousedown="event.preventDefault()">Bold</button>
     <div id="text" role="textbox" aria-label="Text" contenteditable>word</div>`,
  );
  const text = parseRef(snapshot, 'textbox "Text"');
  await fixture.callTool('browser_press_key', { target: text, key: 'Control+a' });
  const answer = await fixture.callTool('browser_click', { target: parseRef(snapshot, 'Bold') });
  assert.match(answer, /added formatting: <b>/);
  assert.doesNotMatch(answer, /changed: nothing/);
});

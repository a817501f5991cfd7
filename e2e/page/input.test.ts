/** An agent can enter text, options and keys in form fields as a user can. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type LabPage, type PageLab, startPageLab } from './test/page-lab.ts';

let pageLab: PageLab;
before(async () => {
  pageLab = await startPageLab();
});
after(() => pageLab?.close());

const typeIntoField = async (page: LabPage, fieldName: string, typedText: string, args: object = {}) =>
  page.callOperation('type', { target: await page.findRef(fieldName), text: typedText, ...args });

for (const isInFront of [false, true]) {
  test(`text fields take text in a ${isInFront ? 'front' : 'background'} tab, with trusted input events`, async () => {
    const page = await pageLab.openPage(
      `<label>Name <input id=n value="old"></label><label>Mail <input id=m type=email></label><label>Age <input id=g type=number></label>
      <label>Text <textarea id=t>start</textarea></label><label>Date <input id=d type=date></label><label>Color <input id=k type=color></label>
      <label>Volume <input id=v type=range></label><div id=e contenteditable aria-label=Editor>old <b>text</b></div>
      <label>Password <input id=p type=password></label><script>window.events = [];
      for (const type of ['input', 'change']) document.addEventListener(type, (e) => events.push([type, e.target.id, e.isTrusted, e.inputType].join(' ')), true);</script>`,
      { isInFront },
    );
    const name = (await typeIntoField(page, '"Name"', 'Ada Löve')).result;
    assert.deepEqual([name.value, name.exact, name.changed], ['Ada Löve', true, true]);
    assert.match(name.changes, /^~ textbox "Name" \[focused\] \[ref=e1\]: Ada Löve$/);
    assert.equal(await page.evaluateInPage('events.find((e) => e.startsWith("input n"))'), 'input n true insertText');
    if (!isInFront) assert.ok(await page.evaluateInPage('events.includes("change n false ")'));
    assert.equal((await typeIntoField(page, '"Mail"', 'a@b.c')).result.value, 'a@b.c');
    assert.equal((await typeIntoField(page, '"Mail"', 'om', { append: true })).result.value, 'a@b.com');
    assert.equal((await typeIntoField(page, '"Age"', '41')).result.value, '41');
    assert.equal((await typeIntoField(page, '"Text"', '\nline 2', { append: true })).result.value, 'start\nline 2');
    assert.equal((await typeIntoField(page, '"Date"', '2026-03-04')).result.value, '2026-03-04');
    assert.equal((await typeIntoField(page, '"Color"', '#FF8800')).result.value, '#ff8800');
    assert.equal((await typeIntoField(page, '"Volume"', '80')).result.value, '80');
    assert.equal((await typeIntoField(page, '"Editor"', 'new words\nsecond')).result.exact, true);
    assert.match(String(await page.evaluateInPage('e.innerText')), /^new words\n+second$/);
    assert.equal((await typeIntoField(page, '"Name"', '')).result.value, '');
    const refusedResult = await typeIntoField(page, '"Password"', 'hunter2222');
    assert.equal(refusedResult.error?.code, 'needs_approval');
    assert.equal(await page.evaluateInPage('p.value'), '');
    const secretResult = (await typeIntoField(page, '"Password"', 'hunter2222', { secrets: ['password'] })).result;
    assert.equal(secretResult.value, undefined);
    assert.equal(secretResult.exact, true);
    assert.ok(!JSON.stringify(secretResult).includes('hunter2222'));
    assert.equal(await page.evaluateInPage('p.value'), 'hunter2222');
    const bad = await typeIntoField(page, '"Date"', 'tomorrow');
    assert.match(`${bad.error?.code} ${bad.error?.message}`, /rejected .*2026-01-31/);
  });
}

test('typing reports the final value of a field that formats, limits or rejects the text', async () => {
  const page =
    await pageLab.openPage(`<label>Short <input maxlength=3></label><label>Upper <input id=u></label><label>Stubborn <input id=s value=keep></label>
    <label>Fixed <input readonly value=x></label><button>Button</button><label>Off <input disabled></label>
    <script>u.oninput = () => { u.value = u.value.toUpperCase(); }; s.addEventListener('beforeinput', (e) => e.preventDefault());</script>`);
  const shortFieldResult = (await typeIntoField(page, 'Short', 'abcdef')).result;
  assert.deepEqual([shortFieldResult.value, shortFieldResult.exact], ['abc', false]);
  assert.match(shortFieldResult.notes.join(), /changed the text/);
  assert.equal((await typeIntoField(page, 'Upper', 'abc')).result.value, 'ABC');
  const rejectedInputResult = await typeIntoField(page, 'Stubborn', 'new');
  assert.match(
    `${rejectedInputResult.error?.code} ${rejectedInputResult.error?.pageText}`,
    /rejected .*contains: "keep"/,
  );
  for (const [fieldName, code] of [
    ['Fixed', 'wrong_element'],
    ['Button', 'wrong_element'],
    ['Off', 'not_hittable'],
  ] as const) {
    assert.equal((await typeIntoField(page, fieldName, 'x')).error?.code, code, fieldName);
  }
});

test('controlled fields keep the text, as in React, and submit works by Enter', async () => {
  const page =
    await pageLab.openPage(`<form id=f><label>Query <input id=q></label><button name=go value=1>Go</button></form><p id=out></p><script>
    { // Like React, this script resets a value that was set without an input event.
      const native = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
      let tracked = ''; let state = '';
      Object.defineProperty(q, 'value', { get() { return native.get.call(this); }, set(v) { tracked = String(v); native.set.call(this, v); } });
      document.addEventListener('input', () => { const now = native.get.call(q); if (now !== tracked) { tracked = now; state = now; } q.value = state; });
      f.onsubmit = (e) => { e.preventDefault(); out.textContent = 'sent ' + state + ' by ' + (e.submitter && e.submitter.name); };
    }</script>`);
  const { result } = await typeIntoField(page, 'Query', 'blue pump', { submit: true });
  assert.equal(result.value, 'blue pump');
  assert.match(result.changes, /sent blue pump by go/);
});

test('slow typing sends a key for each character, and a cancelled call reports how much was typed', async () => {
  const page = await pageLab.openPage(
    `<label>Field <input id=n></label><script>window.keys = []; n.onkeydown = (e) => keys.push(e.key + e.keyCode);</script>`,
  );
  assert.equal((await typeIntoField(page, 'Field', 'aB 1', { slowly: true })).result.value, 'aB 1');
  assert.deepEqual(await page.evaluateInPage('keys'), ['a65', 'B66', ' 32', '149']);
  const startedTyping = await page.startOperation('type', {
    target: await page.findRef('Field'),
    text: 'x'.repeat(50_000),
    slowly: true,
  });
  await page.evaluateInScriptWorld(
    'new Promise((r) => { const c = new MessageChannel(); const f = () => document.querySelector("input").value.length > 20 ? r(0) : c.port2.postMessage(0); c.port1.onmessage = f; f(); })',
  );
  await startedTyping.cancel();
  const typeAnswer = await startedTyping.answer();
  assert.equal(typeAnswer.error?.code, 'cancelled');
  assert.match(typeAnswer.error?.done ?? '', /^typed \d+ of 50000 characters$/);
});

test('a pressed key acts as if the user had pressed it', async () => {
  const page =
    await pageLab.openPage(`<form onsubmit="event.preventDefault(); out.textContent = 'submitted'"><label>A <input id=a></label><label>B <input id=b></label><button>Send</button></form>
    <button id=c onclick="out.textContent = 'clicked'">C</button><textarea id=t aria-label=T></textarea>
    <label><input type=radio name=r value=1 checked>One</label><label><input type=radio name=r value=2>Two</label>
    <dialog id=d><button>Inside</button></dialog><p id=out></p>
    <script>window.last = ''; document.addEventListener('keydown', (e) => { last = [e.key, e.code, e.ctrlKey, e.shiftKey].join(); if (e.ctrlKey && e.key === 'k') out.textContent = 'shortcut'; });</script>`);
  const pressKey = async (key: string, fieldName?: string) =>
    page.callOrThrow('press', { key, ...(fieldName ? { target: await page.findRef(fieldName) } : {}) });
  await pressKey('x', '"A"');
  await pressKey('y');
  assert.equal(await page.evaluateInPage('a.value'), 'xy');
  await pressKey('Backspace');
  assert.equal(await page.evaluateInPage('a.value'), 'x');
  await pressKey('Control+a');
  await pressKey('z');
  assert.equal(await page.evaluateInPage('a.value'), 'z');
  assert.match((await pressKey('Tab')).changes ?? '', /^$/);
  assert.equal(await page.evaluateInPage('document.activeElement.id'), 'b');
  await pressKey('Shift+Tab');
  assert.equal(await page.evaluateInPage('document.activeElement.id'), 'a');
  assert.match((await pressKey('Enter')).changes, /submitted/);
  assert.match((await pressKey('Enter', '"C"')).changes, /clicked/);
  assert.match((await pressKey('Control+K')).changes, /shortcut/);
  assert.equal(await page.evaluateInPage('last'), 'k,KeyK,true,false');
  await pressKey('Enter', '"T"');
  assert.equal(await page.evaluateInPage('t.value'), '\n');
  assert.match((await pressKey('ArrowDown', '"One"')).changes, /radio "Two" \[checked\]/);
  await page.evaluateInPage('d.showModal(), 0');
  assert.match((await pressKey('Escape')).changes, /- dialog/);
  assert.equal((await page.callOperation('press', { key: 'Hyper+Foo' })).error?.code, 'invalid_arguments');
});

test('forms are filled field by field, and a field that fails does not stop the others', async () => {
  const page =
    await pageLab.openPage(`<form id=f onsubmit="event.preventDefault(); out.textContent = new URLSearchParams(new FormData(f)).toString()">
    <label>Name <input name=name></label><label>Born <input name=born type=date></label><label>News <input name=news type=checkbox></label>
    <label><input type=radio name=size value=s>Small</label><label><input type=radio name=size value=l>Large</label>
    <label>Country <select name=country><option value=de>Germany</option><option value=fr>France</option></select></label>
    <div role=switch aria-checked=false tabindex=0 aria-label=Dark id=dark>x</div><label>Fixed <input readonly></label><button>Send</button></form><p id=out></p>
    <script>dark.onclick = () => dark.setAttribute('aria-checked', dark.getAttribute('aria-checked') === 'false');</script>`);
  const formFields = await Promise.all(
    [
      ['"Name"', 'Ada'],
      ['"Born"', '1990-12-10'],
      ['"News"', true],
      ['"Large"', 'true'],
      ['"Country"', 'France'],
      ['"Dark"', true],
    ].map(async ([name, value]) => ({
      target: await page.findRef(String(name)),
      value,
    })),
  );
  const fillResult = await page.callOrThrow('fill', { fields: formFields, submit: true });
  assert.deepEqual(
    fillResult.fields.map((f: { ok: boolean; value: string }) => [f.ok, f.value]),
    [
      [true, 'Ada'],
      [true, '1990-12-10'],
      [true, 'true'],
      [true, 'true'],
      [true, 'France'],
      [true, 'true'],
    ],
  );
  assert.equal(fillResult.submitted, true);
  assert.match(fillResult.changes, /name=Ada&born=1990-12-10&news=on&size=l&country=fr/);
  const partialFillResult = await page.callOrThrow('fill', {
    fields: [
      { target: await page.findRef('Fixed'), value: 'x' },
      { target: await page.findRef('"Name"'), value: 'Bob' },
    ],
    submit: true,
  });
  assert.deepEqual(
    [
      partialFillResult.fields[0].ok,
      partialFillResult.fields[0].error.code,
      partialFillResult.fields[1].value,
      partialFillResult.submitted,
    ],
    [false, 'wrong_element', 'Bob', false],
  );
});

test('options can be selected in native lists and in lists that a page draws itself', async () => {
  const page =
    await pageLab.openPage(`<label>Native <select id=n><option value=1>One</option><option value=2>Two</option><option disabled>Three</option></select></label>
    <label>Many <select id=m multiple><option>A</option><option>B</option><option>C</option></select></label>
    <button role=combobox aria-expanded=false aria-controls=l id=c aria-label=Drawn>Choose</button><ul role=listbox id=l hidden style="max-height:100px;overflow:auto"></ul>
    <script>window.changes = 0; n.onchange = () => changes++;
      c.onclick = () => { l.hidden = false; c.setAttribute('aria-expanded', true); };
      for (let i = 0; i < 60; i++) { const o = document.createElement('li'); o.setAttribute('role', 'option'); o.textContent = 'Option ' + i;
        o.onclick = () => { c.textContent = o.textContent; l.hidden = true; c.setAttribute('aria-expanded', false); for (const x of l.children) x.setAttribute('aria-selected', x === o); }; l.append(o); }</script>`);
  const selectValues = async (fieldName: string, values: string[]) =>
    page.callOperation('select', { target: await page.findRef(fieldName), values });
  assert.deepEqual((await selectValues('"Native"', ['two'])).result.chosen, ['Two']);
  assert.equal(await page.evaluateInPage('n.value + changes'), '21');
  assert.deepEqual((await selectValues('"Many"', ['A', 'C'])).result.chosen, ['A', 'C']);
  assert.deepEqual((await selectValues('"Many"', [])).result.chosen, []);
  const customListResult = await selectValues('"Drawn"', ['Option 42']);
  assert.deepEqual(customListResult.result?.chosen, ['Option 42'], JSON.stringify(customListResult));
  assert.equal(await page.evaluateInPage('c.textContent'), 'Option 42');
  assert.match((await selectValues('"Native"', ['Nine'])).error?.pageText ?? '', /the options: "One", "Two", "Three"/);
  assert.equal((await selectValues('"Native"', ['Three'])).error?.code, 'rejected');
  assert.equal((await selectValues('"Native"', ['One', 'Two'])).error?.code, 'invalid_arguments');
});

test('the result of a selection reports whether the page shows all options as chosen', async () => {
  // The page's listbox never marks the chosen option: a click sets aria-selected on all other options.
  const page =
    await pageLab.openPage(`<div id=box><span id=tags></span><button role=combobox aria-expanded=true aria-controls=l aria-label=Ships>+</button></div>
    <ul role=listbox id=l><li role=option aria-selected=false>X-ray</li><li role=option aria-selected=false>Yoke</li></ul>
    <script>for (const option of l.children) option.onclick = () => { tags.textContent = option.textContent;
      for (const other of l.children) other.setAttribute('aria-selected', other !== option); };</script>`);
  const selectValues = async (values: string[]) =>
    page.callOrThrow('select', { target: await page.findRef('"Ships"'), values });
  const oneOptionResult = await selectValues(['Yoke']);
  assert.deepEqual(oneOptionResult.notes, [], JSON.stringify(oneOptionResult));
  const twoOptionsResult = await selectValues(['X-ray', 'Yoke']);
  assert.equal(await page.evaluateInPage('tags.textContent'), 'Yoke');
  assert.deepEqual([oneOptionResult.shown, twoOptionsResult.shown], [true, false]);
});

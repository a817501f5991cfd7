/** An agent can fill in unusual kinds of fields and lists as a user can. */
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
  return await fixture.callTool('browser_snapshot', { maxTokens: 20_000 });
}

async function evaluateInShop(path: string, expression: string): Promise<unknown> {
  return await (await fixture.findPage(`${fixture.shop}${path}`)).evaluate(expression);
}

test('editable paragraphs accept text, long fields are read completely, and number fields reject words', async () => {
  const { callTool, callExpectingFailure } = fixture;
  const snapshot = await openPage(
    '/texts',
    `<p contenteditable id="paragraph">old <b>text</b></p><textarea id="long" aria-label="Long">${'word '.repeat(200)}end</textarea>
     <input type="number" id="count" aria-label="Count" value="3">`,
  );
  await callTool('browser_type', { target: parseRef(snapshot, 'old'), text: 'new' });
  assert.equal(await evaluateInShop('/texts', 'paragraph.innerText.trim()'), 'new');
  assert.match(await callTool('browser_read_page'), /word end/);
  const { text: failureText } = await callExpectingFailure('browser_type', {
    target: parseRef(snapshot, '"Count"'),
    text: 'abc',
  });
  assert.match(failureText, /did not accept the text/);
});

test('Enter submits a form as in a browser, and a letter key selects an option', async () => {
  const { callTool } = fixture;
  const snapshot = await openPage(
    '/keys',
    `<form onsubmit="event.preventDefault(); log.push('one')"><input aria-label="Only"></form>
     <form onsubmit="event.preventDefault(); log.push('two')"><input aria-label="First"><input aria-label="Second"></form>
     <select id="fruit" aria-label="Fruit" onchange="log.push(fruit.value)"><option>Apple</option><option>Banana</option><option>Cherry</option></select>`,
  );
  await callTool('browser_type', { target: parseRef(snapshot, '"Only"'), text: 'x', submit: true });
  await callTool('browser_type', { target: parseRef(snapshot, '"First"'), text: 'x', submit: true });
  await callTool('browser_press_key', { target: parseRef(snapshot, '"Fruit"'), key: 'c' });
  assert.deepEqual(await evaluateInShop('/keys', 'log'), ['one', 'Cherry']);
});

test('filtered options are selected, and a selection can be empty', async () => {
  const { callTool, callExpectingFailure } = fixture;
  const snapshot = await openPage(
    '/lists',
    `<input role="combobox" aria-label="City" aria-expanded="false" aria-controls="cities" id="city"><ul role="listbox" id="cities" hidden></ul>
     <select multiple aria-label="Many" id="many"><option selected>x</option><option>y</option></select>
     <input type="number" aria-label="Count" id="count">
     <script>city.oninput = () => {
         cities.innerHTML = ['Berlin', 'Bern', 'Paris'].filter((name) => name.startsWith(city.value)).map((name) => '<li role="option">' + name + '</li>').join('');
         cities.hidden = city.value === '' || cities.children.length === 0; city.ariaExpanded = String(!cities.hidden) };
       cities.onclick = (event) => { log.push(event.target.textContent); city.value = event.target.textContent; cities.hidden = true; city.ariaExpanded = 'false' }</script>`,
  );
  await callTool('browser_select_option', { target: parseRef(snapshot, '"City"'), values: ['Bern'] });
  assert.deepEqual(await evaluateInShop('/lists', 'log'), ['Bern']);
  await callExpectingFailure('browser_select_option', { target: parseRef(snapshot, '"City"'), values: ['Atlantis'] });
  assert.deepEqual(await evaluateInShop('/lists', 'log'), ['Bern']);
  await callTool('browser_select_option', { target: parseRef(snapshot, '"Many"'), values: [] });
  assert.equal(await evaluateInShop('/lists', 'many.selectedOptions.length'), 0);
  await callTool('browser_fill_form', { fields: [{ target: parseRef(snapshot, '"Count"'), value: 7 }] });
  assert.equal(await evaluateInShop('/lists', 'count.value'), '7');
});

test('options that a page draws outside of a zero-size ARIA listbox can be selected', async () => {
  const { callTool } = fixture;
  const snapshot = await openPage(
    '/drawn',
    `<input role="combobox" aria-label="Size" aria-controls="sizes" aria-expanded="false" autocomplete="new-password" id="size">
     <div id="popup" style="display:none;width:200px"><div id="sizes" role="listbox" style="height:0;width:0;overflow:hidden"><div role="option">Small</div></div>
       <div style="height:60px;overflow:auto"><div>Small</div><div>Medium</div><div>Large</div></div></div>
     <script>size.onmousedown = () => { popup.style.display = 'block'; size.ariaExpanded = 'true' };
       popup.onclick = (event) => { log.push(event.target.textContent); popup.style.display = 'none'; size.ariaExpanded = 'false' }</script>`,
  );
  await callTool('browser_select_option', { target: parseRef(snapshot, '"Size"'), values: ['Large'] });
  assert.deepEqual(await evaluateInShop('/drawn', 'log'), ['Large']);
});

test('an EditContext editor receives text by a paste event', async () => {
  const { callTool, callExpectingFailure } = fixture;
  const snapshot = await openPage(
    '/drawn-editor',
    `<div role="textbox" tabindex="0" aria-label="Code" id="code" style="width:200px;height:40px"></div>
     <div role="textbox" tabindex="0" aria-label="Deaf" id="deaf" style="width:200px;height:40px"></div>
     <script>const context = new EditContext({ text: 'old' }); code.editContext = context; deaf.editContext = new EditContext({ text: '' });
       let isAllSelected = false;
       code.onkeydown = (event) => { isAllSelected = event.ctrlKey && event.key === 'a' };
       code.onpaste = (event) => { event.preventDefault(); const text = event.clipboardData.getData('text/plain');
         context.updateText(isAllSelected ? 0 : context.text.length, context.text.length, text); log.push(context.text) }</script>`,
  );
  await callTool('browser_type', { target: parseRef(snapshot, '"Code"'), text: 'new' });
  assert.deepEqual(await evaluateInShop('/drawn-editor', 'log'), ['new']);
  await callExpectingFailure('browser_type', { target: parseRef(snapshot, '"Deaf"'), text: 'new' });
});

test('options of a list that only scrolls by wheel are selected, and a missing option is reported', async () => {
  const { callTool, callExpectingFailure } = fixture;
  const snapshot = await openPage(
    '/wheel',
    `<div role="combobox" tabindex="0" aria-label="City" aria-controls="cities" aria-expanded="false" id="city">None</div>
     <div role="listbox" id="cities" style="display:none;height:60px;overflow:hidden;position:relative"></div>
     <script>
       const names = Array.from({ length: 200 }, (_, i) => 'City ' + i);
       let first = 90;
       const draw = () => { cities.innerHTML = names.slice(first, first + 3).map((name) => '<div role="option" style="height:20px">' + name + '</div>').join('') };
       city.onclick = () => { cities.style.display = 'block'; city.ariaExpanded = 'true'; draw() };
       cities.onwheel = (event) => { event.preventDefault(); first = Math.min(197, Math.max(0, first + Math.round(event.deltaY / 20))); draw() };
       cities.onclick = (event) => { city.textContent = event.target.textContent; log.push(event.target.textContent); cities.style.display = 'none'; city.ariaExpanded = 'false' };
     </script>`,
  );
  await callTool('browser_select_option', { target: parseRef(snapshot, '"City"'), values: ['City 3'] });
  await callTool('browser_select_option', { target: parseRef(snapshot, '"City"'), values: ['City 171'] });
  assert.deepEqual(await evaluateInShop('/wheel', 'log'), ['City 3', 'City 171']);
  const { text: failureText } = await callExpectingFailure('browser_select_option', {
    target: parseRef(snapshot, '"City"'),
    values: ['Paris'],
  });
  assert.match(failureText, /The list shows no option "Paris"/);
  assert.match(failureText, /"City 0", "City 1".*and \d+ more/);
});

test('form-associated custom elements have the names of their labels, and their internal states', async () => {
  const { callTool } = fixture;
  const snapshot = await openPage(
    '/custom',
    `<label for="agree">I agree</label> <x-check id="agree"></x-check>
     <label>Volume <x-slider></x-slider></label>
     <label for="nick">Nickname</label> <x-text id="nick"></x-text>
     <script>
       class Field extends HTMLElement {
         static formAssociated = true;
         constructor() { super(); this.internals = this.attachInternals() }
       }
       customElements.define('x-check', class extends Field {
         constructor() { super(); this.attachShadow({ mode: 'closed' }).innerHTML = '<style>:host { display: inline-block; width: 20px; height: 20px; background: gray }</style>';
           this.internals.role = 'checkbox';
           this.onclick = () => { this.internals.states.add('checked'); this.internals.ariaChecked = 'true'; log.push('checked') } }
       });
       customElements.define('x-slider', class extends Field {
         constructor() { super(); this.attachShadow({ mode: 'open' }).innerHTML = '<style>:host { display: inline-block; width: 90px; height: 20px; background: silver }</style>';
           this.internals.role = 'slider' }
         connectedCallback() { this.tabIndex = 0; this.onkeydown = ({ key }) => log.push(key) }
       });
       customElements.define('x-text', class extends Field {
         constructor() { super(); const root = this.attachShadow({ mode: 'closed', delegatesFocus: true }); root.innerHTML = '<input>';
           root.firstChild.oninput = ({ target }) => log.push(target.value) }
       });
     </script>`,
  );
  const clickOutcome = await callTool('browser_click', { target: parseRef(snapshot, '"I agree"'), snapshot: 'full' });
  assert.match(clickOutcome, /"I agree" \[checked\]/);
  await callTool('browser_press_key', { target: parseRef(snapshot, '"Volume"'), key: 'ArrowRight' });
  await callTool('browser_type', { target: parseRef(snapshot, 'textbox "Nickname"'), text: 'Ada' });
  assert.deepEqual(await evaluateInShop('/custom', 'log'), ['checked', 'ArrowRight', 'Ada']);
});

test('the changes after an arrow key mark the option that the key has reached', async () => {
  const { callTool } = fixture;
  const snapshot = await openPage(
    '/active',
    `<input role="combobox" aria-label="Fruit" aria-expanded="true" aria-controls="fruits" id="fruit">
     <div role="listbox" id="fruits"><div role="option" id="apple">Apple</div><div role="option" id="pear">Pear</div></div>
     <script>fruit.onkeydown = (event) => {
       if (event.key !== 'ArrowDown') return;
       fruit.setAttribute('aria-activedescendant', fruit.getAttribute('aria-activedescendant') === 'apple' ? 'pear' : 'apple');
     }</script>`,
  );
  const target = parseRef(snapshot, '"Fruit"');
  assert.match(await callTool('browser_press_key', { target, key: 'ArrowDown' }), /"Apple" \[active\]/);
  assert.match(await callTool('browser_press_key', { target, key: 'ArrowDown' }), /"Pear" \[active\]/);
});

test('an option is selected only in the list that belongs to its field, even if the list is a datalist', async () => {
  const { callTool, callExpectingFailure } = fixture;
  const snapshot = await openPage(
    '/lists-of-others',
    `<div role="listbox" aria-label="Marks" aria-multiselectable="true" id="marks">
       <div role="option" aria-selected="true" onclick="this.ariaSelected = String(this.ariaSelected !== 'true')">Alpha</div></div>
     <p><input aria-label="Greek" list="letters" id="greek"><datalist id="letters"><option>Alpha</option><option>Beta</option></datalist></p>
     <p><span role="combobox" tabindex="0" aria-label="Closed">Closed</span></p>`,
  );
  const [marksListRef, greekRef, closedComboboxRef] = ['"Marks"', '"Greek"', '"Closed"'].map((name) =>
    parseRef(snapshot, name),
  );
  await callTool('browser_select_option', { target: greekRef, values: ['Beta'] });
  await callExpectingFailure('browser_select_option', { target: greekRef, values: ['Gamma'] });
  await callExpectingFailure('browser_select_option', { target: closedComboboxRef, values: ['Alpha'] });
  await callTool('browser_select_option', { target: marksListRef, values: ['Alpha'] });
  const fieldStates = await evaluateInShop('/lists-of-others', '[greek.value, marks.firstElementChild.ariaSelected]');
  assert.deepEqual(fieldStates, ['Beta', 'true']);
});

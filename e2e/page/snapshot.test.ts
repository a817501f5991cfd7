/**
 * A snapshot describes a page as text with roles, names, states and refs, and contains nothing that a user
 * cannot see.
 */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type PageLab, startPageLab } from './test/page-lab.ts';

let pageLab: PageLab;
before(async () => {
  pageLab = await startPageLab();
});
after(() => pageLab?.close());

const ordersHtml = `
<nav aria-label="Main"><ul><li><a href="/a">Home</a></li><li><a href="/b">Orders</a></li></ul></nav>
<main>
 <h1>Orders</h1>
 <p>You have <b>3</b> orders, see the <a href="/help">help</a>.</p>
 <button>New order</button>
 <label>Status <select><option>All</option><option>Open</option></select></label>
 <form aria-label="Search"><input type="search" placeholder="Search orders"><label><input type="checkbox" checked> Only mine</label></form>
 <table><caption>Orders</caption>
  <thead><tr><th>Id</th><th>Title</th><th></th></tr></thead>
  <tbody>
   <tr><td>#1</td><td><a href="/o/1">Pump</a> blue</td><td><button aria-label="Edit order 1"><svg></svg></button></td></tr>
   <tr><td>#2</td><td><a href="/o/2">Hose</a></td><td><button aria-label="Edit order 2"><svg></svg></button></td></tr>
  </tbody>
 </table>
</main>`;

test('a page becomes lines with roles, names, states and refs', async () => {
  const page = await pageLab.openPage(ordersHtml, { title: 'Orders' });
  assert.equal(
    await page.snapshot(),
    `navigation "Main"
 list
  - link "Home" [ref=e1]
  - link "Orders" [ref=e2]
main
 heading "Orders" [level=1]
 You have 3 orders, see the link "help" [ref=e3].
 button "New order" [ref=e4]
 combobox "Status" [ref=e5]: All
 form "Search"
  searchbox "Search orders" [ref=e6]
  checkbox "Only mine" [checked] [ref=e7]
 table "Orders" [ref=e8]
  row Id | Title |
  row #1 | link "Pump" [ref=e9] blue | button "Edit order 1" [ref=e10]
  row #2 | link "Hose" [ref=e11] | button "Edit order 2" [ref=e12]`,
  );
});

test('text that a user cannot see is left out', async () => {
  const page =
    await pageLab.openPage(`<style>.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)}</style>
    <p>seen</p>
    <p style="display:none">secret1</p><p style="visibility:hidden">secret2</p><p style="opacity:0">secret3</p>
    <p style="position:absolute;left:-9999px">secret4</p><p style="font-size:0">secret5</p>
    <p style="color:#fff">secret6</p><p style="color:transparent">secret7</p><p class="sr">secret8</p>
    <div style="height:0;overflow:hidden"><p>secret9</p></div><p style="text-indent:-9999px">secret10</p>
    <p hidden>secret11</p><details><summary>more</summary>secret12</details><template><p>secret13</p></template>
    <div style="background:#000"><p style="color:rgb(2,2,2)">secret14</p><p style="color:#fff">white on black</p></div>
    <p aria-hidden="true">secret15</p><p style="transform:scale(0)">secret16</p><!-- secret17 -->
    <p style="clip-path:inset(50%);position:absolute">secret18</p><div inert>secret19</div>
    <p style="position:fixed;left:100vw">secret20</p><noscript>secret21</noscript>
    <div style="visibility:hidden">secret22<b style="visibility:visible">seen again</b></div>
    <p style="content-visibility:hidden">secret23</p><p style="opacity:0.01">secret24</p>
    <p style="-webkit-text-fill-color:transparent">secret25</p><p style="filter:opacity(0)">secret26</p>
    <p style="margin-left:-9999px;width:100px">secret27</p><p style="transform:translateX(-9999px)">secret28</p>
    <div style="height:2px;overflow:hidden">secret29</div><p>a\u200bb\u202ec\u{e0041}d\u00ade</p>`);
  assert.equal(await page.snapshot(), 'seen\nbutton "more" [collapsed] [ref=e1]\nwhite on black\nseen again\nabcde');
});

test('values of passwords, codes and cards are never shown, not even in names', async () => {
  const page = await pageLab.openPage(`
    <label>Password <input id=p type=password value="hunter2222"></label>
    <label>Code <input autocomplete=one-time-code value="123456"></label>
    <label>Card <input autocomplete="billing cc-number" value="4111111111111111"></label>
    <label>CVV <input name=cardCvv value="9876"></label>
    <input id=shown type=password value="was-hidden">
    <button aria-labelledby=p>b</button><p>Your password is hunter2222.</p><input value="open" aria-label="Plain">`);
  const firstSnapshot = await page.snapshot();
  await page.evaluateInPage(`shown.type = 'text'`);
  const allCases = [
    firstSnapshot,
    await page.snapshot(),
    JSON.stringify(await page.callOrThrow('find', { text: '', selector: 'input' })),
    JSON.stringify(await page.callOrThrow('find', { text: 'hunter2' })),
  ].join('\n');
  for (const secret of ['hunter2222', '123456', '4111111111111111', '9876', 'was-hidden']) {
    assert.ok(!allCases.includes(secret), `the secret ${secret} must not be in:\n${allCases}`);
  }
  assert.match(firstSnapshot, /textbox "Password" \[ref=e1\]: •••/);
  assert.match(firstSnapshot, /textbox "Plain" \[ref=e\d+\]: open/);
  assert.deepEqual((await page.callOrThrow('inspect', { targets: [], focused: false })).shown, [
    'card',
    'code',
    'password',
  ]);
});

test('a snapshot contains open and closed shadow roots, slots and nested shadow hosts', async () => {
  const page = await pageLab.openPage(`<x-card><b slot=title>Title</b>body</x-card><script>
    customElements.define('x-card', class extends HTMLElement { constructor() { super();
      this.attachShadow({mode:'closed'}).innerHTML = '<h2><slot name=title></slot></h2><x-in></x-in><p><slot></slot></p>'; } });
    customElements.define('x-in', class extends HTMLElement { constructor() { super();
      this.attachShadow({mode:'open'}).innerHTML = '<button>Inside</button>'; } });
  </script>`);
  assert.equal(await page.snapshot(), 'heading "Title" [level=2]\nbutton "Inside" [ref=e1]\nbody');
});

test('a snapshot contains hidden inputs with labels, clickable elements and ARIA states', async () => {
  const page = await pageLab.openPage(`
    <input type=checkbox id=c style="display:none" checked><label for=c>Terms</label>
    <label><input type=radio style="opacity:0;position:absolute"><span>Express</span></label>
    <div style="cursor:pointer"><span>Card</span> <i>text</i></div>
    <div onclick="1">Old style</div>
    <button aria-expanded=false aria-haspopup=menu>Menu</button><button disabled>Off</button>
    <div role=tablist><div role=tab tabindex=0 aria-selected=true>One</div></div>
    <div role=switch aria-checked=true tabindex=0 aria-label=Dark></div>
    <input type=range aria-label=Volume value=30><progress aria-label=Load value=.25></progress>
    <div contenteditable aria-label=Note>hello</div><a>no link</a><div tabindex=-1>plain</div>
    <select multiple aria-label=Many><option selected>A</option><option selected>B</option></select>
    <svg width=60 height=20><text y=15>Chart label</text></svg>
    <div role=alert>Saved</div>`);
  assert.equal(
    await page.snapshot(),
    `checkbox "Terms" [checked] [ref=e1]
radio "Express" [ref=e2]
clickable "Card text" [ref=e3]
clickable "Old style" [ref=e4]
button "Menu" [collapsed] [ref=e5]
button "Off" [disabled] [ref=e6]
tablist
 tab "One" [selected] [ref=e7]
switch "Dark" [checked] [ref=e8]
slider "Volume" [ref=e9]: 30
progressbar "Load": 25 %
textbox "Note" [ref=e10]: hello
clickable "no link" [ref=e11]
plain
listbox "Many" [ref=e12]: A, B
Chart label
alert Saved`,
  );
});

const makeBigPage = (rows: number) =>
  `<h1>Orders</h1><button>New order</button><table aria-label="Orders"><tbody>${Array.from(
    { length: rows },
    (_, i) =>
      `<tr><td>#${i + 1}</td><td><a href="/o/${i + 1}">Order ${i + 1}</a></td><td>Open</td><td><button>Edit</button></td></tr>`,
  ).join('')}</tbody></table><footer>The end</footer>`;

test('a snapshot folds long tables, but never folds rows that are in view', async (t) => {
  const page = await pageLab.openPage(makeBigPage(430));
  const unscrolledSnapshot = await page.callOrThrow('snapshot');
  assert.match(unscrolledSnapshot.text, /table "Orders" \[ref=e\d+\] 430 rows, 2\d shown/);
  assert.match(unscrolledSnapshot.text, /contentinfo\n The end/);
  assert.ok(unscrolledSnapshot.tokens < 2_000);
  await page.evaluateInPage('scrollTo(0, document.querySelectorAll("tr")[300].offsetTop)');
  const scrolledSnapshot = await page.snapshot();
  for (const row of [301, 305, 310])
    assert.ok(
      scrolledSnapshot.includes(`link "Order ${row}"`),
      `row ${row} is in view, but not in:\n${scrolledSnapshot}`,
    );
  const unlimitedSnapshot = await page.callOrThrow('snapshot', { maxTokens: 0 });
  assert.equal(unlimitedSnapshot.text.match(/\n +row/g)?.length, 430);
  assert.equal(unlimitedSnapshot.folded, 0);
  const viewportSnapshot = await page.callOrThrow('snapshot', { mode: 'viewport' });
  assert.ok(!viewportSnapshot.text.includes('Order 1"') && viewportSnapshot.text.includes('Order 301"'));
  const interactiveSnapshot = await page.snapshot({ mode: 'interactive' });
  assert.ok(!interactiveSnapshot.includes('The end') && interactiveSnapshot.includes('link "Order 301"'));
  const limitedSnapshot = await page.callOrThrow('snapshot', { maxTokens: 400 });
  t.diagnostic(
    `folded ${unscrolledSnapshot.tokens}, view ${viewportSnapshot.tokens}, small ${limitedSnapshot.tokens}, whole ${unlimitedSnapshot.tokens} tokens`,
  );
  assert.ok(limitedSnapshot.text.includes('Order 301"') && limitedSnapshot.text.includes('…'));
});

test('refs keep their element through 1,000 changes of the page, and gone elements give stale_ref', async () => {
  const page = await pageLab.openPage('<main></main>');
  await page.evaluateInPage(`{
    let seed = 7;
    const random = (n) => (seed = (seed * 16807) % 2147483647) % n;
    const root = document.querySelector('main');
    let count = 0;
    const make = () => Object.assign(document.createElement('button'), { textContent: 'b' + ++count });
    for (let i = 0; i < 40; i++) root.append(make());
    window.mutate = (times) => { for (let i = 0; i < times; i++) {
      const all = root.querySelectorAll('button');
      const at = all[random(all.length)];
      switch (random(5)) {
        case 0: at.before(make()); break;
        case 1: if (all.length > 30) at.remove(); break;
        case 2: root.append(at); break;
        case 3: { const box = document.createElement('div'); at.replaceWith(box); box.append(at); break; }
        case 4: at.toggleAttribute('disabled'); break;
      } } };
  }`);
  const refByName = new Map<string, string>(); // refs by button name
  const readRefs = async () => {
    const snapshotText = await page.snapshot({ maxTokens: 0 });
    return new Map([...snapshotText.matchAll(/button "(b\d+)".*?\[ref=(\w+)\]/g)].map((m) => [m[1] ?? '', m[2] ?? '']));
  };
  for (let i = 0; i < 20; i++) {
    for (const [name, elementRef] of await readRefs()) {
      assert.equal(refByName.get(name) ?? elementRef, elementRef, `the button ${name} must keep its ref`);
      refByName.set(name, elementRef);
    }
    await page.evaluateInPage('mutate(50)');
  }
  assert.equal(new Set(refByName.values()).size, refByName.size, 'each ref must belong to one element');
  const currentRefs = await readRefs();
  const removedRefs = [...refByName].filter(([name]) => !currentRefs.has(name));
  assert.ok(removedRefs.length > 20 && currentRefs.size > 20);
  for (const [name, elementRef] of removedRefs) {
    const describeAnswer = await page.callOperation('describe', { target: elementRef });
    assert.equal(describeAnswer.error?.code, 'stale_ref', `${name} ${elementRef}: ${JSON.stringify(describeAnswer)}`);
  }
  for (const [name, elementRef] of currentRefs)
    assert.equal((await page.callOrThrow('describe', { target: elementRef })).elementName, name);
});

test('stale_ref names the nearest match, and never another document', async () => {
  const page = await pageLab.openPage('<main><button>Save draft</button><button>Cancel</button></main>');
  const elementRef = await page.findRef('Save draft');
  await page.evaluateInPage(
    `document.querySelector('main').innerHTML = '<button>Cancel</button><button>Save the draft</button>'`,
  );
  const { error } = await page.callOperation('describe', { target: elementRef });
  assert.equal(error.code, 'stale_ref');
  assert.match(error.message, /is gone\. The nearest match is e\d+/);
  assert.match(error.pageText ?? '', /the element was: button "Save draft"/);
  assert.equal((await page.callOrThrow('describe', { target: error.ref })).elementName, 'Save the draft');
  for (const unknownRef of ['e999', 'f2e1'])
    assert.equal((await page.callOperation('describe', { target: unknownRef })).error.code, 'stale_ref');
  assert.equal((await page.callOperation('describe', { target: 'Save' })).error.code, 'invalid_arguments');
});

test('a snapshot with the argument since returns only the changes', async (t) => {
  const page = await pageLab.openPage(makeBigPage(100));
  const firstSnapshot = await page.callOrThrow('snapshot');
  const unchangedResult = await page.callOrThrow('snapshot', { since: firstSnapshot.snapshot });
  assert.equal(unchangedResult.text, `nothing changed since ${firstSnapshot.snapshot}`);
  await page.evaluateInPage(`{const row = document.querySelector('tbody').insertRow(0);
    row.innerHTML = '<td>#0</td><td><a href=/new>New order</a></td><td>Draft</td><td><button>Edit</button></td>'}`);
  const addedElementResult = await page.callOrThrow('snapshot', { since: firstSnapshot.snapshot });
  t.diagnostic(`${addedElementResult.tokens} tokens instead of ${firstSnapshot.tokens}`);
  assert.match(
    addedElementResult.text,
    /^~ table "Orders".* 101 rows, 2\d shown\n\+ {2}row #0 \| link "New order" \[ref=e\d+\] \| Draft \| button "Edit" \[ref=e\d+\]$/,
  );
  assert.ok(addedElementResult.tokens <= 60);
  await page.evaluateInPage(
    `document.querySelector('button').disabled = true; document.querySelector('footer').remove()`,
  );
  const removedElementResult = await page.callOrThrow('snapshot', { since: addedElementResult.snapshot });
  assert.equal(removedElementResult.text, '~ button "New order" [disabled] [ref=e1]\n- contentinfo');
  const unknownSnapshotResult = await page.callOrThrow('snapshot', { since: 's99' });
  assert.equal(unknownSnapshotResult.full, true);
  await page.evaluateInPage(`document.body.innerHTML = '<h1>Other</h1>' + '<p>text</p>'.repeat(20)`);
  assert.equal((await page.callOrThrow('snapshot', { since: removedElementResult.snapshot })).full, true);
});

test('frames are listed with their index, and each frame has a separate script', async () => {
  const innerHtml =
    '<!doctype html><title>in</title><button>Inner</button><iframe srcdoc="<a href=/x>Deep</a>"></iframe>';
  const page = await pageLab.openPage(
    '<h1>Outer</h1><iframe src="/inner" title="Shop"></iframe><iframe src="http://other.test:PORT/foreign" title="Other"></iframe>',
    {
      otherPages: { '/inner': innerHtml, '/foreign': '<button>Foreign</button>' },
    },
  );
  const outerFrameSnapshot = await page.callOrThrow('snapshot');
  assert.match(
    outerFrameSnapshot.text,
    /^heading "Outer" \[level=1\]\niframe "Shop" \[ref=e1\]\niframe "Other" \[ref=e2\]$/,
  );
  assert.deepEqual(
    outerFrameSnapshot.frames.map((frame: { ref: string; line: number; index: number }) => [
      frame.ref,
      frame.line,
      frame.index,
    ]),
    [
      ['e1', 1, 0],
      ['e2', 2, 1],
    ],
  );
  const child = (await page.callOperationInFrame('/inner', 'f2', 'snapshot')).result;
  assert.match(child.text, /^button "Inner" \[ref=f2e1\]\niframe \[ref=f2e2\]$/);
  assert.match(child.snapshot, /^f2s\d+$/);
  assert.equal((await page.callOperationInFrame('/inner', 'f2', 'facts')).result.index, 0);
  assert.equal((await page.callOperationInFrame('/foreign', 'f3', 'facts')).result.index, 1);
  assert.equal(
    (await page.callOperationInFrame('/foreign', 'f3', 'snapshot')).result.text,
    'button "Foreign" [ref=f3e1]',
  );
});

test('a snapshot contains clickable list items, icons in clickable rows, and hints for controls without a name', async () => {
  const page = await pageLab.openPage(`<style>.icon { display: inline-block; width: 16px; height: 16px }</style>
    <ul style="cursor:pointer"><li>Germany</li><li>Greece</li></ul>
    <div style="cursor:pointer"><b>Ada</b> Hello <span class="icon trash"></span></div>
    <button class="btn-close"><i class="fa fa-x"></i></button><button><i class="fa fa-gear"></i></button><input name=q><input id=only type=checkbox>`);
  assert.equal(
    await page.snapshot(),
    `list
 - [ref=e1] Germany
 - [ref=e2] Greece
clickable [ref=e3] Ada Hello clickable [class=icon trash] [ref=e4]
button [class=btn-close] [ref=e5]
button [class=fa fa-gear] [ref=e6]
textbox [name=q] [ref=e7]
checkbox [id=only] [ref=e8]`,
  );
});

test('text over a coloured layer, in a dark page, and in a transparent frame is shown', async () => {
  const layeredHtml =
    await pageLab.openPage(`<div style="position:relative"><div style="position:absolute;inset:0;background:#000"></div>
    <p style="position:relative;color:#fff">On a layer</p></div><p style="background:linear-gradient(#000,#000);color:#fff">On a gradient</p>
    <p style="background:linear-gradient(red,blue);-webkit-background-clip:text;color:transparent">Gradient text</p>
    <iframe srcdoc="<p style='color:#fff'>In a frame</p>"></iframe>`);
  assert.equal(await layeredHtml.snapshot(), 'On a layer\nOn a gradient\nGradient text\niframe [ref=e1]');
  assert.equal((await layeredHtml.callOperationInFrame('about:srcdoc', 'f2', 'snapshot')).result.text, 'In a frame');
  const darkPage = await pageLab.openPage('<style>:root { color-scheme: dark }</style><p>Dark page</p>');
  assert.equal(await darkPage.snapshot(), 'Dark page');
});

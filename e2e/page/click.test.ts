/**
 * A click reaches exactly the element that the agent named, and the tool's result describes what the page did.
 */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type LabPage, type PageLab, startPageLab } from './test/page-lab.ts';

let pageLab: PageLab;
before(async () => {
  pageLab = await startPageLab();
});
after(() => pageLab?.close());

const clickElement = async (page: LabPage, elementName: string, args: object = {}) =>
  page.callOperation('click', { target: await page.findRef(elementName), ...args });

const eventRecorderScript = `<script>window.seen = []; for (const type of ['click','dblclick','contextmenu','auxclick','change','submit'])
  document.addEventListener(type, (e) => { seen.push(type + ' ' + (e.target.id || e.target.localName)); if (type === 'submit') e.preventDefault(); }, true);</script>`;

for (const isInFront of [false, true]) {
  test(`buttons, links, checkboxes and forms work in a ${isInFront ? 'front' : 'background'} tab`, async (t) => {
    const page = await pageLab.openPage(
      `${eventRecorderScript}<button id=b onclick="this.textContent = 'Clicked'">Click me</button><a id=a href="#part">Jump</a>
      <label>Terms <input id=c type=checkbox></label><details><summary>More</summary>Inside text</details>
      <form><button id=s>Send</button></form><div id=d role=button tabindex=0 onclick="out.textContent='div'">Div</div><p id=out></p>`,
      { isInFront },
    );
    const clickResult = await clickElement(page, 'Click me');
    t.diagnostic(`click: ${clickResult.durationMs.toFixed(0)} ms`);
    assert.equal(clickResult.result.changes, '~ button "Clicked" [focused] [ref=e1]');
    assert.equal(clickResult.result.changed, true);
    const fragmentLinkClickResult = (await clickElement(page, 'Jump')).result;
    assert.match(fragmentLinkClickResult.url, /#part$/);
    const checkboxResult = (await clickElement(page, 'Terms')).result;
    assert.match(checkboxResult.changes, /^~ checkbox "Terms" \[checked\]/);
    assert.match((await clickElement(page, 'More')).result.changes, /\+ Inside text/);
    assert.equal((await clickElement(page, 'Send')).ok, true);
    assert.match((await clickElement(page, 'Div')).result.changes, /\+ div/);
    assert.deepEqual(await page.evaluateInPage('seen'), [
      'click b',
      'click a',
      'click c',
      'change c',
      'click summary',
      'click s',
      'submit form',
      'click d',
    ]);
  });
}

test('a page receives double clicks, right clicks and clicks with modifier keys', async () => {
  const page = await pageLab.openPage(`${eventRecorderScript}<button id=b>Target</button><script>
    b.addEventListener('click', (e) => seen.push([e.detail, e.shiftKey, e.ctrlKey, e.button].join()));
    b.addEventListener('contextmenu', (e) => seen.push('button ' + e.button));</script>`);
  await clickElement(page, 'Target', { doubleClick: true });
  await clickElement(page, 'Target', { button: 'right' });
  await clickElement(page, 'Target', { modifiers: ['Shift', 'ControlOrMeta'] });
  assert.deepEqual(await page.evaluateInPage('seen'), [
    'click b',
    '1,false,false,0',
    'click b',
    '2,false,false,0',
    'dblclick b',
    'contextmenu b',
    'button 2',
    'click b',
    '1,true,true,0',
  ]);
});

test('the result of a click without an effect reports no change', async () => {
  const page = await pageLab.openPage(
    '<button>Dead</button><button id=t>Trusted only</button><script>t.onclick = (e) => { if (e.isTrusted) t.textContent = "ok"; }</script>',
  );
  for (const name of ['Dead', 'Trusted only']) {
    const { result } = await clickElement(page, name);
    assert.equal(result.changed, false, name);
    assert.equal(result.changes, undefined);
    assert.match(result.notes.join(' '), /Nothing changed.*trusted input/);
  }
});

test('a click waits for changes that follow a late server response', async () => {
  const page = await pageLab.openPage(`<button id=b>Load</button><p id=out>empty</p><script>
    b.onclick = () => { b.disabled = true; out.innerHTML = '<span aria-busy=true>Loading</span>';
      fetch('/slow').finally(() => { const end = performance.now() + 150; const spin = () => { if (performance.now() < end) { c.port2.postMessage(0); return; }
        out.textContent = 'arrived'; b.disabled = false; }; const c = new MessageChannel(); c.port1.onmessage = spin; spin(); }); };</script>`);
  const { result } = await clickElement(page, 'Load');
  assert.match(result.changes, /~ arrived/);
});

test('a click waits for the server response even if the page scrolls first', async () => {
  const page =
    await pageLab.openPage(`<div style="height:3000px"></div><button id=b>Next page</button><p id=out>page 1</p><script>
    b.onclick = () => { scrollTo(0, 0); const end = performance.now() + 300, c = new MessageChannel();
      c.port1.onmessage = () => { if (performance.now() < end) c.port2.postMessage(0); else out.textContent = 'page 2'; }; c.port2.postMessage(0); };</script>`);
  const { result } = await clickElement(page, 'Next page');
  assert.match(result.changes ?? '', /~ page 2/);
});

test('a click waits for the timers of a background tab, which Chrome runs once a second', async () => {
  const page = await pageLab.openPage(
    '<button id=b>Load</button><p id=out>0</p><script>b.onclick = () => setTimeout(() => { out.textContent++ }, 30)</script>',
  );
  for (let clickNumber = 1; clickNumber <= 4; clickNumber++) {
    const { result } = await clickElement(page, 'Load');
    assert.equal(result.changed, true, `click ${clickNumber} must change the page`);
    assert.match(result.changes, new RegExp(`~ ${clickNumber}`));
  }
});

test('elements that are far away or enabled late are clicked, and a covered element is not', async () => {
  const page = await pageLab.openPage(
    `<style>@keyframes m { to { margin-left: 200px } }</style>
    <button id=late disabled onclick="out.textContent='late'">Late</button>
    <div style="height:3000px"></div><button onclick="out.textContent='far'">Far</button>
    <div style="overflow:auto;height:60px"><div style="height:900px"></div><button onclick="out.textContent='inner'">Inner scroller</button></div>
    <div style="position:relative;width:200px;height:40px"><button onclick="out.textContent='covered'" style="width:200px;height:40px">Covered</button>
      <div id=cover role=dialog aria-label=Cookies style="position:absolute;inset:0;background:#eee"></div></div>
    <p id=out>none</p>`,
    { isInFront: true },
  );
  await page.evaluateInPage('setTimeout(() => { late.disabled = false }, 700), 0');
  assert.match((await clickElement(page, '"Late"')).result.changes, /late/);
  assert.match((await clickElement(page, 'Far')).result.changes, /~ far/);
  assert.match((await clickElement(page, 'Inner scroller')).result.changes, /~ inner/);
  const coveredClickResult = await clickElement(page, 'Covered', { timeoutMs: 300 });
  assert.equal(coveredClickResult.error?.code, 'not_hittable');
  assert.match(coveredClickResult.error.message, /the element e\d+ is in front of it/);
  assert.match(coveredClickResult.error.pageText ?? '', /in front of it: dialog "Cookies"/);
  assert.equal((await page.callOrThrow('describe', { target: coveredClickResult.error.ref })).elementName, 'Cookies');
  await page.evaluateInPage('setTimeout(() => cover.remove(), 1500), 0');
  const waitOutcome = await clickElement(page, 'Covered');
  assert.match(waitOutcome.result.changes, /~ covered/);
  assert.ok(waitOutcome.progress.some((report) => /waiting: another element/.test(report.message)));
  assert.match((await clickElement(page, 'Covered', { timeoutMs: 100 })).ok ? 'ok' : 'no', /ok/);
});

test('hidden controls are clicked through their labels, and elements in shadow roots can be clicked', async () => {
  const page = await pageLab.openPage(`<input type=checkbox id=c style="display:none"><label for=c>Hidden box</label>
    <x-button></x-button><p id=out></p><script>customElements.define('x-button', class extends HTMLElement { constructor() { super();
      this.attachShadow({mode:'closed'}).innerHTML = '<button>Shadow</button>';
      this.addEventListener('click', (e) => { out.textContent = 'composed ' + e.composed; }); } });</script>`);
  assert.match((await clickElement(page, 'Hidden box')).result.changes, /checkbox "Hidden box" \[checked\]/);
  assert.equal(await page.evaluateInPage('c.checked'), true);
  assert.match((await clickElement(page, 'Shadow')).result.changes, /\+ composed true/);
});

test('disabled, invisible and removed elements give errors, and nothing is clicked', async () => {
  const page = await pageLab.openPage(
    `${eventRecorderScript}<button disabled>Off</button><button id=gone>Gone</button><button id=h>Hide</button>`,
  );
  const [removedRef, hideButtonRef] = [await page.findRef('Gone'), await page.findRef('Hide')];
  await page.evaluateInPage('gone.remove(), h.style.display = "none", 0');
  const disabledClickResult = await clickElement(page, 'Off', { timeoutMs: 100 });
  assert.match(
    `${disabledClickResult.error?.code} ${disabledClickResult.error?.message}`,
    /not_hittable .*it is disabled/,
  );
  assert.equal((await page.callOperation('click', { target: removedRef })).error?.code, 'stale_ref');
  assert.match(
    (await page.callOperation('click', { target: hideButtonRef, timeoutMs: 100 })).error?.message ?? '',
    /not displayed/,
  );
  assert.deepEqual(await page.evaluateInPage('seen'), []);
});

test('the result of a click names a navigation, a new tab and a download', async () => {
  const page = await pageLab.openPage(
    '<a href="http://site.test:PORT/never">Away</a><a href="/tab" target=_blank>New tab</a>',
    { isInFront: true },
  );
  const tab = (await clickElement(page, 'New tab')).result;
  assert.deepEqual(tab.link, { href: `${page.origin}/tab`, newTab: true });
  const navigatingClickResult = (await clickElement(page, 'Away')).result;
  assert.match(navigatingClickResult.navigating, /\/never$/);
  assert.equal(navigatingClickResult.changed, true);
});

test('a wait ends at once when the call is cancelled', async () => {
  const page = await pageLab.openPage('<button disabled>Off</button>');
  const startedClick = await page.startOperation('click', { target: await page.findRef('Off'), timeoutMs: 60_000 });
  await startedClick.cancel();
  const clickAnswer = await startedClick.answer();
  assert.equal(clickAnswer.error?.code, 'cancelled');
  assert.ok(clickAnswer.durationMs < 5_000);
});

test('after watch, the operation changes reports the effect of debugger input at the point that locate returned', async () => {
  const page = await pageLab.openPage('<button id=b onclick="this.textContent=\'Done\'">Do</button>', {
    isInFront: true,
  });
  const { snapshot } = await page.callOrThrow('watch');
  const { point: clickPoint } = await page.callOrThrow('locate', { target: await page.findRef('Do'), ready: true });
  for (const type of ['mousePressed', 'mouseReleased']) {
    await page.session.sendCommand('Input.dispatchMouseEvent', { type, ...clickPoint, button: 'left', clickCount: 1 });
  }
  const { changes: pageChanges } = await page.callOrThrow('changes', { since: snapshot });
  assert.match(pageChanges, /^~ button "Done"/);
  assert.equal((await page.callOperation('changes', { since: snapshot })).error?.code, 'invalid_arguments');
});

test('a menu that opens on pointer events and a tooltip that opens on hover can be used', async () => {
  const page =
    await pageLab.openPage(`<button id=m aria-haspopup=menu>Menu</button><div id=h>Hover here</div><div id=out></div><script>
    m.addEventListener('pointerdown', () => { out.innerHTML = '<div role=menu><div role=menuitem tabindex=0 id=i>Copy</div></div>';
      i.onmouseup = () => { out.textContent = 'copied'; }; });
    h.setAttribute('tabindex', 0); h.onmouseenter = () => { out.innerHTML = '<div role=tooltip>Tip text</div>'; };</script>`);
  assert.match((await clickElement(page, '"Menu"')).result.changes, /\+ menu\n\+ {2}menuitem "Copy" \[ref=e\d+\]/);
  assert.match((await clickElement(page, 'menuitem "Copy')).result.changes, /\+ copied/);
  const hoverResult = await page.callOrThrow('hover', { target: await page.findRef('Hover here') });
  assert.match(hoverResult.changes, /\+ tooltip "Tip text"/);
});

test('a menu that closes with an animation is reported as closed, in a front tab and in a background tab', async () => {
  for (const isInFront of [false, true]) {
    const page = await pageLab.openPage(
      `<button id=b>Open</button><div id=m role=menu hidden><button id=i role=menuitem>Pick</button></div><p id=out></p><style>#p{transition:opacity .3s}</style>
      <div id=p><button>Fading</button></div><script>
      b.onclick = () => { m.hidden = false; m.animate([{ opacity: 0.2 }, { opacity: 1 }], 200); };
      i.onclick = () => { m.animate([{ opacity: 1 }, { opacity: 0.2 }], 300).onfinish = () => { m.hidden = true; };
        p.addEventListener('transitionend', () => { p.remove(); }); p.style.opacity = 0; };</script>`,
      { isInFront },
    );
    assert.match((await clickElement(page, '"Open"')).result.changes, /\+ {2}menuitem "Pick"/);
    const { result } = await clickElement(page, 'menuitem "Pick"');
    assert.match(result.changes ?? JSON.stringify(result), /- menu/);
    assert.match(result.changes, /- button "Fading"/);
    assert.equal(await page.evaluateInPage('m.hidden && !document.getElementById("p")'), true);
  }
});

test('a snapshot diff reports a changed order of lines', async () => {
  const page = await pageLab.openPage(
    `<button onclick="l.append(l.firstElementChild)">Rotate</button><ul id=l><li>A</li><li>B</li><li>C</li></ul>`,
  );
  const { result } = await clickElement(page, 'Rotate');
  assert.match(result.changes, /~ - A \(moved\)/);
});

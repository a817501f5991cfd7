/** A hostile page can neither break the extension's page script nor hide text in what the agent reads. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type PageLab, startPageLab } from './test/page-lab.ts';

let pageLab: PageLab;
before(async () => {
  pageLab = await startPageLab();
});
after(() => pageLab?.close());

test('a page that replaces every built-in is read and clicked', async () => {
  const page = await pageLab.openPage(`<button id=b>Press</button><p id=out>no</p><script>
    const text = out.firstChild; b.addEventListener('click', () => { text.data = 'yes'; });
    for (const owner of [Element.prototype, Node.prototype, Document.prototype, Array.prototype, Map.prototype, Promise.prototype, window])
      for (const key of Object.getOwnPropertyNames(owner)) { if (key === 'constructor') continue;
        try { Object.defineProperty(owner, key, { get() { throw new Error('trap'); }, configurable: true }); } catch {} }
  </script>`);
  const firstSnapshot = await page.callOrThrow('snapshot');
  assert.match(firstSnapshot.text, /^button "Press" \[ref=e1\]\nno$/);
  const clickResult = await page.callOrThrow('click', { target: 'e1' });
  assert.match(clickResult.changes, /yes/);
});

test('elements with the names of built-in properties break nothing', async () => {
  const names =
    `childNodes parentNode getAttribute hasAttribute localName querySelector querySelectorAll checkVisibility
    attributes children getBoundingClientRect matches closest isConnected action elements requestSubmit assignedSlot`.split(
      /\s+/,
    );
  const page =
    await pageLab.openPage(`<form id=f onsubmit="event.preventDefault(); out.textContent = 'sent'">${names.map((name) => `<input name=${name} aria-label=${name}>`).join('')}
    <button>Send</button><p id=out>not sent</p></form>
    ${'body title activeElement querySelectorAll elementFromPoint documentElement hidden hasFocus readyState execCommand'
      .split(' ')
      .map((name) => `<img name=${name} alt="">`)
      .join('')}`);
  const { text: snapshotText } = await page.callOrThrow('snapshot');
  for (const name of names)
    assert.ok(snapshotText.includes(`textbox "${name}"`), `${name} is missing in:\n${snapshotText}`);
  const typeResult = await page.callOrThrow('type', {
    target: await page.findRef('"parentNode"'),
    text: 'x',
    submit: true,
  });
  assert.equal(typeResult.value, 'x');
  assert.match(typeResult.changes, /sent/);
  assert.equal(
    (await page.callOrThrow('describe', { target: await page.findRef('"Send"') })).formAction.startsWith(page.origin),
    true,
  );
  assert.match((await page.callOrThrow('read')).text, /sent/);
  assert.equal((await page.callOrThrow('find', { role: 'button' })).total, 1);
  assert.equal((await page.callOrThrow('waitFor', { text: 'sent' })).waitedMs < 5_000, true);
});

test('a snapshot folds elements that are nested 2,000 levels deep', async () => {
  const page = await pageLab.openPage('<main></main><button>After</button>');
  await page.evaluateInPage(
    `{ let at = document.querySelector('main'); for (let i = 0; i < 2000; i++) { const next = document.createElement('div'); at.append(next); at = next; } at.textContent = 'deep'; }`,
  );
  assert.match(await page.snapshot(), /button "After"/);
  assert.match((await page.callOrThrow('read')).text, /After/);
  assert.match((await page.callOrThrow('read', { format: 'html' })).text, /After/);
  assert.equal((await page.callOrThrow('find', { text: 'after' })).total, 1);
});

test('a snapshot survives names that refer to each other, huge texts and empty documents', async () => {
  const page =
    await pageLab.openPage(`<button id=a aria-labelledby=b>A</button><button id=b aria-labelledby=a>B</button>
    <button id=c aria-labelledby="c c c">C</button><button>${'long '.repeat(20_000)}</button><p>${'word '.repeat(50_000)}</p>`);
  const { text: snapshotText, tokens } = await page.callOrThrow('snapshot');
  assert.ok(tokens < 1_000, `${tokens} tokens`);
  assert.match(snapshotText, /button "C/);
  await page.evaluateInPage('document.documentElement.remove()');
  const emptySnapshot = await page.callOperation('snapshot');
  assert.ok(emptySnapshot.ok || emptySnapshot.error.code !== 'internal', JSON.stringify(emptySnapshot));
});

test('a click in a page that never stops changing returns after a time limit and reports that the page is busy', async () => {
  const page =
    await pageLab.openPage(`<button onclick="out.textContent = 'clicked'">Go</button><p id=out></p><p id=tick></p><script>
    const c = new MessageChannel(); let n = 0; c.port1.onmessage = () => { tick.textContent = ++n; c.port2.postMessage(0); }; c.port2.postMessage(0);</script>`);
  const clickAnswer = await page.callOperation('click', { target: await page.findRef('Go') });
  assert.equal(clickAnswer.result.busy, true);
  assert.match(clickAnswer.result.changes, /clicked/);
  assert.ok(clickAnswer.durationMs < 15_000);
});

test('Content Security Policy and Trusted Types do not stop the script', async () => {
  const page = await pageLab.openPage('<button>Safe</button><label>Field <input></label>', {
    headers: {
      'content-security-policy':
        "default-src 'none'; script-src 'none'; require-trusted-types-for 'script'; sandbox allow-same-origin",
    },
  });
  assert.match(await page.snapshot(), /button "Safe"/);
  assert.equal((await page.callOrThrow('type', { target: await page.findRef('Field'), text: 'x' })).value, 'x');
});

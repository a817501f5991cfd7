/** Drags, scrolls, uploads and waits of the page script have the effect that their answers report. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type LabPage, type PageLab, startPageLab } from './test/page-lab.ts';

let lab: PageLab;
before(async () => {
  lab = await startPageLab();
});
after(() => lab?.close());

const dragBetween = async (page: LabPage, draggedName: string, to: string) =>
  page.callOperation('drag', { startTarget: await page.findRef(draggedName), endTarget: await page.findRef(to) });

const html5DragPage = `<div id=a draggable=true tabindex=0>Card</div><div id=b tabindex=0 style="width:200px;height:100px">Box</div><div id=c tabindex=0>Closed</div><p id=out></p>
  <script>a.ondragstart = (e) => e.dataTransfer.setData('text/plain', 'card');
    b.ondragover = (e) => e.preventDefault(); b.ondrop = (e) => { e.preventDefault(); out.textContent = 'dropped ' + e.dataTransfer.getData('text/plain'); b.append(a); };
    a.ondragend = (e) => { window.ended = e.dataTransfer.dropEffect; };</script>`;
const pointerDragPage = `<div id=s role=button tabindex=0 aria-label=Thumb style="position:absolute;left:10px;top:100px;width:30px;height:30px;background:red"></div>
  <div role=button tabindex=0 aria-label=Goal style="position:absolute;left:300px;top:100px;width:60px;height:30px"></div><p id=out>0</p>
  <script>s.onpointerdown = (e) => { const start = e.clientX; document.onpointermove = (m) => { s.style.left = 10 + m.clientX - start + 'px'; };
    document.onpointerup = () => { document.onpointermove = null; out.textContent = parseInt(s.style.left) > 250 ? 'moved' : 'short'; }; };</script>`;

test('HTML5 drags and drags with pointer events are completed', async () => {
  for (const isInFront of [false, true]) {
    const page = await lab.openPage(html5DragPage, { isInFront });
    const rejectedDropResult = await dragBetween(page, '"Card"', '"Closed"');
    assert.match(rejectedDropResult.result.notes.join(), /does not accept a drop/);
    assert.equal(rejectedDropResult.result.changed, false);
    const { result } = await dragBetween(page, '"Card"', '"Box');
    assert.match(result.changes, /dropped card/);
    assert.equal(await page.evaluateInPage('typeof ended'), 'string');
    const movingPage = await lab.openPage(pointerDragPage, { isInFront });
    assert.match((await dragBetween(movingPage, 'Thumb', 'Goal')).result.changes, /moved/);
  }
});

test('a cancelled drag releases the button', async () => {
  const page = await lab.openPage(
    `${pointerDragPage}<script>addEventListener('pointerup', () => { window.released = true; });</script>`,
  );
  const args = { startTarget: await page.findRef('Thumb'), endTarget: await page.findRef('Goal') };
  const startedDrag = await page.startOperation('drag', args, { event: 'pointermove', count: 3 });
  const { error } = await startedDrag.answer();
  assert.match(`${error.code} ${error.done}`, /^cancelled dragged \d+ of 12 steps$/);
  assert.equal(await page.evaluateInPage('released'), true);
});

test('a scroll of the page or of an element returns the new position and the new lines', async () => {
  const rows = Array.from({ length: 100 }, (_, i) => `<li style="height:40px">Row ${i}</li>`).join('');
  const page = await lab.openPage(
    `<ul style="margin:0">${rows}</ul><div id=area tabindex=0 aria-label=Log role=log style="height:100px;overflow:auto"><p style="height:900px">log</p><button>End</button></div>`,
  );
  const downScrollResult = await page.callOrThrow('scroll', { direction: 'down', amount: 1_200 });
  assert.equal(downScrollResult.position.y, 1_200);
  assert.equal(await page.evaluateInPage('scrollY'), 1_200);
  assert.match(downScrollResult.changes, /- Row 4\d/);
  assert.equal(downScrollResult.changed, true);
  const top = await page.callOrThrow('scroll', { direction: 'top' });
  assert.equal(top.position.y, 0);
  const scrollUpResult = await page.callOrThrow('scroll', { direction: 'up' });
  assert.deepEqual([scrollUpResult.changed, scrollUpResult.notes.join()], [false, 'The area is already at its top.']);
  const areaScrollResult = await page.callOrThrow('scroll', {
    target: (await page.callOrThrow('find', { selector: '#area' })).matches[0].ref,
    direction: 'down',
    amount: 150,
  });
  assert.equal(areaScrollResult.position.y, 150);
  assert.equal(await page.evaluateInPage('area.scrollTop'), 150);
  await page.callOrThrow('scroll', { target: await page.findRef('End') });
  assert.equal(
    await page.evaluateInPage('area.scrollTop > 700 && area.getBoundingClientRect().bottom <= innerHeight'),
    true,
  );
});

test('files go into fields, through labels and buttons, and onto drop zones', async () => {
  const page =
    await lab.openPage(`<label>One <input type=file id=one accept=".txt"></label><label>Many <input type=file id=many multiple hidden></label>
    <div id=zone tabindex=0>Drop here</div><div id=no tabindex=0>Nothing</div><p id=out></p><script>
    const show = async (files) => { out.textContent = (await Promise.all([...files].map(async (f) => f.name + '=' + f.type + '=' + await f.text()))).join(); };
    one.onchange = () => show(one.files); many.onchange = () => show(many.files);
    zone.ondragover = (e) => e.preventDefault(); zone.ondrop = (e) => { e.preventDefault(); show(e.dataTransfer.files); };</script>`);
  const files = [{ name: 'a.txt', type: 'text/plain', base64: Buffer.from('Añ').toString('base64') }];
  const two = [...files, { name: 'b.csv', type: 'text/csv', base64: Buffer.from('1,2').toString('base64') }];
  const field = await page.callOrThrow('upload', { target: await page.findRef('"One"'), files });
  assert.deepEqual([field.by, field.files], ['field', [{ name: 'a.txt', bytes: 3 }]]);
  assert.match(field.changes, /a\.txt=text\/plain=Añ/);
  const multipleUploadResult = await page.callOrThrow('upload', { target: await page.findRef('Many'), files: two });
  assert.match(multipleUploadResult.changes, /a\.txt=text\/plain=Añ,b\.csv=text\/csv=1,2/);
  const dropResult = await page.callOrThrow('upload', { target: await page.findRef('Drop here'), files: two });
  assert.equal(dropResult.by, 'drop');
  assert.equal(
    (await page.callOperation('upload', { target: await page.findRef('Nothing'), files })).error?.code,
    'rejected',
  );
  assert.match((await page.callOperation('upload', { files })).error?.message ?? '', /2 file fields/);
  assert.match(
    (await page.callOperation('upload', { target: await page.findRef('"One"'), files: two })).error?.message ?? '',
    /takes one file/,
  );
  const rejectedTypeResult = await page.callOrThrow('upload', {
    target: await page.findRef('"One"'),
    files: [{ name: 'c.png', type: 'image/png', base64: '' }],
  });
  assert.match(rejectedTypeResult.notes.join(), /does not accept the type of c\.png/);
});

test('waits end when texts, elements and addresses appear or disappear', async () => {
  const page = await lab.openPage(`<p id=a>Loading</p><button id=b disabled>Go</button><x-late></x-late>`);
  const runInPageLater = (code: string, ms = 400) => page.evaluateInPage(`setTimeout(() => { ${code} }, ${ms}), 0`);
  await runInPageLater(`a.innerHTML = 'All <b>done</b>!'`);
  const text = await page.callOrThrow('waitFor', { text: 'all done!' });
  assert.match(text.message, /^text "all done!"$/);
  assert.match(text.line, /All done!/);
  await runInPageLater('a.remove()');
  assert.match((await page.callOrThrow('waitFor', { textGone: 'done' })).message, /no text "done"/);
  await runInPageLater('b.disabled = false');
  assert.match(
    (await page.callOrThrow('waitFor', { selector: '#b', state: 'enabled' })).line,
    /button "Go" \[ref=e\d+\]/,
  );
  await runInPageLater('history.pushState(0, "", "/route/7?x=1")');
  assert.match((await page.callOrThrow('waitFor', { url: '*/route/*x=1' })).message, /address/);
  await runInPageLater(
    `document.querySelector('x-late').attachShadow({mode:'closed'}).innerHTML = '<p>Shadow text</p>'`,
  );
  assert.match((await page.callOrThrow('waitFor', { text: 'shadow text' })).message, /Shadow|shadow/);
  assert.match((await page.callOrThrow('waitFor', { load: 'load' })).message, /^load$/);
  const slowWait = await page.callOperation('waitFor', { text: 'never', timeoutMs: 2_500 });
  assert.match(
    `${slowWait.error?.code} ${slowWait.error?.message}`,
    /^timeout Timed out after [2-4]\.\d s: text "never" not met/,
  );
  assert.ok(slowWait.progress.length >= 1 && slowWait.progress.length <= 4);
  assert.ok((await page.callOrThrow('waitFor', { timeMs: 300 })).waitedMs >= 300);
  assert.equal((await page.callOperation('waitFor', {})).error?.code, 'invalid_arguments');
  const startedWait = await page.startOperation('waitFor', { text: 'never' });
  await startedWait.cancel();
  assert.equal((await startedWait.answer()).error?.code, 'cancelled');
});

test('waits in a background tab are not throttled to one per second', async () => {
  const page = await lab.openPage('<p>Text</p>');
  let totalWaitMs = 0;
  for (let waitIndex = 0; waitIndex < 8; waitIndex++)
    totalWaitMs += (await page.callOrThrow('waitFor', { timeMs: 250 })).waitedMs;
  assert.ok(
    totalWaitMs >= 2_000 && totalWaitMs < 6_500,
    `eight waits of 250 ms took ${totalWaitMs} ms, want 2,000 to 6,500`,
  );
});

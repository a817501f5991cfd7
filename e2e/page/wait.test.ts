/** Drags, scrolls, uploads and waits of the page script have the effect that their answers report. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type LabPage, type PageLab, startPageLab } from './test/page-lab.ts';

let lab: PageLab;
before(async () => {
  lab = await startPageLab();
});
after(() => lab?.close());

const dragBetween = async (page: LabPage, from: string, to: string) =>
  page.callOperation('drag', { startTarget: await page.findRef(from), endTarget: await page.findRef(to) });

const html5DragPage = `<div id=a draggable=true tabindex=0>Card</div><div id=b tabindex=0 style="width:200px;height:100px">Box</div><div id=c tabindex=0>Closed</div><p id=out></p>
  <script>a.ondragstart = (e) => e.dataTransfer.setData('text/plain', 'card');
    b.ondragover = (e) => e.preventDefault(); b.ondrop = (e) => { e.preventDefault(); out.textContent = 'dropped ' + e.dataTransfer.getData('text/plain'); b.append(a); };
    a.ondragend = (e) => { window.ended = e.dataTransfer.dropEffect; };</script>`;
const pointerDragPage = `<div id=s role=button tabindex=0 aria-label=Thumb style="position:absolute;left:10px;top:100px;width:30px;height:30px;background:red"></div>
  <div role=button tabindex=0 aria-label=Goal style="position:absolute;left:300px;top:100px;width:60px;height:30px"></div><p id=out>0</p>
  <script>s.onpointerdown = (e) => { const start = e.clientX; document.onpointermove = (m) => { s.style.left = 10 + m.clientX - start + 'px'; };
    document.onpointerup = () => { document.onpointermove = null; out.textContent = parseInt(s.style.left) > 250 ? 'moved' : 'short'; }; };</script>`;

test('HTML5 drags and drags by pointer events reach their end', async () => {
  for (const front of [false, true]) {
    const page = await lab.openPage(html5DragPage, { front });
    const closed = await dragBetween(page, '"Card"', '"Closed"');
    assert.match(closed.result.notes.join(), /does not accept a drop/);
    assert.equal(closed.result.changed, false);
    const { result } = await dragBetween(page, '"Card"', '"Box');
    assert.match(result.changes, /dropped card/);
    assert.equal(await page.inPage('typeof ended'), 'string');
    const moving = await lab.openPage(pointerDragPage, { front });
    assert.match((await dragBetween(moving, 'Thumb', 'Goal')).result.changes, /moved/);
  }
});

test('a cancelled drag releases the button', async () => {
  const page = await lab.openPage(
    `${pointerDragPage}<script>addEventListener('pointerup', () => { window.released = true; });</script>`,
  );
  const args = { startTarget: await page.findRef('Thumb'), endTarget: await page.findRef('Goal') };
  const started = await page.startOperation('drag', args, { event: 'pointermove', count: 3 });
  const { error } = await started.answer();
  assert.match(`${error.code} ${error.done}`, /^cancelled dragged \d+ of 12 steps$/);
  assert.equal(await page.inPage('released'), true);
});

test('the page and areas in it are scrolled, and the answer has the position and the new lines', async () => {
  const rows = Array.from({ length: 100 }, (_, i) => `<li style="height:40px">Row ${i}</li>`).join('');
  const page = await lab.openPage(
    `<ul style="margin:0">${rows}</ul><div id=area tabindex=0 aria-label=Log role=log style="height:100px;overflow:auto"><p style="height:900px">log</p><button>End</button></div>`,
  );
  const down = await page.callForResult('scroll', { direction: 'down', amount: 1_200 });
  assert.equal(down.position.y, 1_200);
  assert.equal(await page.inPage('scrollY'), 1_200);
  assert.match(down.changes, /- Row 4\d/);
  assert.equal(down.changed, true);
  const top = await page.callForResult('scroll', { direction: 'top' });
  assert.equal(top.position.y, 0);
  const again = await page.callForResult('scroll', { direction: 'up' });
  assert.deepEqual([again.changed, again.notes.join()], [false, 'The area is already at its top.']);
  const area = await page.callForResult('scroll', {
    target: (await page.callForResult('find', { selector: '#area' })).matches[0].ref,
    direction: 'down',
    amount: 150,
  });
  assert.equal(area.position.y, 150);
  assert.equal(await page.inPage('area.scrollTop'), 150);
  await page.callForResult('scroll', { target: await page.findRef('End') });
  assert.equal(await page.inPage('area.scrollTop > 700 && area.getBoundingClientRect().bottom <= innerHeight'), true);
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
  const field = await page.callForResult('upload', { target: await page.findRef('"One"'), files });
  assert.deepEqual([field.by, field.files], ['field', [{ name: 'a.txt', bytes: 3 }]]);
  assert.match(field.changes, /a\.txt=text\/plain=Añ/);
  const many = await page.callForResult('upload', { target: await page.findRef('Many'), files: two });
  assert.match(many.changes, /a\.txt=text\/plain=Añ,b\.csv=text\/csv=1,2/);
  const dropped = await page.callForResult('upload', { target: await page.findRef('Drop here'), files: two });
  assert.equal(dropped.by, 'drop');
  assert.equal(
    (await page.callOperation('upload', { target: await page.findRef('Nothing'), files })).error?.code,
    'rejected',
  );
  assert.match((await page.callOperation('upload', { files })).error?.message ?? '', /2 file fields/);
  assert.match(
    (await page.callOperation('upload', { target: await page.findRef('"One"'), files: two })).error?.message ?? '',
    /takes one file/,
  );
  const wrong = await page.callForResult('upload', {
    target: await page.findRef('"One"'),
    files: [{ name: 'c.png', type: 'image/png', base64: '' }],
  });
  assert.match(wrong.notes.join(), /does not accept the type of c\.png/);
});

test('waits end when text, elements and addresses come and go', async () => {
  const page = await lab.openPage(`<p id=a>Loading</p><button id=b disabled>Go</button><x-late></x-late>`);
  const later = (code: string, ms = 400) => page.inPage(`setTimeout(() => { ${code} }, ${ms}), 0`);
  await later(`a.innerHTML = 'All <b>done</b>!'`);
  const text = await page.callForResult('waitFor', { text: 'all done!' });
  assert.match(text.message, /^text "all done!"$/);
  assert.match(text.line, /All done!/);
  await later('a.remove()');
  assert.match((await page.callForResult('waitFor', { textGone: 'done' })).message, /no text "done"/);
  await later('b.disabled = false');
  assert.match(
    (await page.callForResult('waitFor', { selector: '#b', state: 'enabled' })).line,
    /button "Go" \[ref=e\d+\]/,
  );
  await later('history.pushState(0, "", "/route/7?x=1")');
  assert.match((await page.callForResult('waitFor', { url: '*/route/*x=1' })).message, /address/);
  await later(`document.querySelector('x-late').attachShadow({mode:'closed'}).innerHTML = '<p>Shadow text</p>'`);
  assert.match((await page.callForResult('waitFor', { text: 'shadow text' })).message, /Shadow|shadow/);
  assert.match((await page.callForResult('waitFor', { load: 'load' })).message, /^load$/);
  const slow = await page.callOperation('waitFor', { text: 'never', timeoutMs: 2_500 });
  assert.match(
    `${slow.error?.code} ${slow.error?.message}`,
    /^timeout Timed out after [2-4]\.\d s: text "never" not met/,
  );
  assert.ok(slow.progress.length >= 1 && slow.progress.length <= 4);
  assert.ok((await page.callForResult('waitFor', { timeMs: 300 })).afterMs >= 300);
  assert.equal((await page.callOperation('waitFor', {})).error?.code, 'invalid_arguments');
  const started = await page.startOperation('waitFor', { text: 'never' });
  await started.cancel();
  assert.equal((await started.answer()).error?.code, 'cancelled');
});

test('waits in a background tab are not throttled to one per second', async () => {
  const page = await lab.openPage('<p>Text</p>');
  let sumMs = 0;
  for (let waits = 0; waits < 8; waits++) sumMs += (await page.callForResult('waitFor', { timeMs: 250 })).afterMs;
  assert.ok(sumMs >= 2_000 && sumMs < 6_500, `eight waits of 250 ms took ${sumMs} ms, want 2,000 to 6,500`);
});

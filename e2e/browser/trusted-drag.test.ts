/**
 * With the debugger, an agent drags elements as a user does, with pointer events or HTML drag and drop, within
 * frames and between frames.
 */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type AgentFixture, parseRef, startAgentFixture } from './agent-fixture.ts';

let fixture: AgentFixture;

before(async () => {
  fixture = await startAgentFixture({ installFlags: ['--debugger'] });
  await fixture.stack.runCli('browser', 'site', fixture.other, 'auto');
});
after(() => fixture?.close());

async function openPage(path: string, body: string): Promise<string> {
  fixture.setPage(path, `<title>${path}</title><script>window.log = []</script>${body}`);
  await fixture.open(path);
  return await fixture.takeSnapshot();
}

async function evaluateInShop(path: string, expression: string): Promise<unknown> {
  return await (await fixture.findPage(`${fixture.shop}${path}`)).evaluate(expression);
}

const dropPage = `<script>window.log = window.log ?? []</script><div id="item" draggable="true" role="button" aria-label="Item" style="width:80px;height:30px;background:red">Item</div>
  <div id="zone" role="button" aria-label="Zone" style="width:200px;height:80px;margin-top:40px;background:blue">Zone</div>
  <script>
    item.ondragstart = (e) => { e.dataTransfer.setData('text/plain', 'the item'); log.push('start ' + e.isTrusted) };
    item.ondragend = (e) => log.push('end ' + e.dataTransfer.dropEffect);
    zone.ondragover = (e) => { e.preventDefault(); e.dataTransfer.dropEffect = 'copy' };
    zone.ondragenter = () => log.push('enter');
    zone.ondrop = (e) => { e.preventDefault(); log.push('drop ' + e.isTrusted + ' ' + e.dataTransfer.getData('text/plain')); zone.textContent = 'Dropped' };
  </script>`;

test('an HTML drag drops an element with its data, several times', async () => {
  const { callTool } = fixture;
  const snapshot = await openPage('/html5', `<div style="height:900px"></div>${dropPage}`);
  const [startTarget, endTarget] = [parseRef(snapshot, '"Item"'), parseRef(snapshot, '"Zone"')];
  for (let i = 0; i < 2; i++) {
    assert.match(await callTool('browser_drag', { startTarget, endTarget }), /input: trusted\./);
    const [startRef, ...otherRefs] = await fixture
      .findPage(`${fixture.shop}/html5`)
      .then((page) => page.evaluate<string[]>('log.splice(0)'));
    assert.equal(startRef, 'start true');
    assert.ok(otherRefs.includes('drop true the item'), otherRefs.join());
    assert.equal(otherRefs.filter((logEntry) => logEntry === 'enter').length, 1, otherRefs.join());
  }
  await callTool('browser_click', { target: endTarget });
});

test('an HTML drag reaches an element that does not fit into the view together with the dragged element', async () => {
  const snapshot = await openPage('/far', dropPage.replace('</div>', '</div><div style="height:1500px"></div>'));
  const [startTarget, endTarget] = [parseRef(snapshot, '"Item"'), parseRef(snapshot, '"Zone"')];
  await fixture.callTool('browser_drag', { startTarget, endTarget });
  const log = await fixture.findPage(`${fixture.shop}/far`).then((page) => page.evaluate<string[]>('log'));
  assert.ok(log.includes('drop true the item'), log.join());
});

test('sliders and sortable lists follow the pointer of a drag', async () => {
  const { callTool } = fixture;
  const snapshot = await openPage(
    '/pointer',
    `<div id="track" style="position:relative;width:300px;height:20px;background:gray"><div id="thumb" role="button" aria-label="Thumb" style="position:absolute;left:0;width:20px;height:20px;background:red"></div></div>
     <div role="button" aria-label="Right" style="position:absolute;left:250px;top:100px;width:20px;height:20px">R</div>
     <ul id="list" style="margin-top:150px;user-select:none"><li>One<li>Two<li>Three</ul>
     <script>
       thumb.onpointerdown = (down) => { if (!down.isTrusted) return; thumb.setPointerCapture(down.pointerId); thumb.onpointermove = (e) => { thumb.style.left = e.clientX - 18 + 'px'; log.push('move') } };
       thumb.onpointerup = () => { thumb.onpointermove = null };
       let dragged; for (const item of list.children) { item.role = 'button'; item.onmousedown = (e) => { if (e.isTrusted) dragged = item } }
       onmousemove = (e) => { if (!dragged || !(e.buttons & 1)) return; const over = document.elementFromPoint(e.clientX, e.clientY)?.closest('li');
         if (over && over !== dragged) list.insertBefore(dragged, over.compareDocumentPosition(dragged) & 2 ? over.nextSibling : over) };
       onmouseup = () => { dragged = undefined };
     </script>`,
  );
  await callTool('browser_drag', {
    startTarget: parseRef(snapshot, '"Thumb"'),
    endTarget: parseRef(snapshot, '"Right"'),
  });
  assert.deepEqual(await evaluateInShop('/pointer', '[parseInt(thumb.style.left) > 200, log.length > 5]'), [
    true,
    true,
  ]);
  await callTool('browser_drag', {
    startTarget: parseRef(snapshot, '"One"'),
    endTarget: parseRef(snapshot, '"Three"'),
  });
  assert.equal(await evaluateInShop('/pointer', 'list.lastElementChild.textContent'), 'One');
});

test('drags work in a cross-site frame, and between frames', async () => {
  const { callTool, setPage, other: otherOrigin, shop: shopOrigin } = fixture;
  setPage('/part', dropPage);
  const snapshot = await openPage(
    '/framed',
    `${dropPage}<iframe src="${otherOrigin}/part" style="width:320px;height:240px"></iframe>`,
  );
  const [outerItem = '', innerItem = ''] = snapshot.split('\n').filter((line) => line.includes('"Item"'));
  const [outerZone = '', innerZone = ''] = snapshot.split('\n').filter((line) => line.includes('"Zone"'));
  const page = await fixture.findPage(`${shopOrigin}/framed`);
  const frame = page.frames().find((pageFrame) => pageFrame.url() === `${otherOrigin}/part`);
  const dragElement = async (sourceName: string, to: string) =>
    await callTool('browser_drag', { startTarget: parseRef(sourceName, 'Item'), endTarget: parseRef(to, 'Zone') });
  const logs = async () => [await page.evaluate('log.splice(0)'), await frame?.evaluate('log.splice(0)')];
  assert.match(await dragElement(innerItem, innerZone), /input: trusted\./);
  assert.match(String((await logs())[1]), /^start true,enter,drop true the item/);
  assert.match(await dragElement(innerItem, outerZone), /input: trusted\./);
  assert.match(String((await logs())[0]), /drop true the item/);
  assert.match(await dragElement(outerItem, innerZone), /input: trusted\./);
  assert.match(String((await logs())[1]), /drop true the item/);
  await callTool('browser_click', { target: parseRef(outerZone, 'Zone') });
});

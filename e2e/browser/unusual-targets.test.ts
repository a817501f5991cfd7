/** Every element that a user can click or drag has a ref, even without an ARIA role or a layout box. */
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

test('javascript: links run in the page, unless the page prevents the click', async () => {
  const { callTool, client } = fixture;
  const snapshot = await openPage(
    '/script-links',
    `<a href="javascript:void(log.push('ran'))">Post back</a><a href="javascript:log.push('never')" onclick="return false">Prevented</a>
     <a href="javascript:void(document.querySelector('p').textContent='shown')">Show</a><p>hidden</p>
     <a target="_blank" href="/tab" onclick="log.push('stays'); return false">Stays</a>`,
  );
  await callTool('browser_click', { target: parseRef(snapshot, '"Post back"') });
  await callTool('browser_click', { target: parseRef(snapshot, '"Prevented"') });
  assert.match(await callTool('browser_click', { target: parseRef(snapshot, '"Show"') }), /~ .*shown/);
  assert.deepEqual(await evaluateInShop('/script-links', 'log'), ['ran']);
  const { text: clickText } = await client.call('browser_click', { target: parseRef(snapshot, '"Stays"') });
  assert.doesNotMatch(clickText, /opened tab/, 'a link whose click the page prevents must open no tab');
  assert.deepEqual(await evaluateInShop('/script-links', 'log'), ['ran', 'stays']);
});

test('a javascript: link that returns a text replaces the page, and the answer shows the new page', async () => {
  const { callTool } = fixture;
  const snapshot = await openPage(
    '/script-text',
    `<a href="javascript:'<h1>Result</h1><button>Next</button>'">Show the result</a>`,
  );
  const clickOutcome = await callTool('browser_click', { target: parseRef(snapshot, '"Show the result"') });
  assert.match(clickOutcome, /A script replaced the content of the page\. Earlier refs are void\..*heading "Result"/s);
  await callTool('browser_click', { target: parseRef(clickOutcome, '"Next"') });
});

test('an action without an effect in a background tab notes that Chrome dismisses dialogs there', async () => {
  const { callTool } = fixture;
  const snapshot = await openPage(
    '/dismissed',
    `<button onclick="alert('Saved'); log.push(confirm('Sure?'))">Save</button>`,
  );
  const clickOutcome = await callTool('browser_click', { target: parseRef(snapshot, '"Save"') });
  assert.match(clickOutcome, /changed: nothing\..*Chrome dismisses dialogs of a background tab/);
  assert.deepEqual(await evaluateInShop('/dismissed', 'log'), [false]);
});

test('clicks work on image map areas, links without a size, shapes and anchors without an address', async () => {
  const { callTool } = fixture;
  const pictureUrl = `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='200' height='100'/%3E`;
  const snapshot = await openPage(
    '/shapes',
    `<img usemap="#m" src="${pictureUrl}" width="200" height="100" alt="Map"><map name="m">
     <area shape="rect" coords="0,0,100,100" href="#w" alt="West" onclick="log.push('west')">
     <area shape="circle" coords="150,50,40" href="#e" alt="East" onclick="log.push('east')"></map>
     <a href="#f" aria-label="Floating" onclick="log.push('floating')"><span style="position:absolute;top:200px;width:40px;height:40px;background:red"></span></a>
     <svg id="drawing" width="150" height="100"><rect x="5" y="5" width="20" height="20" fill="red"></rect><circle cx="80" cy="50" r="30" fill="red"></circle><text x="120" y="50">7</text></svg>
     <a id="next" title="Next month">»</a>
     <script>for (const shape of drawing.children) shape.addEventListener('click', () => log.push(shape.localName));
       next.addEventListener('click', () => log.push('next'))</script>`,
  );
  for (const name of ['"East"', '"West"', '"Floating"', 'circle [fill=red] [60x60', '[fill=red] [20x20', '7', '»'])
    await callTool('browser_click', { target: parseRef(snapshot, name) });
  const log = ['east', 'west', 'floating', 'circle', 'rect', 'text', 'next'];
  assert.deepEqual(await evaluateInShop('/shapes', 'log'), log);
});

test('draggable and focusable elements have refs, and the pointer moves inside of an entered element', async () => {
  const { callTool } = fixture;
  const snapshot = await openPage(
    '/refs',
    `<div id="source" draggable="true" style="width:90px">Card</div><div id="zone" role="button" tabindex="0" style="height:60px">Zone</div>
     <div role="application" tabindex="0" aria-label="Game" id="game"></div>
     <div id="item" role="menuitem" tabindex="-1" style="width:100px">More</div><div id="sub" hidden>Submenu</div>
     <script>source.ondragstart = (event) => event.dataTransfer.setData('text/plain', 'card');
       zone.ondragover = (event) => event.preventDefault();
       zone.ondrop = (event) => log.push(event.dataTransfer.getData('text/plain'));
       game.onkeydown = (event) => log.push(event.key);
       // Like a jQuery UI menu, the item opens its submenu only if the pointer moves inside of the item.
       let last; item.onmousemove = (event) => { if (last !== undefined && last !== event.clientX) sub.hidden = false; last = event.clientX };
       item.onmouseenter = (event) => { last = event.clientX }</script>`,
  );
  await callTool('browser_drag', { startTarget: parseRef(snapshot, 'Card'), endTarget: parseRef(snapshot, '"Zone"') });
  await callTool('browser_press_key', { target: parseRef(snapshot, '"Game"'), key: 'ArrowLeft' });
  assert.deepEqual(await evaluateInShop('/refs', 'log'), ['card', 'ArrowLeft']);
  assert.match(await callTool('browser_hover', { target: parseRef(snapshot, '"More"') }), /\+ .*Submenu/);
});

test('a click result contains a change that follows a server response after 0.7 s', async () => {
  const { callTool } = fixture;
  const snapshot = await openPage(
    '/late-answer',
    `<button onclick="setTimeout(() => { answer.textContent = 'Saved' }, 700)">Save</button><p id="answer"></p>`,
  );
  assert.match(await callTool('browser_click', { target: parseRef(snapshot, '"Save"') }), /\+ .*Saved/);
});

test('a snapshot contains grid cells with their texts, and buttons that must be scrolled into view from the left or top', async () => {
  const { callTool } = fixture;
  const snapshot = await openPage(
    '/grid',
    `<div role="grid" aria-label="May"><div role="row"><div role="gridcell" tabindex="0">11</div>
       <div role="gridcell" tabindex="-1" aria-label="May 12" onclick="log.push('12')">12</div></div></div>
     <div dir="rtl" style="width:300px; overflow:auto"><div style="width:1500px"><button style="margin-right:1400px" onclick="log.push('left')">Left</button></div></div>
     <div style="height:100px; overflow:auto; display:flex; flex-direction:column-reverse"><div style="flex:none; height:1500px"><button onclick="log.push('old')">Old</button></div></div>`,
  );
  assert.match(snapshot, /row 11 \[ref=\w+\] \| May 12 \[ref=\w+\]/);
  const day = /May 12 \[ref=(\w+)\]/.exec(snapshot)?.[1];
  for (const target of [day, parseRef(snapshot, '"Left"'), parseRef(snapshot, '"Old"')])
    await callTool('browser_click', { target });
  assert.deepEqual(await evaluateInShop('/grid', 'log'), ['12', 'left', 'old']);
});

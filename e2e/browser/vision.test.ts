/**
 * With the debugger, an agent can click and drag at the coordinates of a screenshot, and save pages as PDF
 * files.
 */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { waitFor } from '../harness/wait.ts';
import { type AgentFixture, startAgentFixture } from './agent-fixture.ts';

let agent: AgentFixture;

const coordinatesPage = `<!doctype html><title>Points</title><style>body { margin: 0 } * { position: absolute }</style>
  <button style="left:20px;top:20px;width:100px;height:40px" id="go">Go</button><p id="log" style="top:300px">none</p>
  <div id="knob" style="left:20px;top:100px;width:40px;height:40px;background:red"></div>
  <div id="list" style="left:300px;top:100px;width:100px;height:100px;overflow:scroll"><p style="height:3000px">rows</p></div>
  <script>
    const add = (text) => { log.textContent += ' ' + text; };
    go.onclick = (e) => add('click' + e.detail + e.isTrusted + e.clientX + ',' + e.clientY);
    go.oncontextmenu = (e) => add('menu' + e.button);
    go.onmousemove = () => add('over');
    let down = null;
    knob.onmousedown = (e) => { down = e.clientX; };
    onmousemove = (e) => { if (down !== null) knob.style.left = 20 + e.clientX - down + 'px'; };
    onmouseup = () => { down = null; };
  </script>`;

before(async () => {
  agent = await startAgentFixture({ installFlags: ['--debugger'] });
  agent.setPage('/points', coordinatesPage);
});
after(() => agent?.close());

test('the tools of a group are off until the user turns the group on', async () => {
  assert.match(
    (await agent.callExpectingFailure('browser_mouse_click_xy', { x: 1, y: 1 })).text,
    /is off until the user switches it on/,
  );
  for (const name of ['vision', 'browser'])
    assert.equal((await agent.stack.runCli('browser', 'tools', 'on', name)).code, 0);
});

test('clicks, moves, drags and wheel turns reach the element at the point, in a background tab', async () => {
  await agent.open('/points');
  const page = await agent.findPage(`${agent.shop}/points`);
  const log = () => page.evaluate(() => document.getElementById('log')?.textContent ?? '');
  const clickOutcome = await agent.callTool('browser_mouse_click_xy', { x: 30, y: 35 });
  assert.match(clickOutcome, /^Clicked 30, 35\. input: trusted\.\n.*\nhit: button "Go"/);
  assert.match(await log(), /over.* click1true30,35/);
  await agent.callTool('browser_mouse_click_xy', { x: 30, y: 35, button: 'right', snapshot: 'none' });
  assert.match(await log(), /menu2/);
  await agent.callTool('browser_mouse_click_xy', { x: 30, y: 35, clickCount: 2 });
  assert.match(await log(), /click1.*click2/);
  assert.match(
    await agent.callTool('browser_mouse_move_xy', { x: 40, y: 40 }),
    /^Moved the pointer to 40, 40\. input: trusted\./,
  );
  await agent.callTool('browser_mouse_drag_xy', { startX: 30, startY: 110, endX: 180, endY: 110 });
  assert.equal(await page.evaluate(() => document.getElementById('knob')?.style.left), '170px');
  const wheelOutcome = await agent.callTool('browser_mouse_wheel', { x: 350, y: 150, deltaY: 200 });
  assert.match(wheelOutcome, /Only the scroll position/);
  await waitFor('the list to scroll', () =>
    page.evaluate(() => (document.getElementById('list')?.scrollTop ?? 0) > 100),
  );
  assert.match(
    (await agent.callExpectingFailure('browser_mouse_click_xy', { x: 9000, y: 10 })).text,
    /outside of the visible part/,
  );
  assert.match(
    (await agent.callExpectingFailure('browser_mouse_wheel', { x: 10, y: 10 })).text,
    /needs deltaX or deltaY/,
  );
});

test('a click at a point reaches a frame, but never a frame on a site that is off', async () => {
  const button = `<style>body { margin: 0 }</style><button style="width:90px;height:40px"
    onclick="this.textContent = 'hit by ' + event.isTrusted">Inside</button>`;
  agent.setPage('/inner', button);
  agent.setPage(
    '/outer',
    `<title>Outer</title><style>body { margin: 0 } iframe { position: absolute; border: 5px solid; width: 200px; height: 100px }</style>
    <iframe src="${agent.other}/inner" style="left: 0; top: 0"></iframe><iframe src="${agent.bank}/inner" style="left: 0; top: 200px"></iframe>`,
  );
  await agent.open('/outer');
  const page = await agent.findPage(`${agent.shop}/outer`);
  const readButtonText = async (site: string) => {
    const frame = await waitFor('the frame', () => page.frames().find((pageFrame) => pageFrame.url().startsWith(site)));
    return await frame.evaluate(() => document.querySelector('button')?.textContent);
  };
  assert.match(await agent.callTool('browser_mouse_click_xy', { x: 40, y: 25 }), /Inside|hit by true/);
  await waitFor('the click in the frame', async () => (await readButtonText(agent.other)) === 'hit by true');
  for (const [tool, args] of [
    ['browser_mouse_click_xy', { x: 40, y: 225 }],
    ['browser_mouse_drag_xy', { startX: 300, startY: 20, endX: 40, endY: 225 }],
    ['browser_mouse_wheel', { x: 40, y: 225, deltaY: 10 }],
  ] as const)
    assert.match((await agent.callExpectingFailure(tool, args)).text, /in a frame that tools may not use/, tool);
  assert.equal(await readButtonText(agent.bank), 'Inside');
});

test('actions at coordinates need an approval for the site', async () => {
  await agent.stack.runCli('browser', 'site', agent.shop, 'read');
  assert.match((await agent.callExpectingFailure('browser_mouse_click_xy', { x: 30, y: 30 })).text, /but not to act/);
  await agent.stack.runCli('browser', 'site', agent.shop, 'auto');
});

test('browser_pdf_save saves a page, and the client can read the file', async () => {
  await agent.open('/points');
  const outputText = await agent.callTool('browser_pdf_save', { landscape: true });
  const resourceUri = /file: (opentabs:\/\/files\/\w+), "shop\.localhost-[\d-]+\.pdf"/.exec(outputText)?.[1];
  assert.ok(resourceUri, outputText);
  const { contents: resourceContents } = await agent.client.sdk.readResource({ uri: resourceUri });
  const [content] = resourceContents;
  const blob = content && 'blob' in content ? String(content.blob) : '';
  assert.equal(Buffer.from(blob, 'base64').subarray(0, 5).toString(), '%PDF-');
  assert.equal(content?.mimeType, 'application/pdf');
});

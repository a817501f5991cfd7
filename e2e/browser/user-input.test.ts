/**
 * With the debugger, opentabs does not mistake an agent's input for user input. A click or a key press by the user
 * cancels the running action.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { Page } from 'playwright-core';
import { waitFor } from '../harness/wait.ts';
import { type AgentFixture, listSteps, parseRef, startAgentFixture } from './agent-fixture.ts';

let fixture: AgentFixture;
let page: Page;
let tabId = 0;
let snapshot = '';

const longText = 'abcdefghij'.repeat(60);

const workPage = `<title>Work</title><h1>Work</h1><input aria-label="Text" id="text"><input aria-label="Other" id="other">
  <button onclick="count.textContent++">Add</button><p id="count">0</p>
  <div role="button" aria-label="Handle" id="handle" style="width:60px;height:30px;background:gray">H</div>
  <div role="button" aria-label="Card" id="card" draggable="true" style="width:60px;height:30px;background:blue">C</div>
  <div role="button" aria-label="Place" id="place" style="margin-left:300px;width:200px;height:60px;background:silver">P</div>
  <iframe src="OTHER/inner" style="width:300px;height:80px"></iframe>
  <script>
    window.log = [];
    const types = ['pointerdown', 'pointerup', 'mouseup', 'keydown', 'keyup', 'dragstart', 'drop', 'dragend'];
    for (const type of types) addEventListener(type, (event) => log.push(type + ' ' + (event.key ?? event.target.id)), true);
    document.addEventListener('click', (event) => log.push('click ' + event.target.id));
    place.addEventListener('dragover', (event) => event.preventDefault());
    window.isSlow = false;
    const slowDown = () => { for (const end = performance.now() + 250; isSlow && performance.now() < end; ); };
    for (const type of ['pointermove', 'dragover']) addEventListener(type, slowDown);
  </script>`;

before(async () => {
  fixture = await startAgentFixture({ installFlags: ['--debugger'] });
  await fixture.stack.runCli('browser', 'site', fixture.other, 'auto');
  fixture.setPage('/inner', '<title>Inner</title><button onclick="this.textContent += 1">Inner</button>');
  fixture.setPage('/work', workPage.replace('OTHER', fixture.other));
});
beforeEach(async () => {
  for (const oldPage of fixture.stack.chrome.context.pages())
    if (oldPage.url().startsWith(fixture.shop)) await oldPage.close();
  tabId = await fixture.open('/work');
  page = await fixture.findPage(`${fixture.shop}/work`);
  snapshot = await fixture.takeSnapshot();
});
after(() => fixture?.close());

const findRef = (elementName: string) => parseRef(snapshot, elementName);
const waitForLog = (logLine: string) =>
  waitFor(`the page to record ${logLine}`, async () =>
    (await page.evaluate<string[]>('log')).some((line) => line.startsWith(logLine)),
  );

async function isTabControlledByUser(): Promise<boolean> {
  const { browsers = [] } = await fixture.stack.readStatus();
  return browsers.some(({ held_tabs = [] }) => held_tabs.some((heldTab) => heldTab.tab_id === tabId && heldTab.taken));
}

async function assertUserControlsTab(): Promise<void> {
  const addRef = findRef('"Add"');
  const clickCountBefore = Number(await page.textContent('#count'));
  const { code, text: failureText } = await fixture.callExpectingFailure('browser_click', { target: addRef });
  assert.equal(code, 'tab_taken', failureText);
  await fixture.callTool('browser_snapshot');
  await fixture.callTool('browser_click', { target: addRef });
  assert.equal(
    Number(await page.textContent('#count')),
    clickCountBefore + 1,
    'the page must receive exactly one more click',
  );
}

test('trusted input of the agent does not take the tab back', async () => {
  const { callTool } = fixture;
  for (const [tool, args] of listSteps([
    ['browser_click', { target: findRef('"Add"') }],
    ['browser_click', { target: findRef('"Add"'), doubleClick: true }],
    ['browser_click', { target: findRef('"Add"'), button: 'right' }],
    ['browser_click', { target: findRef('"Inner"') }],
    ['browser_type', { target: findRef('"Text"'), text: 'Tea & Milk, 2 L', slowly: true, submit: true }],
    ['browser_press_key', { target: findRef('"Text"'), key: 'Control+a' }],
    ['browser_press_key', { key: 'Tab' }],
    ['browser_fill_form', { fields: [{ target: findRef('"Text"'), value: 'Rice' }] }],
    ['browser_hover', { target: findRef('"Add"') }],
    ['browser_drag', { startTarget: findRef('"Handle"'), endTarget: findRef('"Place"') }],
    ['browser_drag', { startTarget: findRef('"Card"'), endTarget: findRef('"Place"') }],
  ])) {
    const failureText = await callTool(tool, args);
    assert.doesNotMatch(failureText, /The user clicked or typed/, `${tool} ${JSON.stringify(args)}`);
    if (tool !== 'browser_fill_form') assert.match(failureText, /input: trusted/, `${tool} ${JSON.stringify(args)}`);
  }
  assert.equal(await isTabControlledByUser(), false);
});

for (const [kind, makeUserInput] of [
  ['click', () => page.click('#other')],
  ['key', () => page.keyboard.press('F2')],
] as const) {
  test(`a ${kind} of the user cancels the agent's typing`, async () => {
    const typingCall = fixture.client.call('browser_type', { target: findRef('"Text"'), text: longText, slowly: true });
    await waitFor('the first characters', async () => (await page.inputValue('#text')).length > 5);
    await makeUserInput();
    const { code, text: failureText, durationMs } = await typingCall;
    assert.equal(code, 'tab_taken', failureText);
    assert.match(
      failureText,
      /the user took tab \d+ back by a click or a key while the tool ran\. Before that: typed \d+ of 600/,
    );
    assert.ok(durationMs < 20_000, `the typing took ${durationMs} ms, want less than 20,000`);
    const inputValue = await page.inputValue('#text');
    assert.ok(inputValue.length < 550, `the agent typed ${inputValue.length} characters, want fewer than 550`);
    assert.equal(await page.inputValue('#other'), '', "the user's field must contain no character from the agent");
    await assertUserControlsTab();
    assert.equal(await page.inputValue('#text'), inputValue, 'no character must arrive after the end of the call');
  });
}

test('a key press of the user cancels a drag, and the page receives the button release', async () => {
  await page.evaluate('isSlow = true');
  const draggingCall = fixture.client.call('browser_drag', {
    startTarget: findRef('"Handle"'),
    endTarget: findRef('"Place"'),
  });
  await waitForLog('pointerdown handle');
  await page.keyboard.press('Escape');
  const { code, text: failureText } = await draggingCall;
  assert.equal(code, 'tab_taken', failureText);
  await waitForLog('pointerup');
  await page.evaluate('isSlow = false');
  await assertUserControlsTab();
});

for (const [name, target, dragEndEvent] of [
  ['a drag of the pointer', 'Handle', 'pointerup'],
  ['a drag of HTML5', 'Card', 'dragend'],
] as const) {
  test(`cancelling ${name} releases the button without a drop`, async () => {
    await page.evaluate('isSlow = true');
    const controller = new AbortController();
    const args = { startTarget: findRef(`"${target}"`), endTarget: findRef('"Place"') };
    const draggingCall = fixture.client.call('browser_drag', args, { signal: controller.signal });
    await waitForLog(target === 'Card' ? 'dragstart' : 'pointerdown handle');
    controller.abort();
    await assert.rejects(draggingCall);
    await waitForLog(dragEndEvent);
    await page.evaluate('isSlow = false');
    const log = await page.evaluate<string[]>('log');
    assert.deepEqual(
      log.filter((line) => /^(drop|click|pointerup place)/.test(line)),
      [],
    );
    await fixture.callTool('browser_click', { target: findRef('"Add"') });
    assert.equal(await page.textContent('#count'), '1');
  });
}

test('cancelling typing releases all keys', async () => {
  const controller = new AbortController();
  const args = { target: findRef('"Text"'), text: longText.toUpperCase(), slowly: true };
  const typingCall = fixture.client.call('browser_type', args, { signal: controller.signal });
  await waitFor('the first characters', async () => (await page.inputValue('#text')).length > 5);
  controller.abort();
  await assert.rejects(typingCall);
  const pressedKeys = () =>
    page.evaluate<string[]>(`(() => { const down = new Set();
      for (const line of log) { const [type, key] = line.split(' ');
        if (type === 'keydown') down.add(key); if (type === 'keyup') down.delete(key); }
      return [...down] })()`);
  await waitFor('the release of all keys', async () => (await pressedKeys()).length === 0);
  await fixture.callTool('browser_click', { target: findRef('"Add"') });
  const inputValue = await page.inputValue('#text');
  assert.ok(inputValue.length < 550, `the agent typed ${inputValue.length} characters, want fewer than 550`);
  assert.equal(await page.textContent('#count'), '1');
});

test('after user input, a running batch runs no further step', async () => {
  const { client, callTool } = fixture;
  const addStep = { tool: 'browser_click', args: { target: findRef('"Add"') } };
  const typingCall = { tool: 'browser_type', args: { target: findRef('"Text"'), text: longText, slowly: true } };
  const typingBatchCall = client.call('browser_batch', { steps: [typingCall, addStep] });
  await waitFor('the first characters', async () => (await page.inputValue('#text')).length > 5);
  await page.click('#other');
  const firstOutcome = await typingBatchCall;
  assert.equal(firstOutcome.code, 'tab_taken', firstOutcome.text);
  assert.match(firstOutcome.text, /step 1 of 2, browser_type: .*no step after step 1 was run/s);
  assert.equal(await page.textContent('#count'), '0');

  await callTool('browser_snapshot');
  await callTool('browser_click', { target: findRef('"Add"') });
  const waitStep = { tool: 'browser_wait_for', args: { text: 'Ready', timeout: 60 } };
  const waitingCall = client.call('browser_batch', { steps: [waitStep, { tool: 'browser_snapshot' }, addStep] });
  await waitFor('the batch to wait', async () =>
    (await fixture.stack.listCalls()).some(
      (call) => call.tool_name === 'browser_wait_for' && call.status === 'running',
    ),
  );
  await page.click('#other');
  await waitFor('the server to receive the click', isTabControlledByUser);
  await page.evaluate("document.body.append('Ready')");
  const secondOutcome = await waitingCall;
  assert.equal(secondOutcome.code, 'tab_taken', secondOutcome.text);
  assert.match(
    secondOutcome.text,
    /step 3 of 3, browser_click: .* Read the page again.*\nstep 1 of 3, .*\nstep 2 of 3, browser_snapshot: /s,
  );
  assert.equal(await page.textContent('#count'), '1', 'the batch must not click after the user input');
  await callTool('browser_click', { target: findRef('"Add"') }); // the click works, because the batch took a new snapshot
});

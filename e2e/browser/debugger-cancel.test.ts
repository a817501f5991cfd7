/**
 * After the user clicks Cancel in Chrome's debugger bar, actions run without the debugger, and their results contain a
 * note.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { waitFor } from '../harness/wait.ts';
import { type AgentFixture, listSteps, parseRef, startAgentFixture } from './agent-fixture.ts';

let fixture: AgentFixture;

before(async () => {
  fixture = await startAgentFixture({ installFlags: ['--debugger'] });
  const { code, stderr } = await fixture.stack.runCli(
    'browser',
    'tools',
    'on',
    'devtools',
    'network',
    'vision',
    'emulation',
  );
  assert.equal(code, 0, stderr);
});
after(() => fixture?.close());

const page = `<title>Work</title><button onclick="log.textContent += event.isTrusted + ' '">Add</button><p id="log"></p>
  <input aria-label="Text" id="text"><button id="late" disabled onclick="log.textContent += 'late'">Late</button>`;

const cancelledNote =
  /The debugger was not used: the user pressed Cancel in its bar, and can allow it again in the side panel/;

/** cancelDebugger simulates a click on Cancel in Chrome's debugger bar, which a headless browser does not show. */
async function cancelDebugger(tabId: number): Promise<void> {
  const worker = await waitFor('the worker', () => fixture.stack.chrome.context.serviceWorkers()[0]);
  await worker.evaluate(async (id) => {
    await chrome.debugger.detach({ tabId: id });
    const { onDetach } = chrome.debugger;
    const dispatch: unknown = Reflect.get(onDetach, 'dispatch');
    if (typeof dispatch !== 'function') throw new Error('the event onDetach of chrome.debugger has no method dispatch');
    dispatch.call(onDetach, { tabId: id }, 'canceled_by_user');
  }, tabId);
}

async function isAttached(tabId: number): Promise<boolean> {
  const worker = await waitFor('the worker', () => fixture.stack.chrome.context.serviceWorkers()[0]);
  return await worker.evaluate(
    (id) =>
      chrome.debugger.sendCommand({ tabId: id }, 'Page.getLayoutMetrics').then(
        () => true,
        () => false,
      ),
    tabId,
  );
}

async function allowDebugger(): Promise<void> {
  const panel = await fixture.stack.chrome.openPage(
    `chrome-extension://${fixture.stack.chrome.extensionId}/panel.html`,
  );
  await panel.getByRole('button', { name: 'Allow the debugger again' }).click();
  await panel.getByText('You switched the debugger off.').waitFor({ state: 'detached' });
  await panel.close();
}

test('after Cancel in the debugger bar, actions run without the debugger, and other tools refer the user to the side panel', async () => {
  const { setPage, open: openTab, callTool, callExpectingFailure, findPage: getPage, shop: shopOrigin } = fixture;
  setPage('/work', page);
  const tabId = await openTab('/work');
  const snapshot = await callTool('browser_snapshot');
  const [addRef, textFieldRef] = [parseRef(snapshot, '"Add"'), parseRef(snapshot, '"Text"')];
  assert.match(await callTool('browser_click', { target: addRef }), /input: trusted/);
  await cancelDebugger(tabId);
  for (const [tool, args] of listSteps([
    ['browser_click', { target: addRef }],
    ['browser_type', { target: textFieldRef, text: 'Tea', slowly: true }],
    ['browser_press_key', { target: textFieldRef, key: 'a' }],
    ['browser_hover', { target: addRef }],
    ['browser_fill_form', { fields: [{ target: textFieldRef, value: 'Milk' }] }],
  ])) {
    const result = await callTool(tool, args);
    assert.match(result, cancelledNote, tool);
    assert.match(result, /input: synthetic/, tool);
    assert.doesNotMatch(result, /Do not retry/, `${tool} succeeded, so its result must not forbid a retry`);
  }
  const workPage = await getPage(`${shopOrigin}/work`);
  assert.equal(await workPage.textContent('#log'), 'true false ');
  assert.equal(await workPage.inputValue('#text'), 'Milk');
  for (const [tool, args] of listSteps([
    ['browser_console_messages', {}],
    ['browser_network_request', { index: 1 }],
    ['browser_resources', {}],
    ['browser_css_coverage', { action: 'start' }],
    ['browser_performance', { action: 'start' }],
    ['browser_network_conditions', { preset: 'offline' }],
    ['browser_emulate', { locale: 'de-DE' }],
    ['browser_mouse_click_xy', { x: 5, y: 5 }],
    ['browser_take_screenshot', { fullPage: true }],
  ])) {
    const { text: problemText } = await callExpectingFailure(tool, args);
    assert.match(problemText, /code=debugger_refused.*|debugger_refused/, tool);
    assert.match(problemText, /pressed Cancel.*side panel of opentabs/, tool);
  }
  assert.equal(await isAttached(tabId), false);
  const secondTab = await openTab('/work');
  assert.match(await callTool('browser_click', { target: await fixture.findRef('"Add"') }), cancelledNote);
  assert.equal(await isAttached(secondTab), false, 'the debugger must not be attached to other tabs');
  await allowDebugger();
  assert.match(await callTool('browser_click', { target: await fixture.findRef('"Add"') }), /input: trusted/);
});

test('after Cancel during an action that has pressed no button or key, the action continues without the debugger', async () => {
  const { setPage, open: openTab, callTool, client, findPage: getPage, shop: shopOrigin } = fixture;
  setPage('/late', page);
  const tabId = await openTab('/late');
  const latePage = await getPage(`${shopOrigin}/late`);
  const snapshot = await callTool('browser_snapshot');
  const clickingCall = client.call('browser_click', { target: parseRef(snapshot, '"Late"') });
  await waitFor('the debugger', () => isAttached(tabId));
  await cancelDebugger(tabId);
  await latePage.evaluate("document.getElementById('late').disabled = false");
  const clickOutcome = await clickingCall;
  assert.equal(clickOutcome.isError, false, clickOutcome.text);
  assert.match(clickOutcome.text, cancelledNote);
  assert.equal(await latePage.textContent('#log'), 'late');
  await allowDebugger();

  const longText = 'abcdefghij'.repeat(60);
  const typingCall = client.call('browser_type', {
    target: parseRef(snapshot, '"Text"'),
    text: longText,
    slowly: true,
  });
  await waitFor('the first characters', async () => (await latePage.inputValue('#text')).length > 5);
  await cancelDebugger(tabId);
  const typeOutcome = await typingCall;
  assert.equal(typeOutcome.isError, true, typeOutcome.text);
  assert.match(typeOutcome.text, /pressed Cancel.*The tool may have acted/);
  assert.match(await callTool('browser_click', { target: parseRef(snapshot, '"Add"') }), cancelledNote);
  assert.equal(await latePage.textContent('#log'), 'latefalse ');
});

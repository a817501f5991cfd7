/** If Chrome stops the extension's worker during a browser tool, the call continues or fails with a clear error. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { CallOutcome } from '../harness/client.ts';
import { fetchCallRecords } from '../harness/daemon-api.ts';
import { runOrThrow } from '../harness/process.ts';
import { pause, waitFor } from '../harness/wait.ts';
import { parseRef } from './agent-fixture.ts';
import { type FaultBrowserFixture, startFaultBrowserFixture } from './raw-fixture.ts';

const workPage = `<title>Work</title><h1>Work</h1><button onclick="count.textContent++">Add</button><p id="count">0</p>
  <button id="late" disabled onclick="log.push('late')">Late</button><input aria-label="Text" id="text">
  <div role="button" aria-label="Handle" id="handle" style="width:60px;height:30px;background:gray">H</div>
  <div role="button" aria-label="Card" id="card" draggable="true" style="width:60px;height:30px;background:blue">C</div>
  <div role="button" aria-label="Place" id="place" style="margin-left:300px;width:200px;height:60px;background:silver">P</div>
  <input type="file" aria-label="File" id="file" onchange="log.push('file')"><button onclick="confirm('Sure?')">Ask</button>
  <script>
    window.log = [];
    const types = ['pointerdown', 'pointerup', 'dragstart', 'drop', 'dragend', 'click'];
    for (const type of types) addEventListener(type, (event) => log.push(type + ' ' + (event.target.id ?? 'page')), true);
    place.addEventListener('dragover', (event) => event.preventDefault());
    // A synchronous request blocks the page without using CPU time.
    const block = (ms) => { const request = new XMLHttpRequest(); request.open('GET', '/?delay=' + ms, false); request.send(); };
    for (const type of ['pointermove', 'dragover']) addEventListener(type, () => block(200));
    text.addEventListener('input', () => block(10));
  </script>`;

const MaxCallDurationMs = 40_000;

for (const [inputMode, installFlags] of [
  ['without the debugger', []],
  ['with the debugger', ['--debugger']],
] as const) {
  const usesTrustedInput = installFlags.length > 0;
  let fixture: FaultBrowserFixture;
  let snapshot = '';
  let paths = 0;
  let path = '';

  before(async () => {
    fixture = await startFaultBrowserFixture(...installFlags);
    mkdirSync(uploadFolder());
    writeFileSync(join(uploadFolder(), 'a.txt'), 'text');
    const toolGroups = usesTrustedInput
      ? ['network', 'devtools', 'browser_evaluate', 'browser_route']
      : ['browser_evaluate'];
    await runOrThrow(['browser', 'tools', 'on', ...toolGroups], fixture.faultFixture.env);
    await runOrThrow(['browser', 'site', '*', 'read'], fixture.faultFixture.env); // lists tabs only of sites with a rule
  });
  after(() => fixture?.close());

  const uploadFolder = () => join(fixture.faultFixture.homeFolder, 'uploads');

  async function openWorkPage(): Promise<void> {
    path = `/work${++paths}`;
    fixture.setPage(path, workPage);
    await fixture.callTool('browser_tabs', { action: 'new', url: `${fixture.shopOrigin}${path}` });
    snapshot = await fixture.callTool('browser_snapshot');
  }
  const getRef = (elementName: string) => parseRef(snapshot, `"${elementName}"`);
  const evaluateInPage = (expression: string) => fixture.evaluateInPage(path, expression);
  const waitForLog = (logLine: string) =>
    waitFor(`the page to record ${logLine}`, async () => String(await evaluateInPage('log.join()')).includes(logLine));

  const blockPage = (ms: number) =>
    evaluateInPage(`{ const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => block(${ms});
      port2.postMessage(0); 'posted' }`);

  async function waitForToolRun(tool: string): Promise<void> {
    const server = { port: fixture.faultFixture.port, token: fixture.faultFixture.token };
    await waitFor(`${tool} to run`, async () =>
      (await fetchCallRecords(server)).some((call) => call.tool_name === tool && call.status === 'running'),
    );
    await pause(200); // The pause lets the worker receive the call.
  }

  /** An open extension page restarts a stopped worker at once; otherwise, an alarm restarts the worker within 30 s. */
  async function killWorker(limitMs = 25_000): Promise<void> {
    const { faultFixture } = fixture;
    const connectionsBefore = faultFixture.proxy.acceptedConnectionCount;
    const targetId = await waitFor('the worker', () => faultFixture.browser.workerId());
    await faultFixture.browser.cdp.sendCommand('Target.closeTarget', { targetId });
    await waitFor('a new link', () => faultFixture.proxy.acceptedConnectionCount > connectionsBefore, limitMs);
    await faultFixture.waitForBrowser();
  }

  async function interruptByWorkerStop(
    tool: string,
    args: Record<string, unknown>,
    waitForCallStart: () => Promise<unknown> = () => waitForToolRun(tool),
    runWhileStopped: () => Promise<unknown> = async () => undefined,
  ): Promise<CallOutcome> {
    const pendingCall = fixture.client.call(tool, args);
    await waitForCallStart();
    await killWorker();
    const killedMs = performance.now();
    await runWhileStopped();
    const callOutcome = await pendingCall;
    assert.ok(
      performance.now() - killedMs < MaxCallDurationMs,
      `${tool} ended ${performance.now() - killedMs} ms after the stop, want less than ${MaxCallDurationMs} ms`,
    );
    if (callOutcome.isError) assert.match(callOutcome.text, /link_lost|restarted while the tool ran|lost/, tool);
    return callOutcome;
  }

  async function assertClickWorks(): Promise<void> {
    const clickCountBefore = Number(await evaluateInPage('count.textContent'));
    const addRef = parseRef(await fixture.callTool('browser_snapshot'), '"Add"');
    const clickOutcome = await fixture.callTool('browser_click', { target: addRef });
    assert.match(clickOutcome, usesTrustedInput ? /input: trusted/ : /input: synthetic/);
    assert.equal(Number(await evaluateInPage('count.textContent')), clickCountBefore + 1);
  }

  test(`${inputMode}, read-only tools continue after a worker stop`, async () => {
    for (const [tool, args, expectedText] of [
      ['browser_snapshot', {}, /heading "Work"/],
      ['browser_find', { text: 'Add' }, /button "Add"/],
      ['browser_read_page', {}, /# Work/],
      ...(usesTrustedInput ? ([['browser_take_screenshot', {}, /Picture of the visible part/]] as const) : []),
    ] as const) {
      await openWorkPage();
      await blockPage(2500);
      const callOutcome = await interruptByWorkerStop(tool, args);
      assert.equal(callOutcome.isError, false, `${tool}: ${callOutcome.text}`);
      assert.match(callOutcome.text, expectedText);
    }
    await assertClickWorks();
  });

  test(`${inputMode}, a wait continues or ends with link_lost after a worker stop`, async () => {
    await openWorkPage();
    const args = { text: 'Ready', timeout: 30 };
    const callOutcome = await interruptByWorkerStop('browser_wait_for', args, undefined, () =>
      evaluateInPage("document.body.append('Ready')"),
    );
    if (callOutcome.isError) assert.equal(callOutcome.code, 'link_lost', callOutcome.text);
    await assertClickWorks();
  });

  test(`${inputMode}, a worker stop ends a waiting click, which never clicks later`, async () => {
    await openWorkPage();
    const callOutcome = await interruptByWorkerStop('browser_click', { target: getRef('Late') });
    assert.equal(callOutcome.code, 'link_lost', callOutcome.text);
    await evaluateInPage('late.disabled = false');
    await assertClickWorks();
    assert.doesNotMatch(String(await evaluateInPage('log.join()')), /late/);
  });

  for (const [target, dragStartEvent, dragEndEvent] of [
    ['Handle', 'pointerdown handle', 'pointerup'],
    ['Card', 'dragstart card', 'dragend card'],
  ] as const) {
    test(`${inputMode}, a worker stop ends a drag of ${target} without a drop`, async () => {
      await openWorkPage();
      const args = { startTarget: getRef(target), endTarget: getRef('Place') };
      const callOutcome = await interruptByWorkerStop('browser_drag', args, () => waitForLog(dragStartEvent));
      assert.equal(callOutcome.code, 'link_lost', callOutcome.text);
      await waitForLog(dragEndEvent);
      await assertClickWorks();
      assert.doesNotMatch(String(await evaluateInPage('log.join()')), /drop|click (handle|card|place)/);
    });
  }

  test(`${inputMode}, a worker stop ends typing, and no character follows`, async () => {
    await openWorkPage();
    const args = { target: getRef('Text'), text: 'abcdefghij'.repeat(60), slowly: true };
    const countTypedChars = async () => String(await evaluateInPage('text.value')).length;
    const callOutcome = await interruptByWorkerStop('browser_type', args, () =>
      waitFor('the first characters', async () => (await countTypedChars()) > 5),
    );
    assert.equal(callOutcome.code, 'link_lost', callOutcome.text);
    const count = await countTypedChars();
    await assertClickWorks();
    assert.equal(await countTypedChars(), count);
    assert.ok(count < 600);
  });

  test(`${inputMode}, a navigation call ends after a worker stop, and the tab shows the page`, async () => {
    await openWorkPage();
    fixture.setPage('/next', '<title>Next</title><h1>Next</h1>');
    const callOutcome = await interruptByWorkerStop('browser_navigate', {
      url: `${fixture.shopOrigin}/next?delay=8000`,
    });
    assert.equal(callOutcome.code, 'link_lost', callOutcome.text);
    assert.match(callOutcome.text, /check first whether|Check the page before/i);
    await fixture.callTool('browser_wait_for', { text: 'Next', timeout: 60 });
  });

  test(`${inputMode}, a batch names the step at the worker stop, and runs no later step`, async () => {
    await openWorkPage();
    const toolSteps = [
      { tool: 'browser_click', args: { target: getRef('Late') } },
      { tool: 'browser_click', args: { target: getRef('Add') } },
    ];
    const callOutcome = await interruptByWorkerStop('browser_batch', { steps: toolSteps }, () =>
      waitForToolRun('browser_click'),
    );
    assert.equal(callOutcome.code, 'link_lost', callOutcome.text);
    assert.match(callOutcome.text, /step 1 of 2, browser_click: .*no step after step 1 was run/s);
    assert.equal(await evaluateInPage('count.textContent'), '0');
    await assertClickWorks();
  });

  test(`${inputMode}, an upload ends at a worker stop, and a later upload works`, async () => {
    await openWorkPage();
    await blockPage(5000);
    const args = { target: getRef('File'), paths: [join(uploadFolder(), 'a.txt')] };
    const callOutcome = await interruptByWorkerStop('browser_file_upload', args);
    assert.equal(callOutcome.code, 'link_lost', callOutcome.text);
    await assertClickWorks();
    const target = parseRef(await fixture.callTool('browser_snapshot'), '"File"');
    assert.match(await fixture.callTool('browser_file_upload', { ...args, target }), /a\.txt: 4 bytes/);
  });

  test(`${inputMode}, a worker stop ends a call whose code never ends`, async () => {
    await openWorkPage();
    const callOutcome = await interruptByWorkerStop('browser_evaluate', { function: '() => new Promise(() => {})' });
    assert.equal(callOutcome.code, 'link_lost', callOutcome.text);
    assert.match(await fixture.callTool('browser_evaluate', { function: '() => 6 * 7' }), /42/);
    await assertClickWorks();
  });

  if (usesTrustedInput) {
    test('after a worker stop, a recording restarts, and a paused request continues', async () => {
      await openWorkPage();
      await fixture.callTool('browser_network_requests');
      await fixture.callTool('browser_route', { action: 'add', pattern: '*/api*', abort: true });
      await assert.rejects(async () => evaluateInPage("fetch('/api').then((response) => response.text())"));
      await killWorker();
      assert.match(String(await evaluateInPage("fetch('/api').then((response) => response.text())")), /Empty/);
      assert.match(await fixture.callTool('browser_network_requests'), /Recording of requests begins now/);
      await assertClickWorks();
    });

    test('after a worker stop, an open dialog is closed', async () => {
      await openWorkPage();
      assert.match(
        await fixture.callTool('browser_click', { target: getRef('Ask') }),
        /The page opened a dialog \(confirm\)/,
      );
      await killWorker(60_000); // a page with an open dialog runs no script
      await assertClickWorks();
    });

    test('after a worker stop, the debugger is detached from all tabs, and no tab stays in use', async () => {
      const listAttachedCode = `chrome.debugger.getTargets().then((targets) =>
        targets.filter(({ attached, type }) => attached && type === 'page').length)`;
      await waitFor(
        'the debugger to be detached',
        async () => (await fixture.faultFixture.evaluateInWorker(listAttachedCode)) === 0,
        90_000,
      );
      await waitFor('no tab to be in use', async () => (await listHeldTabs(fixture)).length === 0, 90_000);
    });
  }
}

async function listHeldTabs({ faultFixture }: FaultBrowserFixture): Promise<readonly unknown[]> {
  return (await faultFixture.listBrowsers()).flatMap(({ held_tabs = [] }) => held_tabs);
}

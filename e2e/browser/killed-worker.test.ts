/** If Chrome stops the extension's worker during a browser tool, the call continues or fails with a clear error. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Outcome } from '../harness/client.ts';
import { fetchCallRecords } from '../harness/daemon-api.ts';
import { runChecked } from '../harness/process.ts';
import { pause, waitFor } from '../harness/wait.ts';
import { parseRef } from './agent-fixture.ts';
import { type RawFixture, startRawFixture } from './raw-fixture.ts';

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

const MaxCallEndMs = 40_000;

for (const [level, flags] of [
  ['without the debugger', []],
  ['with the debugger', ['--debugger']],
] as const) {
  const isTrusted = flags.length > 0;
  let fixture: RawFixture;
  let snapshot = '';
  let paths = 0;
  let path = '';

  before(async () => {
    fixture = await startRawFixture(...flags);
    mkdirSync(uploads());
    writeFileSync(join(uploads(), 'a.txt'), 'text');
    const groups = isTrusted ? ['network', 'devtools', 'browser_evaluate', 'browser_route'] : ['browser_evaluate'];
    await runChecked(['browser', 'tools', 'on', ...groups], fixture.faults.env);
    await runChecked(['browser', 'site', '*', 'read'], fixture.faults.env); // Only sites with a rule are listed.
  });
  after(() => fixture?.close());

  const uploads = () => join(fixture.faults.home, 'uploads');

  async function openWorkPage(): Promise<void> {
    path = `/work${++paths}`;
    fixture.setPage(path, workPage);
    await fixture.run('browser_tabs', { action: 'new', url: `${fixture.shop}${path}` });
    snapshot = await fixture.run('browser_snapshot');
  }
  const refOf = (words: string) => parseRef(snapshot, `"${words}"`);
  const evaluateInPage = (expression: string) => fixture.evaluate(path, expression);
  const waitForLog = (entry: string) =>
    waitFor(`the page to record ${entry}`, async () => String(await evaluateInPage('log.join()')).includes(entry));

  const blockPage = (ms: number) =>
    evaluateInPage(`{ const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => block(${ms});
      port2.postMessage(0); 'posted' }`);

  async function waitForRun(tool: string): Promise<void> {
    const server = { port: fixture.faults.port, token: fixture.faults.token };
    await waitFor(`${tool} to run`, async () =>
      (await fetchCallRecords(server)).some((call) => call.tool_name === tool && call.status === 'running'),
    );
    await pause(200); // The pause lets the worker receive the call.
  }

  /** An open extension page restarts a stopped worker at once; otherwise, an alarm restarts the worker within 30 s. */
  async function killWorker(limitMs = 25_000): Promise<void> {
    const { faults } = fixture;
    const connectionsBefore = faults.proxy.connectionsMade;
    const targetId = await waitFor('the worker', () => faults.browser.workerId());
    await faults.browser.cdp.send('Target.closeTarget', { targetId });
    await waitFor('a new link', () => faults.proxy.connectionsMade > connectionsBefore, limitMs);
    await faults.waitForBrowser();
  }

  async function interruptCall(
    tool: string,
    args: Record<string, unknown>,
    hasBegun: () => Promise<unknown> = () => waitForRun(tool),
    whileDown: () => Promise<unknown> = async () => undefined,
  ): Promise<Outcome> {
    const calling = fixture.client.call(tool, args);
    await hasBegun();
    await killWorker();
    const killedMs = performance.now();
    await whileDown();
    const outcome = await calling;
    assert.ok(
      performance.now() - killedMs < MaxCallEndMs,
      `${tool} ended ${performance.now() - killedMs} ms after the stop`,
    );
    if (outcome.isError) assert.match(outcome.text, /link_lost|restarted while the tool ran|lost/, tool);
    return outcome;
  }

  async function assertUsable(): Promise<void> {
    const before = Number(await evaluateInPage('count.textContent'));
    const add = parseRef(await fixture.run('browser_snapshot'), '"Add"');
    const clicked = await fixture.run('browser_click', { target: add });
    assert.match(clicked, isTrusted ? /input: trusted/ : /input: synthetic/);
    assert.equal(Number(await evaluateInPage('count.textContent')), before + 1);
  }

  test(`${level}, read-only tools continue after a worker stop`, async () => {
    for (const [tool, args, text] of [
      ['browser_snapshot', {}, /heading "Work"/],
      ['browser_find', { text: 'Add' }, /button "Add"/],
      ['browser_read_page', {}, /# Work/],
      ...(isTrusted ? ([['browser_take_screenshot', {}, /Picture of the visible part/]] as const) : []),
    ] as const) {
      await openWorkPage();
      await blockPage(2500);
      const outcome = await interruptCall(tool, args);
      assert.equal(outcome.isError, false, `${tool}: ${outcome.text}`);
      assert.match(outcome.text, text);
    }
    await assertUsable();
  });

  test(`${level}, a wait continues or ends with link_lost after a worker stop`, async () => {
    await openWorkPage();
    const args = { text: 'Ready', timeout: 30 };
    const outcome = await interruptCall('browser_wait_for', args, undefined, () =>
      evaluateInPage("document.body.append('Ready')"),
    );
    if (outcome.isError) assert.equal(outcome.code, 'link_lost', outcome.text);
    await assertUsable();
  });

  test(`${level}, a worker stop ends a waiting click, which never clicks later`, async () => {
    await openWorkPage();
    const outcome = await interruptCall('browser_click', { target: refOf('Late') });
    assert.equal(outcome.code, 'link_lost', outcome.text);
    await evaluateInPage('late.disabled = false');
    await assertUsable();
    assert.doesNotMatch(String(await evaluateInPage('log.join()')), /late/);
  });

  for (const [target, began, ended] of [
    ['Handle', 'pointerdown handle', 'pointerup'],
    ['Card', 'dragstart card', 'dragend card'],
  ] as const) {
    test(`${level}, a worker stop ends a drag of ${target} without a drop`, async () => {
      await openWorkPage();
      const args = { startTarget: refOf(target), endTarget: refOf('Place') };
      const outcome = await interruptCall('browser_drag', args, () => waitForLog(began));
      assert.equal(outcome.code, 'link_lost', outcome.text);
      await waitForLog(ended);
      await assertUsable();
      assert.doesNotMatch(String(await evaluateInPage('log.join()')), /drop|click (handle|card|place)/);
    });
  }

  test(`${level}, a worker stop ends typing, and no character follows`, async () => {
    await openWorkPage();
    const args = { target: refOf('Text'), text: 'abcdefghij'.repeat(60), slowly: true };
    const typed = async () => String(await evaluateInPage('text.value')).length;
    const outcome = await interruptCall('browser_type', args, () =>
      waitFor('the first characters', async () => (await typed()) > 5),
    );
    assert.equal(outcome.code, 'link_lost', outcome.text);
    const count = await typed();
    await assertUsable();
    assert.equal(await typed(), count);
    assert.ok(count < 600);
  });

  test(`${level}, a navigation call ends after a worker stop, and the tab shows the page`, async () => {
    await openWorkPage();
    fixture.setPage('/next', '<title>Next</title><h1>Next</h1>');
    const outcome = await interruptCall('browser_navigate', { url: `${fixture.shop}/next?delay=8000` });
    assert.equal(outcome.code, 'link_lost', outcome.text);
    assert.match(outcome.text, /check first whether|Check the page before/i);
    await fixture.run('browser_wait_for', { text: 'Next', timeout: 60 });
  });

  test(`${level}, a batch names the step at the worker stop, and runs no later step`, async () => {
    await openWorkPage();
    const steps = [
      { tool: 'browser_click', args: { target: refOf('Late') } },
      { tool: 'browser_click', args: { target: refOf('Add') } },
    ];
    const outcome = await interruptCall('browser_batch', { steps }, () => waitForRun('browser_click'));
    assert.equal(outcome.code, 'link_lost', outcome.text);
    assert.match(outcome.text, /step 1 of 2, browser_click: .*no step after step 1 was run/s);
    assert.equal(await evaluateInPage('count.textContent'), '0');
    await assertUsable();
  });

  test(`${level}, an upload ends at a worker stop, and a later upload works`, async () => {
    await openWorkPage();
    await blockPage(5000);
    const args = { target: refOf('File'), paths: [join(uploads(), 'a.txt')] };
    const outcome = await interruptCall('browser_file_upload', args);
    assert.equal(outcome.code, 'link_lost', outcome.text);
    await assertUsable();
    const target = parseRef(await fixture.run('browser_snapshot'), '"File"');
    assert.match(await fixture.run('browser_file_upload', { ...args, target }), /a\.txt: 4 bytes/);
  });

  test(`${level}, a worker stop ends a call whose code never ends`, async () => {
    await openWorkPage();
    const outcome = await interruptCall('browser_evaluate', { function: '() => new Promise(() => {})' });
    assert.equal(outcome.code, 'link_lost', outcome.text);
    assert.match(await fixture.run('browser_evaluate', { function: '() => 6 * 7' }), /42/);
    await assertUsable();
  });

  if (isTrusted) {
    test('after a worker stop, a recording restarts, and a paused request continues', async () => {
      await openWorkPage();
      await fixture.run('browser_network_requests');
      await fixture.run('browser_route', { action: 'add', pattern: '*/api*', abort: true });
      await assert.rejects(async () => evaluateInPage("fetch('/api').then((response) => response.text())"));
      await killWorker();
      assert.match(String(await evaluateInPage("fetch('/api').then((response) => response.text())")), /Empty/);
      assert.match(await fixture.run('browser_network_requests'), /Recording of requests begins now/);
      await assertUsable();
    });

    test('after a worker stop, an open dialog is closed', async () => {
      await openWorkPage();
      assert.match(
        await fixture.run('browser_click', { target: refOf('Ask') }),
        /The page opened a dialog \(confirm\)/,
      );
      await killWorker(60_000); // a page with an open dialog runs no script
      await assertUsable();
    });

    test('after a worker stop, the debugger is detached from all tabs, and no tab stays in use', async () => {
      const attached = `chrome.debugger.getTargets().then((targets) =>
        targets.filter(({ attached, type }) => attached && type === 'page').length)`;
      await waitFor(
        'the debugger to leave',
        async () => (await fixture.faults.evaluateInWorker(attached)) === 0,
        90_000,
      );
      await waitFor('no tab to be in use', async () => (await listHolds(fixture)).length === 0, 90_000);
    });
  }
}

async function listHolds({ faults }: RawFixture): Promise<readonly unknown[]> {
  return (await faults.listBrowsers()).flatMap(({ held_tabs = [] }) => held_tabs);
}

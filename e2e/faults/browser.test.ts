/** If a browser crashes, is suspended, or runs with a cloned profile, only the affected calls fail. */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pause, waitFor } from '../harness/wait.ts';
import { FaultFixture } from './fault-fixture.ts';
import { type MatrixCell, testBetweenCalls, testDuringCall } from './matrix-cell.ts';

let fixture: FaultFixture;
before(async () => {
  fixture = await FaultFixture.start();
});
after(() => fixture?.close());

const suspendProcesses = (processes: 'browser' | 'both', durationMs: number) => () =>
  processes === 'both' ? fixture.suspendBrowser(durationMs, fixture.serverPid) : fixture.suspendBrowser(durationMs);

const restartBrowser = (downtimeMs: number) => async (cell: MatrixCell) => {
  await fixture.browser.kill();
  await pause(downtimeMs);
  await fixture.browser.start();
  await fixture.waitForBrowser();
  await fixture.browser.cdp.sendCommand('Target.createTarget', { url: fixture.urlOf(cell.path) });
  await waitFor('the plugin to be live in the page again', () => fixture.findLiveTab(cell.path));
};

/** A crashed page sends no response to the DevTools command Page.crash. */
async function crashPage({ path }: MatrixCell): Promise<void> {
  const page = await fixture.browser.cdp.attach(await fixture.findTarget(path));
  page.sendCommand('Page.crash').catch(() => undefined);
  await waitFor(
    'the browser to report that the crashed page is gone',
    async () => (await fixture.findLiveTab(path)) === undefined,
  );
}

/** startClonedBrowser starts a second browser with a copy of the first browser's extension storage. */
async function startClonedBrowser(): Promise<void> {
  const clonedBrowser = fixture.newBrowser('copy');
  const storage = join('Default', 'Local Extension Settings');
  cpSync(join(fixture.homeFolder, 'profile', storage), join(fixture.homeFolder, 'copy', storage), { recursive: true });
  await clonedBrowser.start();
  await fixture.waitForBrowser(2);
  const [originalId, cloneId] = (await fixture.listBrowsers()).map((browser) => browser.id);
  assert.ok(
    originalId && cloneId?.startsWith(`${originalId}~`),
    `the browser IDs are ${originalId} and ${cloneId}, want the second ID to begin with the first and "~"`,
  );
  closingClones.push(clonedBrowser.close());
}
const closingClones: Promise<void>[] = [];

test('a call fails with page_crashed when its page crashes', () =>
  testDuringCall('page crashed', fixture, crashPage, { errorCode: 'page_crashed', maxRecoveryMs: 4000 }));
test('a call succeeds after its page has crashed', () =>
  testBetweenCalls('page crashed', fixture, crashPage, { maxRecoveryMs: 4000 }));
test('a call survives a browser that is suspended for 4 s', () =>
  testDuringCall('browser suspended for 4 s', fixture, suspendProcesses('browser', 4000)));
test('a call survives a browser that is suspended for 13 s', () =>
  testDuringCall('browser suspended for 13 s', fixture, suspendProcesses('browser', 13_000)));
test('a call succeeds after the browser was suspended for 13 s', () =>
  testBetweenCalls('browser suspended for 13 s', fixture, suspendProcesses('browser', 13_000)));
test('a call survives the start of a second browser with a copy of the profile', () =>
  testDuringCall('profile cloned', fixture, startClonedBrowser));
test('a call succeeds after the start of a second browser with a copy of the profile', async () => {
  await Promise.all(closingClones);
  await waitFor('the second browser to disconnect', async () => (await fixture.listBrowsers()).length === 1);
  await testBetweenCalls('profile cloned', fixture, startClonedBrowser);
  await Promise.all(closingClones);
  await waitFor('the second browser to disconnect', async () => (await fixture.listBrowsers()).length === 1);
});
test('a call fails with browser_lost when its browser is killed and restarted', () =>
  testDuringCall('browser SIGKILL, restarted', fixture, restartBrowser(0), {
    errorCode: 'browser_lost',
    slowErrorCode: 'link_lost',
    maxFailureDelayMs: 8000,
    maxRecoveryMs: 4000,
    withoutTabId: true,
  }));
test('a call succeeds after the browser was killed and restarted', () =>
  testBetweenCalls('browser SIGKILL, restarted', fixture, restartBrowser(0), {
    maxRecoveryMs: 4000,
    withoutTabId: true,
  }));
test('a call fails with link_lost when its browser is killed and restarts after 12 s', () =>
  testDuringCall('browser SIGKILL, restarted after 12 s', fixture, restartBrowser(12_000), {
    errorCode: 'link_lost',
    maxFailureDelayMs: 11_000,
    maxRecoveryMs: 4000,
    withoutTabId: true,
  }));

/** Injects faults, such as a killed daemon, during a soak test. */
import { readFileSync } from 'node:fs';
import type { CdpSession } from '../harness/cdp.ts';
import { pause, waitFor } from '../harness/wait.ts';
import type { FaultKind, PlannedFault } from './plan.ts';
import type { SoakClient } from './soak-client.ts';
import type { SystemUnderTest } from './system-under-test.ts';

type InjectFault = (
  testedSystem: SystemUnderTest,
  plannedFault: PlannedFault,
  clients: readonly SoakClient[],
) => Promise<void>;

/** Each injector returns when its fault is over, even if the system is still recovering. */
const faultInjectors: Readonly<Record<FaultKind, InjectFault>> = {
  async 'worker stopped'(testedSystem) {
    const targetId = await testedSystem.browser.workerId();
    if (targetId) await testedSystem.browser.cdp.sendCommand('Target.closeTarget', { targetId });
  },

  async 'link cut'(testedSystem, plannedFault) {
    testedSystem.proxy.cut();
    await pause(plannedFault.forMs);
    testedSystem.proxy.resume();
  },

  async 'link half-open'(testedSystem, plannedFault) {
    testedSystem.proxy.stallTraffic();
    await pause(plannedFault.forMs);
    testedSystem.proxy.resume();
  },

  'server SIGTERM': (testedSystem, plannedFault) => restartServer(testedSystem, plannedFault, 'SIGTERM'),
  'server SIGKILL': (testedSystem, plannedFault) => restartServer(testedSystem, plannedFault, 'SIGKILL'),

  async 'server SIGSTOP'(testedSystem, plannedFault) {
    const pid = await testedSystem.serverPid();
    process.kill(pid, 'SIGSTOP');
    try {
      await pause(plannedFault.forMs);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  },

  'tab reloaded': (testedSystem, plannedFault) =>
    runInTab(testedSystem, plannedFault, (page) => page.sendCommand('Page.reload')),

  'tab navigated': (testedSystem, plannedFault) =>
    runInTab(testedSystem, plannedFault, async (page, path) => {
      await page.sendCommand('Page.navigate', { url: `${testedSystem.urlOf(path)}?again` });
      await page.sendCommand('Page.navigate', { url: testedSystem.urlOf(path) });
    }),

  'tab away and back': (testedSystem, plannedFault) =>
    runInTab(testedSystem, plannedFault, async (page, path) => {
      await page.sendCommand('Page.navigate', { url: `${testedSystem.urlOf(path)}-away` });
      await pause(plannedFault.forMs);
      await page.evaluate('history.back()');
    }),

  async 'tab closed'(testedSystem, plannedFault) {
    const targetId = await testedSystem.findPage(findTabPath(testedSystem, plannedFault));
    if (targetId) await testedSystem.browser.cdp.sendCommand('Target.closeTarget', { targetId });
  },

  async 'tab discarded'(testedSystem, plannedFault) {
    const url = testedSystem.urlOf(findTabPath(testedSystem, plannedFault));
    await testedSystem.browser.withWorkerSession((worker) =>
      worker.evaluate(
        `chrome.tabs.query({ url: ${JSON.stringify(url)} }).then((tabs) => Promise.all(tabs.map((t) => chrome.tabs.discard(t.id))))
          .then(() => undefined, () => undefined)`,
      ),
    );
    await pause(200); // The pause lets the report about the tab reach the daemon.
  },

  'tab frozen': (testedSystem, plannedFault) =>
    runInTab(testedSystem, plannedFault, async (page) => {
      await page.sendCommand('Page.setWebLifecycleState', { state: 'frozen' });
      await pause(plannedFault.forMs);
      await page.sendCommand('Page.setWebLifecycleState', { state: 'active' });
    }),

  async 'extension reloaded'(testedSystem) {
    // The extension reloads in a timer, because an immediate reload would stop the service worker before it can
    // respond.
    await testedSystem.browser.withWorkerSession((worker) =>
      worker.evaluate('setTimeout(() => chrome.runtime.reload(), 100), 0'),
    );
  },

  async 'browser SIGKILL'(testedSystem) {
    await testedSystem.browser.kill();
    await testedSystem.browser.start();
    // Chrome does not reopen tabs after a crash, so the test reopens the tabs as a user would.
    await testedSystem.restoreTabs();
  },

  async 'session deleted'(_system, plannedFault, clients) {
    await clients[plannedFault.client]?.endSession();
  },

  async 'client killed'(_system, plannedFault, clients) {
    await clients[plannedFault.client]?.kill();
  },

  async 'panel opened'(testedSystem, plannedFault) {
    const url = `chrome-extension://${testedSystem.browser.extensionId}/panel.html`;
    const panelTarget = Object(await testedSystem.browser.cdp.sendCommand('Target.createTarget', { url }));
    await pause(plannedFault.forMs);
    await testedSystem.browser.cdp.sendCommand('Target.closeTarget', { targetId: panelTarget.targetId });
  },
};

export function injectFault(
  testedSystem: SystemUnderTest,
  plannedFault: PlannedFault,
  clients: readonly SoakClient[],
): Promise<void> {
  return faultInjectors[plannedFault.kind](testedSystem, plannedFault, clients);
}

async function restartServer(
  testedSystem: SystemUnderTest,
  plannedFault: PlannedFault,
  signal: NodeJS.Signals,
): Promise<void> {
  const pid = await testedSystem.serverPid();
  testedSystem.writeConfig(plannedFault.limits);
  process.kill(pid, signal);
  await waitFor('the process of the server to end', () => !isProcessRunning(pid));
  await testedSystem.startServer();
}

/** A zombie process counts as not running. */
function isProcessRunning(pid: number): boolean {
  try {
    return !/\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

function findTabPath(testedSystem: SystemUnderTest, plannedFault: PlannedFault): string {
  return testedSystem.paths[plannedFault.tab] ?? '/';
}

async function runInTab(
  testedSystem: SystemUnderTest,
  plannedFault: PlannedFault,
  runInPage: (page: CdpSession, path: string) => Promise<unknown>,
): Promise<void> {
  const path = findTabPath(testedSystem, plannedFault);
  const id = await testedSystem.findPage(path);
  if (id) await testedSystem.browser.withPageSession(id, (page) => runInPage(page, path));
}

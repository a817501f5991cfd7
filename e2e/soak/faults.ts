/** Injects faults, such as a killed daemon, during a soak test. */
import { readFileSync } from 'node:fs';
import type { Session } from '../harness/cdp.ts';
import { pause, waitFor } from '../harness/wait.ts';
import type { FaultKind, PlannedFault } from './plan.ts';
import type { SoakClient } from './soak-client.ts';
import type { SystemUnderTest } from './system-under-test.ts';

type InjectFault = (
  system: SystemUnderTest,
  plannedFault: PlannedFault,
  clients: readonly SoakClient[],
) => Promise<void>;

/** Each injector returns when its fault is over, even if the system is still recovering. */
const injectors: Readonly<Record<FaultKind, InjectFault>> = {
  async 'worker stopped'(system) {
    const targetId = await system.browser.workerId();
    if (targetId) await system.browser.cdp.send('Target.closeTarget', { targetId });
  },

  async 'link cut'(system, plannedFault) {
    system.proxy.cut();
    await pause(plannedFault.forMs);
    system.proxy.resume();
  },

  async 'link half-open'(system, plannedFault) {
    system.proxy.stall();
    await pause(plannedFault.forMs);
    system.proxy.resume();
  },

  'server SIGTERM': (system, plannedFault) => restartServer(system, plannedFault, 'SIGTERM'),
  'server SIGKILL': (system, plannedFault) => restartServer(system, plannedFault, 'SIGKILL'),

  async 'server SIGSTOP'(system, plannedFault) {
    const pid = await system.serverPid();
    process.kill(pid, 'SIGSTOP');
    try {
      await pause(plannedFault.forMs);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  },

  'tab reloaded': (system, plannedFault) => runInTab(system, plannedFault, (page) => page.send('Page.reload')),

  'tab navigated': (system, plannedFault) =>
    runInTab(system, plannedFault, async (page, path) => {
      await page.send('Page.navigate', { url: `${system.urlOf(path)}?again` });
      await page.send('Page.navigate', { url: system.urlOf(path) });
    }),

  'tab away and back': (system, plannedFault) =>
    runInTab(system, plannedFault, async (page, path) => {
      await page.send('Page.navigate', { url: `${system.urlOf(path)}-away` });
      await pause(plannedFault.forMs);
      await page.evaluate('history.back()');
    }),

  async 'tab closed'(system, plannedFault) {
    const targetId = await system.findPage(makePath(system, plannedFault));
    if (targetId) await system.browser.cdp.send('Target.closeTarget', { targetId });
  },

  async 'tab discarded'(system, plannedFault) {
    const url = system.urlOf(makePath(system, plannedFault));
    await system.browser.inWorker((worker) =>
      worker.evaluate(
        `chrome.tabs.query({ url: ${JSON.stringify(url)} }).then((tabs) => Promise.all(tabs.map((t) => chrome.tabs.discard(t.id))))
          .then(() => undefined, () => undefined)`,
      ),
    );
    await pause(200); // time for the report about the tab to reach the daemon
  },

  'tab frozen': (system, plannedFault) =>
    runInTab(system, plannedFault, async (page) => {
      await page.send('Page.setWebLifecycleState', { state: 'frozen' });
      await pause(plannedFault.forMs);
      await page.send('Page.setWebLifecycleState', { state: 'active' });
    }),

  async 'extension reloaded'(system) {
    // The extension reloads in a timer, because an immediate reload would stop the service worker before it can
    // respond.
    await system.browser.inWorker((worker) => worker.evaluate('setTimeout(() => chrome.runtime.reload(), 0), 0'));
  },

  async 'browser SIGKILL'(system) {
    await system.browser.kill();
    await system.browser.start();
    // Chrome does not reopen tabs after a crash, so the test reopens the tabs as a user would.
    await system.restoreTabs();
  },

  async 'session deleted'(_system, plannedFault, clients) {
    await clients[plannedFault.client]?.endSession();
  },

  async 'client killed'(_system, plannedFault, clients) {
    await clients[plannedFault.client]?.kill();
  },

  async 'panel opened'(system, plannedFault) {
    const url = `chrome-extension://${system.browser.extensionId}/panel.html`;
    const panelTarget = Object(await system.browser.cdp.send('Target.createTarget', { url }));
    await pause(plannedFault.forMs);
    await system.browser.cdp.send('Target.closeTarget', { targetId: panelTarget.targetId });
  },
};

export function injectFault(
  system: SystemUnderTest,
  plannedFault: PlannedFault,
  clients: readonly SoakClient[],
): Promise<void> {
  return injectors[plannedFault.kind](system, plannedFault, clients);
}

async function restartServer(
  system: SystemUnderTest,
  plannedFault: PlannedFault,
  signal: NodeJS.Signals,
): Promise<void> {
  const pid = await system.serverPid();
  system.writeConfig(plannedFault.limits);
  process.kill(pid, signal);
  await waitFor('the process of the server to end', () => !isProcessRunning(pid));
  await system.startServer();
}

/** A zombie process counts as not running. */
function isProcessRunning(pid: number): boolean {
  try {
    return !/\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

function makePath(system: SystemUnderTest, plannedFault: PlannedFault): string {
  return system.paths[plannedFault.tab] ?? '/';
}

async function runInTab(
  system: SystemUnderTest,
  plannedFault: PlannedFault,
  run: (page: Session, path: string) => Promise<unknown>,
): Promise<void> {
  const path = makePath(system, plannedFault);
  const id = await system.findPage(path);
  if (id) await system.browser.inPage(id, (page) => run(page, path));
}

/** Injects faults, such as a killed daemon, during a soak test. */
import { readFileSync } from 'node:fs';
import type { Session } from '../harness/cdp.ts';
import { pause, waitFor } from '../harness/wait.ts';
import type { FaultKind, PlannedFault } from './plan.ts';
import type { SoakClient } from './soak-client.ts';
import type { SystemUnderTest } from './system-under-test.ts';

type InjectFault = (system: SystemUnderTest, fault: PlannedFault, clients: readonly SoakClient[]) => Promise<void>;

/** Each injector returns when its fault is over, even if the system is still recovering. */
const injectors: Readonly<Record<FaultKind, InjectFault>> = {
  async 'worker stopped'(system) {
    const targetId = await system.browser.workerId();
    if (targetId) await system.browser.cdp.send('Target.closeTarget', { targetId });
  },

  async 'link cut'(system, fault) {
    system.proxy.cut();
    await pause(fault.forMs);
    system.proxy.resume();
  },

  async 'link half-open'(system, fault) {
    system.proxy.stall();
    await pause(fault.forMs);
    system.proxy.resume();
  },

  'server SIGTERM': (system, fault) => restartServer(system, fault, 'SIGTERM'),
  'server SIGKILL': (system, fault) => restartServer(system, fault, 'SIGKILL'),

  async 'server SIGSTOP'(system, fault) {
    const pid = await system.serverPid();
    process.kill(pid, 'SIGSTOP');
    try {
      await pause(fault.forMs);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  },

  'tab reloaded': (system, fault) => runInTab(system, fault, (page) => page.send('Page.reload')),

  'tab navigated': (system, fault) =>
    runInTab(system, fault, async (page, path) => {
      await page.send('Page.navigate', { url: `${system.urlOf(path)}?again` });
      await page.send('Page.navigate', { url: system.urlOf(path) });
    }),

  'tab away and back': (system, fault) =>
    runInTab(system, fault, async (page, path) => {
      await page.send('Page.navigate', { url: `${system.urlOf(path)}-away` });
      await pause(fault.forMs);
      await page.evaluate('history.back()');
    }),

  async 'tab closed'(system, fault) {
    const targetId = await system.findPage(makePath(system, fault));
    if (targetId) await system.browser.cdp.send('Target.closeTarget', { targetId });
  },

  async 'tab discarded'(system, fault) {
    const url = system.urlOf(makePath(system, fault));
    await system.browser.inWorker((worker) =>
      worker.evaluate(
        `chrome.tabs.query({ url: ${JSON.stringify(url)} }).then((tabs) => Promise.all(tabs.map((t) => chrome.tabs.discard(t.id))))
          .then(() => undefined, () => undefined)`,
      ),
    );
    await pause(200); // The pause lets the report about the tab reach the daemon.
  },

  'tab frozen': (system, fault) =>
    runInTab(system, fault, async (page) => {
      await page.send('Page.setWebLifecycleState', { state: 'frozen' });
      await pause(fault.forMs);
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

  async 'session deleted'(_system, fault, clients) {
    await clients[fault.client]?.endSession();
  },

  async 'client killed'(_system, fault, clients) {
    await clients[fault.client]?.kill();
  },

  async 'panel opened'(system, fault) {
    const url = `chrome-extension://${system.browser.extensionId}/panel.html`;
    const panelTarget = Object(await system.browser.cdp.send('Target.createTarget', { url }));
    await pause(fault.forMs);
    await system.browser.cdp.send('Target.closeTarget', { targetId: panelTarget.targetId });
  },
};

export function injectFault(
  system: SystemUnderTest,
  fault: PlannedFault,
  clients: readonly SoakClient[],
): Promise<void> {
  return injectors[fault.kind](system, fault, clients);
}

async function restartServer(system: SystemUnderTest, fault: PlannedFault, signal: NodeJS.Signals): Promise<void> {
  const pid = await system.serverPid();
  system.writeConfig(fault.limits);
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

function makePath(system: SystemUnderTest, fault: PlannedFault): string {
  return system.paths[fault.tab] ?? '/';
}

async function runInTab(
  system: SystemUnderTest,
  fault: PlannedFault,
  run: (page: Session, path: string) => Promise<unknown>,
): Promise<void> {
  const path = makePath(system, fault);
  const id = await system.findPage(path);
  if (id) await system.browser.inPage(id, (page) => run(page, path));
}

/** The faults: what each does to the world, and until when. */
import { readFileSync } from 'node:fs';
import type { Session } from '../harness/cdp.ts';
import { pause, waitFor } from '../harness/wait.ts';
import type { Client } from './ending.ts';
import type { FaultKind, PlannedFault } from './plan.ts';
import type { World } from './world.ts';

type Strike = (world: World, fault: PlannedFault, clients: readonly Client[]) => Promise<void>;

/** strikes does each fault and returns when it is over; what it broke may still be healing. */
const strikes: Readonly<Record<FaultKind, Strike>> = {
  async 'worker stopped'(world) {
    const targetId = await world.browser.worker();
    if (targetId) await world.browser.cdp.send('Target.closeTarget', { targetId });
  },

  async 'link cut'(world, fault) {
    world.proxy.cut();
    await pause(fault.forMs);
    world.proxy.resume();
  },

  async 'link half-open'(world, fault) {
    world.proxy.stall();
    await pause(fault.forMs);
    world.proxy.resume();
  },

  'server SIGTERM': (world, fault) => restart(world, fault, 'SIGTERM'),
  'server SIGKILL': (world, fault) => restart(world, fault, 'SIGKILL'),

  async 'server SIGSTOP'(world, fault) {
    const pid = await world.serverPid();
    process.kill(pid, 'SIGSTOP');
    try {
      await pause(fault.forMs);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  },

  'tab reloaded': (world, fault) => inTab(world, fault, (page) => page.send('Page.reload')),

  'tab navigated': (world, fault) =>
    inTab(world, fault, async (page, path) => {
      await page.send('Page.navigate', { url: `${world.url(path)}?again` });
      await page.send('Page.navigate', { url: world.url(path) });
    }),

  'tab away and back': (world, fault) =>
    inTab(world, fault, async (page, path) => {
      await page.send('Page.navigate', { url: `${world.url(path)}-away` });
      await pause(fault.forMs);
      await page.evaluate('history.back()');
    }),

  async 'tab closed'(world, fault) {
    const targetId = await world.page(pathOf(world, fault));
    if (targetId) await world.browser.cdp.send('Target.closeTarget', { targetId });
  },

  async 'tab discarded'(world, fault) {
    const url = world.url(pathOf(world, fault));
    await world.browser.inWorker((worker) =>
      worker.evaluate(
        `chrome.tabs.query({ url: ${JSON.stringify(url)} }).then((tabs) => Promise.all(tabs.map((t) => chrome.tabs.discard(t.id))))
          .then(() => undefined, () => undefined)`,
      ),
    );
    await pause(200); // until the server has heard of it
  },

  'tab frozen': (world, fault) =>
    inTab(world, fault, async (page) => {
      await page.send('Page.setWebLifecycleState', { state: 'frozen' });
      await pause(fault.forMs);
      await page.send('Page.setWebLifecycleState', { state: 'active' });
    }),

  async 'extension reloaded'(world) {
    // The worker ends before it can answer.
    await world.browser.inWorker((worker) => worker.evaluate('setTimeout(() => chrome.runtime.reload(), 0), 0'));
  },

  async 'browser SIGKILL'(world) {
    await world.browser.kill();
    await world.browser.start();
    // Nobody but a person opens the pages again.
    await world.heal();
  },

  async 'session deleted'(_world, fault, clients) {
    await clients[fault.client]?.endSession();
  },

  async 'client killed'(_world, fault, clients) {
    await clients[fault.client]?.kill();
  },

  async 'panel opened'(world, fault) {
    const url = `chrome-extension://${world.browser.extensionId}/panel.html`;
    const opened = Object(await world.browser.cdp.send('Target.createTarget', { url }));
    await pause(fault.forMs);
    await world.browser.cdp.send('Target.closeTarget', { targetId: opened.targetId });
  },
};

/** strike does a fault. */
export function strike(world: World, fault: PlannedFault, clients: readonly Client[]): Promise<void> {
  return strikes[fault.kind](world, fault, clients);
}

async function restart(world: World, fault: PlannedFault, signal: NodeJS.Signals): Promise<void> {
  const pid = await world.serverPid();
  world.configure(fault.limits);
  process.kill(pid, signal);
  await waitFor('the end of the server', () => !alive(pid));
  await world.startServer();
}

/** alive tells whether a process runs; one that has ended and that nobody has waited for yet does not. */
function alive(pid: number): boolean {
  try {
    return !/\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

function pathOf(world: World, fault: PlannedFault): string {
  return world.paths[fault.tab] ?? '/';
}

async function inTab(
  world: World,
  fault: PlannedFault,
  run: (page: Session, path: string) => Promise<unknown>,
): Promise<void> {
  const path = pathOf(world, fault);
  const id = await world.page(path);
  if (id) await world.browser.inPage(id, (page) => run(page, path));
}

/** What server, worker and page hold on to, measured after their garbage was collected. */
import { readFileSync } from 'node:fs';
import type { Cdp, Session } from '../harness/cdp.ts';

/** Held is the memory use of one JavaScript realm. */
export interface Held {
  /** Bytes of the JavaScript heap in use. */
  readonly heapBytes: number;
  /** The number of live objects of classes that typically leak, and of entries in all Maps and Sets. */
  readonly promises: number;
  readonly ports: number;
  readonly controllers: number;
  readonly entries: number;
}

/** Measured is one measurement of all processes. */
export interface Measured {
  readonly server: { readonly rssBytes: number; readonly heapBytes: number; readonly goroutines: number };
  readonly worker: Held;
  /** The realm of the page, where adapters run, and that of the extension in the same page. */
  readonly page: Held;
  readonly bridge: Held;
  /** The memory of the page's process. */
  readonly documents: number;
  readonly listeners: number;
}

/**
 * rss returns the resident memory of a process in bytes: in total, without file-backed pages, and the peak since its
 * start.
 */
export function rss(pid: number): { now: number; anonymous: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  return {
    now: kilobytes('VmRSS') * 1024,
    anonymous: kilobytes('RssAnon') * 1024,
    peak: kilobytes('VmHWM') * 1024,
  };
}

const counted = ['Promise', 'MessagePort', 'AbortController', 'Map', 'Set'] as const;

/** countObjects counts objects and listeners in one realm: the default realm of a session, or that of a context. */
async function countObjects(session: Session, contextId?: number): Promise<Held> {
  const where = contextId === undefined ? {} : { contextId };
  const count = async (name: string, sum: string): Promise<number> => {
    const objectGroup = 'measure';
    const proto = Object(
      await session.send('Runtime.evaluate', { expression: `${name}.prototype`, objectGroup, ...where }),
    );
    const { objects } = Object(
      await session.send('Runtime.queryObjects', { prototypeObjectId: proto.result.objectId, objectGroup }),
    );
    const { result } = Object(
      await session.send('Runtime.callFunctionOn', {
        objectId: objects.objectId,
        functionDeclaration: `function () { return ${sum}; }`,
        returnByValue: true,
      }),
    );
    await session.send('Runtime.releaseObjectGroup', { objectGroup });
    return Number(result.value);
  };
  const numbers: Record<string, number> = {};
  for (const name of counted) {
    // A prototype has no sizeitself, and reading it throws.
    const entries = `this.reduce((sum, table) => sum + (table === ${name}.prototype ? 0 : table.size ?? 0), 0)`;
    numbers[name] = await count(name, name === 'Map' || name === 'Set' ? entries : 'this.length');
  }
  const heapBytes = Number(Object(await session.send('Runtime.getHeapUsage')).usedSize);
  return {
    heapBytes,
    promises: numbers.Promise ?? 0,
    ports: numbers.MessagePort ?? 0,
    controllers: numbers.AbortController ?? 0,
    entries: (numbers.Map ?? 0) + (numbers.Set ?? 0),
  };
}

async function collect(session: Session): Promise<void> {
  await session.send('HeapProfiler.enable');
  // The first round lets finalizers run whose garbage the second takes.
  for (let round = 0; round < 3; round++) await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.disable');
}

/** Subject names what to measure: the server with this status, and the page with this address. */
export interface Subject {
  readonly cdp: Cdp;
  readonly extensionId: string;
  readonly pageUrl: string;
  readonly serverPid: number;
  memory(): Promise<{ readonly heap_bytes: number; readonly goroutines: number }>;
}

/** measure collects garbage everywhere it can and then counts. */
export async function measure(of: Subject): Promise<Measured> {
  const targets = await of.cdp.targets();
  const workerId = targets.find((t) => t.type === 'service_worker' && t.url.includes(of.extensionId))?.targetId;
  const pageId = targets.find((t) => t.type === 'page' && t.url === of.pageUrl)?.targetId;
  if (!workerId || !pageId) throw new Error(`no worker or no page ${of.pageUrl} to measure`);
  const worker = await of.cdp.attach(workerId);
  const page = await of.cdp.attach(pageId);
  try {
    const contexts: unknown[] = [];
    page.on('Runtime.executionContextCreated', (params) => contexts.push(Object(params).context));
    await page.send('Runtime.enable');
    await collect(worker);
    await collect(page);
    const isolated = contexts.map((c) => Object(c)).find((c) => c.origin === `chrome-extension://${of.extensionId}`);
    const bridge = await countObjects(page, isolated?.id);
    const { documents, jsEventListeners } = Object(await page.send('Memory.getDOMCounters'));
    const memory = await of.memory();
    return {
      server: { rssBytes: rss(of.serverPid).now, heapBytes: memory.heap_bytes, goroutines: memory.goroutines },
      worker: await countObjects(worker),
      page: await countObjects(page),
      bridge,
      documents: Number(documents),
      listeners: Number(jsEventListeners),
    };
  } finally {
    await worker.detach();
    await page.detach();
  }
}

/**
 * Measures the memory and counts the objects of the daemon, the service worker and the page after a garbage collection.
 */
import { readFileSync } from 'node:fs';
import type { Cdp, Session } from '../harness/cdp.ts';

export interface WorldMemory {
  readonly heapBytes: number;
  /** The field `promises` and all later fields count live objects of classes that typically leak. */
  readonly promises: number;
  readonly ports: number;
  readonly controllers: number;
  readonly entries: number;
}

export interface MemorySnapshot {
  readonly server: { readonly rssBytes: number; readonly heapBytes: number; readonly goroutines: number };
  readonly worker: WorldMemory;
  readonly page: WorldMemory;
  readonly bridge: WorldMemory;
  readonly documents: number;
  readonly listeners: number;
}

export function readResidentMemory(pid: number): { nowBytes: number; anonymous: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  return {
    nowBytes: kilobytes('VmRSS') * 1024,
    anonymous: kilobytes('RssAnon') * 1024,
    peak: kilobytes('VmHWM') * 1024,
  };
}

const countedClasses = ['Promise', 'MessagePort', 'AbortController', 'Map', 'Set'] as const;

async function countObjects(session: Session, contextId?: number): Promise<WorldMemory> {
  const context = contextId === undefined ? {} : { contextId };
  const sumObjects = async (name: string, sumExpression: string): Promise<number> => {
    const objectGroup = 'measure';
    const prototype = Object(
      await session.send('Runtime.evaluate', { expression: `${name}.prototype`, objectGroup, ...context }),
    );
    const { objects } = Object(
      await session.send('Runtime.queryObjects', { prototypeObjectId: prototype.result.objectId, objectGroup }),
    );
    const { result: heapUsage } = Object(
      await session.send('Runtime.callFunctionOn', {
        objectId: objects.objectId,
        functionDeclaration: `function () { return ${sumExpression}; }`,
        returnByValue: true,
      }),
    );
    await session.send('Runtime.releaseObjectGroup', { objectGroup });
    return Number(heapUsage.value);
  };
  const memoryNumbers: Record<string, number> = {};
  for (const name of countedClasses) {
    // Skip Map.prototype and Set.prototype, for which the getter `size` throws.
    const entries = `this.reduce((sum, table) => sum + (table === ${name}.prototype ? 0 : table.size ?? 0), 0)`;
    memoryNumbers[name] = await sumObjects(name, name === 'Map' || name === 'Set' ? entries : 'this.length');
  }
  const heapBytes = Number(Object(await session.send('Runtime.getHeapUsage')).usedSize);
  return {
    heapBytes,
    promises: memoryNumbers.Promise ?? 0,
    ports: memoryNumbers.MessagePort ?? 0,
    controllers: memoryNumbers.AbortController ?? 0,
    entries: (memoryNumbers.Map ?? 0) + (memoryNumbers.Set ?? 0),
  };
}

async function collectGarbage(session: Session): Promise<void> {
  await session.send('HeapProfiler.enable');
  // The first garbage collection runs finalizers, and later collections free the objects that the finalizers released.
  for (let round = 0; round < 3; round++) await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.disable');
}

export interface MeasuredProcesses {
  readonly cdp: Cdp;
  readonly extensionId: string;
  readonly pageUrl: string;
  readonly serverPid: number;
  readServerMemory(): Promise<{ readonly heap_bytes: number; readonly goroutines: number }>;
}

export async function measureMemory(processes: MeasuredProcesses): Promise<MemorySnapshot> {
  const targets = await processes.cdp.targets();
  const workerId = targets.find(
    (target) => target.type === 'service_worker' && target.url.includes(processes.extensionId),
  )?.targetId;
  const pageId = targets.find((target) => target.type === 'page' && target.url === processes.pageUrl)?.targetId;
  if (!workerId || !pageId) throw new Error(`no worker or no page ${processes.pageUrl} to measure`);
  const worker = await processes.cdp.attach(workerId);
  const page = await processes.cdp.attach(pageId);
  try {
    const contexts: unknown[] = [];
    page.on('Runtime.executionContextCreated', (params) => contexts.push(Object(params).context));
    await page.send('Runtime.enable');
    await collectGarbage(worker);
    await collectGarbage(page);
    const bridgeContext = contexts
      .map((context) => Object(context))
      .find((c) => c.origin === `chrome-extension://${processes.extensionId}`);
    const bridge = await countObjects(page, bridgeContext?.id);
    const { documents, jsEventListeners } = Object(await page.send('Memory.getDOMCounters'));
    const memory = await processes.readServerMemory();
    return {
      server: {
        rssBytes: readResidentMemory(processes.serverPid).nowBytes,
        heapBytes: memory.heap_bytes,
        goroutines: memory.goroutines,
      },
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

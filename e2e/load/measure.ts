/**
 * Measures the memory and counts the objects of the daemon, the service worker and the page after a garbage collection.
 */
import { readFileSync } from 'node:fs';
import type { Cdp, CdpSession } from '../harness/cdp.ts';

export interface ScriptWorldMemory {
  readonly heapBytes: number;
  /** The field `promises` and all later fields count live objects of classes that typically leak. */
  readonly promises: number;
  readonly ports: number;
  readonly abortControllers: number;
  readonly entries: number;
}

export interface MemorySnapshot {
  readonly server: { readonly rssBytes: number; readonly heapBytes: number; readonly goroutines: number };
  readonly worker: ScriptWorldMemory;
  readonly page: ScriptWorldMemory;
  readonly bridge: ScriptWorldMemory;
  readonly documents: number;
  readonly listeners: number;
}

export function readResidentMemory(pid: number): {
  currentResidentBytes: number;
  anonymousBytes: number;
  peak: number;
} {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const readStatusKilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  return {
    currentResidentBytes: readStatusKilobytes('VmRSS') * 1024,
    anonymousBytes: readStatusKilobytes('RssAnon') * 1024,
    peak: readStatusKilobytes('VmHWM') * 1024,
  };
}

const countedClasses = ['Promise', 'MessagePort', 'AbortController', 'Map', 'Set'] as const;

async function countLiveObjects(session: CdpSession, contextId?: number): Promise<ScriptWorldMemory> {
  const context = contextId === undefined ? {} : { contextId };
  const evaluateOverInstances = async (name: string, sumExpression: string): Promise<number> => {
    const objectGroupName = 'measure';
    const controllerPrototype = Object(
      await session.sendCommand('Runtime.evaluate', {
        expression: `${name}.prototype`,
        objectGroup: objectGroupName,
        ...context,
      }),
    );
    const { objects: liveInstances } = Object(
      await session.sendCommand('Runtime.queryObjects', {
        prototypeObjectId: controllerPrototype.result.objectId,
        objectGroup: objectGroupName,
      }),
    );
    const { result: sumResult } = Object(
      await session.sendCommand('Runtime.callFunctionOn', {
        objectId: liveInstances.objectId,
        functionDeclaration: `function () { return ${sumExpression}; }`,
        returnByValue: true,
      }),
    );
    await session.sendCommand('Runtime.releaseObjectGroup', { objectGroup: objectGroupName });
    return Number(sumResult.value);
  };
  const countsByClass: Record<string, number> = {};
  for (const name of countedClasses) {
    // Skip Map.prototype and Set.prototype, for which the getter `size` throws.
    const entriesCode = `this.reduce((sum, table) => sum + (table === ${name}.prototype ? 0 : table.size ?? 0), 0)`;
    countsByClass[name] = await evaluateOverInstances(
      name,
      name === 'Map' || name === 'Set' ? entriesCode : 'this.length',
    );
  }
  const heapBytes = Number(Object(await session.sendCommand('Runtime.getHeapUsage')).usedSize);
  return {
    heapBytes,
    promises: countsByClass.Promise ?? 0,
    ports: countsByClass.MessagePort ?? 0,
    abortControllers: countsByClass.AbortController ?? 0,
    entries: (countsByClass.Map ?? 0) + (countsByClass.Set ?? 0),
  };
}

async function collectGarbage(session: CdpSession): Promise<void> {
  await session.sendCommand('HeapProfiler.enable');
  // The first garbage collection runs finalizers, and later collections free the objects that the finalizers released.
  for (let roundIndex = 0; roundIndex < 3; roundIndex++) await session.sendCommand('HeapProfiler.collectGarbage');
  await session.sendCommand('HeapProfiler.disable');
}

export interface MeasuredProcesses {
  readonly cdp: Cdp;
  readonly extensionId: string;
  readonly pageUrl: string;
  readonly serverPid: number;
  readServerMemory(): Promise<{ readonly heap_bytes: number; readonly goroutines: number }>;
}

export async function measureMemory(measuredProcesses: MeasuredProcesses): Promise<MemorySnapshot> {
  const cdpTargets = await measuredProcesses.cdp.targets();
  const workerId = cdpTargets.find(
    (target) => target.type === 'service_worker' && target.url.includes(measuredProcesses.extensionId),
  )?.targetId;
  const pageId = cdpTargets.find(
    (target) => target.type === 'page' && target.url === measuredProcesses.pageUrl,
  )?.targetId;
  if (!workerId || !pageId) throw new Error(`no worker or no page ${measuredProcesses.pageUrl} to measure`);
  const worker = await measuredProcesses.cdp.attach(workerId);
  const page = await measuredProcesses.cdp.attach(pageId);
  try {
    const executionContexts: unknown[] = [];
    page.on('Runtime.executionContextCreated', (params) => executionContexts.push(Object(params).context));
    await page.sendCommand('Runtime.enable');
    await collectGarbage(worker);
    await collectGarbage(page);
    const bridgeContext = executionContexts
      .map((context) => Object(context))
      .find((executionContext) => executionContext.origin === `chrome-extension://${measuredProcesses.extensionId}`);
    const bridge = await countLiveObjects(page, bridgeContext?.id);
    const { documents: documentCount, jsEventListeners } = Object(await page.sendCommand('Memory.getDOMCounters'));
    const serverMemory = await measuredProcesses.readServerMemory();
    return {
      server: {
        rssBytes: readResidentMemory(measuredProcesses.serverPid).currentResidentBytes,
        heapBytes: serverMemory.heap_bytes,
        goroutines: serverMemory.goroutines,
      },
      worker: await countLiveObjects(worker),
      page: await countLiveObjects(page),
      bridge,
      documents: Number(documentCount),
      listeners: Number(jsEventListeners),
    };
  } finally {
    await worker.detach();
    await page.detach();
  }
}

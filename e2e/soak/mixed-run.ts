/**
 * Makes calls of all kinds under random faults. A call must end exactly once, in time, and with a code that the faults
 * during the call allow.
 */

import { pause } from '../harness/wait.ts';
import { type MemorySnapshot, measureMemory, readResidentMemory } from '../load/measure.ts';
import { injectFault } from './faults.ts';
import { findViolations, isOverlapping, type ObservedCall, type ObservedFault } from './model.ts';
import type { PlannedCall, SoakPlan } from './plan.ts';
import { makeRawHttpClient } from './raw-http.ts';
import { makeRawStdioClient } from './raw-stdio.ts';
import { makeSdkHttpClient, makeSdkStdioClient } from './sdk-clients.ts';
import type { ClientKind, SoakClient } from './soak-client.ts';
import { SystemUnderTest } from './system-under-test.ts';

export interface SoakViolation {
  readonly violationText: string;
  readonly call?: ObservedCall;
  readonly faultsDuring?: readonly ObservedFault[];
}

export interface SoakReport {
  readonly soakPlan: SoakPlan;
  readonly observedCalls: readonly ObservedCall[];
  readonly observedFaults: readonly ObservedFault[];
  readonly violations: readonly SoakViolation[];
  readonly memoryBefore: MemorySnapshot;
  readonly memoryAfter: MemorySnapshot | undefined;
  readonly rssBytes: readonly { readonly atMs: number; readonly bytes: number }[];
}

const sampleIntervalMs = 3_000;
/** maxStopDurationMs is how long a page may continue to run a call that has ended, in milliseconds. */
const maxStopDurationMs = 15_000;
/** drainTimeoutMs is how long, in milliseconds, the last calls may take beyond their planned duration. */
const drainTimeoutMs = 45_000;

/**
 * secondHostPorts is the number of message ports that a second host of the same plugin adds to a document: three at the
 * start, and two at the first wait of a handler. After a reload of the extension, a document may contain a second host.
 */
const secondHostPorts = 5;

export async function runSoak(soakPlan: SoakPlan, printLine: (line: string) => void): Promise<SoakReport> {
  const soakRun = new SoakRun(soakPlan, printLine);
  try {
    return await soakRun.runAll();
  } finally {
    await soakRun.testedSystem.close();
  }
}

class SoakRun {
  readonly testedSystem: SystemUnderTest;
  readonly #soakPlan: SoakPlan;
  readonly #printLine: (line: string) => void;
  readonly #observedCalls: ObservedCall[] = [];
  readonly #observedFaults: ObservedFault[] = [];
  readonly #violations: SoakViolation[] = [];
  readonly #memorySamples: { atMs: number; bytes: number }[] = [];
  readonly #openCalls = new Map<string, PlannedCall>();
  #clients: readonly SoakClient[] = [];
  #startMs = 0;
  #hasEnded = false;

  constructor(soakPlan: SoakPlan, printLine: (line: string) => void) {
    this.#soakPlan = soakPlan;
    this.#printLine = printLine;
    this.testedSystem = new SystemUnderTest(soakPlan.tabs);
  }

  async runAll(): Promise<SoakReport> {
    const { testedSystem } = this;
    await testedSystem.start();
    await testedSystem.waitUntilCallsWork('the start');
    await testedSystem.runFirstWait();
    const memoryBefore = await this.#measureMemory();
    this.#clients = this.#soakPlan.clients.map((kind, i) => this.#makeClient(kind, `${kind}-${i}`));
    this.#startMs = performance.now();
    const samplingTasks = Promise.all([this.#sampleMemoryAndPages(), this.#printEachMinute()]);
    const calls = this.#makePlannedCalls();
    await this.#injectPlannedFaults();
    await this.#waitForCalls(calls);
    this.#hasEnded = true;
    await samplingTasks;
    for (const client of this.#clients) {
      for (const strayMessage of client.strayMessages)
        this.#violations.push({
          violationText: `${client.name} received a message that belongs to none of its calls: ${strayMessage}`,
        });
      await client.close();
    }
    await this.#checkNothingLeftRunning();
    const memoryAfter = await this.#measureMemory().catch(() => undefined);
    this.#checkGrowth(memoryBefore, memoryAfter);
    return {
      soakPlan: this.#soakPlan,
      observedCalls: this.#observedCalls,
      observedFaults: this.#observedFaults,
      violations: this.#violations,
      memoryBefore,
      memoryAfter,
      rssBytes: this.#memorySamples,
    };
  }

  #elapsedMs(): number {
    return performance.now() - this.#startMs;
  }

  #makeClient(kind: ClientKind, name: string): SoakClient {
    const { port, clientToken, env } = this.testedSystem;
    switch (kind) {
      case 'http':
        return makeRawHttpClient(name, port, clientToken);
      case 'http-sdk':
        return makeSdkHttpClient(name, port, clientToken);
      case 'stdio':
        return makeRawStdioClient(name, env);
      case 'stdio-sdk':
        return makeSdkStdioClient(name, env);
    }
  }

  async #makePlannedCalls(): Promise<void> {
    const callEndings: Promise<void>[] = [];
    for (const [i, call] of this.#soakPlan.calls.entries()) {
      const waitMs = call.atMs - this.#elapsedMs();
      if (waitMs > 1) await pause(waitMs);
      callEndings.push(this.#makeCall(call, `k${i}`));
    }
    await Promise.all(callEndings);
  }

  async #makeCall(soakPlan: PlannedCall, key: string): Promise<void> {
    const client = this.#clients[soakPlan.client];
    if (!client) throw new Error(`the plan has no client ${soakPlan.client}`);
    const tab =
      soakPlan.tab === undefined
        ? undefined
        : await this.testedSystem.findTabId(this.testedSystem.paths[soakPlan.tab] ?? '').catch(() => undefined);
    const stopController = new AbortController();
    const timer =
      soakPlan.stopAfterMs === undefined ? undefined : setTimeout(() => stopController.abort(), soakPlan.stopAfterMs);
    const fromMs = this.#elapsedMs();
    const timeoutLimits = this.testedSystem.limits;
    this.#openCalls.set(key, soakPlan);
    const args = { ...soakPlan.args, ...(tab === undefined ? {} : { tabId: tab }) };
    const callEnding = await client.call(`work__${soakPlan.tool}`, args, {
      disconnect: soakPlan.kind === 'disconnected',
      omitsProgressToken: soakPlan.kind === 'noProgress',
      ...(soakPlan.stopAfterMs === undefined ? {} : { stopSignal: stopController.signal }),
    });
    clearTimeout(timer);
    this.#openCalls.delete(key);
    const observedCall: ObservedCall = {
      plan: soakPlan,
      key,
      clientName: client.name,
      limits: timeoutLimits,
      fromMs,
      toMs: this.#elapsedMs(),
      callEnding,
    };
    for (const violationText of findViolations(observedCall, this.#observedFaults, this.#observedCalls))
      this.#recordViolation(observedCall, violationText);
    // The results of all calls would fill the memory, so the soak test drops each result after the check.
    this.#observedCalls.push({
      ...observedCall,
      callEnding: { ...callEnding, structured: undefined, text: callEnding.text.slice(0, 400) },
    });
  }

  #recordViolation(call: ObservedCall, violationText: string): void {
    const faultsDuring = this.#observedFaults.filter((observedFault) => isOverlapping(call, observedFault));
    const callForReport = {
      ...call,
      ending: { ...call.callEnding, structured: undefined, text: call.callEnding.text.slice(0, 400) },
    };
    this.#violations.push({ violationText, call: callForReport, faultsDuring });
    if (this.#violations.length <= 25)
      this.#printLine(`VIOLATION ${call.key} ${call.plan.kind} of ${call.clientName}: ${violationText}`);
  }

  async #injectPlannedFaults(): Promise<void> {
    for (const soakPlan of this.#soakPlan.plannedFaults) {
      const waitMs = soakPlan.atMs - this.#elapsedMs();
      if (waitMs > 0) await pause(waitMs);
      const observedFault: ObservedFault = { plan: soakPlan, fromMs: this.#elapsedMs() };
      this.#observedFaults.push(observedFault);
      try {
        await injectFault(this.testedSystem, soakPlan, this.#clients);
        observedFault.endedMs = this.#elapsedMs();
        await this.testedSystem.waitUntilCallsWork(soakPlan.kind);
        observedFault.recoveredMs = this.#elapsedMs();
        await this.testedSystem.restoreTabs();
      } catch (error) {
        this.#violations.push({
          violationText: `after "${soakPlan.kind}" at ${formatSeconds(observedFault.fromMs)}: ${String(error)}`,
          faultsDuring: [observedFault],
        });
        this.#printLine(`VIOLATION ${String(error)}`);
        await this.testedSystem
          .restoreTabs()
          .catch((restoreError) => this.#printLine(`the tabs could not be restored: ${String(restoreError)}`));
      }
      observedFault.restoredMs = this.#elapsedMs();
    }
    const remainingMs = this.#soakPlan.durationMs - this.#elapsedMs();
    if (remainingMs > 0) await pause(remainingMs);
  }

  async #waitForCalls(calls: Promise<void>): Promise<void> {
    const timeout = pause(drainTimeoutMs + 60_000).then(() => 'late' as const);
    if ((await Promise.race([calls, timeout])) !== 'late') return;
    for (const [key, soakPlan] of this.#openCalls)
      this.#violations.push({ violationText: `${key}, a call of kind ${soakPlan.kind}, has not ended` });
  }

  async #sampleMemoryAndPages(): Promise<void> {
    while (!this.#hasEnded) {
      await pause(sampleIntervalMs);
      this.testedSystem.countHandlerStarts();
      const lastFault = this.#observedFaults.at(-1);
      if (lastFault && lastFault.restoredMs === undefined) continue;
      try {
        this.#memorySamples.push({
          atMs: this.#elapsedMs(),
          bytes: readResidentMemory(await this.testedSystem.serverPid()).currentResidentBytes,
        });
        await this.#checkHandlersStopped(await this.testedSystem.listRunningKeys());
      } catch {
        // The soak test ignores errors of the check, because a fault that has just started can make the check fail.
      }
    }
  }

  async #checkHandlersStopped(runningKeys: readonly string[]): Promise<void> {
    const keys = new Set(runningKeys);
    for (const call of this.#observedCalls) {
      if (!keys.has(call.key) || this.#elapsedMs() - call.toMs < maxStopDurationMs) continue;
      if (
        call.plan.kind === 'ignoresAbort' &&
        this.#elapsedMs() - call.fromMs < Number(call.plan.args.forMs) + maxStopDurationMs
      )
        continue;
      if (this.#violations.some((violation) => violation.call?.key === call.key)) continue;
      const elapsedText = formatSeconds(this.#elapsedMs() - call.toMs);
      this.#recordViolation(
        call,
        `the page still runs the call ${elapsedText} after the call ended: ${await this.testedSystem.describePageRunningCall(call.key)}`,
      );
    }
  }

  async #printEachMinute(): Promise<void> {
    for (let minuteNumber = 1; !this.#hasEnded; minuteNumber++) {
      while (!this.#hasEnded && this.#elapsedMs() < minuteNumber * 60_000) await pause(500);
      const endedCalls = this.#observedCalls.filter((call) => call.toMs > (minuteNumber - 1) * 60_000);
      const okCount = endedCalls.filter((call) => call.callEnding.code === 'ok').length;
      const recentFaults = this.#observedFaults
        .filter((observedFault) => observedFault.fromMs > (minuteNumber - 1) * 60_000)
        .map((observedFault) => observedFault.plan.kind);
      this.#printLine(
        `${String(Math.round(this.#elapsedMs() / 1000)).padStart(5)} s  ${endedCalls.length} calls ended, ${okCount} ok, ${this.#openCalls.size} open;` +
          ` server ${formatMegabytes(this.#memorySamples.at(-1)?.bytes ?? 0)}; ${this.#violations.length} violations; ${recentFaults.join(', ')}`,
      );
    }
  }

  async #checkNothingLeftRunning(): Promise<void> {
    await pause(3_000);
    this.testedSystem.countHandlerStarts();
    const status = await this.testedSystem.readStatus();
    const requireZeroCount = (description: string, count: number) => {
      if (count > 0) this.#violations.push({ violationText: `${count} ${description} are left at the end` });
    };
    requireZeroCount('running calls', status.calls.running);
    requireZeroCount('queued calls', status.calls.queued);
    requireZeroCount(
      'calls that browsers run',
      status.browsers.reduce((sum, b) => sum + b.running, 0),
    );
    // The daemon cannot distinguish a killed client from an idle client, so the client's HTTP session remains until it
    // expires.
    const stdioSessions = status.clients.filter((client) => client.transport === 'stdio');
    requireZeroCount(`stdio sessions (${stdioSessions.map((client) => client.name).join(', ')})`, stdioSessions.length);
    const remainingIgnoredCancelMs = Math.max(
      0,
      ...this.#observedCalls
        .filter((call) => call.plan.kind === 'ignoresAbort')
        .map((call) => call.fromMs + Number(call.plan.args.forMs) - this.#elapsedMs()),
    );
    await pause(Math.min(remainingIgnoredCancelMs, 40_000));
    const runningKeys = await this.testedSystem.listRunningKeys();
    if (runningKeys.length > 0)
      this.#violations.push({ violationText: `handlers still run in pages: ${runningKeys.join(' ')}` });
    const repeatedHandlerStarts = [...this.testedSystem.handlerStartCounts].filter(
      ([key, count]) => key !== 'probe' && count > 1,
    );
    for (const [key, count] of repeatedHandlerStarts) {
      this.#violations.push({
        violationText: `${key} started ${count} times in a page`,
        ...findCallWithKey(this.#observedCalls, key),
      });
    }
    const callsWronglyStarted = this.#observedCalls
      .filter((call) => call.plan.tool === 'nothing' || call.plan.kind === 'invalid')
      .filter((call) => this.testedSystem.handlerStartCounts.has(call.key));
    for (const call of callsWronglyStarted)
      this.#recordViolation(call, 'the call started in a page although its tool or its arguments are invalid');
  }

  #measureMemory(): Promise<MemorySnapshot> {
    return this.testedSystem.serverPid().then((serverPid) =>
      measureMemory({
        cdp: this.testedSystem.browser.cdp,
        extensionId: this.testedSystem.browser.extensionId,
        pageUrl: this.testedSystem.urlOf(this.testedSystem.paths[0] ?? ''),
        serverPid,
        readServerMemory: async () => (await this.testedSystem.readStatus()).memory,
      }),
    );
  }

  #checkGrowth(memoryBefore: MemorySnapshot, memoryAfter: MemorySnapshot | undefined): void {
    if (!memoryAfter) {
      this.#violations.push({ violationText: 'the memory at the end could not be measured' });
      return;
    }
    const checkGrowthLimit = (
      description: string,
      memoryBefore: number,
      memoryAfter: number,
      allowedGrowth: number,
    ) => {
      if (memoryAfter > memoryBefore + allowedGrowth)
        this.#violations.push({ violationText: `${description} grew from ${memoryBefore} to ${memoryAfter}` });
    };
    checkGrowthLimit('goroutines', memoryBefore.server.goroutines, memoryAfter.server.goroutines, 5);
    checkGrowthLimit('the heap of the server', memoryBefore.server.heapBytes, memoryAfter.server.heapBytes, 40 << 20);
    for (const contextName of ['worker', 'page', 'bridge'] as const) {
      checkGrowthLimit(
        `the heap of the ${contextName}`,
        memoryBefore[contextName].heapBytes,
        memoryAfter[contextName].heapBytes,
        4 << 20,
      );
      checkGrowthLimit(
        `message ports of the ${contextName}`,
        memoryBefore[contextName].ports,
        memoryAfter[contextName].ports,
        secondHostPorts,
      );
      checkGrowthLimit(
        `abort controllers of the ${contextName}`,
        memoryBefore[contextName].abortControllers,
        memoryAfter[contextName].abortControllers,
        2,
      );
      checkGrowthLimit(
        `entries in tables of the ${contextName}`,
        memoryBefore[contextName].entries,
        memoryAfter[contextName].entries,
        300,
      );
    }
    // Chrome counts the event listeners of a whole process. At the end, the process may contain further documents in the
    // back/forward cache. At the start, the process contains the page and documents without listeners.
    checkGrowthLimit(
      'listeners of a document',
      memoryBefore.listeners,
      memoryAfter.listeners / memoryAfter.documents,
      5,
    );
  }
}

function findCallWithKey(calls: readonly ObservedCall[], key: string): { call?: ObservedCall } {
  const call = calls.find((call) => call.key === key);
  return call ? { call } : {};
}

function formatSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function formatMegabytes(bytes: number): string {
  return `${Math.round(bytes / (1 << 20))} MB`;
}

/**
 * Makes calls of all kinds under random faults. A call must end exactly once, in time, and with a code that the faults
 * during the call allow.
 */

import { pause } from '../harness/wait.ts';
import { type MemorySnapshot, measureMemory, readResidentMemory } from '../load/measure.ts';
import { injectFault } from './faults.ts';
import { findViolations, isOverlapping, type ObservedCall, type ObservedFault } from './model.ts';
import type { Plan, PlannedCall } from './plan.ts';
import { makeRawHttpClient } from './raw-http.ts';
import { makeRawStdioClient } from './raw-stdio.ts';
import { makeSdkHttpClient, makeSdkStdioClient } from './sdk-clients.ts';
import type { ClientKind, SoakClient } from './soak-client.ts';
import { SystemUnderTest } from './system-under-test.ts';

export interface Violation {
  readonly violationText: string;
  readonly call?: ObservedCall;
  readonly faultsDuring?: readonly ObservedFault[];
}

export interface SoakReport {
  readonly plan: Plan;
  readonly observedCalls: readonly ObservedCall[];
  readonly observedFaults: readonly ObservedFault[];
  readonly violations: readonly Violation[];
  readonly before: MemorySnapshot;
  readonly after: MemorySnapshot | undefined;
  readonly rssBytes: readonly { readonly atMs: number; readonly bytes: number }[];
}

const sampleIntervalMs = 3_000;
/** maxStopDurationMs is how long a page may continue to run a call that has ended, in milliseconds. */
const maxStopDurationMs = 15_000;
/** drainTimeoutMs is how long, in milliseconds, the last calls may take beyond their planned duration. */
const drainTimeoutMs = 45_000;

export async function runSoak(plan: Plan, printLine: (line: string) => void): Promise<SoakReport> {
  const run = new SoakRun(plan, printLine);
  try {
    return await run.runAll();
  } finally {
    await run.system.close();
  }
}

class SoakRun {
  readonly system: SystemUnderTest;
  readonly #plan: Plan;
  readonly #printLine: (line: string) => void;
  readonly #observedCalls: ObservedCall[] = [];
  readonly #observedFaults: ObservedFault[] = [];
  readonly #violations: Violation[] = [];
  readonly #memorySamples: { atMs: number; bytes: number }[] = [];
  readonly #openCalls = new Map<string, PlannedCall>();
  #clients: readonly SoakClient[] = [];
  #startMs = 0;
  #isOver = false;

  constructor(plan: Plan, printLine: (line: string) => void) {
    this.#plan = plan;
    this.#printLine = printLine;
    this.system = new SystemUnderTest(plan.tabs);
  }

  async runAll(): Promise<SoakReport> {
    const { system } = this;
    await system.start();
    await system.waitForWorkingCall('the start');
    const before = await this.#measure();
    this.#clients = this.#plan.clients.map((kind, i) => this.#makeClient(kind, `${kind}-${i}`));
    this.#startMs = performance.now();
    const sampling = Promise.all([this.#sampleMemoryAndPages(), this.#printEachMinute()]);
    const calls = this.#makePlannedCalls();
    await this.#injectPlannedFaults();
    await this.#waitForCalls(calls);
    this.#isOver = true;
    await sampling;
    for (const client of this.#clients) {
      for (const strayMessage of client.strayMessages)
        this.#violations.push({
          violationText: `${client.name} received a message that belongs to none of its calls: ${strayMessage}`,
        });
      await client.close();
    }
    await this.#checkLeftovers();
    const after = await this.#measure().catch(() => undefined);
    this.#checkGrowth(before, after);
    return {
      plan: this.#plan,
      observedCalls: this.#observedCalls,
      observedFaults: this.#observedFaults,
      violations: this.#violations,
      before,
      after,
      rssBytes: this.#memorySamples,
    };
  }

  #elapsedMs(): number {
    return performance.now() - this.#startMs;
  }

  #makeClient(kind: ClientKind, name: string): SoakClient {
    const { port, clientToken, env } = this.system;
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
    const endings: Promise<void>[] = [];
    for (const [i, call] of this.#plan.calls.entries()) {
      const waitMs = call.atMs - this.#elapsedMs();
      if (waitMs > 1) await pause(waitMs);
      endings.push(this.#makeCall(call, `k${i}`));
    }
    await Promise.all(endings);
  }

  async #makeCall(plan: PlannedCall, key: string): Promise<void> {
    const client = this.#clients[plan.client];
    if (!client) throw new Error(`the plan has no client ${plan.client}`);
    const tab =
      plan.tab === undefined
        ? undefined
        : await this.system.findTabId(this.system.paths[plan.tab] ?? '').catch(() => undefined);
    const stop = new AbortController();
    const timer = plan.stopAfterMs === undefined ? undefined : setTimeout(() => stop.abort(), plan.stopAfterMs);
    const fromMs = this.#elapsedMs();
    const limits = this.system.limits;
    this.#openCalls.set(key, plan);
    const args = { ...plan.args, ...(tab === undefined ? {} : { tabId: tab }) };
    const ending = await client.call(`work__${plan.tool}`, args, {
      disconnect: plan.kind === 'disconnected',
      withoutProgress: plan.kind === 'noProgress',
      ...(plan.stopAfterMs === undefined ? {} : { stopSignal: stop.signal }),
    });
    clearTimeout(timer);
    this.#openCalls.delete(key);
    const observedCall: ObservedCall = {
      plan,
      key,
      clientName: client.name,
      limits,
      fromMs,
      toMs: this.#elapsedMs(),
      ending,
    };
    for (const problem of findViolations(observedCall, this.#observedFaults, this.#observedCalls))
      this.#recordViolation(observedCall, problem);
    // The results of all calls would fill the memory, so the soak test drops each result after the check.
    this.#observedCalls.push({
      ...observedCall,
      ending: { ...ending, structured: undefined, text: ending.text.slice(0, 400) },
    });
  }

  #recordViolation(call: ObservedCall, problem: string): void {
    const faultsDuring = this.#observedFaults.filter((fault) => isOverlapping(call, fault));
    const shortenedCall = {
      ...call,
      ending: { ...call.ending, structured: undefined, text: call.ending.text.slice(0, 400) },
    };
    this.#violations.push({ violationText: problem, call: shortenedCall, faultsDuring });
    if (this.#violations.length <= 25)
      this.#printLine(`VIOLATION ${call.key} ${call.plan.kind} of ${call.clientName}: ${problem}`);
  }

  async #injectPlannedFaults(): Promise<void> {
    for (const plan of this.#plan.faults) {
      const waitMs = plan.atMs - this.#elapsedMs();
      if (waitMs > 0) await pause(waitMs);
      const fault: ObservedFault = { plan, fromMs: this.#elapsedMs() };
      this.#observedFaults.push(fault);
      try {
        await injectFault(this.system, plan, this.#clients);
        fault.endedMs = this.#elapsedMs();
        await this.system.waitForWorkingCall(plan.kind);
        fault.recoveredMs = this.#elapsedMs();
        await this.system.restoreTabs();
      } catch (error) {
        this.#violations.push({
          violationText: `after "${plan.kind}" at ${formatSeconds(fault.fromMs)}: ${String(error)}`,
          faultsDuring: [fault],
        });
        this.#printLine(`VIOLATION ${String(error)}`);
        await this.system.restoreTabs().catch((e) => this.#printLine(`the tabs could not be restored: ${String(e)}`));
      }
      fault.restoredMs = this.#elapsedMs();
    }
    const remainingMs = this.#plan.durationMs - this.#elapsedMs();
    if (remainingMs > 0) await pause(remainingMs);
  }

  async #waitForCalls(calls: Promise<void>): Promise<void> {
    const timeout = pause(drainTimeoutMs + 60_000).then(() => 'late' as const);
    if ((await Promise.race([calls, timeout])) !== 'late') return;
    for (const [key, plan] of this.#openCalls)
      this.#violations.push({ violationText: `${key}, a call of kind ${plan.kind}, has not ended` });
  }

  async #sampleMemoryAndPages(): Promise<void> {
    while (!this.#isOver) {
      await pause(sampleIntervalMs);
      this.system.countStarts();
      const lastFault = this.#observedFaults.at(-1);
      if (lastFault && lastFault.restoredMs === undefined) continue;
      try {
        this.#memorySamples.push({
          atMs: this.#elapsedMs(),
          bytes: readResidentMemory(await this.system.serverPid()).now,
        });
        await this.#checkEndedCalls(await this.system.listRunningKeys());
      } catch {
        // The soak test ignores errors of the check, because a fault that has just started can make the check fail.
      }
    }
  }

  async #checkEndedCalls(runningKeys: readonly string[]): Promise<void> {
    const keys = new Set(runningKeys);
    for (const call of this.#observedCalls) {
      if (!keys.has(call.key) || this.#elapsedMs() - call.toMs < maxStopDurationMs) continue;
      if (
        call.plan.kind === 'ignoresAbort' &&
        this.#elapsedMs() - call.fromMs < Number(call.plan.args.forMs) + maxStopDurationMs
      )
        continue;
      if (this.#violations.some((violation) => violation.call?.key === call.key)) continue;
      const elapsed = formatSeconds(this.#elapsedMs() - call.toMs);
      this.#recordViolation(
        call,
        `the page still runs the call ${elapsed} after the call ended: ${await this.system.describePageOf(call.key)}`,
      );
    }
  }

  async #printEachMinute(): Promise<void> {
    for (let minute = 1; !this.#isOver; minute++) {
      while (!this.#isOver && this.#elapsedMs() < minute * 60_000) await pause(500);
      const endedCalls = this.#observedCalls.filter((call) => call.toMs > (minute - 1) * 60_000);
      const okCount = endedCalls.filter((call) => call.ending.code === 'ok').length;
      const recentFaults = this.#observedFaults
        .filter((fault) => fault.fromMs > (minute - 1) * 60_000)
        .map((fault) => fault.plan.kind);
      this.#printLine(
        `${String(Math.round(this.#elapsedMs() / 1000)).padStart(5)} s  ${endedCalls.length} calls ended, ${okCount} ok, ${this.#openCalls.size} open;` +
          ` server ${formatMegabytes(this.#memorySamples.at(-1)?.bytes ?? 0)}; ${this.#violations.length} violations; ${recentFaults.join(', ')}`,
      );
    }
  }

  async #checkLeftovers(): Promise<void> {
    await pause(3_000);
    this.system.countStarts();
    const status = await this.system.readStatus();
    const checkCount = (description: string, count: number) => {
      if (count > 0) this.#violations.push({ violationText: `${count} ${description} are left at the end` });
    };
    checkCount('running calls', status.calls.running);
    checkCount('queued calls', status.calls.queued);
    checkCount(
      'calls that browsers run',
      status.browsers.reduce((sum, b) => sum + b.running, 0),
    );
    // The daemon cannot distinguish a killed client from an idle client, so the client's HTTP session remains until it
    // expires.
    const stdioSessions = status.clients.filter((client) => client.transport === 'stdio');
    checkCount(`stdio sessions (${stdioSessions.map((client) => client.name).join(', ')})`, stdioSessions.length);
    const ignoringMs = Math.max(
      0,
      ...this.#observedCalls
        .filter((call) => call.plan.kind === 'ignoresAbort')
        .map((call) => call.fromMs + Number(call.plan.args.forMs) - this.#elapsedMs()),
    );
    await pause(Math.min(ignoringMs, 40_000));
    const runningKeys = await this.system.listRunningKeys();
    if (runningKeys.length > 0)
      this.#violations.push({ violationText: `handlers still run in pages: ${runningKeys.join(' ')}` });
    const startedTwice = [...this.system.startCounts].filter(([key, count]) => key !== 'probe' && count > 1);
    for (const [key, count] of startedTwice) {
      this.#violations.push({
        violationText: `${key} started ${count} times in a page`,
        ...findCallWithKey(this.#observedCalls, key),
      });
    }
    const wronglyStarted = this.#observedCalls
      .filter((call) => call.plan.tool === 'nothing' || call.plan.kind === 'invalid')
      .filter((call) => this.system.startCounts.has(call.key));
    for (const call of wronglyStarted)
      this.#recordViolation(call, 'the call started in a page although its tool or its arguments are invalid');
  }

  #measure(): Promise<MemorySnapshot> {
    return this.system.serverPid().then((serverPid) =>
      measureMemory({
        cdp: this.system.browser.cdp,
        extensionId: this.system.browser.extensionId,
        pageUrl: this.system.urlOf(this.system.paths[0] ?? ''),
        serverPid,
        readServerMemory: async () => (await this.system.readStatus()).memory,
      }),
    );
  }

  #checkGrowth(before: MemorySnapshot, after: MemorySnapshot | undefined): void {
    if (!after) {
      this.#violations.push({ violationText: 'the memory at the end could not be measured' });
      return;
    }
    const checkValue = (description: string, before: number, after: number, allowedGrowth: number) => {
      if (after > before + allowedGrowth)
        this.#violations.push({ violationText: `${description} grew from ${before} to ${after}` });
    };
    checkValue('goroutines', before.server.goroutines, after.server.goroutines, 5);
    checkValue('the heap of the server', before.server.heapBytes, after.server.heapBytes, 40 << 20);
    for (const side of ['worker', 'page', 'bridge'] as const) {
      checkValue(`the heap of the ${side}`, before[side].heapBytes, after[side].heapBytes, 4 << 20);
      checkValue(`message ports of the ${side}`, before[side].ports, after[side].ports, 2);
      checkValue(`abort controllers of the ${side}`, before[side].controllers, after[side].controllers, 2);
      checkValue(`entries in tables of the ${side}`, before[side].entries, after[side].entries, 300);
    }
    // Chrome counts the event listeners of a whole process, which may contain other tabs and documents in the
    // back/forward cache.
    checkValue('listeners of a document', before.listeners / before.documents, after.listeners / after.documents, 5);
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

/** Prints the summary of a soak test as text, and saves its report as JSON. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../harness/process.ts';
import type { SoakReport, SoakViolation } from './mixed-run.ts';
import type { ObservedCall, ObservedFault } from './model.ts';

const maxShownViolations = 40;

export function formatSummary(report: SoakReport): string {
  return [
    `seed ${report.soakPlan.seed}, ${report.observedCalls.length} calls, ${report.observedFaults.length} faults, ${report.violations.length} violations`,
    '',
    ...formatCallTable(report.observedCalls),
    '',
    ...formatFaultTable(report.observedFaults),
    '',
    ...formatMemoryTable(report),
    ...report.violations.slice(0, maxShownViolations).flatMap((violation) => ['', ...formatViolation(violation)]),
    ...(report.violations.length > maxShownViolations
      ? ['', `and ${report.violations.length - maxShownViolations} more, in the report`]
      : []),
  ].join('\n');
}

export function saveReport(report: SoakReport): string {
  const folder = join(repositoryRoot, 'e2e/out');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `soak-${report.soakPlan.seed}.json`);
  const { soakPlan, ...otherFields } = report;
  const { calls, ...planFields } = soakPlan;
  writeFileSync(file, JSON.stringify({ plan: { ...planFields, calls: calls.length }, ...otherFields }, null, 1));
  return file;
}

function formatCallTable(calls: readonly ObservedCall[]): string[] {
  const faultKinds = new Map<string, Map<string, number>>();
  for (const { plan, callEnding } of calls) {
    const codes = faultKinds.get(plan.kind) ?? new Map<string, number>();
    codes.set(callEnding.code, (codes.get(callEnding.code) ?? 0) + 1);
    faultKinds.set(plan.kind, codes);
  }
  return [...faultKinds].map(([kind, codes]) => {
    const endings = [...codes].toSorted((a, b) => b[1] - a[1]).map(([code, count]) => `${count} ${code}`);
    return `  ${kind.padEnd(12)} ${endings.join(', ')}`;
  });
}

function formatFaultTable(observedFaults: readonly ObservedFault[]): string[] {
  const faultKinds = [...new Set(observedFaults.map((fault) => fault.plan.kind))].toSorted();
  return faultKinds.map((kind) => {
    const sameKindFaults = observedFaults.filter((fault) => fault.plan.kind === kind);
    const recoveryTimesMs = sameKindFaults.flatMap((fault) =>
      fault.endedMs === undefined || fault.recoveredMs === undefined ? [] : [fault.recoveredMs - fault.endedMs],
    );
    const maxMs = Math.max(0, ...recoveryTimesMs);
    const medianMs = recoveryTimesMs.toSorted((a, b) => a - b)[Math.floor(recoveryTimesMs.length / 2)] ?? 0;
    return `  ${kind.padEnd(19)} ${String(sameKindFaults.length).padStart(3)} times; next call works after ${medianMs.toFixed(0)} ms, at most ${maxMs.toFixed(0)} ms`;
  });
}

function formatMemoryTable({ memoryBefore, memoryAfter, rssBytes }: SoakReport): string[] {
  const formatMegabytes = (bytes: number | undefined) => `${((bytes ?? 0) / (1 << 20)).toFixed(1)} MB`;
  const peakBytes = Math.max(0, ...rssBytes.map((sample) => sample.bytes));
  return [
    `  server  RSS ${formatMegabytes(memoryBefore.server.rssBytes)} -> ${formatMegabytes(memoryAfter?.server.rssBytes)} (peak ${formatMegabytes(peakBytes)}), goroutines ${memoryBefore.server.goroutines} -> ${memoryAfter?.server.goroutines}`,
    ...(['worker', 'page', 'bridge'] as const).map((contextName) => {
      const contextBefore = memoryBefore[contextName];
      const contextAfter = memoryAfter?.[contextName];
      return `  ${contextName.padEnd(6)}  heap ${formatMegabytes(contextBefore.heapBytes)} -> ${formatMegabytes(contextAfter?.heapBytes)}, ports ${contextBefore.ports} -> ${contextAfter?.ports}, abort controllers ${contextBefore.abortControllers} -> ${contextAfter?.abortControllers}, table entries ${contextBefore.entries} -> ${contextAfter?.entries}`;
    }),
    `  page    listeners ${memoryBefore.listeners} -> ${memoryAfter?.listeners}, documents ${memoryBefore.documents} -> ${memoryAfter?.documents}`,
  ];
}

function formatViolation({ violationText, call, faultsDuring }: SoakViolation): string[] {
  const formatTime = (ms: number | undefined) => (ms === undefined ? '?' : `${(ms / 1000).toFixed(2)} s`);
  const observedFaults = (faultsDuring ?? []).map(
    (fault) =>
      `    ${formatTime(fault.fromMs)} to ${formatTime(fault.restoredMs)}  ${fault.plan.kind} (tab ${fault.plan.tab}, client ${fault.plan.client}, ${fault.plan.forMs.toFixed(0)} ms)`,
  );
  if (!call) return [`VIOLATION ${violationText}`, ...observedFaults];
  const { plan, key, clientName, fromMs, toMs, callEnding } = call;
  return [
    `VIOLATION ${key}: ${violationText}`,
    `    ${formatTime(fromMs)} to ${formatTime(toMs)}  ${plan.kind} ${plan.tool} ${JSON.stringify(plan.args).slice(0, 120)} of ${clientName}, tab ${plan.tab ?? 'any'}, limits ${call.limits}`,
    `    ended with ${callEnding.code}: ${callEnding.text}`,
    ...observedFaults,
  ];
}

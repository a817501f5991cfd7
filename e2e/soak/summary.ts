/** Prints the summary of a soak test as text, and saves its report as JSON. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../harness/process.ts';
import type { SoakReport, Violation } from './mixed-run.ts';
import type { ObservedCall, ObservedFault } from './model.ts';

const maxShownViolations = 40;

export function formatSummary(report: SoakReport): string {
  return [
    `seed ${report.plan.seed}, ${report.observedCalls.length} calls, ${report.observedFaults.length} faults, ${report.violations.length} violations`,
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
  const file = join(folder, `soak-${report.plan.seed}.json`);
  const { plan, ...otherFields } = report;
  const { calls, ...planFields } = plan;
  writeFileSync(file, JSON.stringify({ plan: { ...planFields, calls: calls.length }, ...otherFields }, null, 1));
  return file;
}

function formatCallTable(calls: readonly ObservedCall[]): string[] {
  const kinds = new Map<string, Map<string, number>>();
  for (const { plan, ending } of calls) {
    const codes = kinds.get(plan.kind) ?? new Map<string, number>();
    codes.set(ending.code, (codes.get(ending.code) ?? 0) + 1);
    kinds.set(plan.kind, codes);
  }
  return [...kinds].map(([kind, codes]) => {
    const endings = [...codes].toSorted((a, b) => b[1] - a[1]).map(([code, count]) => `${count} ${code}`);
    return `  ${kind.padEnd(12)} ${endings.join(', ')}`;
  });
}

function formatFaultTable(faults: readonly ObservedFault[]): string[] {
  const kinds = [...new Set(faults.map((fault) => fault.plan.kind))].toSorted();
  return kinds.map((kind) => {
    const sameKindFaults = faults.filter((fault) => fault.plan.kind === kind);
    const recoveryTimesMs = sameKindFaults.flatMap((fault) =>
      fault.endedMs === undefined || fault.recoveredMs === undefined ? [] : [fault.recoveredMs - fault.endedMs],
    );
    const maxMs = Math.max(0, ...recoveryTimesMs);
    const medianMs = recoveryTimesMs.toSorted((a, b) => a - b)[Math.floor(recoveryTimesMs.length / 2)] ?? 0;
    return `  ${kind.padEnd(19)} ${String(sameKindFaults.length).padStart(3)} times; next call works after ${medianMs.toFixed(0)} ms, at most ${maxMs.toFixed(0)} ms`;
  });
}

function formatMemoryTable({ before, after, rssBytes }: SoakReport): string[] {
  const formatMegabytes = (bytes: number | undefined) => `${((bytes ?? 0) / (1 << 20)).toFixed(1)} MB`;
  const peak = Math.max(0, ...rssBytes.map((sample) => sample.bytes));
  return [
    `  server  RSS ${formatMegabytes(before.server.rssBytes)} -> ${formatMegabytes(after?.server.rssBytes)} (peak ${formatMegabytes(peak)}), goroutines ${before.server.goroutines} -> ${after?.server.goroutines}`,
    ...(['worker', 'page', 'bridge'] as const).map((side) => {
      const beforeSide = before[side];
      const afterSide = after?.[side];
      return `  ${side.padEnd(6)}  heap ${formatMegabytes(beforeSide.heapBytes)} -> ${formatMegabytes(afterSide?.heapBytes)}, ports ${beforeSide.ports} -> ${afterSide?.ports}, abort controllers ${beforeSide.controllers} -> ${afterSide?.controllers}, table entries ${beforeSide.entries} -> ${afterSide?.entries}`;
    }),
    `  page    listeners ${before.listeners} -> ${after?.listeners}, documents ${before.documents} -> ${after?.documents}`,
  ];
}

function formatViolation({ violationText: problem, call, faultsDuring }: Violation): string[] {
  const formatTime = (ms: number | undefined) => (ms === undefined ? '?' : `${(ms / 1000).toFixed(2)} s`);
  const faults = (faultsDuring ?? []).map(
    (fault) =>
      `    ${formatTime(fault.fromMs)} to ${formatTime(fault.restoredMs)}  ${fault.plan.kind} (tab ${fault.plan.tab}, client ${fault.plan.client}, ${fault.plan.forMs.toFixed(0)} ms)`,
  );
  if (!call) return [`VIOLATION ${problem}`, ...faults];
  const { plan, key, clientName, fromMs, toMs, ending } = call;
  return [
    `VIOLATION ${key}: ${problem}`,
    `    ${formatTime(fromMs)} to ${formatTime(toMs)}  ${plan.kind} ${plan.tool} ${JSON.stringify(plan.args).slice(0, 120)} of ${clientName}, tab ${plan.tab ?? 'any'}, limits ${call.limits}`,
    `    ended with ${ending.code}: ${ending.text}`,
    ...faults,
  ];
}

/** The closing table of a soak, and its report as JSON. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../harness/process.ts';
import type { Report, Violation } from './mixed.ts';
import type { Made, Struck } from './model.ts';

/** shown is how many violations a person is shown. */
const shown = 40;

/** summary returns what a person reads at the end. */
export function summary(report: Report): string {
  return [
    `seed ${report.plan.seed}, ${report.made.length} calls, ${report.struck.length} faults, ${report.violations.length} violations`,
    '',
    ...callTable(report.made),
    '',
    ...faultTable(report.struck),
    '',
    ...memoryTable(report),
    ...report.violations.slice(0, shown).flatMap((v) => ['', ...told(v)]),
    ...(report.violations.length > shown ? ['', `and ${report.violations.length - shown} more, in the report`] : []),
  ].join('\n');
}

/** save writes the report to e2e/out and returns the file's name. */
export function save(report: Report): string {
  const folder = join(repositoryRoot, 'e2e/out');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `soak-${report.plan.seed}.json`);
  const { plan, ...rest } = report;
  const { calls, ...head } = plan;
  writeFileSync(file, JSON.stringify({ plan: { ...head, calls: calls.length }, ...rest }, null, 1));
  return file;
}

function callTable(made: readonly Made[]): string[] {
  const kinds = new Map<string, Map<string, number>>();
  for (const { plan, ending } of made) {
    const codes = kinds.get(plan.kind) ?? new Map<string, number>();
    codes.set(ending.code, (codes.get(ending.code) ?? 0) + 1);
    kinds.set(plan.kind, codes);
  }
  return [...kinds].map(([kind, codes]) => {
    const endings = [...codes].toSorted((a, b) => b[1] - a[1]).map(([code, count]) => `${count} ${code}`);
    return `  ${kind.padEnd(10)} ${endings.join(', ')}`;
  });
}

function faultTable(struck: readonly Struck[]): string[] {
  const kinds = [...new Set(struck.map((f) => f.plan.kind))].toSorted();
  return kinds.map((kind) => {
    const all = struck.filter((f) => f.plan.kind === kind);
    const healed = all.flatMap((f) =>
      f.overMs === undefined || f.healedMs === undefined ? [] : [f.healedMs - f.overMs],
    );
    const worst = Math.max(0, ...healed);
    const middle = healed.toSorted((a, b) => a - b)[Math.floor(healed.length / 2)] ?? 0;
    return `  ${kind.padEnd(19)} ${String(all.length).padStart(3)} times; next call works after ${middle.toFixed(0)} ms, at worst ${worst.toFixed(0)} ms`;
  });
}

function memoryTable({ before, after, rssBytes }: Report): string[] {
  const mb = (bytes: number | undefined) => `${((bytes ?? 0) / (1 << 20)).toFixed(1)} MB`;
  const peak = Math.max(0, ...rssBytes.map((r) => r.bytes));
  return [
    `  server  RSS ${mb(before.server.rssBytes)} -> ${mb(after?.server.rssBytes)} (at most ${mb(peak)}), goroutines ${before.server.goroutines} -> ${after?.server.goroutines}`,
    ...(['worker', 'page', 'bridge'] as const).map((side) => {
      const was = before[side];
      const is = after?.[side];
      return `  ${side.padEnd(6)}  heap ${mb(was.heapBytes)} -> ${mb(is?.heapBytes)}, ports ${was.ports} -> ${is?.ports}, abort controllers ${was.controllers} -> ${is?.controllers}, table entries ${was.entries} -> ${is?.entries}`;
    }),
    `  page    listeners ${before.listeners} -> ${after?.listeners}, documents ${before.documents} -> ${after?.documents}`,
  ];
}

/** told tells one violation with the timeline of its call. */
function told({ what, call, during }: Violation): string[] {
  const at = (ms: number | undefined) => (ms === undefined ? '?' : `${(ms / 1000).toFixed(2)} s`);
  const faults = (during ?? []).map(
    (f) =>
      `    ${at(f.fromMs)} to ${at(f.untilMs)}  ${f.plan.kind} (tab ${f.plan.tab}, client ${f.plan.client}, ${f.plan.forMs.toFixed(0)} ms)`,
  );
  if (!call) return [`VIOLATION ${what}`, ...faults];
  const { plan, key, clientName, fromMs, toMs, ending } = call;
  return [
    `VIOLATION ${key}: ${what}`,
    `    ${at(fromMs)} to ${at(toMs)}  ${plan.kind} ${plan.tool} ${JSON.stringify(plan.args).slice(0, 120)} of ${clientName}, tab ${plan.tab ?? 'any'}, limits ${call.limits}`,
    `    ended with ${ending.code}: ${ending.text}`,
    ...faults,
  ];
}

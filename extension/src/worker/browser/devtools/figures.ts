// figures.ts parses the performance metrics that a recorder measured in a document, and describes them for the agent.
// An attacker may control the process of a page, so every value is validated.

import { type Fields, isRecord } from '../../../record.ts';
import { maskUrl } from '../network/masking.ts';
import { toArrayOrEmpty, toFields } from './debugged-frames.ts';

const MaxSlowEvents = 5;
const MaxTextCharacters = 300;

/** LayoutBox is a rectangle in the viewport, in CSS pixels. */
interface LayoutBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** LayoutShift is one unexpected movement of elements on the page, as measured by Chrome. */
export interface LayoutShift {
  readonly atMs: number;
  readonly value: number;
  readonly sources: readonly { readonly element: string; readonly from: LayoutBox; readonly to: LayoutBox }[];
}

/** atMs is when the period starts, in milliseconds after the document started to load. */
interface TimeSpan {
  readonly atMs: number;
  readonly durationMs: number;
}

/** PageInteraction is a click, a tap or a key press, measured until the next paint. */
interface PageInteraction extends TimeSpan {
  readonly type: string;
  readonly element: string;
  readonly delayMs: number;
  readonly handlersMs: number;
}

interface ScriptRun extends TimeSpan {
  readonly url: string;
  readonly name: string;
  readonly invoker: string;
}

export interface PageMetrics {
  readonly startMs: number;
  readonly nowMs: number;
  readonly wasHidden: boolean;
  readonly firstPaintMs: number | undefined;
  readonly navigation:
    | (Record<'firstByteMs' | 'domReadyMs' | 'loadMs', number> & { readonly type: string })
    | undefined;
  readonly lcp:
    | { readonly atMs: number; readonly size: number; readonly url: string; readonly element: string }
    | undefined;
  readonly shifts: readonly LayoutShift[];
  readonly interactions: readonly PageInteraction[];
  readonly interactionCount: number;
  readonly longTasks: readonly (TimeSpan & { readonly kind: string })[];
  readonly longTaskCount: number;
  readonly scripts: readonly ScriptRun[];
}

export function parsePageMetrics(json: unknown): PageMetrics | undefined {
  if (typeof json !== 'string' || json.length > 10_000_000) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { navigation, lcp, firstPaintMs } = value;
  const readRecords = (key: string) => toArrayOrEmpty(value[key]).filter(isRecord);
  return {
    startMs: toNumber(value.startMs),
    nowMs: toNumber(value.nowMs),
    wasHidden: value.wasHidden === true,
    firstPaintMs: typeof firstPaintMs === 'number' ? firstPaintMs : undefined,
    navigation: isRecord(navigation)
      ? {
          type: toText(navigation.type),
          firstByteMs: toNumber(navigation.firstByteMs),
          domReadyMs: toNumber(navigation.domReadyMs),
          loadMs: toNumber(navigation.loadMs),
        }
      : undefined,
    lcp: isRecord(lcp)
      ? { atMs: toNumber(lcp.atMs), size: toNumber(lcp.size), url: toText(lcp.url), element: toText(lcp.element) }
      : undefined,
    shifts: readRecords('shifts').map((shift) => ({
      atMs: toNumber(shift.atMs),
      value: toNumber(shift.value),
      sources: toArrayOrEmpty(shift.sources)
        .map(toFields)
        .map(({ element, from, to }) => ({
          element: toText(element),
          from: readLayoutBox(from),
          to: readLayoutBox(to),
        })),
    })),
    interactions: readRecords('interactions').map((interactionEntry) => ({
      ...readTimeSpan(interactionEntry),
      type: toText(interactionEntry.type),
      element: toText(interactionEntry.element),
      delayMs: toNumber(interactionEntry.delayMs),
      handlersMs: toNumber(interactionEntry.handlersMs),
    })),
    interactionCount: toNumber(value.interactionCount),
    longTasks: readRecords('longTasks').map((interactionEntry) => ({
      ...readTimeSpan(interactionEntry),
      kind: toText(interactionEntry.kind),
    })),
    longTaskCount: toNumber(value.longTaskCount),
    scripts: readRecords('scripts').map((interactionEntry) => ({
      ...readTimeSpan(interactionEntry),
      url: toText(interactionEntry.url),
      name: toText(interactionEntry.name),
      invoker: toText(interactionEntry.invoker),
    })),
  };
}

export function describePageLoad({ navigation, firstPaintMs, lcp }: PageMetrics): string[] {
  const metricLines: string[] = [];
  if (navigation) {
    metricLines.push(`TTFB ${formatRatedTime(navigation.firstByteMs, 800, 1800)}`);
    const loadMilestones = [
      navigation.domReadyMs > 0 ? `DOM ready ${formatMs(navigation.domReadyMs)}` : 'DOM not ready yet',
      navigation.loadMs > 0 ? `loaded ${formatMs(navigation.loadMs)}` : 'not loaded yet',
    ];
    metricLines.push(`${loadMilestones.join(', ')} (${navigation.type})`);
  }
  metricLines.push(
    firstPaintMs === undefined ? 'FCP none: nothing was drawn' : `FCP ${formatRatedTime(firstPaintMs, 1800, 3000)}`,
  );
  if (!lcp) return [...metricLines, 'LCP none'];
  const lcpSource = lcp.url === '' ? '' : ` ${truncateText(maskUrl(lcp.url))}`;
  return [
    ...metricLines,
    `LCP ${formatRatedTime(lcp.atMs, 2500, 4000)}: ${formatElement(lcp.element)}${lcpSource}, ${Math.round(lcp.size)} px²`,
  ];
}

export function describeEvents(metrics: PageMetrics, isForbidden: (url: string) => boolean): string[] {
  return [
    ...describeInteractions(metrics),
    ...describeLayoutShifts(metrics),
    ...describeLongTasks(metrics, isForbidden),
  ];
}

function describeInteractions({ interactions, interactionCount }: PageMetrics): string[] {
  // Like Chrome's own metric, ignore the slowest interaction of every 50 interactions.
  const slowestInteraction = interactions[Math.min(interactions.length - 1, Math.floor(interactionCount / 50))];
  if (!slowestInteraction) return ['INP none: no clicks, taps or keys'];
  const metricLines = [...interactions.slice(0, MaxSlowEvents)].map(
    ({ atMs, durationMs, type, element, delayMs, handlersMs }) =>
      `  ${type} at ${formatMs(atMs)}: ${formatMs(durationMs)} on ${formatElement(element)} (delay ${formatMs(delayMs)}, handlers ${formatMs(handlersMs)}, drawing ${formatMs(durationMs - delayMs - handlersMs)})`,
  );
  return [
    `INP ${formatRatedTime(slowestInteraction.durationMs, 200, 500)}, ${formatCount(interactionCount, 'interaction')}`,
    ...metricLines,
  ];
}

function describeLayoutShifts({ shifts: layoutShifts }: PageMetrics): string[] {
  const shiftScore = computeLayoutShiftScore(layoutShifts);
  const metricLines = [...layoutShifts]
    .sort((a, b) => b.value - a.value)
    .slice(0, MaxSlowEvents)
    .map(({ atMs, value, sources }) => {
      const moves = sources
        .slice(0, 3)
        .map(({ element, from, to }) => `${formatElement(element)} ${describeBoxMove(from, to)}`);
      return `  ${formatScore(value)} at ${formatMs(atMs)}: ${moves.join('; ') || 'removed elements'}`;
    });
  return [
    `CLS ${formatScore(shiftScore)} (${rateMetric(shiftScore, 0.1, 0.25)}), ${formatCount(layoutShifts.length, 'layout shift')}`,
    ...metricLines,
  ];
}

/** A group contains layout shifts that are less than 1 s apart, and lasts at most 5 s. */
export function computeLayoutShiftScore(layoutShifts: readonly Pick<LayoutShift, 'atMs' | 'value'>[]): number {
  let [largestWindowScore, windowScore, clusterStartMs, lastShiftMs] = [0, 0, 0, Number.NEGATIVE_INFINITY];
  for (const { atMs, value } of [...layoutShifts].sort((a, b) => a.atMs - b.atMs)) {
    const isNew = atMs - lastShiftMs >= 1000 || atMs - clusterStartMs >= 5000;
    windowScore = isNew ? value : windowScore + value;
    if (isNew) clusterStartMs = atMs;
    lastShiftMs = atMs;
    largestWindowScore = Math.max(largestWindowScore, windowScore);
  }
  return largestWindowScore;
}

function describeBoxMove(from: LayoutBox, to: LayoutBox): string {
  if (from.width === 0 && from.height === 0) return 'appeared';
  if (to.width === 0 && to.height === 0) return 'left the viewport';
  const moveParts = [
    ...(to.y !== from.y ? [`moved ${Math.abs(Math.round(to.y - from.y))} px ${to.y > from.y ? 'down' : 'up'}`] : []),
    ...(to.x !== from.x ? [`moved ${Math.abs(Math.round(to.x - from.x))} px ${to.x > from.x ? 'right' : 'left'}`] : []),
  ];
  return moveParts.join(', ') || 'changed its size';
}

function describeLongTasks(
  { longTasks, longTaskCount, scripts }: PageMetrics,
  isForbidden: (url: string) => boolean,
): string[] {
  if (longTaskCount === 0) return ['Long tasks: none'];
  const totalMs = longTasks.reduce((total, { durationMs }) => total + durationMs, 0);
  const metricLines = longTasks.slice(0, MaxSlowEvents).map((longTask) => {
    const endMs = longTask.atMs + longTask.durationMs;
    const script = scripts.find(({ atMs }) => atMs >= longTask.atMs - 1 && atMs < endMs);
    const scriptText = script && !isForbidden(script.url) ? ` ${describeScript(script)}` : '';
    return `  at ${formatMs(longTask.atMs)}: ${formatMs(longTask.durationMs)}${longTask.kind.includes('descendant') ? ' in a frame' : ''}${scriptText}`;
  });
  const blockingMs = longTasks.reduce((total, { durationMs }) => total + Math.max(0, durationMs - 50), 0);
  return [
    `Long tasks: ${longTaskCount}, ${formatMs(totalMs)} in all, ${formatMs(blockingMs)} over 50 ms each`,
    ...metricLines,
  ];
}

function describeScript({ url, name, invoker, durationMs }: ScriptRun): string {
  const scriptUrl = url === '' ? '' : truncateText(maskUrl(url));
  const scriptNames = [name, /^https?:/.test(invoker) ? '' : invoker].filter((word) => word !== '').map(truncateText);
  return [scriptUrl, scriptNames.length > 0 ? `(${scriptNames.join(', ')})` : '', formatMs(durationMs)]
    .filter((part) => part !== '')
    .join(' ');
}

function formatElement(element: string): string {
  return element === '' ? 'a removed element' : truncateText(element);
}

function formatRatedTime(valueMs: number, goodThreshold: number, poorThreshold: number): string {
  return `${formatMs(valueMs)} (${rateMetric(valueMs, goodThreshold, poorThreshold)})`;
}

/** rateMetric returns the rating of a metric by the thresholds of Web Vitals, such as "needs improvement". */
function rateMetric(value: number, goodThreshold: number, poorThreshold: number): string {
  if (value <= goodThreshold) return 'good';
  return value <= poorThreshold ? 'needs improvement' : 'poor';
}

function formatScore(value: number): string {
  return String(Math.round(value * 1000) / 1000);
}

function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function formatMs(value: number): string {
  return value >= 10_000 ? `${(value / 1000).toFixed(1)} s` : `${Math.max(0, Math.round(value))} ms`;
}

function truncateText(longText: string): string {
  return longText.length > MaxTextCharacters ? `${longText.slice(0, MaxTextCharacters)}…` : longText;
}

function readTimeSpan({ atMs, durationMs }: Fields): TimeSpan {
  return { atMs: toNumber(atMs), durationMs: toNumber(durationMs) };
}

function readLayoutBox(value: unknown): LayoutBox {
  const { x, y, width, height } = toFields(value);
  return { x: toNumber(x), y: toNumber(y), width: toNumber(width), height: toNumber(height) };
}

function toNumber(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll('\n', ' ') : '';
}

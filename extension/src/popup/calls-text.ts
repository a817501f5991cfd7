import type { PanelState } from '../panel-message.ts';

export function describeCalls({
  link,
  calls,
  running: runningCount,
}: Pick<PanelState, 'link' | 'calls' | 'running'>): string {
  if (link.kind !== 'open') return 'The state of calls is unknown.';
  const waitingCount = calls.filter((call) => call.waiting !== undefined).length;
  const active = Math.max(0, runningCount - waitingCount);
  if (active + waitingCount === 0) return 'No tool is running.';
  const countTexts = [active > 0 ? `${active} running` : '', waitingCount > 0 ? `${waitingCount} waiting for you` : ''];
  return `${countTexts.filter(Boolean).join(', ')}.`;
}

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
  const texts = [active > 0 ? `${active} running` : '', waitingCount > 0 ? `${waitingCount} waiting for you` : ''];
  return `${texts.filter(Boolean).join(', ')}.`;
}

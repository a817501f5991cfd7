import type { PanelState } from '../panel-message.ts';

export function describeCalls({ link, calls, running }: Pick<PanelState, 'link' | 'calls' | 'running'>): string {
  if (link.kind !== 'open') return 'The state of calls is unknown.';
  const waiting = calls.filter((call) => call.waiting !== undefined).length;
  const active = Math.max(0, running - waiting);
  if (active + waiting === 0) return 'No tool is running.';
  const texts = [active > 0 ? `${active} running` : '', waiting > 0 ? `${waiting} waiting for you` : ''];
  return `${texts.filter(Boolean).join(', ')}.`;
}

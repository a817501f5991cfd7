import type { VNode } from 'preact';
import type { PanelHold } from '../panel-message.ts';
import { ErrorText } from './choice.tsx';
import { usePanelAction } from './panel-action.ts';
import type { SendAction } from './requests.ts';
import { formatDuration, readHost, removeHiddenCharacters } from './wording.ts';

export interface TabsInUseProps {
  readonly holds: readonly PanelHold[];
  readonly nowMs: number;
  readonly act: SendAction;
}

export function TabsInUse({ holds, nowMs, act }: TabsInUseProps): VNode | null {
  const currentHolds = holds.filter(({ endMs }) => endMs > nowMs);
  if (currentHolds.length === 0) return null;
  return (
    <section aria-labelledby="in-use">
      <h2 id="in-use">
        Tabs in use <span class="count">{currentHolds.length}</span>
      </h2>
      <ul class="tabs">
        {currentHolds.map((hold) => (
          <TabInUse key={hold.tabId} hold={hold} nowMs={nowMs} act={act} />
        ))}
      </ul>
    </section>
  );
}

function TabInUse({ hold, nowMs, act }: { hold: PanelHold; nowMs: number; act: SendAction }): VNode {
  const { isBusy, error, run } = usePanelAction(act);
  const { tabId, site, taken, endMs } = hold;
  const client = removeHiddenCharacters(hold.client);
  const host = readHost(site) || removeHiddenCharacters(site);
  return (
    <li>
      <div class="head">
        <button
          type="button"
          class="tab"
          title={removeHiddenCharacters(site)}
          onClick={() => void run({ op: 'show', tabId })}
        >
          <span class="title">{host}</span>
          <span class="host">tab {tabId}</span>
        </button>
        <button
          type="button"
          aria-label={`Stop ${client} in tab ${tabId}`}
          aria-disabled={isBusy}
          onClick={() => void run({ op: 'release', tabId })}
        >
          Stop
        </button>
      </div>
      <p class="from">
        {taken
          ? `You took it back from ${client}, which must read the page before it acts again.`
          : `${client} uses this tab. Without another act, the tab is free in ${formatDuration(endMs - nowMs)}.`}
      </p>
      <ErrorText text={error} />
    </li>
  );
}

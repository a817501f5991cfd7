import type { VNode } from 'preact';
import type { PanelTabHold } from '../panel-message.ts';
import { ErrorText } from './choice.tsx';
import { usePanelAction } from './panel-action.ts';
import type { SendAction } from './requests.ts';
import { formatDuration, readHost, removeHiddenCharacters } from './wording.ts';

export interface TabsInUseProps {
  readonly tabHolds: readonly PanelTabHold[];
  readonly nowMs: number;
  readonly sendAction: SendAction;
}

export function TabsInUse({ tabHolds, nowMs, sendAction }: TabsInUseProps): VNode | null {
  const currentHolds = tabHolds.filter(({ endMs }) => endMs > nowMs);
  if (currentHolds.length === 0) return null;
  return (
    <section aria-labelledby="in-use">
      <h2 id="in-use">
        Tabs in use <span class="count">{currentHolds.length}</span>
      </h2>
      <ul class="tabs">
        {currentHolds.map((tabHold) => (
          <TabInUseRow key={tabHold.tabId} tabHold={tabHold} nowMs={nowMs} sendAction={sendAction} />
        ))}
      </ul>
    </section>
  );
}

function TabInUseRow({
  tabHold,
  nowMs,
  sendAction,
}: {
  tabHold: PanelTabHold;
  nowMs: number;
  sendAction: SendAction;
}): VNode {
  const { isBusy, error, runAction } = usePanelAction(sendAction);
  const { tabId, site, taken: isTakenByUser, endMs } = tabHold;
  const client = removeHiddenCharacters(tabHold.client);
  const host = readHost(site) || removeHiddenCharacters(site);
  return (
    <li>
      <div class="head">
        <button
          type="button"
          class="tab"
          title={removeHiddenCharacters(site)}
          onClick={() => void runAction({ op: 'show', tabId })}
        >
          <span class="title">{host}</span>
          <span class="host">tab {tabId}</span>
        </button>
        <button
          type="button"
          aria-label={`Stop ${client} in tab ${tabId}`}
          aria-disabled={isBusy}
          onClick={() => void runAction({ op: 'release', tabId })}
        >
          Stop
        </button>
      </div>
      <p class="from">
        {isTakenByUser
          ? `You took it back from ${client}, which must read the page before it acts again.`
          : `${client} uses this tab. Without another act, the tab is free in ${formatDuration(endMs - nowMs)}.`}
      </p>
      <ErrorText errorText={error} />
    </li>
  );
}
